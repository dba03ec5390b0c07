"""`read_documents`: reads documents one by one for a question (seed 0).

In: a question, perhaps the documents. Out: facts with their passages, a synthesis of them, and how many documents were
read. `rag.execution` does the reading; the search decides which documents come first.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import structlog
from pydantic import BaseModel, Field

from prompts.wordings import Wordings, language_of
from rag.execution.documents import MAX_NAMED, DocumentName, WholeDocumentsTool, choose
from rag.execution.facts import Fact, FactKind, FactsPayload, passage_fact
from rag.execution.ledger import (
    KnownFact,
    Ledger,
    comparisons,
    conflict_facts,
    dated,
    in_words,
    merge_conflicts,
    merge_facts,
    refine,
    settle,
)
from rag.execution.reading import (
    Inquiry,
    IterativeReader,
    Reading,
    RequestBudget,
    compared_anyway,
    comparison_messages,
    synthesis_messages,
)
from rag.execution.tools import Allowance, ReplyCache, StepFailed, StepProgress, ToolContext, ask, wording
from rag.execution.wire import ComparisonReply, IterationReply, SynthesisReply
from rag.planning.tool import ToolArguments
from rag.ports import ModelError, Schema
from rag.records import ChatMessage
from rag.words import digest

REPLY_TOKENS = 1_000  # expected size of a reply, for the allowance; the meter counts the real size

log = structlog.get_logger()


DRAWN_FROM = 12  # facts whose passages the synthesis is held against, the most important ones
MAX_SOURCES = 3  # of one fact: more citations do not make an answer more certain
HALF_COVERED = 0.5  # coverage when there are facts, but no model has said that they answer the question


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
    def _budget(self) -> RequestBudget:
        return RequestBudget.of(self._prompt_tokens, self._prompts)

    async def run(self, arguments: ReadAllArguments, context: ToolContext) -> FactsPayload:
        """Raises DatabaseAway, and StepFailed when the model failed at every document."""
        chosen = await choose(
            self._catalogue,
            self._finder,
            context.base_id,
            arguments.question,
            names=arguments.documents,
            exhaustive=arguments.exhaustive,
        )
        inquiry = Inquiry(
            base_id=context.base_id,
            question=arguments.question,
            cards=chosen.cards,
            chosen_from=chosen.chosen_from,
            exhaustive=arguments.exhaustive or arguments.documents is not None,
            dialogue=context.dialogue,
        )
        words = self._wordings[language_of(context.question)]
        reading = await IterativeReader(
            inquiry=inquiry,
            model=self._model,
            passages=self._passages,
            prompts=self._prompts,
            budget=self._budget,
            allowance=Allowance(run=context.run, reply_tokens=REPLY_TOKENS, spared_calls=1),
            cache=await self._open_cache(IterationReply, context, wording(arguments.question)),
            watch=lambda reading: _keep(reading, context, words),
        ).read()
        if reading.problems and reading.problems == len(chosen.cards):
            raise StepFailed("the model failed at every document")
        known = await self._conclude(reading, context)
        return payload_of(reading, known, words=words)

    async def _conclude(self, reading: Reading, context: ToolContext) -> Ledger:
        """The facts and the answer of a single group are complete. Those of several groups are merged by the model,
        which also names contradictions between them."""
        answers, asked = answers_of(reading), reading.inquiry.question
        known = await self._compared(merged(reading), reading, context, groups=len(answers))
        if len(answers) < 2:
            return known
        reply = await self._synthesis(known, answers, reading, context)
        if reply is None:
            return known
        known = settle(known, reply.updated_facts, asked=asked)
        return replace(known, facts=refine(known.facts, reply.facts, asked=asked), answer=reply.answer)

    async def _compared(self, known: Ledger, reading: Reading, context: ToolContext, *, groups: int) -> Ledger:
        """Compares facts that were never in one prompt together, as far as the turn's limits allow."""
        asked, together = reading.inquiry.question, compared_anyway(self._budget, known, groups=groups)
        # in a thread: a thousand facts take a second of computing
        wanted = await asyncio.to_thread(comparisons, known.facts, together, tokens=self._budget.comparison)
        if not wanted.sets:
            return replace(known, uncompared=len(wanted.left_out))
        cache = await self._open_cache(ComparisonReply, context, wording(asked))
        allowance = Allowance(run=context.run, reply_tokens=REPLY_TOKENS, spared_calls=1)
        requests = [comparison_messages(self._prompts, facts, question=asked) for facts in wanted.sets]
        replies = await asyncio.gather(
            *(self._reply(each, ComparisonReply, reading, cache, allowance) for each in requests)
        )
        for reply in filter(None, replies):
            known = settle(known, reply.updated_facts, asked=asked)
        unanswered = {fact.id for facts, reply in zip(wanted.sets, replies, strict=True) if not reply for fact in facts}
        return replace(known, uncompared=len(wanted.left_out | unanswered))

    async def _synthesis(
        self, known: Ledger, answers: Sequence[str], reading: Reading, context: ToolContext
    ) -> SynthesisReply | None:
        """None when the limits forbid the call or the model fails; the facts are then given without a synthesis."""
        question = reading.inquiry.question
        messages = synthesis_messages(self._prompts, self._budget, known, question=question, answers=answers)
        cache = await self._open_cache(SynthesisReply, context, wording(question))
        allowance = Allowance(run=context.run, reply_tokens=REPLY_TOKENS)
        return await self._reply(messages, SynthesisReply, reading, cache, allowance)

    async def _reply(
        self,
        messages: Sequence[ChatMessage],
        shape: type[Schema],
        reading: Reading,
        cache: ReplyCache,
        allowance: Allowance,
    ) -> Schema | None:
        """A cached reply to exactly this prompt, else a new one; None when there is neither."""
        key = digest(messages[-1].content)
        if kept := cache.get(key, shape):
            return kept
        try:
            reply = await ask(self._model, messages, shape, allowance)
        except ModelError as error:
            log.warning("reading.not_put_together", shape=shape.__name__, reason=type(error).__name__)
            return None
        if reply:
            await cache.keep(key, reply, [each for order in reading.orders for each in order])
        return reply

    async def _open_cache(self, shape: type[BaseModel], context: ToolContext, asked: str) -> ReplyCache:
        prompts = self._prompts
        rules = digest(
            prompts.iterative, prompts.iterative_task, prompts.iterative_synthesis, prompts.iterative_comparison
        )
        return await ReplyCache.open(self._memory, context.base_id, shape.__name__, self._model.name, rules, asked)


