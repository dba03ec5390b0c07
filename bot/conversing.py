"""Assembles a turn from its tools, planner, executor and writer. Part of the composition root (`bot.app`).

In: the opened parts. Out: a `Conversation`. It opens nothing.
"""

from typing import TYPE_CHECKING

from bot.settings import AnswerSettings as Asked
from prompts.loader import Prompts, load_prompts
from prompts.wordings import load_breadth, load_intents, load_small_talk, load_wordings
from rag.answering.answer import AnswerWriter
from rag.answering.grounding import SupportCheck
from rag.answering.plain import PlainAnswers
from rag.answering.prompt import AnswerSettings
from rag.conversation import Conversation, TurnStages
from rag.dialogue import DialogueMemory, Summariser
from rag.entities import RegistryResolver
from rag.execution.analysis_tool import Analyze
from rag.execution.document_tools import ListDocuments, ReadDocument
from rag.execution.executor import Executor
from rag.execution.graph_tool import GraphQuery
from rag.execution.iterative_tool import ReadDocuments
from rag.execution.rows_tool import CollectRows
from rag.execution.search_tool import SearchBase, SurveyBase
from rag.execution.tools import AnyTool, RunLimits
from rag.planning.plain_planner import Breadth
from rag.planning.plain_requests import PlainRequests
from rag.planning.planner import Planner, PlannerPrompt
from rag.retrieval.search import DocumentSearch, Retrieval
from rag.small_talk import SmallTalkRule

if TYPE_CHECKING:
    from bot.app import Parts


def build_conversation(parts: "Parts") -> Conversation:
    """Without a model each question is one plain search. The planner's model also summarises the dialogue; the
    checker's judges answers; the reading one analyses facts and reads documents."""
    asked, prompts, breadth = parts.settings.answer, load_prompts(), Breadth(load_breadth())
    stores, retrieval, model, planner_model = parts.stores, parts.retrieval(), parts.model, parts.planner_model
    requests = PlainRequests(load_breadth(), load_wordings())
    documents = DocumentSearch(stores.search, parts.analyzer)
    tools = _tools(parts, retrieval, documents, prompts, breadth)
    entities = RegistryResolver(stores.entities, parts.names)
    check = SupportCheck(parts.checker_model, prompts) if parts.checker_model else None
    writing = AnswerSettings(
        language=asked.answer_language,
        general_knowledge=asked.general_knowledge,
        window_pairs=asked.window_pairs,
        prompt_tokens=asked.prompt_tokens,
        rules=asked.answer_check != "off",
    )
    stages = TurnStages(
        memory=DialogueMemory(
            stores.dialogue,
            parts.analyzer,
            Summariser(stores.dialogue, planner_model, prompts) if planner_model else None,
            pairs=asked.window_pairs,
        ),
        entities=entities,
        planner=Planner(
            planner_model,
            tools=tools,
            intents=load_intents(),
            threshold=asked.plan_threshold,
            breadth=breadth,
            requests=requests,
            small_talk=SmallTalkRule(load_small_talk()),
            entities=entities,
            needs_sign=asked.search_policy == "explicit",
        ),
        prompt=_planner_prompt(asked, tools, prompts),
        executor=Executor(
            tools,
            max_calls=asked.tool_calls,
            step_tokens=asked.prompt_tokens,
            is_shortened=model is not None,
        ),
        writer=AnswerWriter(model, prompts, writing, check=check) if model else None,
        plain=PlainAnswers(prompts, "auto", requests),  # facts are in the language of the question
        documents=documents,
        catalogue=stores.library,
        compares_meaning=retrieval.compares_meaning,
        searches_early=asked.search_policy == "planned",
    )
    limits = RunLimits(
        steps=asked.plan_steps,
        model_calls=asked.model_calls,
        tokens=asked.turn_tokens,
        seconds=asked.turn_s,
        cost=asked.turn_cost,
    )
    return Conversation(stages, limits=limits)


def _tools(
    parts: "Parts", retrieval: Retrieval, documents: DocumentSearch, prompts: Prompts, breadth: Breadth
) -> tuple[AnyTool, ...]:
    stores, model = parts.stores, parts.reading_model
    wordings, tokens = load_wordings(), parts.settings.answer.prompt_tokens
    looking: tuple[AnyTool, ...] = (
        SearchBase(retrieval, stores.library),
        SurveyBase(stores.library, retrieval.without_reranker(), wordings, breadth),
        GraphQuery(stores.entities),
        ListDocuments(stores.library, wordings, documents),
        ReadDocument(stores.library, stores.passages, model, prompts),
    )
    if model is None:
        return looking
    reading = (
        reader(
            stores.library,
            stores.passages,
            retrieval,
            model,
            prompts,
            wordings,
            prompt_tokens=tokens,
            memory=stores.kept_readings,
        )
        for reader in (ReadDocuments, CollectRows)
    )
    return (*looking, Analyze(model, prompts, prompt_tokens=tokens), *reading)


def _planner_prompt(asked: Asked, tools: tuple[AnyTool, ...], prompts: Prompts) -> PlannerPrompt:
    return PlannerPrompt(
        prompts,
        tools=tools,
        policy=asked.search_policy,
        max_calls=asked.tool_calls,
        threshold=asked.plan_threshold,
        dialogue_tokens=asked.prompt_tokens // 4,
    )
