"""The support check: a model judges each statement of an answer by its facts, and code looks up the model's evidence.

In: statements, the texts of the facts that they cite, what the person asked. Out: a `Judgement` of each statement, with
the places of the words that carry it. A quotation that does not stand in its fact carries nothing. What a reply leaves
out is asked for once more. A model that is away or answers nonsense leaves the statements unjudged. In a look-up only
white space, quotation marks, dashes and ё are alike: a paraphrase is not found. It rewrites nothing; texts never reach
the log.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from itertools import pairwise

import structlog
from pydantic import BaseModel, ConfigDict, Field

from domain.visible import visible
from prompts.loader import Prompts, SupportTask
from rag.answering.statements import Statement
from rag.metering import Usage, metering_step
from rag.ports import ChatModel, ModelError, ModelMisfit, ModelNonsense
from rag.records import ChatMessage
from rag.words import Span, fence, held, rarity, sentences, stems, without_headings

_ALIKE: Mapping[int, str] = {
    **dict.fromkeys(map(ord, "«»“”„‟‹›″\u2018\u2019\u201a\u201b'`"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    ord("ё"): "е",
    ord("Ё"): "Е",
}
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w")
_GAP = " … "
_CELL = "|"
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_TEXT_BELOW = "Text:"  # above the text of a fact, as `prompt` tells it
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[ \u00a0\u202f.,](?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_RULE = re.compile(r"\s*\|(?: *:?-+:? *\|)+\s*")  # under the names of columns


def find(words: str, text: str) -> Span | None:
    """Where `words` stand in `text` for the first time; None if they do not, or hold no letter and no digit."""
    wanted, _ = _normalised(words.strip())
    plain, places = _normalised(text)
    at = plain.find(wanted)
    if at < 0 or not _WORD.search(wanted):
        return None
    return Span(start=places[at], end=places[at + len(wanted) - 1] + 1)


def _normalised(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each of its characters the place in `text`."""
    signs: list[str] = []
    places: list[int] = []
    at = 0
    for space in _SPACE.finditer(text):
        signs.append(text[at : space.start()].translate(_ALIKE) + " ")
        places += [*range(at, space.start()), space.end() - 1]
        at = space.end()
    return "".join((*signs, text[at:].translate(_ALIKE))), [*places, *range(at, len(text))]


def near(text: str, about: str, *, limit: int, whole: Sequence[str] = ()) -> str:
    """About `limit` characters, in order: sentences with words of `about` that are rare in the text, each with its
    neighbours; a row of a table with its unit and the names of its columns; the lines above the passage that either
    stands in. The first line stays. Whatever the limit, each word and figure that the text shares with one of the
    statements `whole` is shown where most of that statement stands."""
    if len(text) <= limit:
        return text
    spans = [span for span in sentences(text) if not _RULE.fullmatch(text[span.start : span.end])]
    if not spans:
        return text[:limit]
    told = [_one_spelling(text[span.start : span.end]) for span in spans]
    heads, above = _heads(text, spans), _above(text, spans)
    with_heads = [{at, *heads.get(at, ()), *above.get(at, ())} for at in range(len(spans))]
    needed = (at for each in whole for at in _covering(told, stems(_one_spelling(each))))
    kept = {0}.union(*(with_heads[at] for at in needed))
    room = limit - sum(_length(spans[at]) for at in kept)
    for best in _telling(told, about):
        for wanted in (with_heads[best],) if best in heads else (with_heads[best], {best + 1}, {best - 1}):
            new = {at for at in wanted - kept if 0 <= at < len(spans)}
            if (size := sum(_length(spans[at]) for at in new)) <= room:
                kept |= new
                room -= size
    return _pieced(text, [spans[at] for at in sorted(kept)], sorted(kept))


def _one_spelling(text: str) -> str:
    """Figures as one would write them without signs between thousands, and with a decimal point."""
    return _DECIMAL.sub(".", _BETWEEN_THOUSANDS.sub("", text))


def _telling(told: Sequence[str], about: str) -> Iterator[int]:
    """Places of all sentences: those that cover `about`, then those of the others that cover it, and so on."""
    left, wanted = list(range(len(told))), stems(_one_spelling(about))
    while left:
        found = [left[at] for at in _covering([told[at] for at in left], wanted)]
        yield from found or left
        left = [at for at in left if found and at not in found]


def _covering(told: Sequence[str], wanted: frozenset[str]) -> Iterator[int]:
    """Places of sentences that together hold all of `wanted` that any holds, each time the one that says most beyond
    those before it: a figure that one row has tells more than a year that all have."""
    has = {at: held(wanted, each) for at, each in enumerate(told)}
    having = Counter(stem for each in has.values() for stem in each)
    weights = {stem: rarity(count, len(told)) for stem, count in having.items()}
    left = frozenset(having)
    while left:
        best = max(has, key=lambda at: (sum(weights[stem] for stem in has[at] & left), -at))
        yield best
        left -= has[best]


