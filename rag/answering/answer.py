"""Writes the answer: the model's, given out as it grows, or the best passages when the model cannot.

In: a question, the dialogue's window, ranked passages. Out: `Draft`s, each the whole answer so far; the last one is
`done`. What the answer stands on is known before its first word is given out, and what might have to be taken back is
not given out early. It stores nothing; the texts never reach the log.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import date

import structlog

from prompts.loader import Prompts
from rag.answering.citations import cite, supports
from rag.answering.marks import Reading, read
from rag.answering.prompt import AnswerPrompt, AnswerSettings, build_prompt
from rag.answering.quotes import MAX_QUOTES, choose, quote_passages
from rag.errors import ModelError, ModelRefused
from rag.ports import ChatModel
from rag.records import AnswerKind, Citation, Exchange, RankedPassage

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The answer so far."""

    kind: AnswerKind
    text: str
    citations: tuple[Citation, ...] = ()
    model: str | None = None
    cut: bool = False
    done: bool = False


@dataclass(kw_only=True)
class _Progress:
    """How far a model has come; it outlives a stream that breaks."""

    raw: str = ""
    shown: Reading = field(default_factory=lambda: Reading(kind=None, text="", used=()))


NOTHING = Draft(kind=AnswerKind.NOTHING, text="", done=True)


class AnswerWriter:
    """Answers one question at a time, any number side by side; it keeps no state between them."""

    def __init__(
        self, model: ChatModel, prompts: Prompts, settings: AnswerSettings, *, today: Callable[[], date]
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._settings = settings
        self._today = today

    async def write(
        self, question: str, history: Sequence[Exchange], found: Sequence[RankedPassage]
    ) -> AsyncGenerator[Draft, None]:
        """Drafts of the answer; the last, and only the last, is done. Model errors become its degraded forms."""
        today = self._today()
        prompt = build_prompt(question, history, found, prompts=self._prompts, settings=self._settings, today=today)
        progress = _Progress()
        try:
            async with aclosing(self._stream(prompt, progress)) as drafts:
                async for draft in drafts:
                    yield draft
        except ModelError as error:
            self._report(error, progress.shown)
            yield self._cut_off(progress.shown, prompt, question) if progress.shown.text else quoted(found, question)
            return
        yield self._finish(progress.raw, prompt, question)

    async def _stream(self, prompt: AnswerPrompt, progress: _Progress) -> AsyncGenerator[Draft, None]:
        """Drafts as the model writes; what it wrote is left in `progress`."""
        async with _open(self._model.stream(prompt.messages)) as pieces:
            async for piece in pieces:
                progress.raw += piece
                reading = _sober(read(progress.raw, passages=len(prompt.passages), complete=False), prompt)
                if self._is_unwanted(reading):
                    return
                if self._may_be_shown(reading) and reading.text != progress.shown.text:
                    progress.shown = reading
                    yield self._draft(reading)

    def _is_unwanted(self, reading: Reading) -> bool:
        """The model goes beyond the base where it should not: the rest need not be waited for."""
        return reading.kind is AnswerKind.GENERAL and not self._settings.general_knowledge

    def _may_be_shown(self, reading: Reading) -> bool:
        """Known what it stands on. Where general knowledge is off, the sign [+] alone is no proof; a mark is."""
        if reading.kind is None or not reading.text:
            return False
        only_claimed = reading.kind is AnswerKind.FROM_BASE and not reading.used
        return self._settings.general_knowledge or not only_claimed

    def _finish(self, raw: str, prompt: AnswerPrompt, question: str) -> Draft:
        """The whole answer, checked, with its sources."""
        reading = _settle(_sober(read(raw, passages=len(prompt.passages), complete=True), prompt), prompt, question)
        if self._is_unwanted(reading):
            return NOTHING
        if not reading.text:
            log.warning("answer.empty", model=self._model.name)
            return quoted(prompt.passages, question)
        log.info(
            "answer.written",
            model=self._model.name,
            prompts=self._prompts.version,
            kind=reading.kind,
            passages=len(prompt.passages),
            used=len(reading.used),
        )
        return replace(self._draft(reading), citations=_cited(reading, prompt, question), done=True)

    def _cut_off(self, shown: Reading, prompt: AnswerPrompt, question: str) -> Draft:
        """What was shown stays; without a mark so far, the best passages are its sources."""
        if shown.kind is AnswerKind.FROM_BASE and not shown.used:
            first = range(1, min(len(prompt.passages), MAX_QUOTES) + 1)
            shown = replace(shown, used=tuple(first))
        return replace(self._draft(shown), citations=_cited(shown, prompt, question), cut=True, done=True)

    def _draft(self, reading: Reading) -> Draft:
        return Draft(kind=reading.kind or AnswerKind.GENERAL, text=reading.text, model=self._model.name)

    def _report(self, error: ModelError, shown: Reading) -> None:
        """A refusal needs somebody to pay or to mend the key; anything else passes."""
        level = log.error if isinstance(error, ModelRefused) else log.warning
        level("answer.model_failed", model=self._model.name, reason=type(error).__name__, shown=len(shown.text))


def quoted(found: Sequence[RankedPassage], question: str) -> Draft:
    """The answer without a model: the passages that are certain, or nothing."""
    if not (best := choose(found)):
        return NOTHING
    text, citations = quote_passages(best, question)
    return Draft(kind=AnswerKind.QUOTES, text=text, citations=citations, done=True)


def _sober(reading: Reading, prompt: AnswerPrompt) -> Reading:
    """Where nothing was found, nothing can be from the base, whatever the model says."""
    claimed = reading.kind is AnswerKind.FROM_BASE and not prompt.passages
    return replace(reading, kind=AnswerKind.GENERAL) if claimed else reading


def _settle(reading: Reading, prompt: AnswerPrompt, question: str) -> Reading:
    """An answer that is said to be from the base, or says nothing of it, but marks nothing.

    Its sources are the passages whose words it repeats; where there are none, it is general knowledge: a false label
    on a true answer costs less than a source that does not hold it.
    """
    if reading.used or reading.kind in (AnswerKind.GENERAL, AnswerKind.CONVERSATION):
        return reading
    used = supports(reading.text, question, prompt.passages)
    return replace(reading, kind=AnswerKind.FROM_BASE if used else AnswerKind.GENERAL, used=used)


def _cited(reading: Reading, prompt: AnswerPrompt, question: str) -> tuple[Citation, ...]:
    if reading.kind is not AnswerKind.FROM_BASE:
        return ()
    about = f"{question}\n{reading.text}"
    return tuple(cite(prompt.passages[number - 1].passage, about=about) for number in reading.used)


@asynccontextmanager
async def _open(pieces: AsyncIterator[str]) -> AsyncIterator[AsyncIterator[str]]:
    """Close a model's stream when it is left early, so that the connection does not wait for the garbage collector."""
    try:
        yield pieces
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()
