"""Updates: long polling with offsets, one poller at a time, restarts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from operator import attrgetter
from pathlib import Path

import pytest
from aiogram import Bot, Dispatcher
from aiogram.exceptions import TelegramBadRequest, TelegramConflictError, TelegramUnauthorizedError
from aiogram.types import CallbackQuery, InlineKeyboardButton, InlineKeyboardMarkup, Message

from localchat.server import LocalChat, serve_local_chat
from tests.integration.localchat.conftest import connect
from tests.servers.person import ANNA, GROUP, PRIVATE, Person


@asynccontextmanager
async def polling(bot: Bot, dispatcher: Dispatcher) -> AsyncIterator[None]:
    """The program's own way of running, stopped cleanly."""
    task = asyncio.create_task(dispatcher.start_polling(bot, handle_signals=False, close_bot_session=False))
    try:
        yield
    finally:
        await dispatcher.stop_polling()
        await task


async def test_a_dispatcher_answers_messages_and_presses(bot: Bot, you: Person) -> None:
    dispatcher = Dispatcher()

    @dispatcher.message()
    async def menu(message: Message) -> None:
        button = InlineKeyboardButton(text="📚 База", callback_data="mode:base")
        await message.answer("Выберите режим", reply_markup=InlineKeyboardMarkup(inline_keyboard=[[button]]))

    @dispatcher.callback_query()
    async def chosen(query: CallbackQuery) -> None:
        await query.answer(f"выбрано: {query.data}", show_alert=True)

    async with polling(bot, dispatcher):
        await you.say("/start")
        await you.wait_for("Выберите режим")
        answer = await you.wait_for_answer(await you.press("База"))
    assert (answer.text, answer.alert) == ("выбрано: mode:base", True)


@pytest.mark.parametrize(
    ("kind", "field", "name"),
    [
        ("user", "sender_user.first_name", "Вы"),
        ("hidden_user", "sender_user_name", "Двор"),
        ("channel", "chat.title", "Двор"),
    ],
)
async def test_a_forwarded_message_says_where_it_comes_from(
    bot: Bot, you: Person, kind: str, field: str, name: str
) -> None:
    await you.forward(await you.say("Собрание перенесли на вторник."), kind, "Двор")
    await you.forward((await you.messages())[-1])

    said, *forwarded = [update.message for update in await bot.get_updates()]

    assert [attrgetter(f"forward_origin.{field}")(each) for each in forwarded] == [name] * 2  # forwarded again, too
    assert {each.text for each in forwarded if each} == {said and said.text}


async def test_an_update_comes_again_until_it_is_acknowledged(bot: Bot, you: Person) -> None:
    await you.say("раз")
    await you.say("два")
    first, second = await bot.get_updates()
    assert [update.update_id for update in await bot.get_updates(offset=first.update_id)] == [
        first.update_id,
        second.update_id,
    ]
    assert await bot.get_updates(offset=second.update_id + 1) == []
    assert await bot.get_updates(offset=0) == []


async def test_limit_bounds_one_answer(bot: Bot, you: Person) -> None:
    await you.say("раз")
    await you.say("два")
    assert len(await bot.get_updates(limit=1)) == 1


async def test_unacknowledged_updates_survive_a_restart(tmp_path: Path) -> None:
    async with serve_local_chat(tmp_path) as chat, Person(chat.page_url) as you:
        await you.say("не потеряйте")
    async with serve_local_chat(tmp_path) as again, connect(again) as bot, Person(again.page_url) as you:
        updates = await bot.get_updates()
        assert [update.message.text for update in updates if update.message] == ["не потеряйте"]
        assert [seen.text for seen in await you.messages()] == ["не потеряйте"]
        assert again.token == chat.token


async def test_a_waiting_poll_is_woken_by_a_message(bot: Bot, you: Person) -> None:
    poll = asyncio.create_task(bot.get_updates(timeout=50))
    await asyncio.sleep(0.1)
    await you.say("проснись")
    assert len(await asyncio.wait_for(poll, 40)) == 1


