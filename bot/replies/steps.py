"""The steps of a turn in words: a live list with a stop button while they run, and a summary below the answer.

In: steps as the engine reports them, as often as they change; an answer. Out: one message, edited at Telegram's rate
limit and deleted when the answer comes; rich text that says how much was read and what could not be done. An error with
the list never affects the answer.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import structlog
from aiogram import Bot
from aiogram.exceptions import TelegramAPIError

from bot.keyboards import STOP, button, rows
from bot.replies.names import shortened
from bot.replies.rich import RichText, join, rich, to_html
from bot.replies.sending import Place, edit, send
from bot.texts import Words
from domain.ending import end
from domain.ids import MessageId
from rag.addresses import defanged
from rag.execution.tools import Spent
from rag.progress import StepShown, StepState
from rag.records import (
    Answer,
    DocumentsRead,
)

SIGNS = {
    StepState.WAITING: "▫️",
    StepState.RUNNING: "⏳",
    StepState.DONE: "✅",
    StepState.SHORT: "☑️",
    StepState.FAILED: "⚠️",
    StepState.STOPPED: "⏹",
    StepState.SKIPPED: "▫️",
    StepState.IN_VAIN: "▫️",
}
EMPTY_SIGN = SIGNS[StepState.SHORT]
ABOUT_CHARACTERS = 60
LISTED = 8  # steps shown in the list: one phone screen
ACTIONS = {
    "rag_db_query": "step-search",
    "graph_query_tool": "step-known",
    "list_documents": "step-list",
    "read_document": "step-read-one",
    "read_documents": "step-read",
    "collect_rows": "step-rows",
    "analyze": "step-think",
}

log = structlog.get_logger()

PAUSE_S = 1.2  # Telegram allows a bot about one message a second in a chat


def steps_text(steps: Sequence[StepShown], words: Words) -> RichText:
    """The live list, without skipped steps."""
    kept = [step for step in steps if step.state is not StepState.SKIPPED]
    lines = [rich(_line(step, words)) for step in kept[-LISTED:]]
    return join([rich(words.plain("steps-title")), *lines], "\n")


def work_done(answer: Answer, words: Words) -> list[str]:
    """How much was read, why the work ended early, what failed or was not done: a line each."""
    lines = _reading_done(answer.documents, words) if answer.documents else []
    if answer.spent and not (answer.stopped and answer.spent == Spent.STOPPED):  # the answer itself says that already
        lines.append(words.plain(f"answer-spent-{answer.spent.replace('_', '-')}"))
    if answer.spent and (left := _left(answer.documents)):
        lines.append(words.plain("answer-documents-left", count=left))
    failed = [_step(step, words) for step in answer.steps if step.state is StepState.FAILED]
    if failed:
        lines.append(words.plain("answer-steps-failed", steps="; ".join(failed)))
    left_out = [_step(step, words) for step in answer.steps if step.state is StepState.IN_VAIN]
    if left_out:
        lines.append(words.plain("answer-steps-in-vain", steps="; ".join(left_out)))
    return lines


def _line(step: StepShown, words: Words) -> str:
    """A step of the live list; one that found nothing says so."""
    said = _step(step, words)
    if step.is_empty:
        nothing = "step-no-conclusion" if step.action == "analyze" else "step-nothing"
        return f"{EMPTY_SIGN} {words.plain(nothing, step=said)}"
    if step.state is StepState.IN_VAIN:
        said = words.plain("step-in-vain", step=said)
    if step.state is StepState.STOPPED:
        said = words.plain("step-stopped", step=said)
    return f"{SIGNS[step.state]} {said}"


def _left(read: DocumentsRead | None) -> int:
    """How many documents were not read, or not to their end."""
    return read.total - read.read - read.problems if read else 0


def _reading_done(read: DocumentsRead, words: Words) -> list[str]:
    lines = [words.plain("answer-documents-read", read=read.read, total=read.total, without=read.without_data)]
    if read.remembered:
        lines.append(words.plain("answer-documents-remembered", count=read.remembered))
    if read.chosen_from:
        lines.append(words.plain("answer-documents-chosen", total=read.total, base=read.chosen_from))
    counts = (
        ("answer-documents-failed", read.problems),
        ("answer-facts-uncompared", read.uncompared),
        ("answer-rows-missing", read.missing_rows),
    )
    return [*lines, *(words.plain(key, count=count) for key, count in counts if count)]


def _step(step: StepShown, words: Words) -> str:
    key = ACTIONS.get(step.action, "step-other")
    about = defanged(step.about, frozenset())  # a model's words: it may have obeyed a document
    told = {"about": shortened(about, ABOUT_CHARACTERS)} if "about" in words.variables(key) else {}
    action = words.plain(key, **told)
    counted = step.total and step.state is StepState.RUNNING
    return f"{action}: {words.plain('step-progress', done=step.done, total=step.total)}" if counted else action


class LiveSteps:
    """One list at one place. Use it as `async with live_steps(...) as steps`."""

    def __init__(self, bot: Bot, place: Place, words: Words, *, pause_s: float) -> None:
        self._bot = bot
        self._place = place
        self._words = words
        self._pause_s = pause_s
        self._newest: tuple[StepShown, ...] = ()
        self._changed = asyncio.Event()
        self._message: MessageId | None = None
        self._said = ""

    def show(self, steps: Sequence[StepShown]) -> None:
        """Set the current steps; they are shown as soon as Telegram allows."""
        self._newest = tuple(steps)
        self._changed.set()

    async def paint(self) -> None:
        """Show each newest list until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._paint_once()
            except TelegramAPIError as error:
                log.info("steps.paint_failed", chat=self._place.chat, error=type(error).__name__)
            await asyncio.sleep(self._pause_s)

    async def remove(self) -> None:
        """Delete the list."""
        if self._message:
            with contextlib.suppress(TelegramAPIError):
                await self._bot.delete_message(self._place.chat, self._message)

    async def _paint_once(self) -> None:
        html = to_html(steps_text(self._newest, self._words))
        if html == self._said:
            return
        keyboard = rows([button(self._words.plain("button-enough"), STOP)])
        if self._message is None:
            self._message = await send(self._bot, self._place, html, keyboard)
        else:
            await edit(self._bot, self._place.chat, self._message, html, keyboard)
        self._said = html


@asynccontextmanager
async def live_steps(bot: Bot, place: Place, words: Words, *, pause_s: float = PAUSE_S) -> AsyncIterator[LiveSteps]:
    """Shows the list while the context is open and deletes it afterwards, also when the turn fails."""
    steps = LiveSteps(bot, place, words, pause_s=pause_s)
    painting = asyncio.create_task(steps.paint())
    try:
        yield steps
    finally:
        await end(painting)
        await steps.remove()
