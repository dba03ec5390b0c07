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
from rag.execution.facts import Fact, FactKind
from rag.planning.plain_requests import Breadth, RequestKind, outline
from rag.planning.plan import AnswerStyle, RenderStyle
from rag.records import AnswerKind, AnswerText, Citation, Passage, RankedPassage, SmallTalk
from rag.words import escaped

_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(?![ :|-]+$).*\|[ \t]*$", re.MULTILINE)


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


@dataclass(frozen=True, kw_only=True)
class Draft(AnswerText):
    """The answer so far."""

    used: tuple[int, ...] = ()  # ranks, from 1, of the facts that it used
    cited: tuple[Fact, ...] = ()  # these facts
    done: bool = False
    remarks: tuple[str, ...] = ()  # what was wrong with rejected answers


NOTHING = Draft(kind=AnswerKind.NOTHING, text="", done=True)


@dataclass(frozen=True)
class PlainAnswers:
    """Writes plain answers for all questions of an installation."""

    prompts: Prompts
    language: str  # ANSWER_LANGUAGE; it affects only the line about left-out items, not the facts
    requests: Breadth | None = None

    def write(self, assignment: Assignment, *, marked: Sequence[Fact] = ()) -> Draft:
        """The facts; else what the question requests of code; else quotes of the passages that were `marked` as a
        rejected answer's sources, or of those that are `certain`; or NOTHING."""
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
        facts = [fact for fact in assignment.facts.facts if fact.kind is not FactKind.PASSAGE and fact.title]
        if facts:  # quotes next to a list would repeat it; a fact without a title is a remark for the model
            return self._listed(facts, assignment)
        judged = tuple(dict.fromkeys(fact.passage for fact in marked if fact.passage))[:MAX_QUOTES]
        found = [fact.passage for fact in assignment.facts.facts if fact.passage]
        if self.requests and not judged and (done := _requested(self.requests, assignment, found)):
            return done
        asking = self.requests.asking_price(assignment.question) if self.requests else ()
        passages = judged or choose(read_for_sum(found, f"{question} {before}", asking))
        if not passages:
            return NOTHING
        text, citations = quote_passages(passages, question, before=before)
        is_weak = not judged and not any(each.certain for each in passages)
        return _quoting(assignment, text, citations, is_weak=is_weak)

    def _listed(self, facts: Sequence[Fact], assignment: Assignment) -> Draft:
        """The items up to the limits: so many, of so many titles as the style allows. Numbers about rows and
        disagreements are no items (`Fact.is_item`), and always stay."""
        limits, style = assignment.limits, assignment.style
        distinct: list[Fact] = []
        for fact in facts:  # what two documents state identically is shown once
            if not fact.item or all((fact.item, fact.text) != (each.item, each.text) for each in distinct):
                distinct.append(fact)
        titles = list(dict.fromkeys(fact.title for fact in distinct))
        room = {RenderStyle.GROUPED_BULLETS: limits.max_groups, RenderStyle.SHORT: limits.max_paragraphs}
        of_titles = [fact for fact in distinct if fact.title in titles[: room.get(style, len(titles))]]
        kept = [place for place, fact in enumerate(of_titles) if fact.is_item][: limits.max_items]
        shown = [fact for place, fact in enumerate(of_titles) if not fact.is_item or place in kept]
        items, text = len(kept), _styled(shown, style)
        left = assignment.facts.left_out + sum(fact.is_item for fact in distinct) - items
        if items and left:
            text += f"\n\n{self.remainder(items, left, assignment)}"
        said = {fact.text for fact in shown}
        cited = [fact for fact in facts if fact in shown or (fact.item and fact.text in said)]  # both sides of a change
        return _quoting(
            assignment, text, [cite(each.passage.passage, about=each.text) for each in cited if each.passage]
        )

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
        is_english = self.language == "en" or assignment.answer_style is AnswerStyle.NATURAL_EN
        language = "en" if is_english and self.language != "ru" else "ru"
        total = assignment.limits.skip + listed + left
        return self.prompts.more[language].fill(left=left, total=total)


def listed_items(text: str) -> int:
    """The number of list items or table rows."""
    return max(len(_ITEM.findall(text)), len(_ROW.findall(text)) - 1, 0)


def _requested(requests: Breadth, assignment: Assignment, found: Sequence[RankedPassage]) -> Draft | None:
    question, request = assignment.question, requests.request(assignment.question)
    if request is None:
        return None
    if request.kind is RequestKind.COMPARISON:
        read = read_for_sum(found, request.about, requests.asking_price(request.about))
        told: tuple[str, Sequence[Citation | Passage]] | None = compare(read, request.about)
    elif request.condition:
        told = requests.rows(request.condition, question, found, language_of(question))
    else:
        told = outline(found)
    if told is None:
        return None
    citations = [each if isinstance(each, Citation) else cite(each, about=question) for each in told[1]]
    return _quoting(assignment, told[0], citations, instead=request.kind.value)


def _quoting(
    assignment: Assignment, text: str, citations: Sequence[Citation], *, is_weak: bool = False, instead: str = ""
) -> Draft:
    cited, facts = {each.chunk_id: each for each in citations}, assignment.facts.facts
    ranked = enumerate(facts, start=1)
    used = {rank: fact for rank, fact in ranked if fact.passage and fact.passage.passage.chunk_id in cited}
    return Draft(
        kind=AnswerKind.QUOTES,
        text=text,
        citations=tuple(cited.values()),
        used=tuple(used),
        cited=tuple(used.values()) or facts,  # of a list: all
        done=True,
        is_weak=is_weak,
        instead=instead,
    )
