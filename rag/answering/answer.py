"""Writes the answer: the model's, streamed while it grows and judged at its end, or the facts themselves.

In: an `Assignment`. Out: `Draft`s, each the whole answer so far. It is judged as a whole, by rules and by meaning; when
it fails, the model is asked once more, what fails then, too, is taken out, and where nothing is left the renderer's
text takes its place. Texts never reach the log.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, partial

import structlog

from domain.visible import visible
from prompts.loader import Prompts
from rag.answering.citations import Carried, citations_of, with_sides
from rag.answering.grounding import SAID, UNCHECKED, Checked, SupportCheck, Verdict
from rag.answering.marks import ParsedAnswer, divided, split, without
from rag.answering.plain import NOTHING, Draft, PlainAnswers, listed_items
from rag.answering.prompt import AnswerPrompt, AnswerSettings, Assignment, build_prompt, today_utc
from rag.answering.rules import LANGUAGE_REMARKS, in_another_language, remarks_on, wanted_language
from rag.metering import CheckCounts
from rag.planning.plain_planner import without_remainder
from rag.ports import ChatModel, ModelError, ModelRefused
from rag.progress import BrokenOff, unless_set, until_set
from rag.records import AnswerKind, ChatMessage

BEST_FACTS = 4  # that an answer without marks is held against; most marks point to one of them
GROWTH = 1.03  # factor by which a streamed text must grow before it is parsed again: a thirtieth is not visible
NOT_SHOWN = ParsedAnswer(kind=None, text="", used=())
NO_MARKS = "No statement is marked. Close each one with the number of its material, such as [1]."

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Judged:
    """An answer and what is wrong with it."""

    raw: str
    reading: ParsedAnswer
    remarks: tuple[str, ...] = ()  # by the rules
    checked: Checked = UNCHECKED
    withdrawn: int = 0  # statements that were taken out

    @cached_property
    def complaints(self) -> tuple[str, ...]:
        """Everything that is wrong, for the model."""
        told = list(self.remarks)
        for failed in self.checked.failed:
            says = "say otherwise than" if failed.verdict is Verdict.CONTRADICTED else "do not say"
            told.append(f"The materials {says} «{failed.statement.text[:200]}». {failed.why}")
            if words := "; ".join(f"«{each.words}»" for each in failed.carried):
                told[-1] += f" There it says: {words}."
        return tuple(told)

    @cached_property
    def carried(self) -> dict[int, list[str]]:
        """By number of a fact: its words that carry the answer."""
        found: dict[int, list[str]] = {}
        for each in self.checked.judgements:
            for carrying in each.carried if each.verdict is Verdict.SUPPORTED else ():
                if carrying.source != SAID:
                    found.setdefault(carrying.source, []).append(carrying.words)
        return found


@dataclass(kw_only=True)
class _Writing:
    """One answer on its way; what the model has written is still there when the stream breaks."""

    writer: "AnswerWriter"
    prompt: AnswerPrompt
    stop: asyncio.Event
    raw: str = ""
    looked_at: int = 0  # length of `raw` when it was last parsed
    shown: ParsedAnswer = NOT_SHOWN

    def __post_init__(self) -> None:
        self.model, self.settings = self.writer.model, self.writer.settings
        self.assignment = self.prompt.assignment
        self.plain = PlainAnswers(self.writer.prompts, self.settings.language)

    @cached_property
    def instead(self) -> Draft:
        """The facts themselves."""
        return self.plain.write(self.assignment)

    async def drafts(self) -> AsyncGenerator[Draft, None]:
        """Only the last is `done`."""
        pieces = until_set(self.stop, self.model.stream(self.prompt.messages))
        try:
            async for piece in pieces:
                self.raw += piece
                # parsing at every piece of a long answer would take seconds in all
                reading = self._look() if len(self.raw) >= self.looked_at * GROWTH else NOT_SHOWN
                if self._is_unwanted(reading):
                    break
                if reading.text and reading is self.shown:
                    yield self._draft(reading)
        except BrokenOff:
            self._look()
            yield self._stopped(self.shown)
            return
        except ModelError as error:
            self._look()
            self._report(error)
            # what was shown stays, with the passages below it, which may hold the rest
            below = self.instead if self.shown.kind is AnswerKind.FROM_BASE else None
            yield replace(self._sourced(self.shown, below=below), cut=True) if self.shown.text else self.instead
            return
        finally:
            await pieces.aclose()
        if self._look() is self.shown:
            yield self._draft(self.shown)  # all of it can be read while it is checked
        yield await self._finished(visible(self.raw))

    def _look(self) -> ParsedAnswer:
        """Parse the text so far, and make it `shown` if its kind is known and it differs from that. Where general
        knowledge is off, the sign [+] is not enough: a mark is needed."""
        reading = self.prompt.read(visible(self.raw), complete=False)
        self.looked_at = len(self.raw)
        only_claimed = reading.kind is AnswerKind.FROM_BASE and not reading.used
        is_known = reading.kind is not None and (self.settings.general_knowledge or not only_claimed)
        if is_known and reading.text and reading.text != self.shown.text:
            self.shown = reading
        return reading

    def _is_unwanted(self, reading: ParsedAnswer) -> bool:
        """Whether the model uses general knowledge although that is off: the rest of the stream is not needed then."""
        return reading.kind is AnswerKind.GENERAL and not self.settings.general_knowledge

    async def _finished(self, raw: str) -> Draft:
        """The whole answer, checked, and written once more when it may not be shown, unless it is stopped."""
        try:
            first = await unless_set(self.stop, self._judged(raw))
        except BrokenOff:
            return self._stopped(self.prompt.read(raw, complete=True))
        if self._is_unwanted(first.reading):
            return NOTHING
        complaints = first.complaints
        if not (first.reading.text or self.instead.text):
            complaints = ("It says nothing.",)  # and no facts were found to show instead
        if not complaints:
            return self._best(first)
        log.info("answer.withdrawn", model=self.model.name, remarks=len(complaints))
        try:
            again = await unless_set(self.stop, self._again(raw, complaints))
        except BrokenOff:
            return replace(self._stopped(NOT_SHOWN), remarks=complaints)
        return replace(self._best(first, again), remarks=tuple(dict.fromkeys((*complaints, *again.complaints))))

    async def _again(self, raw: str, complaints: Sequence[str]) -> Judged:
        """The model's second try, judged; empty when the model fails."""
        stricter = self.writer.prompts.stricter.fill(remarks="\n".join(f"- {remark}" for remark in complaints))
        said = (ChatMessage(role="assistant", content=raw),) if raw.strip() else ()  # servers refuse an empty one
        written = ""
        try:
            asked = (*self.prompt.messages, *said, ChatMessage(role="user", content=stricter))
            written = visible(await self.model.complete(asked))
        except ModelError as error:
            self._report(error)
        return await self._judged(written)

    def _best(self, *tries: Judged) -> Draft:
        """The last answer, or else the one before it, without the statements that failed; else the facts themselves.
        A correct answer in the wrong language is still better than no text, or than quotes in another language."""
        last = tries[-1]
        if self._is_unwanted(last.reading):
            return replace(NOTHING, check=_counted(tries, last))
        numbers = last.reading.used or tries[0].reading.used
        marked = [self.prompt.facts[number - 1] for number in numbers]
        instead = partial(self.plain.write, self.assignment, marked=marked)
        for each in reversed(tries):
            kept = self._supported(each)
            is_foreign = bool(each.remarks) and set(each.remarks) <= set(LANGUAGE_REMARKS.values())
            if not kept.reading.text or (each.remarks and not is_foreign):
                continue
            quoted = instead().text if is_foreign and kept.reading.kind is AnswerKind.FROM_BASE else ""
            own_words = re.sub(r"^>[ \t]?", "", quoted, flags=re.MULTILINE)
            if quoted and self._language and not in_another_language(own_words, self._language):
                continue
            return replace(self._settled(kept), check=_counted(tries, kept), in_other_language=is_foreign)
        log.info("answer.rendered", model=self.model.name, remarks=len(last.complaints))
        return replace(instead(), check=_counted(tries, last))

    @property
    def _language(self) -> str | None:
        """That the answer must be in. The question before may ask for a translation that this one continues."""
        asked = self.assignment
        before = (each.question for each in asked.dialogue.window[-1:])
        return wanted_language(self.settings.language, asked.question, asked.understood, *before)

    def _is_held_to_facts(self, reading: ParsedAnswer) -> bool:
        """One from the base, and a conversation beside facts: it might be an answer from them without sources."""
        is_talk = reading.kind is AnswerKind.CONVERSATION and bool(self.prompt.facts)
        return reading.kind is AnswerKind.FROM_BASE or is_talk

    async def _judged(self, raw: str) -> Judged:
        """By the rules, and by meaning. General knowledge is not checked: it is said not to be the base's."""
        reading = self.prompt.read(raw, complete=True)
        remarks, checked = tuple[str, ...](), UNCHECKED
        if reading.text and self.settings.rules:
            held = self._is_held_to_facts(reading)
            remarks = remarks_on(reading.text, self.prompt, from_base=held, language=self._language)
        if (check := self.writer.check) and reading.text and reading.kind is not AnswerKind.GENERAL:
            _, body, _ = divided(raw, self.prompt.names)
            statements = split(body, facts=len(self.prompt.facts))
            question = self.assignment.understood or self.assignment.question
            sources = _sources(reading, self.prompt)
            checked = await check.judge(statements, sources, question=question, today=self.prompt.today)
        judged = Judged(raw=raw, reading=reading, remarks=remarks, checked=checked)
        return _placed(judged, marks_needed=self.settings.rules)

    def _supported(self, judged: Judged) -> Judged:
        """The answer without the statements that failed; its text is empty where nothing that is supported is left."""
        gone = [each.statement for each in judged.checked.failed]
        if gone:
            sign, body, own_sources = divided(judged.raw, self.prompt.names)
            raw = f"{sign}{without(body, gone)}{own_sources}"
            left = self.prompt.read(raw, complete=True)
            supported = any(each.verdict is Verdict.SUPPORTED for each in judged.checked.judgements)
            text = left.text if supported or judged.checked.missing else ""
            reading = replace(left, text=text, kind=judged.reading.kind)
            judged = replace(judged, raw=raw, reading=reading, withdrawn=len(gone))
        used = tuple(dict.fromkeys((*judged.reading.used, *judged.carried)))
        kind = AnswerKind.FROM_BASE if judged.carried else judged.reading.kind
        return replace(judged, reading=replace(judged.reading, used=used, kind=kind))

    def _settled(self, judged: Judged) -> Draft:
        """The answer as it is shown in the end. The number of items that were left out is counted by code, in place of
        the model's own count; where the answer puts several facts into one item («two projects», out of ten facts), the
        number of facts left out is no number of items, and is not added."""
        reading, found = judged.reading, self.assignment.facts
        log.info(
            "answer.written",
            model=self.model.name,
            prompts=self.writer.prompts.version,
            kind=reading.kind,
            facts=len(self.prompt.facts),
            used=len(reading.used),
            check=judged.checked.outcome.value,
        )
        draft, text = self._sourced(reading, carried=judged.carried), reading.text
        if found.left_out and listed_items(text) * 2 > found.listed:
            remainder = self.plain.remainder(found.listed, found.left_out, self.assignment)
            text = f"{without_remainder(text).rstrip()}\n\n{remainder}"
        cited = draft.citations
        if draft.kind is AnswerKind.FROM_BASE:
            text, cited = with_sides(text, cited, found.conflicts)
        return replace(draft, text=text, citations=cited)

    def _stopped(self, shown: ParsedAnswer) -> Draft:
        """The text until the person pressed stop, if it passes its check; otherwise, or without text, the facts."""
        log.info("answer.stopped", model=self.model.name, shown=len(shown.text))
        remarks: tuple[str, ...] = ()
        if self.settings.rules:
            held = self._is_held_to_facts(shown)
            remarks = remarks_on(shown.text, self.prompt, from_base=held, is_whole=False)
        if not shown.text or shown.kind is None or remarks:
            return replace(self.instead, stopped=True, remarks=remarks)
        is_marked = bool(shown.used) or shown.kind is not AnswerKind.FROM_BASE
        return replace(self._sourced(shown, below=None if is_marked else self.instead), stopped=True)

    def _sourced(self, reading: ParsedAnswer, *, carried: Carried | None = None, below: Draft | None = None) -> Draft:
        draft = replace(self._draft(reading), citations=citations_of(reading, self.prompt, carried), done=True)
        if below is None:
            return draft
        known = {each.chunk_id for each in draft.citations}
        more = tuple(each for each in below.citations if each.chunk_id not in known)
        cited = (*draft.cited, *below.cited)
        return replace(draft, passages=below.text, citations=(*draft.citations, *more), cited=cited)

    def _draft(self, reading: ParsedAnswer) -> Draft:
        used = tuple(sorted(set(reading.used)))
        cited = tuple(self.prompt.facts[number - 1] for number in used)
        kind = reading.kind or AnswerKind.GENERAL
        return Draft(kind=kind, text=reading.text, model=self.model.name, used=used, cited=cited)

    def _report(self, error: ModelError) -> None:
        """A refusal is logged as an error: somebody has to pay or change the key. Other failures are temporary."""
        level = log.error if isinstance(error, ModelRefused) else log.warning
        level("answer.model_failed", model=self.model.name, reason=type(error).__name__, shown=len(self.shown.text))


