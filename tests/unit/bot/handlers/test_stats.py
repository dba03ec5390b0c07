"""/stats: who sees what."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from domain.statistics import BaseStatistics
from tests.fakes.bot import GROUP, PERSON, Person
from tests.fakes.statistics import FIGURES, asked_today

HELD = BaseStatistics(documents=2, passages=7, figures=FIGURES, days=(asked_today("from_base", 3),))


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
    anna = await stats_of(changes={"admin_users": frozenset({PERSON})})
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
    anna = Person(changes={"admin_users": frozenset({PERSON})})
    anna.statistics.everybody = replace(anna.statistics.everybody, days=())
    await anna.say("/stats")
    assert anna.session.named("sendPhoto") == []
    assert "Людей: 12" in anna.last.text


@pytest.mark.parametrize("admins", [frozenset[int](), frozenset({PERSON + 1})])
async def test_whoever_is_no_admin_does_not(admins: frozenset[int]) -> None:
    anna = await stats_of(changes={"admin_users": admins})
    assert len(anna.session.named("sendPhoto")) == 1
    assert anna.session.said == []


async def test_a_group_sees_its_own_figures_and_never_everybodys() -> None:
    anna = await stats_of(chat=GROUP, changes={"admin_users": frozenset({PERSON})})
    (photo,) = anna.session.named("sendPhoto")
    assert "База этой группы" in photo.params["caption"]
    assert photo.reply_to
    assert anna.session.said == []
