"""What a page without a model tells its owner, and the button that brings search by meaning."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest

from bot.cli.output import CommandError
from bot.home import is_first_time
from domain.people import Mode
from rag.records import Answered, AnswerKind
from tests.fakes.bot import Person, plain_answer

QUOTED = Answered(answer=plain_answer("**Плата 5 числа.**", kind=AnswerKind.QUOTES))


async def adding(*lines: str, reason: str = "") -> AsyncIterator[str]:
    """What the process says."""
    for line in lines:
        yield line
    if reason:
        raise CommandError(reason)


async def owner(home: Path, add: Callable[[], AsyncIterator[str]] | None, *, token: str = "") -> Person:
    """Who sits at the page of this machine, in Чат."""
    told = partial(is_first_time, home)
    without_model = {"LLM_API_KEY": "", "BOT_TOKEN": token}
    anna = Person(changes={"is_first_time": told, "add_search": add}, variables=without_model)
    await anna.choose(Mode.CHAT)
    anna.conversation.events = [QUOTED]
    return anna


async def test_that_answers_are_quotes_is_told_once_in_the_life_of_an_installation(tmp_path: Path) -> None:
    told = []
    for anna in (await owner(tmp_path, None), await owner(tmp_path, None)):  # the second is another process
        await anna.say("когда платить?")
        await anna.say("а где?")
        told += [call for call in anna.session.said if "ANSWER_MODEL=" in call.text]
    assert len(told) == 1
    assert told[0].buttons == {}


async def test_the_button_brings_search_by_meaning_and_says_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.handlers.answering.SHOWN_EVERY_S", 0.0)
    anna = await owner(tmp_path, partial(adding, "Скачано 5 из 505 МБ", "Скачано 505 из 505 МБ"))
    await anna.say("когда платить?")
    assert anna.last.buttons == {"Скачать модель поиска · 505 МБ": "add-search"}

    await anna.press("add-search")

    shown = [call.text for call in anna.session.said]
    assert any("5 из 505" in text for text in shown)
    assert "Перезапустите Базу" in shown[-1]


async def test_what_failed_goes_on_with_the_same_button(tmp_path: Path) -> None:
    anna = await owner(tmp_path, partial(adding, reason="the hub is away"))
    await anna.press("add-search")
    assert "the hub is away" in anna.last.text
    assert anna.last.buttons == {"Продолжить": "add-search"}


@pytest.mark.parametrize(("add", "token"), [(None, ""), (partial(adding, "Скачано"), "1:test")])
async def test_nobody_else_downloads_a_model(
    tmp_path: Path, add: Callable[[], AsyncIterator[str]] | None, token: str
) -> None:
    anna = await owner(tmp_path, add, token=token)
    await anna.press("add-search")
    assert "хозяин этой машины" in anna.popup.text
