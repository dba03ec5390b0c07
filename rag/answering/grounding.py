"""The support check: a model judges each statement of an answer by its facts, and code looks up the model's evidence.

In: statements, the texts of the facts that they cite, what the person asked. Out: a `Judgement` of each statement, with
the places of the words that carry it. A quotation that does not stand in its fact carries nothing. What a reply leaves
out is asked for once more. A model that is away or answers nonsense leaves the statements unjudged. It rewrites
nothing; texts never reach the log.
"""

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

import structlog
from pydantic import BaseModel, ConfigDict, Field

from domain.visible import visible
from prompts.loader import Prompts
from rag.answering.statements import Statement
from rag.excerpts import find, near
from rag.metering import Usage, metering_step
from rag.ports import ChatModel, ModelError, ModelMisfit, ModelNonsense
from rag.records import ChatMessage
from rag.words import Span, fence, without_headings

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
        task = self._task.fill(
            fence=tag,
            sources="\n".join(f"<{tag} source={n}>\n{text.strip()}\n</{tag}>" for n, text in shown.items()),
            today=today.isoformat(),
            question=question,
            statements=_numbered(statements, asked, sources),
        )
        return (self._rules, ChatMessage(role="user", content=task))


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