async def test_a_second_poller_ends_the_first(bot: Bot) -> None:
    first = asyncio.create_task(bot.get_updates(timeout=50))
    while not first.done():  # it may not have come to the server yet
        assert await bot.get_updates() == []
    with pytest.raises(TelegramConflictError, match="terminated by other getUpdates request"):
        await first


async def test_only_allowed_kinds_are_queued(bot: Bot, you: Person) -> None:
    await bot.get_updates(allowed_updates=["callback_query"])
    await you.say("не для вас")
    assert await bot.get_updates() == []
    await bot.get_updates(allowed_updates=[])
    await you.say("для вас")
    assert len(await bot.get_updates()) == 1


async def test_a_persons_entities_are_found_as_telegram_finds_them(bot: Bot, you: Person) -> None:
    await you.say("/start@baza_local_bot 😀 https://example.org/a_(b), @durov #база a@b.ru")
    (update,) = await bot.get_updates()
    assert update.message
    found = [(one.type, one.extract_from(update.message.text or "")) for one in update.message.entities or []]
    assert found == [
        ("bot_command", "/start@baza_local_bot"),
        ("url", "https://example.org/a_(b)"),
        ("mention", "@durov"),
        ("hashtag", "#база"),
        ("email", "a@b.ru"),
    ]


async def test_the_language_of_the_page_is_the_persons(bot: Bot, you: Person) -> None:
    await you.set_language("en")
    await you.say("hello")
    (update,) = await bot.get_updates()
    assert update.message
    assert update.message.from_user
    assert update.message.from_user.language_code == "en"


async def test_two_people_talk_in_the_group(bot: Bot, chat: LocalChat) -> None:
    async with Person(chat.page_url, ANNA, GROUP) as anna, Person(chat.page_url, chat_id=GROUP) as you:
        await anna.say("привет")
        await you.say("привет и тебе")
        messages = [update.message for update in await bot.get_updates() if update.message]
        await bot.send_message(GROUP, "здравствуйте")
        assert [(one.chat.type, one.from_user.first_name) for one in messages if one.from_user] == [
            ("supergroup", "Анна"),
            ("supergroup", "Вы"),
        ]
        await anna.wait_for("здравствуйте")


async def test_a_press_in_time_is_answered_once(bot: Bot, you: Person) -> None:
    button = InlineKeyboardButton(text="👍", callback_data="up")
    await bot.send_message(PRIVATE, "как?", reply_markup=InlineKeyboardMarkup(inline_keyboard=[[button]]))
    query = await you.press("👍")
    await bot.answer_callback_query(query)
    with pytest.raises(TelegramBadRequest, match="query is too old and response timeout expired"):
        await bot.answer_callback_query(query)


async def test_a_late_answer_to_a_press_is_refused(tmp_path: Path) -> None:
    now = [1_795_000_000.0]
    serving = serve_local_chat(tmp_path, clock=lambda: now[0])
    async with serving as chat, connect(chat) as bot, Person(chat.page_url) as you:
        button = InlineKeyboardButton(text="👍", callback_data="up")
        await bot.send_message(PRIVATE, "как?", reply_markup=InlineKeyboardMarkup(inline_keyboard=[[button]]))
        query = await you.press("👍")
        now[0] += 3600
        with pytest.raises(TelegramBadRequest, match="query is too old"):
            await bot.answer_callback_query(query)


async def test_the_answer_to_a_press_is_limited(bot: Bot) -> None:
    with pytest.raises(TelegramBadRequest):
        await bot.answer_callback_query("1", text="а" * 201)


async def test_a_persons_edit_is_an_update_of_its_own(bot: Bot, you: Person) -> None:
    said = await you.say("опечатка")
    await you.edit(said, "исправлено")
    _, edited = await bot.get_updates()
    assert edited.edited_message
    assert edited.edited_message.text == "исправлено"


async def test_a_wrong_token_is_unauthorized(chat: LocalChat) -> None:
    async with connect(chat, "7000000001:wrong") as stranger:
        call = stranger.get_me()
        with pytest.raises(TelegramUnauthorizedError):
            await call
