"""One turn, from a question to its answer, with models that work and models that do not."""

import asyncio
import gc
import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

import pytest
from structlog.testing import capture_logs

from prompts.intents import load_intents
from prompts.loader import load_prompts
from rag.answering.answer import AnswerWriter
from rag.answering.prompt import AnswerSettings
from rag.conversation import Conversation, TurnStages
from rag.dialogue.memory import DialogueMemory
from rag.errors import ModelNonsense, ModelRefused
from rag.execution.executor import Executor
from rag.execution.search_tool import SearchBase
from rag.normalising import normalise
from rag.planning.planner import Planner
from rag.planning.prompt import PlannerPrompt
from rag.ports import ChatModel
from rag.records import (
    Answer,
    Answered,
    AnswerKind,
    Candidate,
    ChatMessage,
    Exchange,
    SearchStarted,
    StepsChanged,
    StepState,
    TextGrew,
    TurnEvent,
)
from rag.retrieval.search import Retrieval
from tests.fakes.catalogue import Catalogue
from tests.fakes.rag import (
    FixedEmbedder,
    FoundPassages,
    LowerWords,
    RememberedDialogue,
    ScriptedModel,
    away,
    make_candidate,
    make_question,
)

ASKED = "Какой штраф за просрочку?"
FOUND = (
    make_candidate("Какой штраф за просрочку: 0,1 % за каждый день, но не больше 10 %.", number=1, bm25=9.0),
    make_candidate("За просрочку поставки какой штраф указано отдельно.", number=2, bm25=4.0),
)


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
    ) -> None:
        self.search = FoundPassages(found)
        self.dialogue = dialogue or RememberedDialogue()
        settings = AnswerSettings(
            language="ru", general_knowledge=general_knowledge, window_pairs=15, prompt_tokens=12000
        )
        prompts, intents = load_prompts(), load_intents()
        tools = (SearchBase(_retrieval(self.search), Catalogue()),)
        stages = TurnStages(
            memory=DialogueMemory(self.dialogue, LowerWords(), None, pairs=15),
            entities=None,
            planner=Planner(planner, tools=tools, intents=intents, threshold=0.5),
            prompt=PlannerPrompt(
                prompts,
                intents=intents,
                tools=tools,
                policy="planned",
                max_calls=4,
                threshold=0.5,
                dialogue_tokens=3000,
            ),
            executor=Executor(tools, max_calls=4),
            writer=AnswerWriter(model, prompts, settings, today=_today) if model else None,
        )
        self.conversation = Conversation(stages, today=_today)

    async def events(self, text: str = ASKED) -> list[TurnEvent]:
        return [event async for event in self.conversation.answer(make_question(text))]

    async def answer(self, text: str = ASKED) -> Answer:
        last = (await self.events(text))[-1]
        assert isinstance(last, Answered)
        return last.answer


def _today() -> date:
    return date(2026, 5, 12)


def _retrieval(search: FoundPassages) -> Retrieval:
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


def shown(events: Sequence[TurnEvent]) -> list[TextGrew]:
    return [event for event in events if isinstance(event, TextGrew)]


