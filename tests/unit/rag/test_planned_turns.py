"""Turns that a model has planned: with a search in other words, with none, with steps, and asked back."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from domain.errors import DatabaseAway
from domain.ids import DocumentId
from rag.answering.prompt import DOUBT
from rag.progress import StepState
from rag.records import (
    Answered,
    AnswerKind,
    Candidate,
    Exchange,
    SearchFilter,
    StepsChanged,
)
from tests.fakes.rag import (
    RememberedDialogue,
    ScriptedModel,
    away,
    make_candidate,
    make_question,
)
from tests.fakes.turns import ASKED, FOUND, RIGHT, Turn, planner

KNOWN = "0198c2b1-7b1a-7e70-b2a8-0d5b6f1c2e3d"


async def test_the_planner_words_a_search_beside_the_early_one() -> None:
    turn = Turn(ScriptedModel(RIGHT), planner=planner())
    answer = await turn.answer()

    assert ("штраф", "просрочка", "оплаты", "договор") in [query.terms for query in turn.search.queries]
    assert answer.searched
    assert answer.trace is not None
    assert answer.trace["origin"] == "model"


async def test_the_search_is_on_its_way_before_the_dialogue_is_looked_up() -> None:
    turn = Turn(ScriptedModel(RIGHT), planner=planner(), dialogue=RememberedDialogue(window_error=DatabaseAway("gone")))
    with pytest.raises(DatabaseAway):
        await turn.answer()
    assert len(turn.search.queries) == 1


@pytest.mark.parametrize("question", ["Спасибо!", "Привет", "до свидания"])
async def test_a_greeting_and_thanks_cost_no_call_of_any_model(question: str) -> None:
    model, planning = ScriptedModel("[-] Здравствуйте!"), planner()
    turn = Turn(model, planner=planning)
    answer = await turn.answer(question)
    assert (answer.kind, answer.searched, answer.small_talk is not None) == (AnswerKind.CONVERSATION, False, True)
    assert (model.asked, planning.asked, turn.search.queries) == ([], [], [])


async def test_thanks_before_a_question_do_not_answer_it() -> None:
    model = ScriptedModel(RIGHT)
    await Turn(model, planner=planner()).answer("Спасибо, а какой штраф?")
    assert len(model.asked) == 1


async def test_talk_is_answered_without_the_base() -> None:
    model = ScriptedModel("[-] Я Baza.")
    answer = await Turn(model, planner=planner(tool_calls=[], intents=["CONVERSATION"])).answer("А ты кто будешь?")

    assert (answer.kind, answer.citations, answer.searched) == (AnswerKind.CONVERSATION, (), False)
    assert FOUND[0].passage.text not in model.asked[0][-1].content


async def test_a_vague_question_is_asked_back_with_its_choices() -> None:
    asked_back = {"question": "Какой договор?", "choices": ["Аренда", "Поставка"]}
    model = ScriptedModel(RIGHT)
    answer = await Turn(model, planner=planner(tool_calls=[], clarification=asked_back)).answer()

    assert (answer.text, answer.choices) == ("Какой договор?", ("Аренда", "Поставка"))
    assert model.asked == []


PARTIES = ("Лазурит", "Ромашка", "Кедр", "Вектор")


def alike(count: int) -> list[Candidate]:
    """The same clause of so many contracts."""
    clauses = (
        make_candidate(
            f"Какой штраф за просрочку поставки: {at} % в день.",
            number=at + 1,
            bm25=1,
            document=f"c{at}" if at else KNOWN,
        )
        for at in range(count)
    )
    return [
        replace(each, passage=replace(each.passage, opening=f"Договор с ООО «{party}»"))
        for each, party in zip(clauses, PARTIES[:count], strict=True)
    ]


@pytest.mark.parametrize(("count", "kind"), [(4, AnswerKind.CONVERSATION), (2, AnswerKind.QUOTES)])
async def test_without_a_model_it_is_asked_which_of_alike_documents_is_meant(count: int, kind: AnswerKind) -> None:
    """Of two the best is quoted, and the other offered."""
    turn = Turn(None, alike(count))
    answer = await turn.answer()
    assert answer.kind is kind
    assert {each.label for each in answer.alike} <= set(PARTIES[:count])
    assert len(answer.alike) == (4 if count == 4 else 0)  # both are quoted
    assert turn.dialogue.exchanges[-1].question == ASKED


@pytest.mark.parametrize(
    ("reply", "offered"), [("[+] Штраф 0 % [1].", 3), ("[+] 0 % [1], 1 % [2].", 0), ("[-] Чей?", 4)]
)
async def test_a_model_answers_and_the_other_alike_documents_are_offered(reply: str, offered: int) -> None:
    answer = await Turn(ScriptedModel(reply), alike(4), planner=planner()).answer()
    assert len(answer.alike) == offered


@pytest.mark.parametrize(
    ("question", "by_words"), [("Штраф 10 %?", ""), ("Who fines whom, 10 %?", "Who fines whom, 10 %?")]
)
async def test_words_of_another_language_than_the_documents_are_told(question: str, by_words: str) -> None:
    assert (await Turn(None).answer(question)).by_words == by_words
    assert (await Turn(ScriptedModel(RIGHT), planner=planner()).answer(question)).by_words == ""


@pytest.mark.parametrize(("question", "is_told"), [("Штраф 10 %?", False), ("Какая ротонда?", True)])
async def test_where_nothing_fits_it_is_told_that_search_is_by_words(question: str, is_told: bool) -> None:
    assert (await Turn(None).answer(question)).misses_meaning is is_told


@pytest.mark.parametrize("model", [None, ScriptedModel("[+] Штраф 0 % [1].")])
async def test_a_chosen_document_is_searched_alone_whatever_the_plan_says(model: ScriptedModel | None) -> None:
    asked_back = {"question": "Какой договор?", "choices": ["d1"]}
    planning = planner(tool_calls=[], clarification=asked_back) if model else None
    turn = Turn(model, alike(4), planner=planning)
    chosen = replace(make_question(ASKED), only=(DocumentId(KNOWN),), chosen="Кедр")
    events = [event async for event in turn.conversation.answer(chosen)]
    assert isinstance(events[-1], Answered)
    assert {query.only for query in turn.search.queries} == {SearchFilter(documents=(DocumentId(KNOWN),))}
    assert events[-1].answer.alike == ()
    assert [each.question for each in turn.dialogue.exchanges] == [f"{ASKED} (Кедр)"]


async def test_a_doubtful_follow_up_is_searched_without_the_dialogue_and_answered_with_it() -> None:
    model = ScriptedModel(RIGHT)
    dialogue = RememberedDialogue([Exchange(question="Запомни: PID mcs777", answer="Запомнил.")])
    turn = Turn(model, planner=planner(follow_up="doubtful"), dialogue=dialogue)
    await turn.answer("Какой PID?")

    assert "mcs777" in str(model.asked[0])
    assert DOUBT in model.asked[0][-1].content
    assert all("mcs777" not in query.terms for query in turn.search.queries)


async def test_a_planner_that_is_away_costs_nothing_but_the_plan() -> None:
    turn = Turn(ScriptedModel(RIGHT), planner=ScriptedModel("", error=away()))
    answer = await turn.answer()

    assert answer.kind is AnswerKind.FROM_BASE
    assert len(turn.search.queries) == 1


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


async def test_a_press_in_the_last_moment_of_the_steps_does_not_end_the_answer() -> None:
    search = {"id": "a", "action": "rag_db_query", "params": {"query": "штраф"}}
    turn, stop = Turn(ScriptedModel("[+] Штраф 0,1 % [1]."), planner=steps_planner(search)), asyncio.Event()
    async for event in turn.conversation.answer(make_question(ASKED), stop=stop):
        if isinstance(event, StepsChanged) and event.steps[0].state is StepState.DONE:
            stop.set()
    assert isinstance(event, Answered)
    assert (event.answer.kind, event.answer.stopped) == (AnswerKind.FROM_BASE, False)


async def test_a_follow_up_is_planned_with_the_documents_of_the_last_answer() -> None:
    """«А срок?» has no word of the contract that it means: the list had six others instead."""
    plans = planner()
    turn = Turn(ScriptedModel(RIGHT), planner=plans)
    await turn.answer()
    assert "d1: " not in str(plans.asked[0][-1])
    answer = await turn.answer("А срок?")
    assert f"d1: {answer.citations[0].name}" in str(plans.asked[-1][-1])
