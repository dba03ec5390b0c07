"""A private chat and a group, each with a document that the other must never see.

No question, list or button crosses over, not even a button whose data was copied from the other place: the bot itself
sends it there, as an old message or a forged client could, and a person of that place presses it.
"""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import aiohttp
import pytest
from aiogram.filters.callback_data import CallbackData
from yarl import URL

from bot import keyboards
from domain.documents import Choice
from tests.acceptance.conftest import Start
from tests.acceptance.test_groups import ME, ask, keep, listed
from tests.acceptance.test_whole_way import PAGE, READ_S, enter
from tests.servers.person import ANNA, GROUP, YOU, Answer, Person, Seen
from tests.servers.web import Reply, serve_web

SECRET = "Пароль от сейфа апельсин-7431"
THEIRS = "Пароль от сарая лимон-2096"
QUESTION = "Какой пароль от сейфа?"

WITH_ID = [
    kind
    for kind in vars(keyboards).values()
    if isinstance(kind, type) and issubclass(kind, CallbackData) and kind is not keyboards.OfDocument
    if "document" in kind.model_fields or kind is keyboards.ShowSource
]
"""Buttons that name a document or a passage; one that is added later is tried too."""

FOR_OTHER_DOCUMENTS = {keyboards.ChooseVersion, keyboards.AddSection, keyboards.Refresh, keyboards.TakeBack}
"""A note is no link, and there is nothing to choose about it."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """You with a secret in the private chat; Анна in the group, which has a document of its own."""

    page: str
    token: str
    you: Person
    anna: Person
    ids: dict[str, str]  # "document" and "place" of the secret

    async def press_copied(self, data: str, person: Person) -> Answer:
        """A button with this data, pressed where `person` is."""
        keyboard = {"inline_keyboard": [[{"text": "?", "callback_data": data}]]}
        message = {"chat_id": person.chat_id, "text": "Старое сообщение", "reply_markup": keyboard}
        async with aiohttp.ClientSession() as session:
            answer = await session.post(f"{URL(self.page).origin()}/bot{self.token}/sendMessage", json=message)
            sent = (await answer.json())["result"]["message_id"]
        shown = await person.wait_for(lambda seen: seen.message_id == sent)
        return await person.wait_for_answer(await person.press("?", shown))

    async def seen_in_group(self) -> str:
        """All that was ever shown in the group, also what was edited since."""
        return "\n".join([*(seen.text for seen in self.anna.seen), *(answer.text for answer in self.anna.answers)])


@pytest.fixture
async def scene(start: Start, tmp_path: Path) -> AsyncIterator[Scene]:
    async with opened_scene(start, tmp_path) as scene:
        yield scene


@asynccontextmanager
async def opened_scene(start: Start, folder: Path) -> AsyncIterator[Scene]:
    """Both places, each with its document in the base and Чат chosen."""
    async with start() as page, Person(page) as you, Person(page, ANNA, GROUP) as anna:
        await keep(anna, THEIRS)
        await enter(anna, "chat")
        await keep(you, SECRET)
        answer = await ask(you, QUESTION)
        assert SECRET in answer.text
        token = (folder / "home/localchat/token").read_text()
        ids = dict(_ids_in(await you.messages()))
        yield Scene(page=page, token=token, you=you, anna=anna, ids=ids)


def _ids_in(messages: list[Seen]) -> Iterator[tuple[str, str]]:
    """What the buttons of these messages carry."""
    rows = (row for message in messages for row in message.raw.get("reply_markup", {}).get("inline_keyboard", []))
    for button in chain.from_iterable(rows):
        if found := re.fullmatch(r"(src|ask):(.+)", button["callback_data"]):
            yield {"src": "place", "ask": "document"}[found[1]], found[2]


def copied_buttons(ids: dict[str, str]) -> Iterator[tuple[type[CallbackData], str]]:
    """Every kind of button with its data for the secret; those that destroy come last."""
    for kind in WITH_ID:
        if kind is not keyboards.TakeBack:
            yield kind, kind(**_given(kind, ids)).pack()
    for kind in WITH_ID:
        if "sure" in kind.model_fields:
            yield kind, kind(**_given(kind, ids), sure=True).pack()
    yield keyboards.TakeBack, keyboards.TakeBack(**_given(keyboards.TakeBack, ids)).pack()


def _given(kind: type[CallbackData], ids: dict[str, str]) -> dict[str, str]:
    known = {**ids, "choice": Choice.REPLACE.value, "asked": keyboards.question_key(QUESTION)}
    return {name: value for name, value in known.items() if name in kind.model_fields}


async def test_a_question_is_answered_from_the_own_place_alone(scene: Scene) -> None:
    theirs = await ask(scene.anna, QUESTION)
    mine = await ask(scene.you, "Какой пароль от сарая?")
    assert "апельсин" not in theirs.text
    assert "лимон" not in mine.text


async def test_the_list_shows_the_own_place_alone(scene: Scene) -> None:
    assert "сейф" not in (await listed(scene.anna)).text
    assert "сара" not in (await listed(scene.you)).text


def test_there_are_buttons_to_forge() -> None:
    assert {kind.__name__ for kind in WITH_ID} >= {"ShowSource", "OpenDocument", "DeleteDocument", "CancelDocument"}


async def test_a_copied_button_shows_and_changes_nothing(scene: Scene) -> None:
    for kind, data in copied_buttons(scene.ids):
        answer = await scene.press_copied(data, scene.anna)
        assert answer.alert or kind is keyboards.CancelDocument, data  # to cancel too late is worth no window
    await listed(scene.anna)

    assert "сейф" not in await scene.seen_in_group()
    assert "апельсин" in (await ask(scene.you, QUESTION)).text


async def test_the_same_buttons_work_at_home(scene: Scene) -> None:
    for kind, data in copied_buttons(scene.ids):
        alert = (await scene.press_copied(data, scene.you)).alert
        assert alert is (kind in FOR_OTHER_DOCUMENTS), data


async def test_reading_a_document_cannot_be_cancelled_from_elsewhere(start: Start, tmp_path: Path) -> None:
    async with serve_web() as web:
        web.replies["/rules"] = Reply(body=PAGE.encode(), wait_s=8)
        async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you, Person(page, ANNA, GROUP) as anna:
            await enter(you, "base")
            await you.say(web.url("/rules"))
            live = await you.wait_for(lambda seen: seen.is_bot and seen.buttons == (("Отменить",),))
            data = live.raw["reply_markup"]["inline_keyboard"][0][0]["callback_data"]
            token = (tmp_path / "home/localchat/token").read_text()
            scene = Scene(page=page, token=token, you=you, anna=anna, ids={})

            assert (await scene.press_copied(data, anna)).text != "Отменено"

            await you.wait_for("✅ Правила парковки", READ_S)


async def test_cleaning_one_base_leaves_the_other(scene: Scene) -> None:
    async with Person(scene.page, YOU, GROUP) as owner:  # who alone may clean the group's base
        await scene.press_copied("clean:base:1", owner)
        assert "пусто" in (await listed(owner)).text
    assert "апельсин" in (await ask(scene.you, QUESTION)).text


async def test_what_was_said_in_one_place_is_not_known_in_the_other(start: Start) -> None:
    """Two dialogues: cleaning one reports only its own messages."""
    async with start() as page, Person(page) as you, Person(page, YOU, GROUP) as owner:
        await keep(you, SECRET)
        await ask(you, QUESTION)
        await keep(owner, THEIRS)
        await owner.say(f"/clean{ME}")
        await owner.press("Разговор", await owner.wait_for("Что очистить"))
        await owner.press("Очистить", await owner.wait_for("Я забуду разговор"))
        await owner.wait_for("удалено 0 сообщений")
