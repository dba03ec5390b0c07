"""The reading itself: document by document, in groups side by side (seed 0, "Итерация по документам").

In: a question, documents in order of their worth. Out: `Reading`: what each group knows and how much was read. Before
every call it looks at the turn's limits; a model that fails at one document costs that document alone.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from domain.documents import DocumentCard
from domain.ids import BaseId
from prompts.loader import Prompts
from rag.errors import ModelError
from rag.iterative.allowance import Allowance
from rag.iterative.ledger import Ledger, take
from rag.iterative.pages import pages_of
from rag.iterative.parts import parts_of
from rag.iterative.request import RequestBudget, iteration_messages, size_of
from rag.iterative.wire import Certainty, IterationReply
from rag.ports import ChatModel, DocumentPassages
from rag.records import ChatMessage, DocumentsRead, Passage

GROUPS = 4  # documents that are read side by side
PER_GROUP = 3  # fewer are not worth a group of their own: what one knows, the others do not

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Inquiry:
    """What is read, and for what."""

    base_id: BaseId
    question: str
    cards: tuple[DocumentCard, ...]
    exhaustive: bool  # go on when the question can be answered
    dialogue: str = ""


@dataclass(kw_only=True)
class Reading:
    """How far it is; grows while documents are read."""

    inquiry: Inquiry
    ledgers: list[Ledger]
    read: int = 0
    without_data: int = 0
    problems: int = 0
    enough: bool = False

    @property
    def documents(self) -> DocumentsRead:
        """For the stamp under the answer."""
        return DocumentsRead(
            read=self.read, total=len(self.inquiry.cards), without_data=self.without_data, problems=self.problems
        )


@dataclass(frozen=True, kw_only=True)
class _Ongoing:
    """What all groups of one reading share."""

    reading: Reading
    allowance: Allowance
    watch: Callable[[Reading], None]


class IterativeReader:
    """Reads any number of times side by side."""

    def __init__(
        self, model: ChatModel, passages: DocumentPassages, prompts: Prompts, *, budget: RequestBudget
    ) -> None:
        self._model = model
        self._passages = passages
        self._prompts = prompts
        self._budget = budget

    async def read(self, inquiry: Inquiry, allowance: Allowance, watch: Callable[[Reading], None]) -> Reading:
        """`watch` hears of every document that is done with. Raises DatabaseAway."""
        groups = dealt(inquiry.cards)
        reading = Reading(inquiry=inquiry, ledgers=[Ledger() for _ in groups])
        ongoing = _Ongoing(reading=reading, allowance=allowance, watch=watch)
        tasks = [asyncio.create_task(self._read_group(number, group, ongoing)) for number, group in enumerate(groups)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        log.info(
            "reading.done",
            documents=reading.read,
            of=len(inquiry.cards),
            problems=reading.problems,
            dropped=sum(ledger.dropped for ledger in reading.ledgers),
            unknown=sum(ledger.unknown for ledger in reading.ledgers),
        )
        return reading

    async def _read_group(self, number: int, cards: Sequence[DocumentCard], ongoing: _Ongoing) -> None:
        for card in cards:
            if ongoing.reading.enough or ongoing.allowance.spent:
                return
            if not await self._read_document(number, card, ongoing):
                return
            ongoing.watch(ongoing.reading)

    async def _read_document(self, number: int, card: DocumentCard, ongoing: _Ongoing) -> bool:
        """Counted as read when all of it was; False when the limits ended it before."""
        reading, used = ongoing.reading, ongoing.reading.ledgers[number].used
        try:
            whole = await self._read_parts(number, card, ongoing)
        except ModelError as error:
            reading.problems += 1
            log.warning("reading.document_failed", document_id=card.id, reason=type(error).__name__)
            return True
        if not whole:
            return False
        ledger = reading.ledgers[number]
        reading.read += 1
        reading.without_data += ledger.used == used
        reading.enough = reading.enough or (not reading.inquiry.exhaustive and suffices(ledger))
        return True

    async def _read_parts(self, number: int, card: DocumentCard, ongoing: _Ongoing) -> bool:
        """False when the limits ended it."""
        reading = ongoing.reading
        async for page in pages_of(self._passages, reading.inquiry.base_id, card.id):
            for part in parts_of(page, tokens=self._budget.document):
                ledger = reading.ledgers[number]
                reply = await self._ask(self._messages(reading.inquiry, ledger, part), ongoing.allowance)
                if reply is None:
                    return False
                reading.ledgers[number] = take(ledger, reply, part, asked=reading.inquiry.question)
        return True

    def _messages(self, inquiry: Inquiry, ledger: Ledger, part: Sequence[Passage]) -> tuple[ChatMessage, ...]:
        return iteration_messages(
            self._prompts, self._budget, ledger, part, question=inquiry.question, dialogue=inquiry.dialogue
        )

    async def _ask(self, messages: Sequence[ChatMessage], allowance: Allowance) -> IterationReply | None:
        """None when it may not be asked."""
        tokens = size_of(messages)
        if not allowance.allows(tokens):
            return None
        with allowance.calling(tokens):
            return await self._model.structured(messages, IterationReply)


def dealt(cards: Sequence[DocumentCard]) -> list[Sequence[DocumentCard]]:
    """Groups, the best documents first in each of them."""
    groups = min(GROUPS, max(len(cards) // PER_GROUP, 1))
    return [cards[first::groups] for first in range(groups)]


def suffices(ledger: Ledger) -> bool:
    """The model says it can answer, and a document makes it sure of something."""
    return ledger.can_answer and any(fact.certainty is Certainty.HIGH for fact in ledger.facts)
