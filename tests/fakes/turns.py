"""A conversation over scripted doors: what a turn does without a database and without a model."""

import json
from collections.abc import Sequence
from datetime import date

from prompts.loader import load_prompts
from prompts.wordings import load_intents
from rag.answering.answer import AnswerWriter
from rag.answering.plain import PlainAnswers
from rag.answering.prompt import AnswerSettings
from rag.conversation import Conversation
from rag.dialogue import DialogueMemory
from rag.entities import RegistryResolver
from rag.execution.executor import Executor
from rag.execution.search_tool import SearchBase
from rag.execution.tools import AnyTool
from rag.planning.planner import Planner, PlannerPrompt
from rag.ports import ChatModel, PassageSearch
from rag.records import (
    Answer,
    Answered,
    Candidate,
    TurnEvent,
)
from rag.retrieval.search import Retrieval
from tests.fakes.catalogue import Catalogue
from tests.fakes.planning import BREADTH, SMALL_TALK
from tests.fakes.rag import (
    FixedEmbedder,
    FoundPassages,
    LowerWords,
    RememberedDialogue,
    ScriptedModel,
    make_candidate,
    make_question,
)

ASKED = "Какой штраф за просрочку?"
FOUND = (
    make_candidate("Какой штраф за просрочку: 0,1 % за каждый день, но не больше 10 %.", number=1, bm25=9.0),
    make_candidate("За просрочку поставки какой штраф указано отдельно.", number=2, bm25=4.0),
)
RIGHT = "[+] Штраф 0,1 % в день [1]."


class Turn:
    """A conversation over scripted doors, and what came out of it. Without `planner` there is one plain search."""

    def __init__(
        self,
        model: ChatModel | None,
        found: Sequence[Candidate] = FOUND,
        *,
        planner: ChatModel | None = None,
        general_knowledge: bool = True,
        dialogue: RememberedDialogue | None = None,
        entities: RegistryResolver | None = None,
        more_tools: Sequence[AnyTool] = (),
    ) -> None:
        self.search = FoundPassages(found)
        self.dialogue = dialogue or RememberedDialogue()
        settings = AnswerSettings(
            language="ru", general_knowledge=general_knowledge, window_pairs=15, prompt_tokens=12000
        )
        prompts, intents = load_prompts(), load_intents()
        tools = (SearchBase(by_words_alone(self.search), Catalogue()), *more_tools)
        self.conversation = Conversation(
            memory=DialogueMemory(self.dialogue, LowerWords(), None, pairs=15),
            entities=entities,
            planner=Planner(
                planner, tools=tools, intents=intents, threshold=0.5, breadth=BREADTH, small_talk=SMALL_TALK
            ),
            prompt=PlannerPrompt(
                prompts,
                tools=tools,
                policy="planned",
                max_calls=4,
                threshold=0.5,
                dialogue_tokens=3000,
            ),
            executor=Executor(tools, max_calls=4, is_shortened=model is not None),
            writer=AnswerWriter(model, prompts, settings, today=_today) if model else None,
            compares_meaning=False,
            plain=PlainAnswers(prompts, "auto"),
            today=_today,
        )

    async def events(self, text: str = ASKED) -> list[TurnEvent]:
        return [event async for event in self.conversation.answer(make_question(text))]

    async def answer(self, text: str = ASKED) -> Answer:
        last = (await self.events(text))[-1]
        assert isinstance(last, Answered)
        return last.answer


def _today() -> date:
    return date(2026, 5, 12)


def by_words_alone(search: PassageSearch) -> Retrieval:
    """A search that finds what `search` was told to, in the order of its BM25 scores."""
    return Retrieval(
        search,
        FixedEmbedder(),
        LowerWords(),
        None,
        candidates=30,
        passages=10,
        lexical_weight=1.0,
        vector_weight=0.0,
    )


def planner(**changes: object) -> ScriptedModel:
    """A planner that plans one search, but for `changes`."""
    plain: dict[str, object] = {
        "question": "Какой штраф за просрочку оплаты по договору?",
        "intents": ["EXACT_VALUE"],
        "tool_calls": [{"tool": "rag_db_query", "args": {"query": "штраф просрочка оплаты договор"}}],
        "confidence": 0.9,
    }
    return ScriptedModel(json.dumps({**plain, **changes}))