async def test_the_answer_grows_and_ends_with_its_sources() -> None:
    events = await Turn(ScriptedModel("[+] Штраф 0,1 % в день [1]. Не больше 10 %.")).events()

    assert isinstance(events[0], SearchStarted)
    texts = [event.text for event in shown(events)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert isinstance(events[-1], Answered)
    answer = events[-1].answer
    assert (answer.kind, answer.text) == (AnswerKind.FROM_BASE, "Штраф 0,1 % в день. Не больше 10 %.")
    assert [citation.chunk_id for citation in answer.citations] == [1]
    assert answer.model == "scripted"


async def test_there_is_one_search_a_turn() -> None:
    turn = Turn(ScriptedModel("[+] Да [1]."))

    await turn.answer()

    assert len(turn.search.queries) == 1


async def test_the_exchange_is_kept_without_marks() -> None:
    turn = Turn(ScriptedModel("[+] Штраф 0,1 % [1]."))

    await turn.answer(f"  {ASKED}\u200b ")

    assert turn.dialogue.exchanges == [Exchange(question=ASKED, answer="Штраф 0,1 %.")]
    assert turn.dialogue.kept == [30]


async def test_the_model_reads_rules_dialogue_and_materials_in_this_order() -> None:
    model = ScriptedModel("[-] Да.")
    turn = Turn(model, dialogue=RememberedDialogue([Exchange(question="раньше", answer="ответ")]))

    await turn.answer()

    messages = model.asked[0]
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    last = messages[-1].content
    assert last.index(FOUND[0].passage.text) < last.index("2026-05-12") < last.index(ASKED)


async def test_general_knowledge_has_no_sources() -> None:
    answer = await Turn(ScriptedModel("[0] Столица Турции — Анкара [1].")).answer()

    assert (answer.kind, answer.text, answer.citations) == (AnswerKind.GENERAL, "Столица Турции — Анкара.", ())


async def test_an_empty_base_is_answered_from_general_knowledge() -> None:
    answer = await Turn(ScriptedModel("[+] Анкара [1]."), found=()).answer()

    assert (answer.kind, answer.text, answer.citations) == (AnswerKind.GENERAL, "Анкара.", ())


async def test_where_general_knowledge_is_off_nothing_of_it_is_shown() -> None:
    model = ScriptedModel("[0] Столица Турции — Анкара, город на Анатолийском плоскогорье.")

    events = await Turn(model, general_knowledge=False).events()

    assert shown(events) == []
    assert isinstance(events[-1], Answered)
    assert (events[-1].answer.kind, events[-1].answer.text) == (AnswerKind.NOTHING, "")
    assert model.said < len(model.reply)  # the rest was not waited for


async def test_where_general_knowledge_is_off_a_claim_without_a_mark_is_not_shown() -> None:
    model = ScriptedModel("[+] Столица Турции — Анкара, крупный город на плоскогорье.")

    events = await Turn(model, general_knowledge=False).events()

    assert shown(events) == []
    assert isinstance(events[-1], Answered)
    assert events[-1].answer.kind is AnswerKind.NOTHING


async def test_where_general_knowledge_is_off_talk_and_answers_from_the_base_go_on() -> None:
    talk = await Turn(ScriptedModel("[-] Здравствуйте!"), general_knowledge=False).answer()
    answer = await Turn(ScriptedModel("[+] Штраф 0,1 % [1]."), general_knowledge=False).answer()

    assert (talk.kind, answer.kind) == (AnswerKind.CONVERSATION, AnswerKind.FROM_BASE)


async def test_an_answer_without_marks_is_tied_to_the_passage_it_repeats() -> None:
    found = [make_candidate("Пеня равна десятой доле процента ежедневно, максимум десять процентов.", bm25=1.0)]

    answer = await Turn(ScriptedModel("[+] Пеня: десятая доля процента ежедневно."), found).answer()

    assert (answer.kind, len(answer.citations)) == (AnswerKind.FROM_BASE, 1)


async def test_an_answer_that_no_passage_supports_is_labelled_general() -> None:
    answer = await Turn(ScriptedModel("[+] Столица Турции — город Анкара.")).answer()

    assert (answer.kind, answer.citations) == (AnswerKind.GENERAL, ())


async def test_without_a_model_the_passages_answer() -> None:
    answer = await Turn(None).answer()

    assert (answer.kind, answer.model) == (AnswerKind.QUOTES, None)
    assert FOUND[0].passage.text in answer.text
    assert [citation.chunk_id for citation in answer.citations] == [1, 2]


async def test_without_a_model_what_merely_shares_a_word_is_not_quoted() -> None:
    answer = await Turn(None, [make_candidate("за рекой", bm25=1.0)]).answer()

    assert answer.kind is AnswerKind.NOTHING


async def test_nothing_found_and_no_model_is_nothing_and_leaves_no_trace() -> None:
    turn = Turn(None, found=())

    assert (await turn.answer()).kind is AnswerKind.NOTHING
    assert turn.dialogue.exchanges == []


async def test_a_model_that_is_away_leaves_the_quotes() -> None:
    events = await Turn(ScriptedModel("", error=away())).events()

    assert shown(events) == []
    assert isinstance(events[-1], Answered)
    assert events[-1].answer.kind is AnswerKind.QUOTES


async def test_a_model_that_leaves_before_anything_was_shown_leaves_the_quotes() -> None:
    assert (await Turn(ScriptedModel("[+", error=away())).answer()).kind is AnswerKind.QUOTES


async def test_a_model_that_leaves_in_mid_stream_leaves_what_was_shown_and_the_passages() -> None:
    turn = Turn(ScriptedModel("[+] Штраф составляет десятую", error=away()))
    events = await turn.events()

    assert isinstance(events[-1], Answered)
    answer = events[-1].answer
    assert (answer.cut, answer.kind, answer.text) == (True, AnswerKind.FROM_BASE, shown(events)[-1].text)
    assert [citation.chunk_id for citation in answer.citations] == [1, 2]
    assert turn.dialogue.exchanges[0].answer == answer.text


async def test_a_refused_key_is_an_error_for_the_engineer_and_quotes_for_the_person() -> None:
    with capture_logs() as logs:
        answer = await Turn(ScriptedModel("", error=ModelRefused("402"))).answer()

    assert answer.kind is AnswerKind.QUOTES
    assert [entry["log_level"] for entry in logs if entry["event"] == "answer.model_failed"] == ["error"]


@pytest.mark.parametrize("model", [ScriptedModel("[+]"), ScriptedModel("", error=ModelNonsense("empty"))])
async def test_an_empty_answer_leaves_the_quotes(model: ScriptedModel) -> None:
    assert (await Turn(model).answer()).kind is AnswerKind.QUOTES


async def test_what_was_shown_is_kept_when_the_person_leaves() -> None:
    turn = Turn(ScriptedModel("[+] Штраф 0,1 % [1]. " + "И ещё много слов. " * 50))
    async with aclosing(turn.conversation.answer(make_question(ASKED))) as events:
        async for event in events:
            if isinstance(event, TextGrew):
                left_at = event.text
                break

    assert [exchange.answer for exchange in turn.dialogue.exchanges] == [left_at]


async def test_a_turn_that_is_cancelled_while_storing_is_stored() -> None:
    turn = Turn(ScriptedModel("[+] Штраф 0,1 % [1]."), dialogue=RememberedDialogue(append_seconds=0.02))
    task = asyncio.create_task(turn.answer())
    while not turn.dialogue.begun:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    await asyncio.sleep(0.05)

    assert task.cancelled()
    assert len(turn.dialogue.exchanges) == 1


async def test_an_exchange_that_cannot_be_stored_is_reported_after_the_answer() -> None:
    turn = Turn(ScriptedModel("[-] Да."), dialogue=RememberedDialogue(append_error=ConnectionError()))
    events = turn.conversation.answer(make_question(ASKED))
    while not isinstance(await anext(events), Answered):
        pass

    with pytest.raises(ConnectionError):
        await anext(events)


async def test_a_store_that_is_away_is_not_hidden() -> None:
    turn = Turn(ScriptedModel("[-] Да."))
    turn.search.error = ConnectionError()

    with pytest.raises(ConnectionError):
        await turn.answer()


async def test_a_store_that_is_away_on_both_ways_fails_once() -> None:
    forgotten: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: forgotten.append(context["message"]))
    turn = Turn(ScriptedModel("[-] Да."), dialogue=RememberedDialogue(window_error=ConnectionError()))
    turn.search.error = ConnectionError()

    with pytest.raises(ConnectionError):
        await turn.answer()
    gc.collect()
    assert forgotten == []  # no «Task exception was never retrieved»


