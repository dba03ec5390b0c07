"""Loads the dialogue for a turn, and stores the turn's exchange.

In: a question; later its exchange. Out: `Dialogue` for the planner and the answer; the exchange in the store. The
prompts decide how much of it they take; `summary` handles exchanges that leave the window.
"""

from collections import OrderedDict
from dataclasses import replace

from domain.ids import SessionId
from rag.dialogue.records import Dialogue
from rag.dialogue.summary import Summariser
from rag.ports import DialogueStore, TermAnalyzer
from rag.records import Exchange, Question

KEPT_MESSAGES = 30  # seed 1, section 4.2: the history is trimmed to 30 messages
RECALLED_PAIRS = 20  # archived pairs that are read; seed 2, section 5.2, has one or two: those reach .58 of what long
# dialogues ask for, twenty .79 (benchmarks.memory). The prompt takes as many as it has room for
EXPECTED_SESSIONS = 256  # whose last question this process remembers; for others only the store knows it


class DialogueMemory:
    """The memory of all dialogues. Its state is in the store, except a cache of last questions."""

    def __init__(
        self, store: DialogueStore, analyzer: TermAnalyzer, summariser: Summariser | None, *, pairs: int
    ) -> None:
        """At most `pairs` exchanges of the window are read (DIALOGUE_PAIRS); with 0 nothing is remembered."""
        self._store = store
        self._analyzer = analyzer
        self._summariser = summariser
        self._pairs = pairs
        self._last: OrderedDict[SessionId, str] = OrderedDict()

    def expected(self, question: Question) -> str:
        """The previous question as this process remembers it, "" if it does not. For work that starts before
        `recollect` returns, and is repeated when the store says otherwise."""
        if question.dialogue and self._pairs:
            return question.dialogue[-1].question
        return self._last.get(question.session_id, "")

    async def recollect(self, question: Question) -> Dialogue:
        """Raises DatabaseAway."""
        if not self._pairs:
            return Dialogue()
        if question.dialogue is not None:
            return Dialogue(window=question.dialogue[-self._pairs :])
        known = await self._store.recollect(
            question.user_id,
            question.session_id,
            pairs=KEPT_MESSAGES // 2,
            terms=self._analyzer.terms(question.text),
            recalled=RECALLED_PAIRS,
        )
        beyond = known.window[: -self._pairs]  # neither in the archive nor, by the setting, in the window
        return replace(known, window=known.window[-self._pairs :], recalled=(*known.recalled, *beyond))

    async def keep(self, question: Question, exchange: Exchange) -> None:
        """Store the exchange, unless whoever asks keeps the dialogue. A turn without an answer is not stored: some
        models refuse an empty message."""
        if not exchange.answer or question.dialogue is not None:
            return
        self._expect(question.session_id, exchange.question)
        archived = await self._store.append(
            question.user_id,
            question.session_id,
            base=question.base_id,
            exchange=exchange,
            question_terms=self._analyzer.terms(exchange.question),
            answer_terms=self._analyzer.terms(exchange.answer),
            keep=KEPT_MESSAGES,
        )
        if archived and self._summariser:
            self._summariser.begin(question.user_id, question.session_id)

    def _expect(self, session: SessionId, question: str) -> None:
        if not self._pairs:
            return
        self._last[session] = question
        self._last.move_to_end(session)
        if len(self._last) > EXPECTED_SESSIONS:
            self._last.popitem(last=False)
