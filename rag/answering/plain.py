"""The answer without a model (seed 4, section 8): facts as bullets, groups, paragraphs, a table; how many are left out.

In: an `Assignment`: facts, the plan's style and limits. Out: a finished `Draft`: Markdown, and the citations of what it
shows. Used where there is no model, where it fails before its first word, and where its text may not be shown. Passages
are quoted, never paraphrased; the bot adds the line above and the sources below.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from prompts.loader import Prompts
from prompts.wordings import language_of
from rag.answering.citations import cite
from rag.answering.prompt import Assignment
from rag.answering.quotes import MAX_QUOTES, choose, compare, quote_passages, read_for_sum
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.planning.plain_requests import PlainRequests, Request, RequestKind, outline
from rag.planning.plan import AnswerStyle, Limits, RenderStyle
from rag.records import AnswerKind, AnswerText, Citation, RankedPassage, SmallTalk
from rag.small_talk import is_said_by
from rag.words import escaped

_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(?![ :|-]+$).*\|[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """Text and sources; the text is empty when there is nothing worth showing."""

    text: str
    citations: tuple[Citation, ...] = ()
    items: int = 0  # items shown; numbers about rows and disagreements do not count (`Fact.is_item`)
    left: int = 0  # items that the limits leave out, here or earlier
    is_weak: bool = False  # the passages may be about something else
    done: RequestKind | None = None  # what was done instead of quoting what answers


def render(
    payload: FactsPayload,
    *,
    style: RenderStyle,
    limits: Limits,
    question: str,
    before: str = "",
    marked: Sequence[Fact] = (),
    asked: str = "",
    requests: PlainRequests | None = None,
) -> Rendered:
    """The items up to the limits. Only where there are none: quotes of the passages that were `marked` as the answer's
    sources, or, if none was, of those that are `certain`.

    What the question, as it was `asked`, requests of code (`plain_requests`) goes before quotes. Quotes next to a list
    would repeat it. A fact without a title is a remark for the model and is not shown. `before`: words of the question
    before, where this one leans on it.
    """
    facts = [fact for fact in payload.facts if fact.kind is not FactKind.PASSAGE and fact.title]
    if facts:
        distinct = [fact for place, fact in enumerate(facts) if _is_said_first(fact, facts[:place])]
        shown = _within(distinct, style, limits)
        items = sum(fact.is_item for fact in shown)
        left = payload.left_out + sum(fact.is_item for fact in distinct) - items
        said = {fact.text for fact in shown}
        cited = [fact for fact in facts if fact in shown or (fact.item and fact.text in said)]  # both sides of a change
        citations = _unique([cite(fact.passage.passage, about=fact.text) for fact in cited if fact.passage])
        return Rendered(text=_STYLES[style](shown), citations=citations, items=items, left=left)
    judged = tuple(dict.fromkeys(fact.passage for fact in marked if fact.passage))[:MAX_QUOTES]
    found = [fact.passage for fact in payload.facts if fact.passage]
    request = requests.of(asked) if requests and not judged else None
    if requests and request and (done := _requested(request, requests, asked, found)):
        return done
    asking = requests.asking_price(asked) if requests else ()
    passages = judged or choose(read_for_sum(found, f"{question} {before}", asking))
    if not passages:
        return Rendered(text="")
    text, citations = quote_passages(passages, question, before=before)
    return Rendered(text=text, citations=citations, is_weak=not judged and not any(each.certain for each in passages))


def _requested(
    request: Request, requests: PlainRequests, question: str, found: Sequence[RankedPassage]
) -> Rendered | None:
    """What code can do of the request with what was found; None where that is nothing."""
    if request.kind is RequestKind.COMPARISON:
        asking = requests.asking_price(request.about)
        compared = compare(read_for_sum(found, request.about, asking), request.about)
        return compared and Rendered(text=compared[0], citations=compared[1], done=request.kind)
    if request.condition:
        listed = requests.rows(request.condition, question, found, language_of(question))
        done, left = listed or (None, 0)
    else:
        done, left = outline(found), 0
    if done is None:
        return None
    citations = tuple(cite(passage, about=question) for passage in done.passages)
    return Rendered(text=done.text, citations=_unique(citations), left=left, done=request.kind)


def _within(facts: Sequence[Fact], style: RenderStyle, limits: Limits) -> list[Fact]:
    """The facts within the limits: so many items, of so many titles as the style allows; numbers always stay."""
    titles = list(dict.fromkeys(fact.title for fact in facts))
    room = {RenderStyle.GROUPED_BULLETS: limits.max_groups, RenderStyle.SHORT: limits.max_paragraphs}
    of_titles = [fact for fact in facts if fact.title in titles[: room.get(style, len(titles))]]
    items = [place for place, fact in enumerate(of_titles) if fact.is_item][: limits.max_items]
    return [fact for place, fact in enumerate(of_titles) if not fact.is_item or place in items]


def _is_said_first(fact: Fact, before: Sequence[Fact]) -> bool:
    """Whether this is the first fact of its item with this text: what two documents state identically is shown once."""
    return not fact.item or all((fact.item, fact.text) != (each.item, each.text) for each in before)


def _bullets(facts: Sequence[Fact]) -> str:
    return "\n".join(f"- {_line(fact)}" for fact in facts)


def _grouped(facts: Sequence[Fact]) -> str:
    return "\n\n".join(f"**{escaped(title)}**\n{_bullets(group)}" for title, group in _by_title(facts))


def _short(facts: Sequence[Fact]) -> str:
    """One paragraph for each title."""
    return "\n\n".join(" ".join(map(_sentence, group)) for _, group in _by_title(facts))


def _by_title(facts: Sequence[Fact]) -> list[tuple[str, list[Fact]]]:
    titles = dict.fromkeys(fact.title for fact in facts)
    return [(title, [fact for fact in facts if fact.title == title]) for title in titles]


def _table(facts: Sequence[Fact]) -> str:
    """A table of the facts with columns, below a list of the others; only the list if no fact has columns."""
    rows = [dict(fact.fields) for fact in facts if fact.fields]
    others = _bullets([fact for fact in facts if not fact.fields])
    if not rows:
        return others
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [[escaped(row.get(column, "")) for column in columns] for row in rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in [columns, ["---"] * len(columns), *lines])
    return f"{others}\n\n{table}" if others else table


_STYLES: Mapping[RenderStyle, Callable[[Sequence[Fact]], str]] = {
    RenderStyle.BULLETS: _bullets,
    RenderStyle.GROUPED_BULLETS: _grouped,
    RenderStyle.SHORT: _short,
    RenderStyle.TABLE: _table,
}


def _line(fact: Fact) -> str:
    return escaped(" ".join(fact.text.split()))


def _sentence(fact: Fact) -> str:
    line = _line(fact)
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _unique(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    return tuple({citation.chunk_id: citation for citation in citations}.values())


@dataclass(frozen=True, kw_only=True)
class Draft(AnswerText):
    """The answer so far."""

    used: tuple[int, ...] = ()  # ranks, from 1, of the facts that it used
    cited: tuple[Fact, ...] = ()  # these facts
    done: bool = False
    remarks: tuple[str, ...] = ()  # what was wrong with rejected answers


NOTHING = Draft(kind=AnswerKind.NOTHING, text="", done=True)


class PlainAnswers:
    """Writes plain answers for all questions of an installation."""

    def __init__(self, prompts: Prompts, language: str, requests: PlainRequests | None = None) -> None:
        """`language` is ANSWER_LANGUAGE; it affects only the line about left-out items, not the facts."""
        self._requests = requests
        self._prompts = prompts
        self._language = language

    def write(self, assignment: Assignment, *, marked: Sequence[Fact] = ()) -> Draft:
        """The facts, or NOTHING. `marked`: facts that a rejected answer marked; they may be the right ones."""
        if assignment.small_talk is SmallTalk.MORE:
            return self._more(assignment)
        if assignment.small_talk:
            return _small_talk(assignment, assignment.small_talk)
        question, before = _leaning(assignment)
        answer = render(
            assignment.facts,
            style=assignment.style,
            limits=assignment.limits,
            question=question,
            before=before,
            marked=marked,
            asked=assignment.question,
            requests=self._requests,
        )
        if not answer.text:
            return NOTHING
        draft = Draft(
            kind=AnswerKind.QUOTES,
            text=answer.text,
            citations=answer.citations,
            used=(used := _ranks(assignment, answer.citations)),
            cited=tuple(assignment.facts.facts[rank - 1] for rank in used) or assignment.facts.facts,  # of a list: all
            done=True,
            is_weak=answer.is_weak,
            instead=answer.done.value if answer.done else "",
        )
        if not (answer.items and answer.left):
            return draft
        return replace(draft, text=f"{draft.text}\n\n{self.remainder(answer.items, answer.left, assignment)}")

    def ask_which(self, assignment: Assignment) -> Draft:
        """The question which of several documents is meant; the bot adds a button for each."""
        text = self._prompts.which[language_of(assignment.question)]
        return Draft(kind=AnswerKind.CONVERSATION, text=text, done=True)

    def _more(self, assignment: Assignment) -> Draft:
        """Passages that no earlier answer has quoted. The question is the same as then, so equal quotes are found."""
        said = "\n\n".join(exchange.answer for exchange in assignment.dialogue.window)
        question = assignment.understood or assignment.question
        new = [
            fact
            for fact in assignment.facts.facts
            if fact.passage
            and fact.kind is FactKind.PASSAGE
            and quote_passages([fact.passage], question)[0] not in said
        ]
        facts = replace(assignment.facts, facts=tuple(new))
        draft = self.write(replace(assignment, facts=facts, small_talk=None))
        return draft if draft.text else replace(NOTHING, small_talk=SmallTalk.MORE)

    def remainder(self, listed: int, left: int, assignment: Assignment) -> str:
        """«ещё 10 из 20 (по запросу могу вывести)»."""
        is_english = self._language == "en" or assignment.answer_style is AnswerStyle.NATURAL_EN
        language = "en" if is_english and self._language != "ru" else "ru"
        total = assignment.limits.skip + listed + left
        return self._prompts.more[language].fill(left=left, total=total)


def listed_items(text: str) -> int:
    """The number of list items or table rows."""
    return max(len(_ITEM.findall(text)), len(_ROW.findall(text)) - 1, 0)


def _ranks(assignment: Assignment, citations: Sequence[Citation]) -> tuple[int, ...]:
    cited = {each.chunk_id for each in citations}
    facts = enumerate(assignment.facts.facts, start=1)
    return tuple(rank for rank, fact in facts if fact.passage and fact.passage.passage.chunk_id in cited)


def _leaning(assignment: Assignment) -> tuple[str, str]:
    """The question whose words choose the quotes, and the words that the plain planner put behind it, which decide
    between equals: in «а стамеска?» the new word counts, and in «а сколько это стоит?» the old ones do."""
    asked, understood = assignment.question, assignment.understood
    is_own = understood.startswith(asked)
    return (asked, understood.removeprefix(asked)) if is_own else (understood or asked, "")


def _small_talk(assignment: Assignment, kind: SmallTalk) -> Draft:
    """Small talk; below it, passages that say exactly the message: a note «Привет» is still found by «привет»."""
    passages = [fact.passage for fact in assignment.facts.facts if fact.passage]
    said = [each for each in passages if is_said_by(each.passage, assignment.question)][:MAX_QUOTES]
    text, citations = quote_passages(said, assignment.question)
    return Draft(
        kind=AnswerKind.CONVERSATION,
        text="",
        small_talk=kind,
        passages=text,
        citations=citations,
        used=(used := _ranks(assignment, citations)),
        cited=tuple(assignment.facts.facts[rank - 1] for rank in used),
        done=True,
    )
