"""`read_documents`: reads documents for a question, one by one in concurrent groups (seed 0, "Итерация по документам").

In: a question, perhaps the documents. Out: facts with their passages, a synthesis of them, and how many documents were
read. A call gets the rules and seed 0's request as JSON, within a budget; texts of documents are JSON strings. Facts
that do not fit are not shown to the model, but stay in the ledger. The turn's limits are checked before every call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import structlog
from pydantic import BaseModel, Field

from domain.documents import DocumentCard
from domain.ending import together
from domain.ids import DocumentId
from prompts.loader import Prompts
from prompts.wordings import language_of
from rag.execution.documents import MAX_NAMED, DocumentName, WholeDocumentsTool, WholeReading, pages_of, parts_of
from rag.execution.evidence import chunk_name
from rag.execution.facts import Fact, FactKind, FactsPayload, said_by
from rag.execution.ledger import (
    SURENESS,
    KnownFact,
    Ledger,
    dated,
    merge_conflicts,
    merge_facts,
    refine,
    settle,
    take,
    worded,
)
from rag.execution.tools import ReplyCache, ToolContext, ask, wording
from rag.execution.wire import Certainty, Chunk, IterationReply, IterationRequest, SynthesisReply, SynthesisRequest
from rag.planning.tool import ToolArguments
from rag.ports import ModelError
from rag.records import asking
from rag.words import digest, estimate_tokens

REPLY_TOKENS = 1_000  # expected size of a reply, for the allowance; the meter counts the real size
QUESTION_TOKENS = 500  # of a question of a thousand letters, the longest that the tools take
FRAME_TOKENS = 100  # field names, braces
SHARES = {"document": 0.55, "facts": 0.25, "answer": 0.1, "dialogue": 0.1}  # of the prompt without rules and question
GROUPS = 4  # documents that are read concurrently
PER_GROUP = 3  # documents; smaller groups do not pay: a group does not know what the others have found
DRAWN_FROM = 12  # facts whose passages the synthesis is held against, the most important ones
MAX_SOURCES = 3  # of one fact: more citations do not make an answer more certain
HALF_COVERED = 0.5  # coverage when there are facts, but no model has said that they answer the question

log = structlog.get_logger()


def request_budget(prompt_tokens: int, prompts: Prompts) -> Mapping[str, int]:
    """Tokens of each part of a request (SHARES) whose whole prompt has at most `prompt_tokens`."""
    rules = max(estimate_tokens(prompts.iterative), estimate_tokens(prompts.iterative_synthesis))
    task = estimate_tokens(prompts.iterative_task)
    left = max(prompt_tokens - rules - task - QUESTION_TOKENS - FRAME_TOKENS, 0)
    return {part: int(left * share) for part, share in SHARES.items()}


def synthesis_request(
    budget: Mapping[str, int], known: Ledger, *, question: str, answers: Sequence[str]
) -> SynthesisRequest:
    """The document's share of the budget goes to the facts, at most half of it to contradictions that the groups have
    found, a line for each."""
    told, room = list[str](), budget["document"] // 2
    for conflict in known.conflicts:
        line = "; ".join(f"{each.passage.name}: {each.value}" for each in conflict.claims)
        size = estimate_tokens(line) + 2  # its quotation marks and comma
        if size <= room:
            told.append(line)
            room -= size
    left = budget["document"] - budget["document"] // 2 + room
    return SynthesisRequest(
        question=question,
        previous_answer=cut("\n\n".join(filter(None, answers)), budget["answer"] + budget["dialogue"]),
        facts=tuple(fact.wire() for fact in fitting(known.facts, left + budget["facts"])),
        contradictions=tuple(told),
    )


def fitting(facts: Sequence[KnownFact], tokens: int) -> tuple[KnownFact, ...]:
    """As many facts as fit, chosen by certainty, then the latest first; returned in their original order."""
    places = sorted(range(len(facts)), key=lambda place: (SURENESS[facts[place].certainty], -place))
    kept: set[int] = set()
    for place in places:
        tokens -= estimate_tokens(facts[place].wire().model_dump_json()) + 1  # a comma
        if tokens < 0:
            break
        kept.add(place)
    return tuple(fact for place, fact in enumerate(facts) if place in kept)


def cut(text: str, tokens: int) -> str:
    """The end of a text that fits: the end of an answer or a dialogue is its latest part."""
    while text and (size := estimate_tokens(text)) > tokens:
        text = text[-min(len(text) * tokens // size, len(text) - 1) :] if tokens > 0 else ""
    return text


class ReadAllArguments(ToolArguments):
    """What is read, and for what."""

    question: str = Field(min_length=1, max_length=1000)
    documents: tuple[DocumentName, ...] | None = Field(None, max_length=MAX_NAMED)
    exhaustive: bool = False


class ReadDocuments(WholeDocumentsTool[ReadAllArguments]):
    """slow: reads documents one by one and collects what answers a question that no few passages answer: causes and
    developments over documents, an overview, everything said of a thing. question; documents, or left out for those
    that may matter; exhaustive: true for «все», «всё», «сравни».
    """

    name = "read_documents"
    arguments = ReadAllArguments

    @cached_property
    def budget(self) -> Mapping[str, int]:
        """Of one request."""
        return request_budget(self.prompt_tokens, self.prompts)

    async def run(self, arguments: ReadAllArguments, context: ToolContext) -> FactsPayload:
        """Raises DatabaseAway, and StepFailed when the model failed at every document."""
        question, names, is_all = arguments.question, arguments.documents, arguments.exhaustive
        cards, documents = await self.choose(context.base_id, question, names=names, exhaustive=is_all)
        cache = await self.open_cache(IterationReply, context, question)
        reading = _Reading(tool=self, context=context, cards=cards, documents=documents, cache=cache, asked=arguments)
        await reading.read()
        return reading.payload(await reading.conclusion())

    async def open_cache(self, shape: type[BaseModel], context: ToolContext, question: str) -> ReplyCache:
        """The replies of one shape to that question."""
        prompts = self.prompts
        rules = digest(prompts.iterative, prompts.iterative_task, prompts.iterative_synthesis)
        asked = (shape.__name__, self.model.name, rules, wording(question))
        return await ReplyCache.open(self.memory, context.base_id, *asked)


@dataclass(kw_only=True)
class _Reading(WholeReading):
    tool: ReadDocuments
    asked: ReadAllArguments
    enough: bool = False  # what was found; documents that are named, or all of them, are read to the end
    ledgers: list[Ledger] = field(default_factory=list)  # of the groups
    orders: list[list[DocumentId]] = field(default_factory=list)  # what each group has read, in reading order

    async def read(self) -> None:
        """Reads first the documents that are cached for the same question, in the same order as then, so that the cache
        hits; then the rest. Raises DatabaseAway, StepFailed."""
        known = {card.id: card for card in self.cards}
        begun = [[known[each] for each in one] for one in self.cache.read_together(tuple(known), most=GROUPS)]
        cached = {card.id for group in begun for card in group}
        left = [card for card in self.cards if card.id not in cached]
        groups = max(min(GROUPS, len(left) // PER_GROUP), len(begun), 1)
        rest = [left[first::groups] for first in range(groups)]  # so that the best come first in each group
        self.ledgers, self.orders = [Ledger() for _ in rest], [[] for _ in rest]

        async def read_group(number: int, cards: Sequence[DocumentCard]) -> None:
            for card in cards:
                if self.enough or self.context.run.is_over(spared=1) or not await self._read_document(number, card):
                    return
                self.tell(self.payload(replace(self._merged(), answer="")))

        for dealt in (begun, rest):
            await together(*(read_group(number, group) for number, group in enumerate(dealt)))
        self.end("reading.done", dropped=sum(each.dropped for each in self.ledgers))

    async def _read_document(self, number: int, card: DocumentCard) -> bool:
        """A document counts as read when all of it was read. False when the limits ended the reading before."""
        used = self.ledgers[number].used
        try:
            asked = await self._read_parts(number, card)
        except ModelError as error:
            self.count(problems=1)
            log.warning("reading.document_failed", document_id=card.id, reason=type(error).__name__)
            return True
        if asked is None:
            return False
        ledger = self.ledgers[number]
        self.count(read=1, remembered=not asked, without_data=ledger.used == used)
        is_sure = ledger.can_answer and any(fact.certainty is Certainty.HIGH for fact in ledger.facts)
        is_open = not self.asked.exhaustive and self.asked.documents is None
        self.enough = self.enough or (is_open and is_sure)
        return True

    async def _read_parts(self, number: int, card: DocumentCard) -> int | None:
        """The number of model calls; None when the limits ended the reading. Facts of a part stay known even when the
        next part fails. The cache's key is a hash of all that decides the reply; the question is part of the cache's
        own, and the dialogue is left out: the question is complete without it."""
        tool, asked, order = self.tool, 0, self.orders[number]
        async for page in pages_of(tool.passages, self.context.base_id, card.id):
            for part in parts_of(page, tokens=tool.budget["document"]):
                ledger = self.ledgers[number]
                request = IterationRequest(
                    task=tool.prompts.iterative_task,
                    question=self.asked.question,
                    document_context=tuple(Chunk(chunk_id=chunk_name(each), chunk_text=each.text) for each in part),
                    previous_facts=tuple(fact.wire() for fact in fitting(ledger.facts, tool.budget["facts"])),
                    previous_answer=cut(ledger.answer, tool.budget["answer"]),
                    dialog_history=cut(self.context.dialogue, tool.budget["dialogue"]),
                )
                key = digest(request.model_copy(update={"question": "", "dialog_history": ""}).model_dump_json())
                messages = asking(tool.prompts.iterative, request.model_dump_json())
                kept = self.cache.get(key, IterationReply)
                reply = kept or await ask(
                    tool.model, messages, IterationReply, self.context.run, reply_tokens=REPLY_TOKENS, spared=1
                )
                if reply is None:
                    return None
                if card.id not in order:
                    order.append(card.id)
                if not kept:
                    asked += 1
                    await self.cache.keep(key, reply, order)
                self.ledgers[number] = take(ledger, reply, part, asked=self.asked.question)
        return asked

    def _merged(self) -> Ledger:

        rank = {card.id: place for place, card in enumerate(self.cards)}  # of a document for the question
        facts, answers = merge_facts(self.ledgers, rank), [each.answer for each in self.ledgers if each.facts]
        return Ledger(
            facts=facts,
            answer=answers[0] if len(answers) == 1 else "",
            can_answer=any(ledger.can_answer for ledger in self.ledgers),
            conflicts=merge_conflicts(self.ledgers),
            numbered=len(facts),
            uncompared=len(facts) - len(fitting(facts, self.tool.budget["facts"])),
        )

    async def conclusion(self) -> Ledger:
        """The facts and the answer of a single group are complete. Those of several groups are put together by the
        model, which also names contradictions between them; without it the facts are given as they are."""
        known, question = self._merged(), self.asked.question
        answers = [each.answer for each in self.ledgers if each.facts]
        if len(answers) < 2:
            return known
        request = synthesis_request(self.tool.budget, known, question=question, answers=answers)
        tool, content = self.tool, request.model_dump_json()
        cache = await tool.open_cache(SynthesisReply, self.context, question)
        reply = cache.get(digest(content), SynthesisReply)
        if reply is None:
            try:
                messages = asking(tool.prompts.iterative_synthesis, content)
                reply = await ask(tool.model, messages, SynthesisReply, self.context.run, reply_tokens=REPLY_TOKENS)
            except ModelError as error:
                log.warning("reading.not_put_together", reason=type(error).__name__)
            if reply is None:
                return replace(known, uncompared=len(known.facts))
            await cache.keep(digest(content), reply, [each for order in self.orders for each in order])
        known = replace(known, uncompared=len(known.facts) - len(request.facts))
        known = settle(known, reply.updated_facts, asked=question)
        return replace(known, facts=refine(known.facts, reply.facts, asked=question), answer=reply.answer)

    def payload(self, known: Ledger) -> FactsPayload:
        """The payload of `known`, whose facts are in their final order and whose answer is the synthesis: a guide for
        the model that writes the answer, which is held against the facts' passages. It has no source of its own, so
        that it cannot be cited, and no title, so that it is never shown as it is."""
        words = self.tool.wordings[language_of(self.context.question)]
        came = {card.id: card.created_at for card in self.cards}
        conflicts, disagreements = worded(dated(known.conflicts, came), words)
        statements: list[Fact] = []
        for fact in known.facts:  # one for each of the first sources, so that each of them can be cited
            sources, item = fact.sources[:MAX_SOURCES], f"{fact.id}: {fact.text}" if len(fact.sources) > 1 else ""
            behind = tuple(said_by(each, FactKind.PASSAGE, each.text) for each in sources)
            kind = FactKind.STATEMENT
            statements += [said_by(each, kind, fact.text, item=item, drawn_from=behind) for each in sources]
        told, drawn_from = list[Fact](), (*disagreements, *statements)[:DRAWN_FROM]
        if known.answer and drawn_from:
            text = f"{words.summary}: {known.answer}"
            told.append(Fact(kind=FactKind.VALUE, text=text, drawn_from=drawn_from))
        told += disagreements
        if known.uncompared:
            told.append(Fact(kind=FactKind.VALUE, text=words.uncompared.format(count=known.uncompared)))
        coverage = 0.0 if not (known.facts or conflicts) else 1.0 if known.can_answer else HALF_COVERED
        read = replace(self.documents, uncompared=known.uncompared)
        return FactsPayload(facts=(*told, *statements), coverage=coverage, documents=read, conflicts=conflicts)
