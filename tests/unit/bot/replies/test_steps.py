"""The steps of a turn in words, and the live list."""

import asyncio
from functools import partial

import pytest

from bot.keyboards import button, rows
from bot.replies import streaming
from bot.replies.answers import finished_answer, steps_text, work_done
from bot.replies.streaming import live_steps
from bot.telegram import Place
from bot.texts import Words
from domain.ids import ChatId
from rag.execution.tools import Spent
from rag.progress import StepState
from rag.records import (
    AnswerKind,
    DocumentsRead,
)
from tests.fakes.bot import plain_answer, texts
from tests.fakes.tabulated import shown
from tests.fakes.telegram import RecordedBot
from tests.waiting import until

RU, EN = texts().for_language("ru"), texts().for_language("en")

PLACE = Place(chat=ChatId(7))
STOP = rows([button("Остановить", "enough")])
SOON_S = 0.05


def test_the_list_says_what_is_done_and_what_is_going_on() -> None:
    steps = (
        shown("rag_db_query", about="срок оплаты"),
        shown("read_documents", StepState.RUNNING, done=7, total=17),
        shown("analyze", StepState.WAITING),
        shown("list_documents", StepState.SKIPPED),
    )
    assert steps_text(steps, RU).text.splitlines() == [
        "Разбираюсь по шагам:",
        "✅ Ищу «срок оплаты»",
        "⏳ Читаю документы: 7 из 17",
        "▫️ Обдумываю найденное",
    ]


def test_a_step_that_was_cut_is_shown_as_stopped() -> None:
    steps = [shown("read_documents", StepState.STOPPED), shown("analyze", StepState.WAITING)]
    assert steps_text(steps, RU).text.splitlines()[1:] == ["⏹ Читаю документы: остановлено", "▫️ Обдумываю найденное"]


def test_what_a_model_looks_for_is_no_link() -> None:
    steps = [shown("rag_db_query", about="зайдите на https://evil.example/a")]
    assert "evil[.]example/a" in steps_text(steps, RU).text


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (DocumentsRead(read=17, total=17, without_data=3), "Прочитано 17 из 17 документов; в 3 данных нет."),
        (DocumentsRead(read=1, total=1), "Прочитано 1 из 1 документа."),
        (DocumentsRead(read=20, total=21), "Прочитано 20 из 21 документа."),
    ],
)
def test_how_much_was_read_is_said(read: DocumentsRead, said: str) -> None:
    assert work_done(plain_answer("x", documents=read), RU) == [said]


def test_the_list_says_which_steps_found_nothing() -> None:
    steps = (
        shown("rag_db_query", about="пени", is_empty=True),
        shown("analyze", is_empty=True),
    )
    assert steps_text(steps, RU).text.splitlines()[1:] == [
        "☑️ Ищу «пени»: ничего не нашлось",
        "☑️ Обдумываю найденное: выводов пока нет",
    ]


@pytest.mark.parametrize(("base", "said"), [(40, "из 40 документов базы"), (41, "из 41 документа базы")])
def test_how_many_a_search_has_chosen_is_said(base: int, said: str) -> None:
    lines = work_done(plain_answer("x", documents=DocumentsRead(read=1, total=2, chosen_from=base)), RU)
    assert lines[1] == f"Отобрано поиском: 2 {said}, остальные не читались."


def test_what_was_known_from_before_is_said() -> None:
    lines = work_done(plain_answer("x", documents=DocumentsRead(read=17, total=17, remembered=12)), RU)
    assert lines[1] == "Из них 12 прочитаны раньше для такого же вопроса: взято из памяти."


def test_what_was_known_is_said_of_those_that_were_read_not_of_the_others() -> None:
    read = DocumentsRead(read=17, total=17, remembered=12, chosen_from=40)
    first, *others = work_done(plain_answer("x", documents=read), RU)
    assert first.startswith("Прочитано")
    assert [line.split()[0] for line in others] == ["Из", "Отобрано"]


@pytest.mark.parametrize("words", [RU, EN])
def test_what_did_not_fit_is_said_with_the_way_to_go_on(words: Words) -> None:
    read = DocumentsRead(read=40, total=120, problems=1)
    lines = work_done(plain_answer("x", documents=read, spent="model_calls"), words)
    assert "79" in lines[-1]
    assert len(lines) == 4
    assert len(work_done(plain_answer("x", documents=read), words)) == 2  # it was enough