async def test_texts_never_reach_the_log() -> None:
    with capture_logs() as logs:
        await Turn(ScriptedModel("[+] Штраф ноль одна [1].")).answer()
        await Turn(ScriptedModel("[+] Штраф ноль", error=away())).answer()

    assert logs
    assert not any(word in str(logs) for word in ("трафа", "Штраф", "просрочку"))


WRONG, RIGHT = "[+] Штраф 0,7 % в день [1].", "[+] Штраф 0,1 % в день [1]."


@dataclass
class TwoTries(ScriptedModel):
    """Streams one answer, and writes another when it is asked again."""

    again: str = ""

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        self.asked.append(tuple(messages))
        return self.again


async def test_an_answer_with_a_made_up_number_is_withdrawn_and_written_again() -> None:
    model = TwoTries(WRONG, again=RIGHT)
    turn = Turn(model)
    answer = await turn.answer()

    assert (answer.kind, answer.text) == (AnswerKind.FROM_BASE, "Штраф 0,1 % в день.")
    assert "0,7" in model.asked[1][-1].content
    assert turn.dialogue.exchanges[0].answer == answer.text


@pytest.mark.parametrize("again", [WRONG, ""])
async def test_an_answer_that_fails_twice_gives_way_to_the_passages(again: str) -> None:
    answer = await Turn(TwoTries(WRONG, again=again)).answer()

    assert answer.kind is AnswerKind.QUOTES
    assert answer.trace is not None
    assert answer.trace["checks"]