def _heads(text: str, spans: Sequence[Span]) -> dict[int, range]:
    """For each row of a Markdown table that has a rule: the row above the rule, with the lines of its unit above it."""
    heads: dict[int, range] = {}
    head, begin = range(0), 0
    for at, (span, after) in enumerate(zip(spans, [*spans[1:], None], strict=True)):
        if at and _PARAGRAPH_END.search(text[spans[at - 1].end : span.start]):
            head, begin = range(0), at
        if after and _RULE.search(text[span.end : after.start]):
            head = range(begin, at + 1)
        elif head and text[span.start] == _CELL:
            heads[at] = head
    return heads


def _above(text: str, spans: Sequence[Span]) -> dict[int, range]:
    """For each sentence of a passage that is told as in the prompt: the lines with its document, page and section."""
    above: dict[int, range] = {}
    lines, begin = range(0), 0
    for at, span in enumerate(spans):
        if at and _PARAGRAPH_END.search(text[spans[at - 1].end : span.start]):
            begin = at
        if text[span.start : span.end] == _TEXT_BELOW:
            lines = range(begin, at + 1)
        elif lines:
            above[at] = lines
    return above


def _length(span: Span) -> int:
    return span.end - span.start


def _pieced(text: str, spans: list[Span], numbers: list[int]) -> str:
    """The spans as they stand in the text, with a sign where something was left out between them."""
    parts = [text[spans[0].start : spans[0].end]]
    for (before, after), (one, other) in zip(pairwise(spans), pairwise(numbers), strict=True):
        gap = text[before.end : after.start] if other == one + 1 else _GAP
        parts += [gap, text[after.start : after.end]]
    return "".join(parts)


SAID = 0  # the number of the source that holds what was said in the dialogue
SOURCE_CHARS = 2000  # of one source; neighbours that were found together are longer: what is far is left out
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))")

log = structlog.get_logger()


class Verdict(StrEnum):
    """What the sources say of a statement."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    ABSENT = "absent"
    NOTHING = "nothing"  # it claims nothing: a heading, a question back


class Outcome(StrEnum):
    """How a check ended."""

    CHECKED = "checked"
    PARTLY = "partly"  # some statements were left unjudged twice
    AWAY = "away"  # the model did not answer
    UNREADABLE = "unreadable"  # its answer was no judgement of these statements
    UNNEEDED = "unneeded"  # there is nothing to judge, or nothing to judge it by


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Evidence(_Part):
    source: int
    words: str


class _Judged(_Part):
    statement: int
    evidence: tuple[_Evidence, ...] = ()
    verdict: Verdict
    why: str = Field("", max_length=2000)


class SupportReply(_Part):
    """The model's reply. Evidence comes before the verdict, so that the verdict follows from it."""

    statements: tuple[_Judged, ...]