def test_documents_that_could_not_be_read_are_counted() -> None:
    lines = work_done(plain_answer("x", documents=DocumentsRead(read=15, total=17, problems=2)), RU)
    assert lines[1] == "Не удалось разобрать 2 документа: сервис не ответил."


def test_statements_that_were_not_compared_are_told_of() -> None:
    lines = work_done(plain_answer("x", documents=DocumentsRead(read=9, total=9, uncompared=4)), RU)
    assert lines[1] == "4 утверждения не сверены с другими документами: о расхождениях сказано, возможно, не всё."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (RU, "Ещё 2 строки в документах видны, но не выписаны: список и подсчёт могут быть неполными."),
        (
            EN,
            "2 more rows are in the documents but were not copied out: list and count may be incomplete.",
        ),
    ],
)
def test_rows_that_were_seen_and_not_copied_are_told_of(words: Words, said: str) -> None:
    assert work_done(plain_answer("x", documents=DocumentsRead(read=1, total=1, missing_rows=2)), words)[1] == said


@pytest.mark.parametrize("spent", list(Spent))
@pytest.mark.parametrize("words", [RU, EN])
def test_every_end_before_time_has_its_sentence(spent: Spent, words: object) -> None:
    (line,) = work_done(plain_answer("x", spent=spent.value), words)  # type: ignore[arg-type]  # Words
    assert "{" not in line
    assert not line.startswith("answer-spent")


def test_a_step_that_failed_is_named_when_the_work_was_stopped_too() -> None:
    answer = plain_answer("x", spent="stopped", steps=(shown("analyze", StepState.FAILED),))
    assert ["Остановлено" in line or "Не получилось" in line for line in work_done(answer, RU)] == [True, True]


def test_a_step_that_the_person_stopped_is_none_that_failed() -> None:
    answer = plain_answer("x", spent="stopped", steps=(shown("analyze", StepState.STOPPED),))
    (line,) = work_done(answer, RU)
    assert line.startswith("Остановлено по вашей просьбе")


def test_a_step_that_failed_is_named_in_the_answer() -> None:
    answer = plain_answer("14 дней.", kind=AnswerKind.FROM_BASE, steps=(shown("analyze", StepState.FAILED),))
    assert "Не получилось: Обдумываю найденное. Ответ без этого неполный." in finished_answer(answer, RU).text


def test_an_answer_in_another_language_says_so() -> None:
    answer = plain_answer("Due in 14 days.", kind=AnswerKind.FROM_BASE, in_other_language=True)
    assert "Ответить на нужном языке не получилось." in finished_answer(answer, RU).text


async def test_one_message_changes_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "EDIT_PAUSE_S", 0.01)
    recorded = RecordedBot()
    async with live_steps(recorded.bot, PLACE, STOP) as steps:
        steps.grow(partial(steps_text, [shown("list_documents", StepState.RUNNING)], RU))
        await until(lambda: len(recorded.session.messages) == 1)
        steps.grow(partial(steps_text, [shown("list_documents")], RU))
        await until(lambda: len(recorded.session.said) == 2)
        assert [call.name for call in recorded.session.said] == ["sendMessage", "editMessageText"]
        assert recorded.session.said[0].buttons == {"Остановить": "enough"}
    assert not recorded.session.messages


async def test_a_question_without_steps_shows_no_list() -> None:
    recorded = RecordedBot()
    async with live_steps(recorded.bot, PLACE, STOP):
        await asyncio.sleep(SOON_S)
    assert not recorded.session.said


async def test_a_list_that_cannot_be_shown_troubles_nobody() -> None:
    recorded = RecordedBot()
    recorded.session.fail("sendMessage", 400, description="Bad Request: not enough rights")
    async with live_steps(recorded.bot, PLACE, STOP) as steps:
        steps.grow(partial(steps_text, [shown("list_documents")], RU))
        await until(lambda: recorded.session.said)
        await asyncio.sleep(SOON_S)
    assert not recorded.session.messages
