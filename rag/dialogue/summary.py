"""The running summary of what has left a dialogue's window, made in the background.

In: exchanges that are in no summary yet. Out: the next summary, in the store. No turn waits for it: when the model
fails, the exchanges stay unsummarised and the next turn tries again.
"""

import asyncio
import hashlib
from collections.abc import Sequence

import structlog

from domain.errors import DatabaseTrouble
from domain.ids import SessionId, UserId
from prompts.loader import Prompts, SummaryExchanges, SummaryRules
from rag.errors import ModelError
from rag.ports import ChatModel, DialogueStore
from rag.records import ChatMessage, Exchange, Unsummarised
from rag.tokens import estimate_tokens

EVERY_PAIRS = 10  # seed 2, section 5.2: every 10-20 pairs, or when there is too much
BUDGET_TOKENS = 3000  # of unsummarised exchanges: a quarter of a usual prompt
AT_ONCE = 40  # pairs in one request
WORDS = 250  # of a summary

log = structlog.get_logger()


class Summariser:
    """Summarises dialogues; at most one task per dialogue."""

    def __init__(self, store: DialogueStore, model: ChatModel, prompts: Prompts) -> None:
        self._store = store
        self._model = model
        self._rules = ChatMessage(role="system", content=prompts.summary.fill(SummaryRules(words=WORDS)))
        self._exchanges = prompts.summary_exchanges
        self._running: dict[SessionId, asyncio.Task[None]] = {}

    def begin(self, user: UserId, session: SessionId) -> None:
        """Check in the background whether a summary is due, and write it. Does nothing while a task for this dialogue
        runs."""
        if session not in self._running:
            task = asyncio.create_task(self._summarise(user, session))
            self._running[session] = task
            task.add_done_callback(lambda _: self._running.pop(session, None))

    async def settled(self) -> None:
        """Wait for the running tasks (tests, and the end of `baza ask`)."""
        await asyncio.gather(*self._running.values())

    async def _summarise(self, user: UserId, session: SessionId) -> None:
        try:
            pending = await self._store.unsummarised(user, session, limit=AT_ONCE)
            if _is_due(pending.exchanges):
                written = await self._model.complete(self._messages(pending))
                await self._store.save_summary(user, session, summary=written.strip(), up_to=pending.up_to)
                log.info("dialogue.summarised", pairs=len(pending.exchanges), model=self._model.name)
        except (ModelError, DatabaseTrouble) as error:
            log.warning(
                "dialogue.not_summarised",
                reason=error.reason if isinstance(error, DatabaseTrouble) else type(error).__name__,
            )

    def _messages(self, pending: Unsummarised) -> tuple[ChatMessage, ...]:
        told = "\n\n".join(f"Person: {each.question}\nBaza: {each.answer}" for each in pending.exchanges)
        digest = hashlib.sha256(f"{pending.summary}\0{told}".encode(errors="replace")).hexdigest()
        filled = SummaryExchanges(fence=f"memory-{digest[:8]}", summary=pending.summary or "Nothing.", exchanges=told)
        return (self._rules, ChatMessage(role="user", content=self._exchanges.fill(filled)))


def _is_due(exchanges: Sequence[Exchange]) -> bool:
    told = sum(estimate_tokens(each.question) + estimate_tokens(each.answer) for each in exchanges)
    return len(exchanges) >= EVERY_PAIRS or told > BUDGET_TOKENS
