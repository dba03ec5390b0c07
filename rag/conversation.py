"""One turn, from a question to its answer.

In: a `Question`. Out: `TurnEvent`s. Memory, entities and a first search run concurrently; then come the plan, its
tools, and the answer as it is written. The exchange is stored even when the person has left. Texts never reach the log.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import structlog

from domain.documents import SourceType
from domain.ending import end
from domain.ids import DocumentId
from domain.visible import visible
from prompts.wordings import language_of
from rag.addresses import defanged
from rag.answering.answer import AnswerWriter
from rag.answering.plain import NOTHING, Draft, PlainAnswers
from rag.answering.prompt import Assignment, today_utc
from rag.dialogue import DialogueMemory
from rag.entities import RegistryResolver
from rag.execution.executor import Execution, Executor
from rag.execution.facts import FactsPayload
from rag.execution.tools import Run, RunLimits, ToolContext
from rag.metering import Pace, Usage, begin_metering
from rag.outcome import Choice, Found, addresses_of, answer_of, choice_between
from rag.planning.mending import Known, PlanningRequest
from rag.planning.plain_planner import default_plan
from rag.planning.plan import FollowUp
from rag.planning.planner import Planned, Planner, PlannerPrompt, PlanOrigin
from rag.ports import Dialogue, DocumentCatalogue
from rag.progress import Latest, StepShown
from rag.records import Answered, AnswerKind, DocumentMatch, Exchange, Question, StepsChanged, TextGrew, TurnEvent
from rag.retrieval.search import DocumentSearch
from rag.words import mostly_cyrillic, normalise

LOOKED_AT = 5  # passages or documents whose alphabet tells the language
CYRILLIC = frozenset(("ru", "uk", "be", "bg", "kk", "mk", "sr"))  # languages of documents
LISTED_DOCUMENTS = 6  # that the planner sees, as many as it may offer to choose from; some 180 tokens
LISTED_SHARE = 0.5  # of the best one's score: where a name chooses one, the others need no room

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """Answers questions by the stages of a turn; one object serves everybody at once. Without a model `writer` is None,
    and the planner gives its default plan."""

    memory: DialogueMemory
    entities: RegistryResolver | None
    planner: Planner
    prompt: PlannerPrompt
    executor: Executor
    writer: AnswerWriter | None
    plain: PlainAnswers  # answers where there is no writer, and to greetings
    documents: DocumentSearch | None = None  # finds the documents that a question may mean, for the planner
    catalogue: DocumentCatalogue | None = None  # counts them all
    compares_meaning: bool = True  # False: passages are found by their words alone
    searches_early: bool = True  # before it is planned; False where a search must be asked for (SEARCH_POLICY)
    limits: RunLimits = field(default_factory=RunLimits)  # of one turn
    today: Callable[[], date] = today_utc
    _running: set[asyncio.Task[Any]] = field(default_factory=set)  # the loop itself holds tasks only weakly

    async def answer(
        self, question: Question, *, stop: asyncio.Event | None = None, usage: Usage | None = None
    ) -> AsyncGenerator[TurnEvent, None]:
        """Events of the turn; the last is `Answered`. Raises the store's DatabaseAway. `usage` is the meter of the
        turn. When `stop` is set while steps run, the answer is written from what is known by then; when it is set
        again, or while the answer is being written, the answer ends where it is. A failure to store the exchange is
        raised after `Answered`."""
        started, usage = time.monotonic(), begin_metering(usage)
        asked = replace(question, text=normalise(question.text))
        steps = Latest[tuple[StepShown, ...]]()
        run = Run(limits=self.limits, usage=usage, stop=stop or asyncio.Event(), watch=steps.put)
        finding = asyncio.create_task(self._find(asked, run))
        try:
            async for shown in steps.until(finding):
                yield StepsChanged(steps=shown)
            found = finding.result()
        finally:
            await end(finding)  # for when the person has left; a task that has ended is not affected
        if found.execution.steps:
            run.stop.clear()  # a stop that ended the steps, even in their last moments, must not end the answer
        draft, drafts, first_s = NOTHING, self._drafts(asked, found, run.stop), None
        try:
            async for draft in drafts:
                if not draft.done:
                    first_s = first_s or time.monotonic() - started
                    yield TextGrew(kind=draft.kind, text=draft.text, addresses=addresses_of(asked, draft, found))
        finally:  # also when the person has left and this generator is being closed
            await drafts.aclose()
            stored = self._store(asked, draft, addresses_of(asked, draft, found))
            await asyncio.wait({stored})
        seconds = time.monotonic() - started
        answer = answer_of(draft, found, seconds=seconds, first_s=first_s, usage=usage)
        yield Answered(answer=replace(answer, addresses=addresses_of(asked, draft, found)))
        stored.result()

    async def _find(self, asked: Question, run: Run) -> Found:
        """Plan and facts. The search on the raw question runs while the model plans."""
        started = time.monotonic()
        context = ToolContext(
            base_id=asked.base_id,
            user_id=asked.asker or asked.user_id,
            question=asked.text,
            today=self.today(),
            only=asked.only,
            run=run,
        )
        if self.writer and (courtesy := self.planner.courtesy(asked.text)):
            nothing = Execution(payload=FactsPayload(), calls=())
            return Found(planned=courtesy, execution=nothing, known=Known(), pace=Pace())
        if self.writer and self.searches_early:
            context = replace(context, early=asyncio.create_task(self.executor.search(context)))
        try:
            await asyncio.sleep(0)  # the search takes longest: let it send its statement first
            known = await self._recollect(asked)
            messages = self.prompt.messages(asked.text, known, today=self.today())
            request = PlanningRequest(question=asked.text, messages=messages, known=known, base_id=asked.base_id)
            planned = await self.planner.plan(request)
            if asked.only and planned.plan.clarification:  # it is known which one is meant
                planned = replace(planned, plan=default_plan(asked.text))
            planned_s = time.monotonic() - started
            context = _for_tools(context, planned, known.dialogue)
            execution = await self.executor.execute(planned.plan, context)
            pace = Pace(planned_s=planned_s, found_s=time.monotonic() - started - planned_s)
            by_words = await self._by_words(asked, planned, execution)
            choice = Choice() if asked.only else choice_between(planned, execution, known.documents)
            return Found(
                planned=planned,
                execution=execution,
                known=known,
                pace=pace,
                choice=choice,
                by_words=by_words,
                compares_meaning=self.compares_meaning,
            )
        finally:
            if context.early:
                await end(context.early)

    async def _recollect(self, asked: Question) -> Known:
        """The dialogue; beside it the documents, and then the entities, of which those that the previous question named
        may still be meant («а достижения там?»). Without a model no plan uses the latter two."""
        if self.writer is None:
            return Known(dialogue=await self.memory.recollect(asked))
        matching = asyncio.create_task(self._matches(asked))
        try:
            dialogue = await self.memory.recollect(asked)
            earlier = dialogue.window[-1].question if dialogue.window else ""
            named = self.entities and await self.entities.resolve(asked.base_id, asked.text, earlier=earlier)
            found, total = await matching
            # of the last answer, as far as they are known: a follow-up means these, and has none of their words
            answered = [
                DocumentMatch(
                    id=DocumentId(str(source["document_id"])),
                    title=str(source["title"]),
                    file_name=str(source["identifier"]),
                    source_type=SourceType(str(source["type"])),
                )
                for source in (dialogue.window[-1].sources if dialogue.window else ())
            ]
            documents = {each.id: each for each in (*answered, *found)}
            likely = [each for each in documents.values() if each.id in asked.only or not asked.only]
            return Known(
                dialogue=dialogue, entities=named or (), documents=tuple(likely[:LISTED_DOCUMENTS]), total=total
            )
        finally:
            await end(matching)

    async def _matches(self, asked: Question) -> tuple[Sequence[DocumentMatch], int]:
        if self.documents is None or self.catalogue is None:
            return [], 0
        found = await self.documents.find_documents(asked.base_id, asked.text, limit=LISTED_DOCUMENTS)
        if asked.only:
            return found, len(asked.only)
        likely = [each for each in found if each.score >= LISTED_SHARE * found[0].score]
        return likely, (await self.catalogue.count(asked.base_id)).documents

    async def _by_words(self, asked: Question, planned: Planned, execution: Execution) -> str:
        """What was searched for by words alone in documents of the other alphabet; empty where a model words it."""
        if self.writer or self.compares_meaning or planned.small_talk or not execution.calls:
            return ""
        found = [fact.passage.passage.text for fact in execution.payload.facts if fact.passage][:LOOKED_AT]
        are_cyrillic = [mostly_cyrillic(text) for text in found]
        if not found and self.catalogue:  # names of files tell little: «scan_7.pdf»
            cards = await self.catalogue.documents(asked.base_id, limit=LOOKED_AT)
            are_cyrillic = [card.language in CYRILLIC for card in cards if card.language]
        is_other = bool(are_cyrillic) and mostly_cyrillic(asked.text) not in are_cyrillic
        return str(execution.calls[-1].call.args.get("query", "")) if is_other else ""

    async def _drafts(self, asked: Question, found: Found, stop: asyncio.Event) -> AsyncGenerator[Draft, None]:
        if clarification := found.planned.plan.clarification:
            yield Draft(kind=AnswerKind.CONVERSATION, text=visible(clarification.question), done=True)
            return
        if self.writer is None and found.choice.is_needed:  # the bot adds a button for each document
            text = self.plain.prompts.which[language_of(asked.text)]
            yield Draft(kind=AnswerKind.CONVERSATION, text=text, done=True)
            return
        # A doubtful follow-up is searched without the dialogue (seed 4, section 5.1: the memory gate); the writer sees
        # the dialogue, marked, so that nothing that the person has said is denied (DESIGN, section 6).
        plan, known = found.planned.plan, found.known
        assignment = Assignment(
            question=asked.text,
            understood=plan.question,
            small_talk=found.planned.small_talk,
            facts=found.execution.payload,
            gaps=found.execution.gaps,
            searched=bool(found.execution.calls),
            dialogue=known.dialogue,
            doubtful=plan.follow_up is FollowUp.DOUBTFUL,
            style=plan.render_style,
            answer_style=plan.answer_style,
            limits=plan.limits,
            hidden_ids=tuple(entity.id for entity in known.entities),
        )
        if self.writer is None or found.planned.origin is PlanOrigin.COURTESY:
            yield self.plain.write(assignment)
            return
        async with aclosing(self.writer.write(assignment, stop)) as drafts:
            async for draft in drafts:
                yield draft

    def _store(self, asked: Question, draft: Draft, known: frozenset[str]) -> asyncio.Task[None]:
        """An address that was made up is stored as it was shown: it must not count as said in the next turn."""
        exchange = Exchange(
            question=f"{asked.text} ({asked.chosen})" if asked.chosen else asked.text,
            answer=defanged(draft.text, known),
            sources=tuple(citation.to_json() for citation in draft.citations),
            context_used=tuple(fact.reference() for fact in draft.cited),
        )

        def stored(task: asyncio.Task[None]) -> None:
            self._running.discard(task)
            if not task.cancelled() and (error := task.exception()):
                log.warning("dialogue.not_stored", reason=type(error).__name__)

        task = asyncio.create_task(self.memory.keep(asked, exchange))
        self._running.add(task)
        task.add_done_callback(stored)
        return task


def _for_tools(context: ToolContext, planned: Planned, dialogue: Dialogue) -> ToolContext:
    """Adds the summary and the last exchange, and the words that are searched beside the planned ones: the person's
    own (the default plan searches these anyway), or the question in full where it hangs on the dialogue."""
    plan = planned.plan
    own = plan.question if plan.follow_up is FollowUp.EXPLICIT else context.question
    last = [f"Person: {each.question}\nBaza: {each.answer[:600]}" for each in dialogue.window[-1:]]
    said = "\n\n".join(filter(None, (dialogue.summary, *last)))
    return replace(
        context,
        dialogue="" if plan.follow_up is FollowUp.DOUBTFUL else said,
        own_words="" if planned.origin is PlanOrigin.DEFAULT else own,
    )
