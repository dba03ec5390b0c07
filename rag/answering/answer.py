"""Writes the answer: the model's, streamed while it grows and judged at its end, or the facts themselves.

In: an `Assignment`. Out: `Draft`s, each the whole answer so far; the last one is `done`. The kind of the answer is
known before its first word is shown. When an answer fails its check, the model is asked once more; what fails then,
too, is taken out, and where nothing is left the renderer's text takes its place. So the text that a person sees grow is
changed at most once. It is judged as a whole: first by the rules that cannot be wrong, then by meaning, statement by
statement. Nothing is stored here; the texts never reach the log.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

import structlog

from domain.visible import visible
from prompts.loader import Prompts
from rag.answering.citations import citations_of, sober, understood, with_sides, without_references
from rag.answering.grounding import SAID, UNCHECKED, Checked, Judgement, SupportCheck, Verdict
from rag.answering.language import quotes_in_another_language, wanted_language
from rag.answering.marks import ParsedAnswer, divided, read
from rag.answering.plain import NOTHING, Draft, PlainAnswers, listed_items
from rag.answering.prompt import AnswerPrompt, AnswerSettings, Assignment, build_prompt, today_utc
from rag.answering.rules import Evidence, as_remarks, of_language, remarks_on, remarks_on_beginning
from rag.answering.statements import Statement, split, without
from rag.execution.facts import Fact
from rag.metering import CheckCounts
from rag.planning.plain_planner import without_remainder
from rag.ports import ChatModel, ModelError, ModelRefused
from rag.progress import BrokenOff, unless_set, until_set
from rag.records import AnswerKind, ChatMessage

BEST_FACTS = 4  # that an answer without marks is held against; most marks point to one of them
LAST_QUESTIONS = 3
LONGEST_NAMED = 200  # characters of a statement in a remark
NO_MARKS = "No statement is marked. Close each one with the number of its material, such as [1]."


@dataclass(frozen=True, kw_only=True)
class Judged:
    """An answer and what is wrong with it."""

    raw: str
    reading: ParsedAnswer
    remarks: tuple[str, ...] = ()  # by the rules
    checked: Checked = UNCHECKED
    sources: Mapping[int, str]  # that it was held against
    withdrawn: int = 0  # statements that were taken out

    @cached_property
    def complaints(self) -> tuple[str, ...]:
        """Everything that is wrong, for the model."""
        return (*self.remarks, *map(self._complaint, self.checked.failed))

    @cached_property
    def carried(self) -> dict[int, list[str]]:
        """By number of a fact: its words that carry the answer."""
        found: dict[int, list[str]] = {}
        for each in self.checked.judgements:
            for carrying in each.carried if each.verdict is Verdict.SUPPORTED else ():
                if carrying.source != SAID:
                    words = self.sources[carrying.source][carrying.span.start : carrying.span.end]
                    found.setdefault(carrying.source, []).append(words)
        return found

    def _complaint(self, failed: Judgement) -> str:
        words = [self.sources[each.source][each.span.start : each.span.end] for each in failed.carried]
        told = f" There it says: {'; '.join(f'«{each}»' for each in words)}." if words else ""
        says = "say otherwise than" if failed.verdict is Verdict.CONTRADICTED else "do not say"
        return f"The materials {says} «{failed.statement.text[:LONGEST_NAMED]}». {failed.why}{told}"


class AnswerJudge:
    """Judges the answers of an installation."""

    def __init__(self, settings: AnswerSettings, *, check: SupportCheck | None = None) -> None:
        """Without `check`, the rules alone count."""
        self._settings = settings
        self._check = check

    def by_rules(self, raw: str, prompt: AnswerPrompt) -> Judged:
        """The parsed answer, and what breaks a rule."""
        reading = understood(raw, prompt)
        remarks: tuple[str, ...] = ()
        if reading.text and self._settings.rules:
            evidence = replace(_evidence(prompt), language=self.language(prompt.assignment))
            remarks = remarks_on(reading.text, evidence, from_base=is_held_to_facts(reading, prompt))
        return Judged(raw=raw, reading=reading, remarks=remarks, sources=_sources(reading, prompt))

    async def by_meaning(self, judged: Judged, prompt: AnswerPrompt) -> Judged:
        """The same with the check's judgements. General knowledge is not checked: it is said not to be the base's."""
        if self._check and judged.reading.text and judged.reading.kind is not AnswerKind.GENERAL:
            question = prompt.assignment.understood or prompt.assignment.question
            statements = _statements(judged.raw, prompt)
            checked = await self._check.judge(statements, judged.sources, question=question, today=prompt.today)
            judged = replace(judged, checked=checked)
        return _placed(judged, marks_needed=self._settings.rules)

    def supported(self, judged: Judged, prompt: AnswerPrompt) -> Judged:
        """The answer without the statements that failed, with the sources that carry the others. Its text is empty
        where nothing that is supported is left."""
        gone = [each.statement for each in judged.checked.failed]
        if gone:
            sign, body, own_sources = divided(without_references(judged.raw, prompt.facts))
            raw = f"{sign}{without(body, gone)}{own_sources}"
            text = understood(raw, prompt).text
            supported = any(each.verdict is Verdict.SUPPORTED for each in judged.checked.judgements)
            is_left = supported or bool(judged.checked.missing)
            reading = replace(understood(raw, prompt), text=text if is_left else "", kind=judged.reading.kind)
            judged = replace(judged, raw=raw, reading=reading, withdrawn=len(gone))
        used = tuple(dict.fromkeys((*judged.reading.used, *judged.carried)))
        kind = AnswerKind.FROM_BASE if judged.carried else judged.reading.kind
        return replace(judged, reading=replace(judged.reading, used=used, kind=kind))

    def beginning(self, shown: ParsedAnswer, prompt: AnswerPrompt) -> tuple[str, ...]:
        """What breaks a rule in a text that was broken off."""
        if not self._settings.rules:
            return ()
        return remarks_on_beginning(shown.text, _evidence(prompt), from_base=is_held_to_facts(shown, prompt))

    def language(self, assignment: Assignment) -> str | None:
        """The language that the answer must be in. The previous question counts, too: it may have asked for a
        translation that this one continues."""
        before = (each.question for each in assignment.dialogue.window[-1:])
        return wanted_language(self._settings.language, assignment.question, assignment.understood, *before)


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


def counted(first: Judged, last: Judged | None = None) -> CheckCounts:
    """What the checks of an answer and of its second writing took and found."""
    checks = [each.checked for each in (first, last) if each is not None]
    return CheckCounts(
        outcome=checks[-1].outcome.value,
        statements=len(first.checked.judgements),
        failed=len(first.checked.failed),
        withdrawn=last.withdrawn if last else first.withdrawn,
        tokens=sum(each.tokens for each in checks),
        seconds=sum(each.seconds for each in checks),
    )


def is_held_to_facts(reading: ParsedAnswer, prompt: AnswerPrompt) -> bool:
    """Whether the facts must support the answer: one from the base, and also a conversation when there are facts, since
    an answer from them might be given under that sign without sources."""
    return reading.kind is AnswerKind.FROM_BASE or (reading.kind is AnswerKind.CONVERSATION and bool(prompt.facts))


def _statements(raw: str, prompt: AnswerPrompt) -> tuple[Statement, ...]:
    _, body, _ = divided(without_references(raw, prompt.facts))
    return split(body, facts=len(prompt.facts))


def _sources(reading: ParsedAnswer, prompt: AnswerPrompt) -> dict[int, str]:
    """What an answer is held against: the facts that it cites with the others of the same items (a row may come from
    two documents), or else the best ones; for a conversation the whole dialogue."""
    assignment = prompt.assignment
    held = {number: said for number, said in enumerate(prompt.said[: len(prompt.facts)], start=1) if said}
    items = {prompt.facts[number - 1].item for number in reading.used} - {""}
    used = {*reading.used, *(number for number in held if prompt.facts[number - 1].item in items)}
    numbers = sorted(used & held.keys()) or list(held)[:BEST_FACTS]
    is_conversation = reading.kind is AnswerKind.CONVERSATION
    last = (each.question for each in assignment.dialogue.window[-LAST_QUESTIONS:])
    said = "\n".join(assignment.dialogue.texts if is_conversation else last)
    left = f"Found besides what is listed: {assignment.facts.left_out}." if assignment.facts.left_out else ""
    told = "\n".join(filter(None, (said, assignment.gaps, left)))
    return {**{number: held[number] for number in numbers}, **({SAID: told} if told else {})}


def _evidence(prompt: AnswerPrompt) -> Evidence:
    assignment = prompt.assignment
    return Evidence(
        question=f"{assignment.question}\n{assignment.understood}",
        facts=prompt.said,
        rules=prompt.rules,
        dialogue=assignment.dialogue.texts,
        ids=assignment.hidden_ids,
    )


GROWTH = 1.03  # factor by which a streamed text must grow before it is parsed again

SAYS_NOTHING = ("It says nothing.",)
NOT_SHOWN = ParsedAnswer(kind=None, text="", used=())

log = structlog.get_logger()


@dataclass(kw_only=True)
class _Progress:
    """The state of a stream; it is still there when the stream breaks."""

    raw: str = ""
    read: int = 0  # length of `raw` when it was last parsed
    shown: ParsedAnswer = NOT_SHOWN

    @property
    def has_grown(self) -> bool:
        """Whether to parse it again. Parsing at every piece of a long answer would take seconds in all, and a growth of
        a thirtieth is not visible."""
        return len(self.raw) >= self.read * GROWTH


class AnswerWriter:
    """Writes answers; one object serves any number of questions concurrently and keeps no state between them."""

    def __init__(
        self,
        model: ChatModel,
        prompts: Prompts,
        settings: AnswerSettings,
        *,
        check: SupportCheck | None = None,
        today: Callable[[], date] = today_utc,
    ) -> None:
        """`check` judges what answers say; without it the rules alone do."""
        self._model = model
        self._prompts = prompts
        self._settings = settings
        self._plain = PlainAnswers(prompts, settings.language)
        self._judge = AnswerJudge(settings, check=check)
        self._today = today

    async def write(self, assignment: Assignment, stop: asyncio.Event | None = None) -> AsyncGenerator[Draft, None]:
        """Drafts of the answer; only the last is `done`. Model errors become degraded answers. When `stop` is set, the
        model is cancelled, and what it wrote so far is the answer if it may be shown."""
        prompt = build_prompt(assignment, prompts=self._prompts, settings=self._settings, today=self._today())
        progress, enough = _Progress(), stop or asyncio.Event()
        try:
            async with aclosing(self._stream(prompt, progress, enough)) as drafts:
                async for draft in drafts:
                    yield draft
        except BrokenOff:
            self._look(progress, prompt)
            yield self._stopped(progress.shown, prompt)
            return
        except ModelError as error:
            self._look(progress, prompt)
            self._report(error, progress.shown)
            was_shown = bool(progress.shown.text)
            yield self._cut_off(progress.shown, prompt) if was_shown else self._plain.write(assignment)
            return
        if self._look(progress, prompt) is progress.shown:
            yield self._draft(progress.shown, prompt)  # all of it can be read while it is checked
        yield await self._finish(visible(progress.raw), prompt, enough)

    async def _stream(
        self, prompt: AnswerPrompt, progress: _Progress, stop: asyncio.Event
    ) -> AsyncGenerator[Draft, None]:
        """Drafts while the model writes; the text is kept in `progress`. Raises BrokenOff when `stop` is set."""
        async with aclosing(until_set(stop, self._model.stream(prompt.messages))) as pieces:
            async for piece in pieces:
                progress.raw += piece
                if not progress.has_grown:
                    continue
                reading = self._look(progress, prompt)
                if self._is_unwanted(reading):
                    return
                if reading is progress.shown:
                    yield self._draft(reading, prompt)

    def _look(self, progress: _Progress, prompt: AnswerPrompt) -> ParsedAnswer:
        """Parse the text so far, and make it `progress.shown` if it may be shown and differs from that."""
        own = without_references(visible(progress.raw), prompt.facts, complete=False)
        reading = sober(read(own, passages=len(prompt.facts), complete=False), prompt)
        progress.read = len(progress.raw)
        if self._may_be_shown(reading) and reading.text != progress.shown.text:
            progress.shown = reading
        return reading

    def _is_unwanted(self, reading: ParsedAnswer) -> bool:
        """Whether the model uses general knowledge although that is off: the rest of the stream is not needed then."""
        return reading.kind is AnswerKind.GENERAL and not self._settings.general_knowledge

    def _may_be_shown(self, reading: ParsedAnswer) -> bool:
        """Whether the kind of the answer is known. Where general knowledge is off, the sign [+] is not enough: a mark
        is needed."""
        if reading.kind is None or not reading.text:
            return False
        only_claimed = reading.kind is AnswerKind.FROM_BASE and not reading.used
        return self._settings.general_knowledge or not only_claimed

    async def _finish(self, raw: str, prompt: AnswerPrompt, stop: asyncio.Event) -> Draft:
        """The whole answer with its sources, checked, and written once more when it may not be shown. When `stop` is
        set meanwhile, no model is asked any more."""
        first = self._judge.by_rules(raw, prompt)
        try:
            first = await unless_set(stop, self._judge.by_meaning(first, prompt))
        except BrokenOff:
            return self._stopped(first.reading, prompt)
        if self._is_unwanted(first.reading):
            return NOTHING
        complaints = first.complaints
        if not (first.reading.text or self._plain.write(prompt.assignment).text):
            complaints = SAYS_NOTHING  # and no facts were found to show instead
        if not complaints:
            kept = self._judge.supported(first, prompt)
            return replace(self._settled(kept, prompt), check=counted(kept))
        log.info("answer.withdrawn", model=self._model.name, remarks=len(complaints))
        try:
            again = await unless_set(stop, self._again(raw, complaints, prompt))
        except BrokenOff:
            return replace(self._stopped(NOT_SHOWN, prompt), remarks=complaints)
        draft = self._best(first, again, prompt)
        return replace(draft, remarks=tuple(dict.fromkeys((*complaints, *again.complaints))))

    async def _again(self, raw: str, complaints: tuple[str, ...], prompt: AnswerPrompt) -> Judged:
        """The second answer, judged; empty when the model fails."""
        written = await self._write_again(raw, complaints, prompt)
        return await self._judge.by_meaning(self._judge.by_rules(written, prompt), prompt)

    def _best(self, first: Judged, again: Judged, prompt: AnswerPrompt) -> Draft:
        """The second answer, or else the first one, without the statements that failed; the facts themselves if neither
        may be shown."""
        if self._is_unwanted(again.reading):
            return replace(NOTHING, check=counted(first, again))
        instead = self._plain.write(prompt.assignment, marked=_marked(again, prompt) or _marked(first, prompt))
        for each in (again, first):
            kept, is_foreign = self._judge.supported(each, prompt), of_language(each.remarks)
            may_be_shown = kept.reading.text and (is_foreign or not each.remarks)
            if may_be_shown and (not is_foreign or self._says_more(kept, instead, prompt.assignment)):
                draft = self._settled(kept, prompt)
                return replace(draft, check=counted(first, kept), in_other_language=is_foreign)
        log.info("answer.rendered", model=self._model.name, remarks=len(again.complaints))
        return replace(instead, check=counted(first, again))

    def _says_more(self, kept: Judged, instead: Draft, assignment: Assignment) -> bool:
        """Whether a correct answer in the wrong language is still better than the plain text: when that is empty, or
        quotes passages in another language, too."""
        is_from_base = kept.reading.kind is AnswerKind.FROM_BASE
        language = self._judge.language(assignment)
        return not (is_from_base and instead.text) or quotes_in_another_language(instead.text, language)

    async def _write_again(self, raw: str, remarks: tuple[str, ...], prompt: AnswerPrompt) -> str:
        """The model's second try; empty when the model fails, which is judged like any other empty answer."""
        stricter = self._prompts.stricter.fill(remarks=as_remarks(remarks))
        said = (ChatMessage(role="assistant", content=raw),) if raw.strip() else ()  # servers refuse an empty one
        asked = (*said, ChatMessage(role="user", content=stricter))
        try:
            return visible(await self._model.complete((*prompt.messages, *asked)))
        except ModelError as error:
            self._report(error, NOT_SHOWN)
            return ""

    def _settled(self, judged: Judged, prompt: AnswerPrompt) -> Draft:
        """The answer as it is shown in the end."""
        reading = judged.reading
        if not reading.text:
            log.warning("answer.empty", model=self._model.name)
            return self._plain.write(prompt.assignment)
        log.info(
            "answer.written",
            model=self._model.name,
            prompts=self._prompts.version,
            kind=reading.kind,
            facts=len(prompt.facts),
            used=len(reading.used),
            check=judged.checked.outcome.value,
        )
        draft = self._draft(reading, prompt)
        text = self._with_remainder(draft.text, prompt.assignment)
        cited = citations_of(reading, prompt, judged.carried)
        if draft.kind is AnswerKind.FROM_BASE:
            text, cited = with_sides(text, cited, prompt.assignment.facts.conflicts)
        return replace(draft, text=text, citations=cited, done=True)

    def _with_remainder(self, text: str, assignment: Assignment) -> str:
        """Adds the number of items that were left out, counted by code, in place of the model's own count.

        Where the answer puts several facts into one item («two projects», out of ten facts), the number of facts left
        out is no number of items, and is not added.
        """
        left, listed = assignment.facts.left_out, assignment.facts.listed
        if not left or listed_items(text) * 2 <= listed:
            return text
        return f"{without_remainder(text).rstrip()}\n\n{self._plain.remainder(listed, left, assignment)}"

    def _stopped(self, shown: ParsedAnswer, prompt: AnswerPrompt) -> Draft:
        """The text written until the person pressed stop, if it passes its check. Otherwise, and before the first
        words, the facts themselves. No model is asked any more."""
        log.info("answer.stopped", model=self._model.name, shown=len(shown.text))
        remarks = self._judge.beginning(shown, prompt)
        if not shown.text or shown.kind is None or remarks:
            return replace(self._plain.write(prompt.assignment), stopped=True, remarks=remarks)
        is_marked = bool(shown.used) or shown.kind is not AnswerKind.FROM_BASE
        draft = self._sourced(shown, prompt) if is_marked else self._above_passages(shown, prompt)
        return replace(draft, stopped=True)

    def _cut_off(self, shown: ParsedAnswer, prompt: AnswerPrompt) -> Draft:
        """The shown text stays, with the passages below it, which may hold the rest."""
        is_from_base = shown.kind is AnswerKind.FROM_BASE
        write = self._above_passages if is_from_base else self._sourced
        return replace(write(shown, prompt), cut=True)

    def _sourced(self, reading: ParsedAnswer, prompt: AnswerPrompt) -> Draft:
        cited = citations_of(reading, prompt)
        return replace(self._draft(reading, prompt), citations=cited, done=True)

    def _above_passages(self, reading: ParsedAnswer, prompt: AnswerPrompt) -> Draft:
        draft, below = self._sourced(reading, prompt), self._plain.write(prompt.assignment)
        known = {each.chunk_id for each in draft.citations}
        more = tuple(each for each in below.citations if each.chunk_id not in known)
        return replace(
            draft, passages=below.text, citations=(*draft.citations, *more), cited=(*draft.cited, *below.cited)
        )

    def _draft(self, reading: ParsedAnswer, prompt: AnswerPrompt) -> Draft:
        kind = reading.kind or AnswerKind.GENERAL
        used = tuple(sorted(set(reading.used)))
        cited = tuple(prompt.facts[number - 1] for number in used)
        return Draft(kind=kind, text=reading.text, model=self._model.name, used=used, cited=cited)

    def _report(self, error: ModelError, shown: ParsedAnswer) -> None:
        """A refusal is logged as an error: somebody has to pay or change the key. Other failures are temporary."""
        level = log.error if isinstance(error, ModelRefused) else log.warning
        level("answer.model_failed", model=self._model.name, reason=type(error).__name__, shown=len(shown.text))


def _marked(judged: Judged, prompt: AnswerPrompt) -> tuple[Fact, ...]:
    return tuple(prompt.facts[number - 1] for number in judged.reading.used)
