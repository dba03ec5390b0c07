"""The reading itself: document by document, in concurrent groups (seed 0, "Итерация по документам").

In: a question, documents in order of relevance. Out: `Reading`: what each group knows and how much was read. It checks
the turn's limits before every call. When the model fails at one document, only that document is lost.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from domain.documents import DocumentCard
from domain.ids import BaseId, DocumentId
from prompts.loader import Prompts
from rag.errors import ModelError
from rag.iterative.allowance import Allowance
from rag.iterative.asking import ask
from rag.iterative.ledger import Ledger, take
from rag.iterative.pages import pages_of
from rag.iterative.parts import parts_of
from rag.iterative.remembering import Recollection, digest
from rag.iterative.request import RequestBudget, iteration_messages
from rag.iterative.wire import Certainty, IterationReply
from rag.ports import ChatModel, DocumentPassages
from rag.records import ChatMessage, DocumentsRead, Passage
from rag.watching import end

GROUPS = 4  # documents that are read concurrently
PER_GROUP = 3  # documents; smaller groups do not pay: a group does not know what the others have found

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Inquiry:
    """What is read, and for what."""

    base_id: BaseId
    question: str
    cards: tuple[DocumentCard, ...]
    exhaustive: bool  # read on even when the question can be answered
    chosen_from: int = 0  # number of documents in the base, where a search has chosen the cards
    dialogue: str = ""


@dataclass(kw_only=True)
class Reading:
    """The state of a reading; updated while documents are read."""

    inquiry: Inquiry
    ledgers: list[Ledger]
    read: int = 0
    without_data: int = 0
    problems: int = 0
    remembered: int = 0
    enough: bool = False
    orders: list[list[DocumentId]] = field(default_factory=list)  # what each group has read, in reading order

    @property
    def documents(self) -> DocumentsRead:
        """For the stamp under the answer."""
        return DocumentsRead(
            read=self.read,
            total=len(self.inquiry.cards),
            without_data=self.without_data,
            problems=self.problems,
            remembered=self.remembered,
            chosen_from=self.inquiry.chosen_from,
        )


@dataclass(frozen=True, kw_only=True)
class _Ongoing:
    """What all groups of one reading share."""

    reading: Reading
    allowance: Allowance
    recollection: Recollection
    watch: Callable[[Reading], None]


class IterativeReader:
    """One object serves any number of readings concurrently."""

    def __init__(
        self, model: ChatModel, passages: DocumentPassages, prompts: Prompts, *, budget: RequestBudget
    ) -> None:
        self._model = model
        self._passages = passages
        self._prompts = prompts
        self._budget = budget

    async def read(
        self, inquiry: Inquiry, allowance: Allowance, recollection: Recollection, watch: Callable[[Reading], None]
    ) -> Reading:
        """Reads first the documents that are cached for the same question, in the same order as then, so that the cache
        hits; then the rest. `watch` is called after every finished document. Raises DatabaseAway."""
        known = {card.id: card for card in inquiry.cards}
        begun = [[known[each] for each in one] for one in recollection.together(tuple(known), most=GROUPS)]
        done = {card.id for group in begun for card in group}
        rest = dealt([card for card in inquiry.cards if card.id not in done], fewest=len(begun))
        reading = Reading(inquiry=inquiry, ledgers=[Ledger() for _ in rest], orders=[[] for _ in rest])
        ongoing = _Ongoing(reading=reading, allowance=allowance, recollection=recollection, watch=watch)
        await self._read_groups(begun, ongoing)
        await self._read_groups(rest, ongoing)
        log.info(
            "reading.done",
            documents=reading.read,
            of=len(inquiry.cards),
            remembered=reading.remembered,
            problems=reading.problems,
            dropped=sum(ledger.dropped for ledger in reading.ledgers),
            unknown=sum(ledger.unknown for ledger in reading.ledgers),
        )
        return reading

    async def _read_groups(self, groups: Sequence[Sequence[DocumentCard]], ongoing: _Ongoing) -> None:
        tasks = [asyncio.create_task(self._read_group(number, group, ongoing)) for number, group in enumerate(groups)]
        try:
            await asyncio.gather(*tasks)
        finally:
            await end(*tasks)

    async def _read_group(self, number: int, cards: Sequence[DocumentCard], ongoing: _Ongoing) -> None:
        for card in cards:
            if ongoing.reading.enough or ongoing.allowance.is_over():
                return
            if not await self._read_document(number, card, ongoing):
                return
            ongoing.watch(ongoing.reading)

    async def _read_document(self, number: int, card: DocumentCard, ongoing: _Ongoing) -> bool:
        """A document counts as read when all of it was read. False when the limits ended the reading before."""
        reading, used = ongoing.reading, ongoing.reading.ledgers[number].used
        try:
            asked = await self._read_parts(number, card, ongoing)
        except ModelError as error:
            reading.problems += 1
            log.warning("reading.document_failed", document_id=card.id, reason=type(error).__name__)
            return True
        if asked is None:
            return False
        ledger = reading.ledgers[number]
        reading.read += 1
        reading.remembered += not asked
        reading.without_data += ledger.used == used
        reading.enough = reading.enough or (not reading.inquiry.exhaustive and suffices(ledger))
        return True

    async def _read_parts(self, number: int, card: DocumentCard, ongoing: _Ongoing) -> int | None:
        """The number of model calls; None when the limits ended the reading. Facts of a part stay known even when the
        next part fails."""
        reading, asked = ongoing.reading, 0
        order = reading.orders[number]
        async for page in pages_of(self._passages, reading.inquiry.base_id, card.id):
            for part in parts_of(page, tokens=self._budget.document):
                ledger = reading.ledgers[number]
                key = self._key(ledger, part)
                kept = ongoing.recollection.reply(key, IterationReply)
                reply = kept or await self._ask(self._messages(reading.inquiry, ledger, part), ongoing.allowance)
                if reply is None:
                    return None
                if card.id not in order:
                    order.append(card.id)
                if not kept:
                    asked += 1
                    await ongoing.recollection.keep(key, reply, order)
                reading.ledgers[number] = take(ledger, reply, part, asked=reading.inquiry.question)
        return asked

    def _key(self, ledger: Ledger, part: Sequence[Passage]) -> str:
        """Cache key: a hash of all that decides the reply. The question is part of the recollection's own key, and the
        dialogue is left out: the question is complete without it."""
        return digest(
            iteration_messages(self._prompts, self._budget, ledger, part, question="", dialogue="")[-1].content
        )

    def _messages(self, inquiry: Inquiry, ledger: Ledger, part: Sequence[Passage]) -> tuple[ChatMessage, ...]:
        return iteration_messages(
            self._prompts, self._budget, ledger, part, question=inquiry.question, dialogue=inquiry.dialogue
        )

    async def _ask(self, messages: Sequence[ChatMessage], allowance: Allowance) -> IterationReply | None:
        """None when the limits forbid the call."""
        return await ask(self._model, messages, IterationReply, allowance)


def dealt(cards: Sequence[DocumentCard], *, fewest: int = 1) -> list[Sequence[DocumentCard]]:
    """Groups of documents, dealt out round-robin, so that the best documents come first in each group."""
    groups = max(min(GROUPS, len(cards) // PER_GROUP), fewest, 1)
    return [cards[first::groups] for first in range(groups)]


def suffices(ledger: Ledger) -> bool:
    """The model says that it can answer, and at least one fact has high certainty."""
    return ledger.can_answer and any(fact.certainty is Certainty.HIGH for fact in ledger.facts)
