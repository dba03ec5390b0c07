import asyncio
from datetime import datetime
from typing import Any

import pytest

from bot.replies.answers import finished_answer
from domain.ids import UserId
from domain.people import Mode
from domain.statistics import Spending
from rag.metering import Usage
from rag.records import Answered, AnswerKind, SmallTalk
from tests.fakes.bot import GROUP, PERSON, Person, plain_answer, texts, turn_of
from tests.fakes.stores import FakeLibrary

TWO_A_DAY = {"PERSON_DAILY_QUESTIONS": "2"}
ONE_A_DAY = {"PERSON_DAILY_QUESTIONS": "1"}
OF_PERSON_AND_BASE = {"PERSON_DAILY_QUESTIONS": "20", "BASE_PASSAGES": "5000"}
FOR_OTHERS = {**ONE_A_DAY, "ADMIN_USERS": str(PERSON)}
BORIS = 999


async def bounded(bounds: dict[str, str], **given: Any) -> Person:
    """In Чат, with a model whose answers cost, and quotes without it."""
    anna = Person(variables=bounds, **given)
    costly = plain_answer("Ответ модели.", turn=turn_of(AnswerKind.CONVERSATION, usage=Usage(calls=2, cost=0.25)))
    anna.conversation.events = [Answered(answer=costly)]
    anna.frugal.events = [Answered(answer=plain_answer("«цитата»", kind=AnswerKind.QUOTES, model=None))]
    if anna.chat > 0:
        await anna.choose(Mode.CHAT)
    return anna


async def asked(anna: Person, times: int) -> list[int]:
    """How many questions the model has got, and how many were answered without it."""
    for number in range(times):
        await anna.say(f"Какой штраф, вопрос {number}?" if anna.chat > 0 else f"@baza_bot Какой штраф {number}?")
    return [len(anna.conversation.questions), len(anna.frugal.questions)]


@pytest.mark.parametrize(
    "bounds", [TWO_A_DAY, {"PERSON_DAILY_COST": "0.5"}, {"PERSON_DAILY_QUESTIONS": "9", "PERSON_DAILY_COST": "0.3"}]
)
async def test_after_the_bound_there_are_quotes_and_the_reason(bounds: dict[str, str]) -> None:
    anna = await bounded(bounds)
    assert await asked(anna, 2) == [2, 0]
    assert anna.last.text == "Ответ модели."
    assert await asked(anna, 2) == [2, 2]
    reason, label, quote = anna.last.text.split("\n\n")[0], "Вот что нашлось в базе:", "«цитата»"
    assert reason.startswith("Ответы модели на сутки вы уже израсходовали: до ")
    assert "показываю без неё то, что нашлось в базе" in reason
    assert anna.last.text.endswith(f"{label}\n\n{quote}")


async def test_the_reason_is_in_the_persons_language() -> None:
    anna = await bounded({**ONE_A_DAY, "DEFAULT_LANGUAGE": "en"})
    await anna.stores.people.set_language(UserId(PERSON), "en")
    await asked(anna, 2)
    assert anna.last.text.startswith("You have used up a day's answers of the model: until ")


async def test_answers_without_a_model_cost_nothing_of_the_next_day() -> None:
    anna = await bounded(TWO_A_DAY)
    await asked(anna, 5)
    assert (await anna.services.stores.library.spent_in_a_day(UserId(PERSON))).questions == 2


async def test_of_two_questions_at_once_the_second_knows_of_the_first() -> None:
    anna = await bounded(ONE_A_DAY)
    await asyncio.gather(anna.say("Первый вопрос?"), anna.say("Второй вопрос?"))
    assert [len(anna.conversation.questions), len(anna.frugal.questions)] == [1, 1]


async def test_what_was_asked_of_a_model_counts_also_when_its_answer_cannot_be_shown() -> None:
    anna = await bounded(ONE_A_DAY)
    anna.session.fail("sendMessage", status=403, description="Forbidden: bot was blocked by the user", times=9)
    await asked(anna, 1)
    assert (await anna.services.stores.library.spent_in_a_day(UserId(PERSON))).questions == 1