def _placed(judged: Judged, *, marks_needed: bool) -> Judged:
    """Settles the kind of an answer without marks by what the check found. What had no sign either, and is said by no
    fact, is general knowledge: a wrong label on a correct answer costs less than a source that does not support it."""
    reading, checked = judged.reading, judged.checked
    if reading.used or reading.kind in (AnswerKind.GENERAL, AnswerKind.CONVERSATION) or not reading.text:
        return judged
    verdicts = {each.verdict for each in checked.judgements}
    if Verdict.CONTRADICTED in verdicts or judged.carried:
        return replace(judged, reading=replace(reading, kind=AnswerKind.FROM_BASE))
    if reading.kind is None or not marks_needed:
        general = replace(reading, kind=AnswerKind.GENERAL)
        return replace(judged, reading=general, checked=replace(checked, judgements=()))
    if verdicts == {Verdict.NOTHING}:
        return replace(judged, reading=replace(reading, kind=AnswerKind.CONVERSATION))
    return judged if verdicts else replace(judged, remarks=(*judged.remarks, NO_MARKS))


def _counted(tries: Sequence[Judged], shown: Judged) -> CheckCounts:
    return CheckCounts(
        outcome=shown.checked.outcome.value,
        statements=len(tries[0].checked.judgements),
        failed=len(tries[0].checked.failed),
        withdrawn=shown.withdrawn,
        tokens=sum(each.checked.tokens for each in tries),
        seconds=sum(each.checked.seconds for each in tries),
    )


