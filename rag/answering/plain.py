"""The answer without a model (seed 4, section 8): facts as bullets, groups, paragraphs, a table; how many are left out.

In: an `Assignment`: facts, the plan's style and limits. Out: a finished `Draft`, with the citations of what it shows.
Used without a model, and where its text may not be shown. Passages are quoted, never paraphrased.
"""

import re
from collections.abc import Sequence
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
    """The items up to the limits. Only where there are none: what the question, as it was `asked`, requests of code;
    else quotes of the passages that were `marked` as the answer's sources, or of those that are `certain`. A fact
    without a title is a remark for the model. `before`: words of the question before, where this one leans on it."""
    facts = [fact for fact in payload.facts if fact.kind is not FactKind.PASSAGE and fact.title]
    if facts:
        distinct: list[Fact] = []
        for fact in facts:  # what two documents state identically is shown once
            if not fact.item or all((fact.item, fact.text) != (each.item, each.text) for each in distinct):
                distinct.append(fact)
        shown = _within(distinct, style, limits)
        items = sum(fact.is_item for fact in shown)
        left = payload.left_out + sum(fact.is_item for fact in distinct) - items
        said = {fact.text for fact in shown}
        cited = [fact for fact in facts if fact in shown or (fact.item and fact.text in said)]  # both sides of a change
        citations = _unique([cite(fact.passage.passage, about=fact.text) for fact in cited if fact.passage])
        return Rendered(text=_styled(shown, style), citations=citations, items=items, left=left)
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


def _styled(facts: Sequence[Fact], style: RenderStyle) -> str:
    """Bullets, groups, a paragraph for each title, or a table of the facts with columns below a list of the others."""
    lines = [escaped(" ".join(fact.text.split())) for fact in facts]
    if style is RenderStyle.TABLE and (rows := [dict(fact.fields) for fact in facts if fact.fields]):
        columns = list(dict.fromkeys(column for row in rows for column in row))
        cells = [[escaped(row.get(column, "")) for column in columns] for row in rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in [columns, ["---"] * len(columns), *cells])
        others = "\n".join(f"- {line}" for fact, line in zip(facts, lines, strict=True) if not fact.fields)
        return "\n\n".join(filter(None, (others, table)))
    if style in (RenderStyle.BULLETS, RenderStyle.TABLE):
        return "\n".join(f"- {line}" for line in lines)
    groups: dict[str, list[str]] = {}
    for fact, line in zip(facts, lines, strict=True):
        groups.setdefault(fact.title, []).append(line)
    if style is RenderStyle.GROUPED_BULLETS:
        return "\n\n".join("\n- ".join([f"**{escaped(title)}**", *group]) for title, group in groups.items())
    ended = (
        [line if line.endswith((".", "!", "?", "…")) else f"{line}." for line in group] for group in groups.values()
    )
    return "\n\n".join(map(" ".join, ended))


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
            return Draft(kind=AnswerKind.CONVERSATION, text="", small_talk=assignment.small_talk, done=True)
        # The words that the plain planner put behind the question decide between equals: in «а стамеска?» the new word
        # counts, and in «а сколько это стоит?» the old ones do.
        question, before = assignment.question, ""
        if (understood := assignment.understood).startswith(question):
            before = understood.removeprefix(question)
        else:
            question = understood or question
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
        text = answer.text
        if answer.items and answer.left:
            text += f"\n\n{self.remainder(answer.items, answer.left, assignment)}"
        cited, facts = {each.chunk_id for each in answer.citations}, assignment.facts.facts
        used = {
            rank: fact for rank, fact in enumerate(facts, 1) if fact.passage and fact.passage.passage.chunk_id in cited
        }
        return Draft(
            kind=AnswerKind.QUOTES,
            text=text,
            citations=answer.citations,
            used=tuple(used),
            cited=tuple(used.values()) or facts,  # of a list: all
            done=True,
            is_weak=answer.is_weak,
            instead=answer.done.value if answer.done else "",
        )

    def ask_which(self, assignment: Assignment) -> Draft:
        """The question which of several documents is meant; the bot adds a button for each."""
        text = self._prompts.which[language_of(assignment.question)]
        return Draft(kind=AnswerKind.CONVERSATION, text=text, done=True)

    def _more(self, assignment: Assignment) -> Draft:
        """Passages that no earlier answer has quoted. The question is the same as then, so equal quotes are found."""
        said = "\n\n".join(exchange.answer for exchange in assignment.dialogue.window)
        question = assignment.understood or assignment.question
        passages = [fact for fact in assignment.facts.facts if fact.passage and fact.kind is FactKind.PASSAGE]
        new = [each for each in passages if each.passage and quote_passages([each.passage], question)[0] not in said]
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
