"""What a turn remembers, and what is remembered of it.

In: a person's dialogue. Out: `Dialogue` for the planner and the answer; the exchange, kept. How much of it a prompt
takes is the prompt's business; what becomes of exchanges that leave the window is `summary`'s.
"""

from collections import OrderedDict

from domain.ids import SessionId
from rag.dialogue.records import Dialogue
from rag.dialogue.summary import Summariser
from rag.ports import DialogueStore, TermAnalyzer
from rag.records import Exchange, Question

KEPT_MESSAGES = 30  # seed 1, section 4.2: the history is trimmed to 30 messages
RECALLED_PAIRS = 2  # seed 2, section 5.2: one or two relevant old pairs
EXPECTED_SESSIONS = 256  # whose last question this process knows; of the others the store alone does


class DialogueMemory:
    """The memory of all dialogues; what it knows is in the store, but for a guess at what that will say."""

    def __init__(
        self, store: DialogueStore, analyzer: TermAnalyzer, summariser: Summariser | None, *, pairs: int
    ) -> None:
        """`pairs` exchanges of the window are read at most (DIALOGUE_PAIRS); with 0 nothing is remembered."""
        self._store = store
        self._analyzer = analyzer
        self._summariser = summariser
        self._pairs = pairs
        self._last: OrderedDict[SessionId, str] = OrderedDict()

    def expected(self, question: Question) -> str:
        """What was asked before it, as far as is known without looking: for work that need not wait for `recollect`,
        and is done again where the guess was wrong."""
        return self._last.get(question.session_id, "")

    async def recollect(self, question: Question) -> Dialogue:
        """Raises DatabaseAway."""
        if not self._pairs:
            return Dialogue()
        return await self._store.recollect(
            question.user_id,
            question.session_id,
            pairs=self._pairs,
            terms=self._analyzer.terms(question.text),
            recalled=RECALLED_PAIRS,
        )

    async def keep(self, question: Question, exchange: Exchange) -> None:
        """A turn without an answer leaves nothing to remember; an empty message would be refused by some models."""
        if not exchange.answer:
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