def _sources(reading: ParsedAnswer, prompt: AnswerPrompt) -> dict[int, str]:
    """The facts that it cites with the others of the same items, or else the best ones; and what was said."""
    assignment = prompt.assignment
    held = {number: said for number, said in enumerate(prompt.said[: len(prompt.facts)], start=1) if said}
    items = {prompt.facts[number - 1].item for number in reading.used} - {""}
    used = {*reading.used, *(number for number in held if prompt.facts[number - 1].item in items)}
    numbers = sorted(used & held.keys()) or list(held)[:BEST_FACTS]
    is_conversation = reading.kind is AnswerKind.CONVERSATION
    last = (each.question for each in assignment.dialogue.window[-3:])
    said = "\n".join(assignment.dialogue.texts if is_conversation else last)
    left = f"Found besides what is listed: {assignment.facts.left_out}." if assignment.facts.left_out else ""
    told = "\n".join(filter(None, (said, assignment.gaps, left)))
    return {**{number: held[number] for number in numbers}, **({SAID: told} if told else {})}


@dataclass(frozen=True)
class AnswerWriter:
    """Writes answers; one object serves any number of questions concurrently and keeps no state between them."""

    model: ChatModel
    prompts: Prompts
    settings: AnswerSettings
    check: SupportCheck | None = None  # judges what answers say; without it the rules alone do
    today: Callable[[], date] = today_utc

    def write(self, assignment: Assignment, stop: asyncio.Event | None = None) -> AsyncGenerator[Draft, None]:
        """Drafts of the answer; only the last is `done`. Model errors become degraded answers. When `stop` is set, the
        model is cancelled, and what it wrote so far is the answer if it may be shown."""
        prompt = build_prompt(assignment, prompts=self.prompts, settings=self.settings, today=self.today())
        return _Writing(writer=self, prompt=prompt, stop=stop or asyncio.Event()).drafts()