def test_the_minute_that_is_named_has_come_when_the_bound_is_kept_again() -> None:
    until = datetime(2026, 5, 30, 13, 5, 59).astimezone()
    reply = finished_answer(plain_answer("Ответ."), texts().for_language("ru"), spent_until=until)
    assert "до 13:06 показываю" in reply.text


async def test_a_person_has_one_day_in_all_chats_and_others_have_their_own() -> None:
    anna = await bounded(TWO_A_DAY)
    await asked(anna, 1)
    in_group = await bounded(TWO_A_DAY, chat=GROUP, stores=anna.stores)
    await in_group.say("/chat@baza_bot")
    assert await asked(in_group, 2) == [1, 1]
    boris = await bounded(TWO_A_DAY, chat=GROUP, user=BORIS, stores=anna.stores)
    assert await asked(boris, 1) == [1, 0]


async def test_admins_are_not_bounded() -> None:
    anna = await bounded(FOR_OTHERS)
    assert await asked(anna, 3) == [3, 0]


@pytest.mark.parametrize("bounds", [{}, {"BASE_PASSAGES": "5"}, FOR_OTHERS])
async def test_whom_nothing_bounds_costs_no_call(bounds: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object, **__: object) -> Spending:
        raise AssertionError("the database is asked in vain")

    monkeypatch.setattr(FakeLibrary, "spent_in_a_day", fail)
    assert await asked(await bounded(bounds), 2) == [2, 0]


async def test_a_bound_costs_one_call_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[UserId] = []
    count = FakeLibrary.spent_in_a_day

    async def counted(library: FakeLibrary, person: UserId, **bounds: Any) -> Spending:
        calls.append(person)
        return await count(library, person, **bounds)

    monkeypatch.setattr(FakeLibrary, "spent_in_a_day", counted)
    anna = await bounded(TWO_A_DAY)
    await asked(anna, 3)
    await anna.say("/docs")
    assert calls == [PERSON] * 3


@pytest.mark.parametrize(("kind", "is_told"), [(SmallTalk.THANKS, False), (SmallTalk.LEANING, True)])
async def test_small_talk_that_takes_no_model_needs_no_reason(kind: SmallTalk, is_told: bool) -> None:
    anna = await bounded(ONE_A_DAY)
    await asked(anna, 1)
    anna.frugal.events = [Answered(answer=plain_answer("", small_talk=kind, model=None))]
    await anna.say("Спасибо!" if kind is SmallTalk.THANKS else "Подробнее")
    assert anna.last.text
    assert anna.last.text.startswith("Ответы модели на сутки") is is_told


async def stats_of(anna: Person) -> str:
    await anna.say("/stats" if anna.chat > 0 else "/stats@baza_bot")
    return anna.last.text.replace("\xa0", " ")


async def test_a_person_sees_how_much_of_the_bounds_is_used() -> None:
    anna = await bounded({**OF_PERSON_AND_BASE, "PERSON_DAILY_COST": "1.5"})
    await asked(anna, 1)
    assert (await stats_of(anna)).splitlines()[-3:] == [
        "Место в базе: занято 0 из 5 000 фрагментов",
        "Вопросов к модели за сутки: 1 из 20",
        "Расход за сутки: 0,25 из 1,50 $",
    ]


async def test_in_a_group_only_the_bases_own_is_shown() -> None:
    shown = await stats_of(await bounded(OF_PERSON_AND_BASE, chat=GROUP))
    assert shown.splitlines()[-1] == "Место в базе: занято 0 из 5 000 фрагментов"


@pytest.mark.parametrize("bounds", [{}, OF_PERSON_AND_BASE])
async def test_admins_see_what_they_saw(bounds: dict[str, str]) -> None:
    anna = await bounded({**bounds, "ADMIN_USERS": str(PERSON)})
    await anna.say("/stats")
    texts = "\n".join(call.text for call in anna.session.said)
    assert "из 20" not in texts
    assert "Место" not in texts
