"""Turns in which nothing is asked and no model has a word for it, and what of a polite question is searched."""

import pytest

from rag.execution.document_tools import ListDocuments
from rag.records import AnswerKind, SmallTalk
from tests.fakes.cards import ready
from tests.fakes.catalogue import Catalogue
from tests.fakes.rag import ScriptedModel, away, make_candidate
from tests.fakes.reading import WORDINGS
from tests.fakes.turns import Turn, planner

CHANCE = make_candidate("Привет и спасибо сказал дежурный, ок.", bm25=3.0)
AWAY = ScriptedModel(error=away())
TALKS = planner(tool_calls=[], intents=["CONVERSATION"])


async def test_a_greeting_is_not_answered_with_what_holds_the_word_by_chance() -> None:
    turn = Turn(None, [CHANCE])
    answer = await turn.answer("Привет!")

    assert (answer.kind, answer.small_talk) == (AnswerKind.CONVERSATION, SmallTalk.GREETING)
    assert (answer.citations, answer.passages) == ((), "")
    assert not turn.dialogue.kept


@pytest.mark.parametrize("planning", [AWAY, TALKS])
async def test_a_model_that_is_away_is_no_reason_for_another_answer(planning: ScriptedModel) -> None:
    answer = await Turn(AWAY, [CHANCE], planner=planning).answer("Привет")
    assert (answer.kind, answer.small_talk) == (AnswerKind.CONVERSATION, SmallTalk.GREETING)


async def test_what_the_planner_searches_for_is_shown_though_it_looks_like_small_talk() -> None:
    """«Да» behind a question of ours: the planner knows what it means."""
    found = make_candidate("Неустойка за просрочку 0,1 %.", bm25=5.0)
    plans = planner(tool_calls=[{"tool": "rag_db_query", "args": {"query": "неустойка просрочка"}}])
    answer = await Turn(AWAY, [found], planner=plans).answer("Да")
    assert (answer.kind, answer.small_talk) == (AnswerKind.QUOTES, None)


async def test_an_answer_that_was_to_come_from_the_dialogue_does_not_ask_for_the_whole_question() -> None:
    answer = await Turn(AWAY, planner=TALKS).answer("Подробнее")
    assert (answer.kind, answer.small_talk) == (AnswerKind.NOTHING, None)


async def test_a_polite_question_is_searched_without_its_politeness() -> None:
    turn = Turn(None, [make_candidate("Договор лежит в сейфе.", bm25=5.0)])
    answer = await turn.answer("Привет, подскажи, где договор? Спасибо")

    assert turn.search.queries[-1].terms == ("где", "договор")
    assert answer.text == "**Договор лежит в сейфе.**"


async def test_the_sentence_about_the_subject_is_quoted_and_not_one_that_only_holds_how() -> None:
    long = "Узнайте, как связаться с Rust. " + "Это длинный рассказ о том, как бывает. " * 12
    found = make_candidate(f"{long}Чтобы удалить Rust, выполните rustup self uninstall.", bm25=5.0)
    answer = await Turn(None, [found]).answer("как удалить rust")
    assert answer.text.startswith("**Чтобы удалить Rust, выполните rustup self uninstall.**")


async def test_a_base_is_listed_when_its_documents_are_asked_for() -> None:
    names = [f"Документ {number}" for number in range(1, 15)]
    shelf = Catalogue(tuple(ready(title=name, source_identifier=name) for name in names))
    turn = Turn(None, more_tools=[ListDocuments(shelf, WORDINGS)])
    first = await turn.answer("Какие документы у меня есть?")
    assert first.text.startswith("- Всего документов: 14\n- Документ 1,")
    assert first.text.endswith("ещё 2 из 14 (по запросу могу вывести)")
    assert first.left_out == 2

    rest = await turn.answer("ещё")
    assert "- Документ 13" in rest.text
    assert "- Документ 12" not in rest.text


PLACES = [
    make_candidate(f"Штраф за простой {number} рублей.", number=number, bm25=9.0 - number) for number in range(1, 5)
]


@pytest.mark.parametrize("more", ["подробнее", "Спасибо, а ещё?"])
async def test_who_asks_for_more_gets_what_was_not_quoted_yet(more: str) -> None:
    turn = Turn(None, PLACES)
    first = await turn.answer("Какой штраф за простой?")
    assert [f"простой {number} " in first.text for number in range(1, 5)] == [True, True, False, False]

    second = await turn.answer(more)
    assert [f"простой {number} " in second.text for number in range(1, 5)] == [False, False, True, True]

    last = await turn.answer("ещё")
    assert (last.kind, last.text, last.small_talk) == (AnswerKind.NOTHING, "", SmallTalk.MORE)


async def test_more_of_nothing_leans_on_a_dialogue_that_is_not_there() -> None:
    assert (await Turn(None, PLACES).answer("ещё")).small_talk is SmallTalk.LEANING


async def test_a_list_of_all_documents_has_no_more() -> None:
    turn = Turn(None, PLACES, more_tools=[ListDocuments(Catalogue((ready(),)), WORDINGS)])
    await turn.answer("Что в базе?")
    assert (await turn.answer("А ещё?")).small_talk is SmallTalk.MORE