def _plan(**changes: object) -> ScriptedModel:
    plain: dict[str, object] = {
        "question": "Какой штраф за просрочку оплаты по договору?",
        "intents": ["EXACT_VALUE"],
        "tool_calls": [{"tool": "rag_db_query", "args": {"query": "штраф просрочка оплаты договор"}}],
        "confidence": 0.9,
    }
    return ScriptedModel(json.dumps({**plain, **changes}))


async def test_the_planner_words_the_search_and_the_early_one_is_dropped() -> None:
    turn = Turn(ScriptedModel(RIGHT), planner=_plan())
    answer = await turn.answer()

    assert turn.search.queries[-1].terms == ("штраф", "просрочка", "оплаты", "договор")
    assert answer.trace is not None
    assert answer.trace["origin"] == "model"


async def test_small_talk_is_answered_without_the_base() -> None:
    model = ScriptedModel("[-] Здравствуйте!")
    answer = await Turn(model, planner=_plan(tool_calls=[], intents=["CONVERSATION"])).answer("Привет!")

    assert (answer.kind, answer.citations) == (AnswerKind.CONVERSATION, ())
    assert FOUND[0].passage.text not in model.asked[0][-1].content


async def test_a_vague_question_is_asked_back_with_its_choices() -> None:
    asked_back = {"question": "Какой договор?", "choices": ["Аренда", "Поставка"]}
    model = ScriptedModel(RIGHT)
    answer = await Turn(model, planner=_plan(tool_calls=[], clarification=asked_back)).answer()

    assert (answer.text, answer.choices) == ("Какой договор?", ("Аренда", "Поставка"))
    assert model.asked == []


async def test_a_doubtful_follow_up_is_answered_without_the_dialogue() -> None:
    model = ScriptedModel(RIGHT)
    dialogue = RememberedDialogue([Exchange(question="раньше", answer="ответ")])
    await Turn(model, planner=_plan(follow_up="doubtful"), dialogue=dialogue).answer()

    assert "раньше" not in str(model.asked[0])


async def test_a_planner_that_is_away_costs_nothing_but_the_plan() -> None:
    turn = Turn(ScriptedModel(RIGHT), planner=ScriptedModel("", error=away()))
    answer = await turn.answer()

    assert answer.kind is AnswerKind.FROM_BASE
    assert len(turn.search.queries) == 1


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  а\u00a0 б\u200b\n\n\n\nв ", "а б\n\nв"),
        ("код:\n    x = 1", "код:\n    x = 1"),
        ("и\u0306", "й"),
    ],
)
def test_a_question_is_normalised(text: str, normal: str) -> None:
    assert normalise(text) == normal


def steps_planner(*steps: Mapping[str, object]) -> ScriptedModel:
    """A planner that plans these steps."""
    made = {"question": ASKED, "kind": "iterative", "intents": ["GENERAL_UNSTRUCTURED"], "confidence": 0.9}
    return ScriptedModel(json.dumps({**made, "steps": list(steps)}))


async def test_the_steps_of_a_plan_are_told_and_kept_in_the_answer() -> None:
    searches = [{"id": each, "action": "rag_db_query", "params": {"query": each}} for each in ("штраф", "срок")]
    turn = Turn(ScriptedModel("[+] Штраф 0,1 % [1]."), planner=steps_planner(*searches))
    events = await turn.events()
    told = [event.steps for event in events if isinstance(event, StepsChanged)]
    assert [step.about for step in told[-1]] == ["штраф", "срок"]
    assert isinstance(events[-1], Answered)
    assert {step.state for step in events[-1].answer.steps} == {StepState.DONE}


async def test_a_question_that_is_stopped_is_answered_from_what_is_known() -> None:
    search = {"id": "a", "action": "rag_db_query", "params": {"query": "штраф"}}
    turn = Turn(ScriptedModel("[-] Пока ничего не нашёл."), planner=steps_planner(search))
    stop = asyncio.Event()
    stop.set()
    events = [event async for event in turn.conversation.answer(make_question(ASKED), stop=stop)]
    assert isinstance(events[-1], Answered)
    assert (events[-1].answer.spent, events[-1].answer.text) == ("stopped", "Пока ничего не нашёл.")