@dataclass(frozen=True, kw_only=True)
class Carrying:
    """Words of a source that carry a statement."""

    source: int  # number of the fact, from 1; SAID for the dialogue
    span: Span  # in the source's text


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """One statement, judged."""

    statement: Statement
    verdict: Verdict
    carried: tuple[Carrying, ...] = ()  # found in the sources
    why: str = ""

    @property
    def has_failed(self) -> bool:
        """Whether it may not be shown."""
        return self.verdict in (Verdict.CONTRADICTED, Verdict.ABSENT)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The result of a check; without judgements where there was none."""

    outcome: Outcome
    judgements: tuple[Judgement, ...] = ()
    missing: tuple[Statement, ...] = ()  # that got no judgement
    tokens: int = 0
    seconds: float = 0.0

    @property
    def failed(self) -> tuple[Judgement, ...]:
        """Those that may not be shown."""
        return tuple(each for each in self.judgements if each.has_failed)


UNCHECKED = Checked(outcome=Outcome.UNNEEDED)


class SupportCheck:
    """Checks answers of an installation; it keeps no state between them."""

    def __init__(self, model: ChatModel, prompts: Prompts) -> None:
        """`model` is CHECKER_MODEL."""
        self._model = model
        self._rules = ChatMessage(role="system", content=prompts.support)
        self._task = prompts.support_task

    async def judge(
        self, statements: Sequence[Statement], sources: Mapping[int, str], *, question: str, today: date
    ) -> Checked:
        """A judgement of each statement that is no title. `sources`: text by number. Never raises ModelError."""
        asked = [each for each in statements if not each.is_title]
        if not asked or not any(text.strip() for text in sources.values()):
            return UNCHECKED
        started, usage = time.monotonic(), Usage()
        messages = self.messages(statements, asked, sources, question=question, today=today)
        try:
            with metering_step(usage):
                found = judgements_of(await self._model.structured(messages, SupportReply), asked, sources)
                missing = [each for each in asked if each not in found]
                if found and missing:
                    messages = self.messages(statements, missing, sources, question=question, today=today)
                    found |= judgements_of(await self._again(messages), missing, sources)
        except ModelError as error:
            is_nonsense = isinstance(error, ModelMisfit | ModelNonsense)
            log.warning("check.failed", model=self._model.name, reason=type(error).__name__)
            checked = Checked(outcome=Outcome.UNREADABLE if is_nonsense else Outcome.AWAY)
        else:
            checked = _checked(asked, found)
        return replace(checked, tokens=usage.tokens, seconds=time.monotonic() - started)

    async def _again(self, messages: tuple[ChatMessage, ...]) -> SupportReply:
        """A reply about what was left out; empty when the model fails now, since the first one counts."""
        try:
            return await self._model.structured(messages, SupportReply)
        except ModelError as error:
            log.warning("check.not_completed", model=self._model.name, reason=type(error).__name__)
            return SupportReply(statements=())

    def messages(
        self,
        statements: Sequence[Statement],
        asked: Sequence[Statement],
        sources: Mapping[int, str],
        *,
        question: str,
        today: date,
    ) -> tuple[ChatMessage, ...]:
        """The rules, and one message with the sources and the statements; those that are `asked` for are numbered."""
        told = "\n".join((question, *(each.text for each in statements)))
        long = {number: visible(text) for number, text in sources.items() if text.strip()}
        shown = _shown(long, asked, told)
        tag = fence("text", *shown.values(), told)
        task = SupportTask(
            fence=tag,
            sources="\n".join(f"<{tag} source={n}>\n{text.strip()}\n</{tag}>" for n, text in shown.items()),
            today=today.isoformat(),
            question=question,
            statements=_numbered(statements, asked, sources),
        )
        return (self._rules, ChatMessage(role="user", content=self._task.fill(task)))


def _shown(sources: Mapping[int, str], asked: Sequence[Statement], told: str) -> dict[int, str]:
    """Of each source what is near the statements, and all that those which cite it, or cite none, share with it."""
    shown: dict[int, str] = {}
    for number, text in sources.items():
        citing = [each.text for each in asked if number in each.marks or not sources.keys() & set(each.marks)]
        shown[number] = without_headings(near(text, told, limit=SOURCE_CHARS, whole=citing))
    return shown


def judgements_of(
    reply: SupportReply, asked: Sequence[Statement], sources: Mapping[int, str]
) -> dict[Statement, Judgement]:
    """The judgements with their evidence looked up; what is judged twice is not judged."""
    times = Counter(each.statement for each in reply.statements)
    judged = {each.statement: each for each in reply.statements if times[each.statement] == 1}
    numbered = enumerate(asked, start=1)
    return {each: _looked_up(judged[n], each, sources) for n, each in numbered if n in judged}


def _checked(asked: Sequence[Statement], found: Mapping[Statement, Judgement]) -> Checked:
    if not found:
        return Checked(outcome=Outcome.UNREADABLE)
    missing = tuple(each for each in asked if each not in found)
    outcome = Outcome.PARTLY if missing else Outcome.CHECKED
    return Checked(outcome=outcome, judgements=tuple(found[each] for each in asked if each in found), missing=missing)


def _looked_up(judged: _Judged, statement: Statement, sources: Mapping[int, str]) -> Judgement:
    found = [_place(each, sources) for each in judged.evidence]
    carried = tuple(each for each in found if each)
    verdict, why = judged.verdict, judged.why
    if verdict is Verdict.NOTHING and statement.marks:  # what cites a fact claims something
        verdict = Verdict.SUPPORTED
    if verdict is Verdict.SUPPORTED and (not carried or None in found):
        verdict, why = Verdict.ABSENT, why or "No words of the materials were found that say it."
    return Judgement(statement=statement, verdict=verdict, carried=carried, why=why)


def _place(evidence: _Evidence, sources: Mapping[int, str]) -> Carrying | None:
    """Where the words stand: in the source that is named, or else in another one that was shown."""
    named = {evidence.source: sources[evidence.source]} if evidence.source in sources else {}
    for number, text in {**named, **sources}.items():
        if span := find(evidence.words, text):
            return Carrying(source=number, span=span)
    return None


def _numbered(statements: Sequence[Statement], asked: Sequence[Statement], sources: Mapping[int, str]) -> str:
    """A line for each; those that are not asked for, such as titles, get no number. Figures that stand in no source are
    a hint, no verdict."""
    lines, known = [], _figures("\n".join(sources.values()))
    numbers = {each: number for number, each in enumerate(asked, start=1)}
    for each in statements:
        if each not in numbers:
            lines.append(each.text)
            continue
        strange = sorted(_figures(each.text) - known)
        hints = [f"cites {', '.join(map(str, each.marks))}"] if each.marks else []
        hints += [f"so written in no source: {', '.join(strange)}"] if strange else []
        hint = f"({'; '.join(hints)}) " if hints else ""
        lines.append(f"{numbers[each]}. {hint}{each.text}")
    return "\n".join(lines)


def _figures(text: str) -> frozenset[str]:
    """Numbers in digits, as they are written but for blanks between thousands."""
    return frozenset(_FIGURE.findall(_THOUSANDS.sub("", text)))
