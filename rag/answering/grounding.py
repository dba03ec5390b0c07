"""The support check: a model judges each statement of an answer by its facts, and code looks up the model's evidence.

In: statements, the texts of the facts that they cite, what the person asked. Out: a `Judgement` of each, with the
places of the words that carry it. A model that is away or answers nonsense leaves the statements unjudged.
"""

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

import structlog
from pydantic import BaseModel, Field

from domain.visible import visible
from prompts.loader import Prompts
from rag.answering.marks import Statement
from rag.excerpts import find, near
from rag.metering import Usage, metering_step
from rag.ports import ChatModel, ModelError, ModelNonsense
from rag.records import ChatMessage, asking
from rag.words import fence, without_headings

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


class _Evidence(BaseModel):
    source: int
    words: str


class _Judged(BaseModel):
    statement: int
    evidence: tuple[_Evidence, ...] = ()
    verdict: Verdict
    why: str = Field("", max_length=2000)


class SupportReply(BaseModel):
    """The model's reply. Evidence comes before the verdict, so that the verdict follows from it."""

    statements: tuple[_Judged, ...]


@dataclass(frozen=True, kw_only=True)
class Carrying:
    """Words of a source that carry a statement."""

    source: int  # number of the fact, from 1; SAID for the dialogue
    words: str  # as the source has them


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """One statement, judged."""

    statement: Statement
    verdict: Verdict
    carried: tuple[Carrying, ...] = ()  # found in the sources
    why: str = ""


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
        return tuple(each for each in self.judgements if each.verdict in (Verdict.CONTRADICTED, Verdict.ABSENT))


UNCHECKED = Checked(outcome=Outcome.UNNEEDED)


@dataclass(frozen=True)
class SupportCheck:
    """Checks answers of an installation; it keeps no state between them."""

    model: ChatModel  # CHECKER_MODEL
    prompts: Prompts

    async def judge(
        self, statements: Sequence[Statement], sources: Mapping[int, str], *, question: str, today: date
    ) -> Checked:
        """A judgement of each statement that is no title. `sources`: text by number. Never raises ModelError."""
        asked = [each for each in statements if not each.is_title]
        if not asked or not any(text.strip() for text in sources.values()):
            return UNCHECKED
        started, usage = time.monotonic(), Usage()
        found: dict[Statement, Judgement] = {}
        outcome, tries = Outcome.UNREADABLE, 0
        try:
            with metering_step(usage):
                while tries < 2 and (found or not tries) and len(found) < len(asked):
                    tries += 1
                    missing = [each for each in asked if each not in found]
                    messages = self.messages(statements, missing, sources, question=question, today=today)
                    found |= judgements_of(await self.model.structured(messages, SupportReply), missing, sources)
        except ModelError as error:
            log.warning("check.failed", model=self.model.name, reason=type(error).__name__, judged=len(found))
            outcome = Outcome.UNREADABLE if isinstance(error, ModelNonsense) else Outcome.AWAY
        missing = [each for each in asked if each not in found]
        if found:
            outcome = Outcome.PARTLY if missing else Outcome.CHECKED
        return Checked(
            outcome=outcome,
            judgements=tuple(found[each] for each in asked if each in found),
            missing=tuple(missing) if found else (),
            tokens=usage.tokens,
            seconds=time.monotonic() - started,
        )

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
        shown: dict[int, str] = {}  # of each source what is near the statements, and all that those which cite it share
        for number, text in sources.items():
            citing = [each.text for each in asked if number in each.marks or not sources.keys() & set(each.marks)]
            if text.strip():
                shown[number] = without_headings(near(visible(text), told, limit=SOURCE_CHARS, whole=citing))
        numbers = {each: number for number, each in enumerate(asked, start=1)}  # titles get none
        known, lines = _figures("\n".join(sources.values())), list[str]()
        for each in statements:
            strange = sorted(_figures(each.text) - known)  # a hint, no verdict
            hints = [f"cites {', '.join(map(str, each.marks))}"] if each.marks else []
            hints += [f"so written in no source: {', '.join(strange)}"] if strange else []
            hint = f"({'; '.join(hints)}) " if hints else ""
            lines.append(f"{numbers[each]}. {hint}{each.text}" if each in numbers else each.text)
        tag = fence("text", *shown.values(), told)
        task = self.prompts.support_task.fill(
            fence=tag,
            sources="\n".join(f"<{tag} source={n}>\n{text.strip()}\n</{tag}>" for n, text in shown.items()),
            today=today.isoformat(),
            question=question,
            statements="\n".join(lines),
        )
        return asking(self.prompts.support, task)


def judgements_of(
    reply: SupportReply, asked: Sequence[Statement], sources: Mapping[int, str]
) -> dict[Statement, Judgement]:
    """The judgements with their evidence looked up; what is judged twice is not judged."""
    times = Counter(each.statement for each in reply.statements)
    judged = {each.statement: each for each in reply.statements if times[each.statement] == 1}
    found: dict[Statement, Judgement] = {}
    for number, statement in enumerate(asked, start=1):
        if (said := judged.get(number)) is None:
            continue
        places = [_place(each, sources) for each in said.evidence]
        verdict, why = said.verdict, said.why
        if verdict is Verdict.NOTHING and statement.marks:  # what cites a fact claims something
            verdict = Verdict.SUPPORTED
        if verdict is Verdict.SUPPORTED and not (places and all(places)):
            verdict, why = Verdict.ABSENT, why or "No words of the materials were found that say it."
        carried = tuple(filter(None, places))
        found[statement] = Judgement(statement=statement, verdict=verdict, carried=carried, why=why)
    return found


def _place(evidence: _Evidence, sources: Mapping[int, str]) -> Carrying | None:
    """Where the words stand: in the source that is named, or else in another one that was shown."""
    for number, text in sorted(sources.items(), key=lambda each: each[0] != evidence.source):
        if span := find(evidence.words, text):
            return Carrying(source=number, words=text[span.start : span.end])
    return None


def _figures(text: str) -> frozenset[str]:
    """Numbers in digits, as they are written but for blanks between thousands."""
    return frozenset(_FIGURE.findall(_THOUSANDS.sub("", text)))
