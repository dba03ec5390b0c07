"""Answers that grow: drafts in private, edits elsewhere, the newest text, never the same twice."""

import asyncio
import contextlib
from contextlib import AbstractAsyncContextManager
from functools import partial

import pytest
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot.replies import streaming
from bot.replies.rich import rich
from bot.replies.streaming import GrowingText, streamed_answer
from bot.telegram import Place
from domain.ids import ChatId
from tests.fakes.telegram import RecordedBot
from tests.waiting import until

PRIVATE = Place(chat=ChatId(7))
GROUP = Place(chat=ChatId(-5), is_private=False)
SOON_S = 0.05


STOP = InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text="Остановить", callback_data="enough")]])


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for pause in ("DRAFT_PAUSE_S", "EDIT_PAUSE_S", "TYPING_PAUSE_S"):
        monkeypatch.setattr(streaming, pause, 0.01)


def streamed(bot: RecordedBot, place: Place) -> AbstractAsyncContextManager[GrowingText]:
    return streamed_answer(bot.bot, place, STOP)


async def grow(answer: GrowingText, *texts: str) -> None:
    """Each of them is seen before the next one comes."""
    for text in texts:
        answer.grow(partial(rich, text))
        await until(lambda: not answer._changed.is_set())
        async with answer._painting:  # it is being shown
            pass


async def test_a_private_answer_grows_as_a_draft_and_stays_as_a_message() -> None:
    bot = RecordedBot()
    async with streamed(bot, PRIVATE) as answer:
        await grow(answer, "Штраф", "Штраф 0,1 %")
        await answer.finish(rich("Штраф 0,1 %."), None)
    assert [call.text for call in bot.session.named("sendMessageDraft")] == ["Штраф", "Штраф 0,1 %"]
    assert [call.text for call in bot.session.said] == ["Штраф 0,1 %."]


async def test_one_draft_has_one_number() -> None:
    bot = RecordedBot()
    async with streamed(bot, PRIVATE) as answer:
        await grow(answer, "Штраф", "Штраф 0,1 %")
    assert len({call.params["draft_id"] for call in bot.session.named("sendMessageDraft")}) == 1


async def test_a_group_answer_is_one_message_that_is_edited() -> None:
    bot = RecordedBot()
    async with streamed(bot, GROUP) as answer:
        await grow(answer, "Штраф", "Штраф 0,1 %")
        await answer.finish(rich("Штраф 0,1 %."), None)
    assert [call.name for call in bot.session.said] == ["sendMessage", "editMessageText", "editMessageText"]
    assert [sent.text for sent in bot.session.messages.values()] == ["Штраф 0,1 %."]


async def test_where_drafts_are_refused_the_answer_is_edited() -> None:
    bot = RecordedBot()
    bot.session.fail("sendMessageDraft", 404, description="Not Found")
    async with streamed(bot, PRIVATE) as answer:
        await grow(answer, "Штраф", "Штраф 0,1 %")
        assert [call.name for call in bot.session.said] == ["sendMessage", "editMessageText"]


async def test_the_same_text_is_never_shown_twice() -> None:
    bot = RecordedBot()
    async with streamed(bot, GROUP) as answer:
        await grow(answer, "Штраф", "Штраф", "Штраф")
        await answer.finish(rich("Штраф"), STOP)
    assert [call.name for call in bot.session.said] == ["sendMessage"]


async def test_only_the_newest_text_is_shown() -> None:
    bot = RecordedBot()
    async with streamed(bot, PRIVATE) as answer:
        for length in range(1, 200):
            answer.grow(partial(rich, "а" * length))
        await until(lambda: bool(bot.session.named("sendMessageDraft")))
        await asyncio.sleep(SOON_S)
    assert [len(call.text) for call in bot.session.named("sendMessageDraft")] == [199]


async def test_a_long_answer_leaves_its_full_pieces_standing() -> None:
    bot = RecordedBot()
    text = "Предложение из слов. " * 400
    async with streamed(bot, PRIVATE) as answer:
        await grow(answer, text[:5000])
        assert len(bot.session.messages) == 1
        await answer.finish(rich(text), None)
    assert " ".join(sent.text for sent in bot.session.messages.values()) == text.strip()


async def test_a_draft_that_can_be_stopped_has_telegrams_own_button() -> None:
    bot = RecordedBot()
    async with streamed(bot, PRIVATE) as answer:
        await grow(answer, "Штраф")
        await answer.finish(rich("Штраф 0,1 %."), None)
    (draft,) = bot.session.named("sendMessageDraft")
    assert (draft.params["can_stop"], draft.params["keep_on_stop"]) == ("true", "true")
    assert bot.session.said[-1].buttons == {}


async def test_what_grows_as_a_message_has_the_button_at_its_end_until_it_is_finished() -> None:
    bot = RecordedBot()
    text = "Предложение из слов. " * 400
    async with streamed(bot, GROUP) as answer:
        await grow(answer, text[:3000], text[:5000])
        assert [bool(call.buttons) for call in bot.session.said] == [True, False, True]
        await answer.finish(rich(text[:5000]), None)
    assert not [sent for sent in bot.session.messages.values() if sent.markup]


async def test_what_broke_while_it_grew_has_no_button_left() -> None:
    bot = RecordedBot()
    with contextlib.suppress(RuntimeError):
        async with streamed(bot, GROUP) as answer:
            await grow(answer, "Штраф")
            raise RuntimeError
    assert [(sent.text, sent.markup) for sent in bot.session.messages.values()] == [("Штраф", None)]


async def test_typing_is_shown_until_something_is_seen() -> None:
    bot = RecordedBot()
    async with streamed(bot, PRIVATE) as answer:
        await until(lambda: len(bot.session.named("sendChatAction")) > 1)
        await grow(answer, "Штраф")
        seen = len(bot.session.named("sendChatAction"))
        await asyncio.sleep(SOON_S)
    assert len(bot.session.named("sendChatAction")) <= seen + 1


@pytest.mark.parametrize("place", [PRIVATE, GROUP], ids=["private", "group"])
async def test_being_asked_to_wait_loses_nothing(place: Place) -> None:
    bot = RecordedBot()
    bot.session.fail("sendMessageDraft", 429, retry_after=1)
    bot.session.break_connection("sendMessage")
    async with streamed(bot, place) as answer:
        answer.grow(partial(rich, "Штраф"))
        await until(lambda: bot.session.named("sendMessageDraft", "sendMessage"))
        if place is PRIVATE:
            bot.session._troubles.clear()
        await answer.finish(rich("Штраф 0,1 %."), None)
    assert bot.session.said[-1].text == "Штраф 0,1 %."


async def test_an_answer_that_was_deleted_meanwhile_is_sent_anew() -> None:
    bot = RecordedBot()
    async with streamed(bot, GROUP) as answer:
        await grow(answer, "Штраф")
        bot.session.forget(max(bot.session.messages))
        await answer.finish(rich("Штраф 0,1 %."), None)
    assert [sent.text for sent in bot.session.messages.values()] == ["Штраф 0,1 %."]
