"""/stats: who sees what."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from bot.handlers.stats import PAINTS, SERIES, base_html, overall_html, rows_html
from domain.documents import DocumentStatus
from domain.statistics import BaseStatistics, OverallStatistics, StepFigures, TurnFigures, TurnsOfDay
from tests.fakes.bot import GROUP, PERSON, TODAY, Person, texts
from tests.fakes.statistics import EVERYBODY, FIGURES, asked_today

HELD = BaseStatistics(documents=2, passages=7, figures=FIGURES, days=(asked_today("from_base", 3),))

RU, EN = texts().for_language("ru"), texts().for_language("en")


async def stats_of(**given: Any) -> Person:
    anna = Person(**given)
    anna.statistics.held = HELD
    await anna.say("/stats@baza_bot" if given.get("chat") else "/stats")
    return anna


async def test_a_person_gets_a_picture_with_figures_of_their_own_base() -> None:
    anna = await stats_of()
    (photo,) = anna.session.named("sendPhoto")
    assert "2 документа, 7 фрагментов" in photo.params["caption"]
    assert "🟦 из базы 3" in photo.params["caption"]
    assert anna.statistics.asked_for == [anna.stores.people.states[PERSON].base_id]  # type: ignore[index]  # a UserId
    assert anna.session.said == []


async def test_before_the_first_question_there_is_no_picture() -> None:
    anna = Person()
    await anna.say("/stats")
    assert anna.session.named("sendPhoto") == []
    assert "Вопросов за 30 дней не было" in anna.last.text


async def test_an_admin_sees_everybody_too_with_a_picture() -> None:
    anna = await stats_of(variables={"ADMIN_USERS": str(PERSON)})
    _, picture = anna.session.named("sendPhoto")
    assert "Людей: 12" in anna.session.said[0].text
    assert picture.params["caption"].splitlines()[1:] == [
        "1. 🟦 Вопросы, 🟧 сколько людей спрашивало",
        "2. Секунды ответа: 🟦 обычно, 🟧 95 из 100 не дольше",
    ]
    assert anna.statistics.offsets == [
        round((datetime.now().astimezone().utcoffset() or timedelta()).total_seconds() / 60)
    ]


async def test_where_nobody_has_done_anything_yet_an_admin_gets_words_alone() -> None:
    anna = Person(variables={"ADMIN_USERS": str(PERSON)})
    anna.statistics.everybody = replace(anna.statistics.everybody, days=())
    await anna.say("/stats")
    assert anna.session.named("sendPhoto") == []
    assert "Людей: 12" in anna.last.text


@pytest.mark.parametrize("admins", ["", str(PERSON + 1)])
async def test_whoever_is_no_admin_does_not(admins: str) -> None:
    anna = await stats_of(variables={"ADMIN_USERS": admins})
    assert len(anna.session.named("sendPhoto")) == 1
    assert anna.session.said == []


async def test_a_group_sees_its_own_figures_and_never_everybodys() -> None:
    anna = await stats_of(chat=GROUP, variables={"ADMIN_USERS": str(PERSON)})
    (photo,) = anna.session.named("sendPhoto")
    assert "База этой группы" in photo.params["caption"]
    assert photo.reply_to
    assert anna.session.said == []


def turns(kind: str, count: int, *, days_ago: int = 0) -> TurnsOfDay:
    return TurnsOfDay(day=TODAY - timedelta(days=days_ago), kind=kind, turns=count)


SHOWN = BaseStatistics(
    documents=2,
    passages=1214,
    pages=40,
    recorded_s=252,
    figures=FIGURES,
    days=(turns("from_base", 30, days_ago=7), turns("from_base", 5, days_ago=6), turns("nothing", 2)),
)


def base_lines(held: BaseStatistics, today: date = TODAY) -> list[str]:
    return base_html(held, RU, today=today, is_private=True).replace("\xa0", " ").splitlines()


def test_a_base_says_what_it_holds_and_how_it_answered() -> None:
    assert base_lines(SHOWN) == [
        "📊 <b>Ваша база</b>",
        "2 документа, 1 214 фрагментов",
        "Страниц в них: 40",
        "Записей и видео: 4:12",
        "",
        "Вопросов за 7 дней: 7, за 30 дней: 37",
        "🟦 из базы 35 · 🟥 не нашлось 2",
        "Ответ обычно за 2,1 с, 95 из 100 не дольше 6,4 с",
        "Оценки ответов: 👍 5 · 👎 1",
        "Токенов моделей: 120 000",
        "Стоило: 0,1234 $",
        "Вопросов в несколько шагов: 12, в среднем 4,4 шага, обычно 38 с",
    ]


def test_nothing_is_said_to_take_no_time() -> None:
    quick = replace(SHOWN, figures=replace(FIGURES, median_s=0.01, p95_s=0.02))
    assert "Ответ обычно за 0,1 с, 95 из 100 не дольше 0,1 с" in base_lines(quick)


@pytest.mark.parametrize(
    ("run", "said"), [(12, "в среднем 1 шаг,"), (60, "в среднем 5 шагов,"), (50, "в среднем 4,2 шага,")]
)
def test_steps_of_a_question_are_said_in_good_russian(run: int, said: str) -> None:
    steps = StepFigures(turns=12, planned=run, run=run, median_s=3.0)
    assert any(said in line for line in base_lines(replace(SHOWN, figures=TurnFigures(steps=steps))))


def test_whoever_asks_simple_questions_hears_nothing_of_steps() -> None:
    assert not any("шаг" in line for line in base_lines(replace(SHOWN, figures=TurnFigures(median_s=2, p95_s=3))))


def test_an_empty_base_says_so_in_three_lines() -> None:
    assert base_lines(BaseStatistics()) == [
        "📊 <b>Ваша база</b>",
        "0 документов, 0 фрагментов",
        "",
        "Вопросов за 30 дней не было.",
    ]


def test_a_groups_base_is_not_called_the_persons() -> None:
    assert "этой группы" in base_html(SHOWN, RU, today=TODAY, is_private=False)


@pytest.mark.parametrize("language", ["ru", "en"])
def test_every_status_of_a_document_has_its_word(language: str) -> None:
    everything = replace(EVERYBODY, documents={status.value: 777 for status in DocumentStatus})
    shown = overall_html(everything, texts().for_language(language))
    assert shown.count(" 777") == len(DocumentStatus)


def test_admins_see_everybody_in_numbers() -> None:
    shown = overall_html(EVERYBODY, RU).replace("\xa0", " ")
    for line in (
        "Людей: 12, спрашивали: 7, баз: 14",
        "Вопросов: 340; из общих знаний 20, цитатами 3, не нашлось 9",
        "Самый долгий ответ: 34,2 с",
        "Из времени ответов ждали поиска 11 %, моделей 78 %",
        "Фактов найдено 1 900, пошло в ответы 646 (34 %)",
        "Шагов в планах: 45, выполнено 53, изменено на ходу 9",
        "Шаги: rag_db_query 30 по 1,2 с; read_documents 8 по 12,3 с, токенов 90 000, не удалось 1",
        "Документы: готовы 120, не прочитаны 4",
        "Очередь: ждут 3, первый уже 0:42; читаются 2",
        "Не прочитаны за эти дни: file-damaged 3",
        "Самый долгий документ: 12:04",
    ):
        assert line in shown.splitlines()


def test_a_new_installation_has_little_to_say_to_admins() -> None:
    lines = overall_html(OverallStatistics(documents={}, failures={}), EN).splitlines()
    assert len(lines) == 5
    assert lines[-1] == "Queue empty; 0 being read"


@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_caption_explains_every_row_by_its_number_and_every_colour(language: str) -> None:
    title, *lines = rows_html(tuple(SERIES), texts().for_language(language)).splitlines()
    assert title
    for number, (line, series) in enumerate(zip(lines, SERIES.values(), strict=True), start=1):
        assert line.startswith(f"{number}. ")
        assert {sign for sign in PAINTS if sign in line} == set(series.signs)
