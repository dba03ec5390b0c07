"""Reads documents for a question, one by one in concurrent groups (seed 0, "Итерация по документам").

In: a question, documents in order of relevance. Out: `Reading`: what each group knows and how much was read; and the
messages of every call: rules, then seed 0's request as JSON, within a budget. Texts of documents are JSON strings,
whatever they contain. Facts that do not fit are not shown to the model, but stay in the ledger. The turn's limits are
checked before every call. When the model fails at one document, only that document is lost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

import structlog

from domain.documents import DocumentCard
from domain.ending import together
from domain.ids import BaseId, DocumentId
from prompts.loader import Prompts
from rag.execution.documents import chunk_of, pages_of, parts_of
from rag.execution.ledger import KnownFact, Ledger, take
from rag.execution.tools import Allowance, ReplyCache, ask
from rag.execution.wire import (
    Certainty,
    ComparisonRequest,
    IterationReply,
    IterationRequest,
    SynthesisRequest,
)
from rag.ports import ChatModel, DocumentPassages, ModelError
from rag.records import ChatMessage, Conflict, DocumentsRead, Passage, asking
from rag.words import digest, estimate_tokens

QUESTION_TOKENS = 500  # of a question of a thousand letters, the longest that the tools take
FRAME_TOKENS = 100  # field names, braces
SHARES = {"document": 0.55, "facts": 0.25, "answer": 0.1, "dialogue": 0.1}  # of the prompt without rules and question
_SURENESS = {certainty: rank for rank, certainty in enumerate(Certainty)}
GROUPS = 4  # documents that are read concurrently
PER_GROUP = 3  # documents; smaller groups do not pay: a group does not know what the others have found
log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class RequestBudget:
    """Tokens of each part of a request."""

    document: int
    facts: int
    answer: int
    dialogue: int

    @property
    def comparison(self) -> int:
        """For a comparison of facts, whose prompt has neither a document nor an answer."""
        return self.document + self.facts

    @classmethod
    def of(cls, prompt_tokens: int, prompts: Prompts) -> Self:
        """`prompt_tokens`: limit for the whole prompt."""
        rules = max(estimate_tokens(prompts.iterative), estimate_tokens(prompts.iterative_synthesis))
        task = estimate_tokens(prompts.iterative_task)
        left = max(prompt_tokens - rules - task - QUESTION_TOKENS - FRAME_TOKENS, 0)
        return cls(**{part: int(left * share) for part, share in SHARES.items()})


def iteration_messages(
    prompts: Prompts, budget: RequestBudget, ledger: Ledger, part: Sequence[Passage], *, question: str, dialogue: str
) -> tuple[ChatMessage, ...]:
    """The messages for one part of a document."""
    request = IterationRequest(
        task=prompts.iterative_task,
        question=question,
        document_context=tuple(chunk_of(passage) for passage in part),
        previous_facts=tuple(fact.wire() for fact in fitting(ledger.facts, budget.facts)),
        previous_answer=cut(ledger.answer, budget.answer),
        dialog_history=cut(dialogue, budget.dialogue),
    )
    return asking(prompts.iterative, request.model_dump_json())


def synthesis_messages(
    prompts: Prompts, budget: RequestBudget, known: Ledger, *, question: str, answers: Sequence[str]
) -> tuple[ChatMessage, ...]:
    """The messages for the synthesis. The document's share of the budget goes to the facts; at most half of that share
    goes to contradictions that the groups have found."""
    said = cut("\n\n".join(filter(None, answers)), budget.answer + budget.dialogue)
    told, taken = _contradictions(known.conflicts, budget.document // 2)
    shown = fitting(known.facts, budget.document + budget.facts - taken)
    request = SynthesisRequest(
        question=question,
        previous_answer=said,
        facts=tuple(fact.wire() for fact in shown),
        contradictions=told,
    )
    return asking(prompts.iterative_synthesis, request.model_dump_json())


def compared_anyway(budget: RequestBudget, known: Ledger, *, groups: int) -> tuple[KnownFact, ...]:
    """Facts that are in one prompt together anyway: those in the synthesis; or, where one group has read everything,
    those that fit into its last prompt."""
    _, taken = _contradictions(known.conflicts, budget.document // 2)
    return fitting(known.facts, budget.document + budget.facts - taken if groups > 1 else budget.facts)


def comparison_messages(prompts: Prompts, facts: Sequence[KnownFact], *, question: str) -> tuple[ChatMessage, ...]:
    """The messages for a comparison of facts that may contradict each other."""
    request = ComparisonRequest(question=question, facts=tuple(fact.wire() for fact in facts))
    return asking(prompts.iterative_comparison, request.model_dump_json())


def fitting(facts: Sequence[KnownFact], tokens: int) -> tuple[KnownFact, ...]:
    """As many facts as fit, chosen by certainty, then the latest first; returned in their original order."""
    places = sorted(range(len(facts)), key=lambda place: (_SURENESS[facts[place].certainty], -place))
    kept: set[int] = set()
    for place in places:
        tokens -= estimate_tokens(facts[place].wire().model_dump_json()) + 1  # a comma
        if tokens < 0:
            break
        kept.add(place)
    return tuple(fact for place, fact in enumerate(facts) if place in kept)


def _contradictions(conflicts: Sequence[Conflict], tokens: int) -> tuple[tuple[str, ...], int]:
    """One line per conflict, as many as fit, and the tokens that they take."""
    told: list[str] = []
    taken = 0
    for conflict in conflicts:
        line = "; ".join(f"{each.passage.passage.name}: {each.value}" for each in conflict.claims)
        size = estimate_tokens(line) + 2  # its quotation marks and comma
        if taken + size <= tokens:
            told.append(line)
            taken += size
    return tuple(told), taken


def cut(text: str, tokens: int) -> str:
    """The end of a text that fits: the end of an answer or a dialogue is its latest part."""
    while text and (size := estimate_tokens(text)) > tokens:
        text = text[-min(len(text) * tokens // size, len(text) - 1) :] if tokens > 0 else ""
    return text


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


@dataclass(kw_only=True)
class IterativeReader:
    """One reading; its groups share its state."""

    inquiry: Inquiry
    model: ChatModel
    passages: DocumentPassages
    prompts: Prompts
    budget: RequestBudget
    allowance: Allowance
    cache: ReplyCache
    watch: Callable[[Reading], None]  # is called after every finished document

    def __post_init__(self) -> None:
        """Deals the documents out."""
        known = {card.id: card for card in self.inquiry.cards}
        self._begun = [[known[each] for each in one] for one in self.cache.read_together(tuple(known), most=GROUPS)]
        done = {card.id for group in self._begun for card in group}
        self._rest = dealt([card for card in self.inquiry.cards if card.id not in done], fewest=len(self._begun))
        ledgers, orders = [Ledger() for _ in self._rest], list[list[DocumentId]]([] for _ in self._rest)
        self._reading = Reading(inquiry=self.inquiry, ledgers=ledgers, orders=orders)

    async def read(self) -> Reading:
        """Reads first the documents that are cached for the same question, in the same order as then, so that the cache
        hits; then the rest. Raises DatabaseAway."""
        for groups in (self._begun, self._rest):
            await together(*(self._read_group(number, group) for number, group in enumerate(groups)))
        reading = self._reading
        log.info(
            "reading.done",
            documents=reading.read,
            of=len(reading.inquiry.cards),
            remembered=reading.remembered,
            problems=reading.problems,
            dropped=sum(ledger.dropped for ledger in reading.ledgers),
        )
        return reading

    async def _read_group(self, number: int, cards: Sequence[DocumentCard]) -> None:
        for card in cards:
            if self._reading.enough or self.allowance.is_over() or not await self._read_document(number, card):
                return
            self.watch(self._reading)

    async def _read_document(self, number: int, card: DocumentCard) -> bool:
        """A document counts as read when all of it was read. False when the limits ended the reading before."""
        reading, used = self._reading, self._reading.ledgers[number].used
        try:
            asked = await self._read_parts(number, card)
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

    async def _read_parts(self, number: int, card: DocumentCard) -> int | None:
        """The number of model calls; None when the limits ended the reading. Facts of a part stay known even when the
        next part fails."""
        reading, asked = self._reading, 0
        order = reading.orders[number]
        async for page in pages_of(self.passages, reading.inquiry.base_id, card.id):
            for part in parts_of(page, tokens=self.budget.document):
                ledger = reading.ledgers[number]
                key = self._key(ledger, part)
                kept = self.cache.get(key, IterationReply)
                reply = kept or await self._ask(ledger, part)
                if reply is None:
                    return None
                if card.id not in order:
                    order.append(card.id)
                if not kept:
                    asked += 1
                    await self.cache.keep(key, reply, order)
                reading.ledgers[number] = take(ledger, reply, part, asked=reading.inquiry.question)
        return asked

    async def _ask(self, ledger: Ledger, part: Sequence[Passage]) -> IterationReply | None:
        """None when the limits forbid the call."""
        question, dialogue = self.inquiry.question, self.inquiry.dialogue
        messages = iteration_messages(self.prompts, self.budget, ledger, part, question=question, dialogue=dialogue)
        return await ask(self.model, messages, IterationReply, self.allowance)

    def _key(self, ledger: Ledger, part: Sequence[Passage]) -> str:
        """Cache key: a hash of all that decides the reply. The question is part of the cache's own key, and the
        dialogue is left out: the question is complete without it."""
        return digest(iteration_messages(self.prompts, self.budget, ledger, part, question="", dialogue="")[-1].content)


def dealt(cards: Sequence[DocumentCard], *, fewest: int = 1) -> list[Sequence[DocumentCard]]:
    """Groups of documents, dealt out round-robin, so that the best documents come first in each group."""
    groups = max(min(GROUPS, len(cards) // PER_GROUP), fewest, 1)
    return [cards[first::groups] for first in range(groups)]


def suffices(ledger: Ledger) -> bool:
    """The model says that it can answer, and at least one fact has high certainty."""
    return ledger.can_answer and any(fact.certainty is Certainty.HIGH for fact in ledger.facts)