def _keep(reading: Reading, context: ToolContext, words: Wordings) -> None:
    """Reports progress to the person, and keeps the partial result in case the step is cut short."""
    done = reading.read + reading.problems
    context.run.report(StepProgress(step_id=context.step_id, done=done, total=len(reading.inquiry.cards)))
    context.run.kept[context.step_id] = payload_of(reading, replace(merged(reading), answer=""), words=words)


def merged(reading: Reading) -> Ledger:
    """What all groups know: each fact once, with a new id, and every conflict."""
    rank = {card.id: place for place, card in enumerate(reading.inquiry.cards)}  # of a document for the question
    facts = merge_facts(reading.ledgers, rank)
    answers = answers_of(reading)
    return Ledger(
        facts=facts,
        answer=answers[0] if len(answers) == 1 else "",
        can_answer=any(ledger.can_answer for ledger in reading.ledgers),
        conflicts=merge_conflicts(reading.ledgers),
        numbered=len(facts),
    )


def answers_of(reading: Reading) -> list[str]:
    """The answers of the groups that found something."""
    return [ledger.answer for ledger in reading.ledgers if ledger.facts]


def payload_of(reading: Reading, known: Ledger, *, words: Wordings) -> FactsPayload:
    """The payload of `known`, whose facts are in their final order and whose answer is the synthesis."""
    came = {card.id: card.created_at for card in reading.inquiry.cards}
    conflicts = tuple(in_words(each, words) for each in dated(known.conflicts, came))
    disagreements = tuple(fact for each in conflicts for fact in conflict_facts(each, words))
    statements = tuple(statement for fact in known.facts for statement in _statements(fact))
    said = _answer(known.answer, (*disagreements, *statements), heading=words.summary)
    is_known = bool(known.facts or conflicts)
    return FactsPayload(
        facts=(*said, *disagreements, *_uncompared(known, words), *statements),
        coverage=(1.0 if known.can_answer else HALF_COVERED) if is_known else 0.0,
        documents=replace(reading.documents, uncompared=known.uncompared),
        conflicts=conflicts,
    )


def _uncompared(known: Ledger, words: Wordings) -> tuple[Fact, ...]:
    """A remark on the facts; it has no title, so it does not count as one of them."""
    text = words.uncompared.format(count=known.uncompared)
    return (Fact(kind=FactKind.VALUE, text=text),) if known.uncompared else ()


def _answer(answer: str, facts: Sequence[Fact], *, heading: str) -> tuple[Fact, ...]:
    """The synthesis as a guide for the model that writes the answer, which is held against the facts' passages. It has
    no source of its own, so that it cannot be cited, and no title, so that it is never shown as it is."""
    if not facts or not answer:
        return ()
    return (Fact(kind=FactKind.VALUE, text=f"{heading}: {answer}", drawn_from=tuple(facts[:DRAWN_FROM])),)


def _statements(fact: KnownFact) -> list[Fact]:
    """One for each of the first MAX_SOURCES sources, so that each of them can be cited."""
    sources = fact.sources[:MAX_SOURCES]
    return [
        Fact(
            kind=FactKind.STATEMENT,
            text=fact.text,
            title=source.passage.name,
            passage=source,
            document=source.passage.document_id,
            item=f"{fact.id}: {fact.text}" if len(fact.sources) > 1 else "",
            drawn_from=tuple(map(passage_fact, sources)),
        )
        for source in sources
    ]
