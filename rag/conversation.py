"""One turn, from a question to its answer.

In: a `Question`. Out: `TurnEvent`s: the search began, the text grew, answered. Memory and search run side by side, the
answer is streamed, and the exchange is kept also when the person has left. There is one search a turn. Questions and
texts never reach the log.
"""

import asyncio
import re
import time
import unicodedata
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, date, datetime

import structlog

from prompts.loader import Prompts
from rag.answering.answer import NOTHING, AnswerWriter, Draft, quoted
from rag.answering.prompt import AnswerSettings
from rag.ports import ChatModel, DialogueStore
from rag.records import Answer, Answered, Exchange, Question, RankedPassage, SearchStarted, TextGrew, TurnEvent
from rag.retrieval.search import Retrieval

KEPT_MESSAGES = 30  # seed 1, section 4.2: the history is trimmed to 30 messages
_INVISIBLE = re.compile(r"(?<=\S)[^\S\n]+|[\u00ad\u200b-\u200f\u2060\ufeff\x00-\x08\x0e-\x1f]")
_BLANK_LINES = re.compile(r"\n{3,}")

log = structlog.get_logger()


def _today() -> date:
    return datetime.now(UTC).date()


class Conversation:
    """Answers questions. One object serves everybody at once."""

    def __init__(
        self,
        retrieval: Retrieval,
        dialogue: DialogueStore,
        model: ChatModel | None,
        prompts: Prompts,
        *,
        answer_language: str,
        general_knowledge: bool,
        window_pairs: int,
        prompt_tokens: int,
        today: Callable[[], date] = _today,
    ) -> None:
        """`answer_language` is ru, en or auto; `window_pairs` exchanges of the dialogue go into the prompt at most."""
        settings = AnswerSettings(
            language=answer_language,
            general_knowledge=general_knowledge,
            window_pairs=window_pairs,
            prompt_tokens=prompt_tokens,
        )
        self._retrieval = retrieval
        self._dialogue = dialogue
        self._writer = None if model is None else AnswerWriter(model, prompts, settings, today=today)
        self._window_pairs = window_pairs
        self._storing: set[asyncio.Task[None]] = set()  # the loop itself holds tasks only weakly

    async def answer(self, question: Question) -> AsyncGenerator[TurnEvent, None]:
        """Events of the turn; the last is `Answered`. Raises the store's DatabaseAway.

        An exchange that cannot be stored is reported after the answer, so that the person gets the answer.
        """
        started = time.monotonic()
        asked = replace(question, text=normalise(question.text))
        yield SearchStarted()
        history, found = await self._prepare(asked)
        draft, drafts = NOTHING, self._drafts(asked, history, found)
        try:
            async for draft in drafts:
                if not draft.done:
                    yield TextGrew(kind=draft.kind, text=draft.text)
        finally:  # also when the person has left and this generator is being closed
            await drafts.aclose()
            stored = self._store(asked, draft)
            await asyncio.wait({stored})
        yield Answered(answer=_answer(draft, seconds=time.monotonic() - started))
        stored.result()

    async def _prepare(self, asked: Question) -> tuple[Sequence[Exchange], Sequence[RankedPassage]]:
        """The dialogue's window and the passages, side by side; when one fails the other is not left running."""
        window = asyncio.create_task(self._window(asked))
        try:
            found = await self._retrieval.find(asked.base_id, asked.text)
            return await window, found
        finally:
            window.cancel()
            await asyncio.gather(window, return_exceptions=True)  # its own failure is not left for the log to find

    async def _window(self, asked: Question) -> Sequence[Exchange]:
        if not self._window_pairs or self._writer is None:
            return ()
        return await self._dialogue.window(asked.user_id, asked.session_id, pairs=self._window_pairs)

    async def _drafts(
        self, asked: Question, history: Sequence[Exchange], found: Sequence[RankedPassage]
    ) -> AsyncGenerator[Draft, None]:
        if self._writer is None:
            yield quoted(found, asked.text)
            return
        async with aclosing(self._writer.write(asked.text, history, found)) as drafts:
            async for draft in drafts:
                yield draft

    def _store(self, asked: Question, draft: Draft) -> asyncio.Task[None]:
        task = asyncio.create_task(self._append(asked, Exchange(question=asked.text, answer=draft.text)))
        self._storing.add(task)
        task.add_done_callback(self._stored)
        return task

    async def _append(self, asked: Question, exchange: Exchange) -> None:
        """A turn without an answer leaves nothing to remember; an empty message would be refused by some models."""
        if not exchange.answer:
            return
        await self._dialogue.append(
            asked.user_id, asked.session_id, base=asked.base_id, exchange=exchange, keep=KEPT_MESSAGES
        )

    def _stored(self, task: asyncio.Task[None]) -> None:
        self._storing.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("dialogue.not_stored", reason=type(error).__name__)


def normalise(text: str) -> str:
    """One Unicode form, no invisible characters, single spaces; line breaks and indents stay, they may be code."""
    plain = _INVISIBLE.sub(lambda found: " " if found[0].isspace() else "", unicodedata.normalize("NFC", text))
    return _BLANK_LINES.sub("\n\n", plain).strip()


def _answer(draft: Draft, *, seconds: float) -> Answer:
    return Answer(
        kind=draft.kind,
        text=draft.text,
        citations=draft.citations,
        model=draft.model,
        seconds=seconds,
        cut=draft.cut,
    )
