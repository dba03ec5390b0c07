"""Texts of the bot: what Telegram accepts, refuses and shows."""

from typing import Any

import pytest
from aiogram import Bot
from aiogram.exceptions import TelegramBadRequest
from aiogram.types import (
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    KeyboardButton,
    LinkPreviewOptions,
    ReplyKeyboardMarkup,
    ReplyKeyboardRemove,
    ReplyParameters,
)

from tests.servers.person import GROUP, PRIVATE, Person


def keyboard(data: str = "x", text: str = "Кнопка") -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text=text, callback_data=data)]])


async def test_html_becomes_entities_in_utf16_units(bot: Bot) -> None:
    message = await bot.send_message(
        PRIVATE, "😀 <b>жирный</b> и <a href='https://e.org'>ссылка</a>", parse_mode="HTML"
    )
    assert message.text == "😀 жирный и ссылка"
    assert [(one.type, one.offset, one.length) for one in message.entities or []] == [
        ("bold", 3, 6),
        ("text_link", 12, 6),
    ]


@pytest.mark.parametrize(
    ("text", "parse_mode", "sentence"),
    [
        ("", None, "message text is empty"),
        ("<b> </b>", "HTML", "text must be non-empty"),
        ("а" * 4097, None, "message is too long"),
        ("😀" * 2049, None, "message is too long"),  # an emoji is two units
        ("a < b", "HTML", "can't parse entities: Unsupported start tag at byte offset 2"),
        ("<b>я", "HTML", "can't parse entities: Can't find end tag corresponding to start tag \"b\""),
        ("<b>я</i>", "HTML", 'expected "</b>", found "</i>"'),
        ("x", "Markdown7", "unsupported parse_mode"),
    ],
)
async def test_a_wrong_text_is_refused_with_the_sentence_of_telegram(
    bot: Bot, text: str, parse_mode: str | None, sentence: str
) -> None:
    with pytest.raises(TelegramBadRequest) as refused:
        await bot.send_message(PRIVATE, text, parse_mode=parse_mode)
    assert refused.value.message.startswith("Bad Request: ")
    assert sentence in refused.value.message


async def test_4096_units_are_counted_after_the_formatting_is_taken_out(bot: Bot) -> None:
    message = await bot.send_message(PRIVATE, "<b>" + "а" * 4096 + "</b>", parse_mode="HTML")
    assert len(message.text or "") == 4096


async def test_an_unknown_chat_is_not_found(bot: Bot) -> None:
    with pytest.raises(TelegramBadRequest, match="chat not found"):
        await bot.send_message(5, "текст")


async def test_a_reply_shows_the_message_it_answers(bot: Bot, you: Person) -> None:
    said = await you.say("вопрос")
    answer = await bot.send_message(PRIVATE, "ответ", reply_parameters=ReplyParameters(message_id=said.message_id))
    assert answer.reply_to_message
    assert answer.reply_to_message.text == "вопрос"
    assert (await you.wait_for("ответ")).reply_to == said.message_id


async def test_a_reply_to_nothing_is_refused_unless_it_may_stand_alone(bot: Bot) -> None:
    with pytest.raises(TelegramBadRequest, match="message to be replied not found"):
        await bot.send_message(PRIVATE, "ответ", reply_parameters=ReplyParameters(message_id=77))
    alone = ReplyParameters(message_id=77, allow_sending_without_reply=True)
    assert (await bot.send_message(PRIVATE, "ответ", reply_parameters=alone)).reply_to_message is None


async def test_callback_data_is_limited_in_bytes(bot: Bot) -> None:
    assert await bot.send_message(PRIVATE, "текст", reply_markup=keyboard("я" * 32))
    with pytest.raises(TelegramBadRequest, match="BUTTON_DATA_INVALID"):
        await bot.send_message(PRIVATE, "текст", reply_markup=keyboard("я" * 33))


async def test_a_button_needs_something_to_do(bot: Bot) -> None:
    idle = InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text="просто текст")]])
    with pytest.raises(TelegramBadRequest, match="Text buttons are unallowed in the inline keyboard"):
        await bot.send_message(PRIVATE, "текст", reply_markup=idle)


async def test_an_inline_keyboard_has_a_hundred_buttons_at_most(bot: Bot) -> None:
    rows = [[InlineKeyboardButton(text="а", callback_data="x")] for _ in range(101)]
    with pytest.raises(TelegramBadRequest, match="reply markup is too long"):
        await bot.send_message(PRIVATE, "текст", reply_markup=InlineKeyboardMarkup(inline_keyboard=rows))


async def test_a_reply_keyboard_stays_until_it_is_removed(bot: Bot, you: Person) -> None:
    buttons = ReplyKeyboardMarkup(keyboard=[[KeyboardButton(text="💬 Чат"), KeyboardButton(text="📚 База")]])
    await bot.send_message(PRIVATE, "меню", reply_markup=buttons)
    await bot.send_message(PRIVATE, "ещё")
    assert await you.keyboard() == [["💬 Чат", "📚 База"]]
    await bot.send_message(PRIVATE, "убрано", reply_markup=ReplyKeyboardRemove())
    assert await you.keyboard() == []


async def test_link_preview_options_come_back(bot: Bot) -> None:
    off = LinkPreviewOptions(is_disabled=True)
    message = await bot.send_message(PRIVATE, "https://example.org", link_preview_options=off)
    assert message.link_preview_options
    assert message.link_preview_options.is_disabled


async def test_an_edit_changes_text_and_keyboard(bot: Bot, you: Person) -> None:
    message = await bot.send_message(PRIVATE, "было", reply_markup=keyboard())
    await bot.edit_message_text("стало", chat_id=PRIVATE, message_id=message.message_id)
    seen = (await you.messages())[-1]
    assert (seen.text, seen.buttons, seen.edited) == ("стало", (), True)


async def test_an_edit_that_changes_nothing_is_refused(bot: Bot) -> None:
    message = await bot.send_message(PRIVATE, "<b>так</b>", parse_mode="HTML", reply_markup=keyboard())
    where: dict[str, Any] = {"chat_id": PRIVATE, "message_id": message.message_id}
    with pytest.raises(TelegramBadRequest, match="message is not modified: specified new message content"):
        await bot.edit_message_text("<b>так</b>", parse_mode="HTML", reply_markup=keyboard(), **where)
    with pytest.raises(TelegramBadRequest, match="message is not modified"):
        await bot.edit_message_reply_markup(reply_markup=keyboard(), **where)


async def test_only_the_bots_own_messages_can_be_edited(bot: Bot, you: Person) -> None:
    said = await you.say("моё")
    with pytest.raises(TelegramBadRequest, match="message can't be edited"):
        await bot.edit_message_text("чужое", chat_id=PRIVATE, message_id=said.message_id)
    with pytest.raises(TelegramBadRequest, match="message to edit not found"):
        await bot.edit_message_text("чужое", chat_id=PRIVATE, message_id=99)


async def test_a_deleted_message_is_gone_and_its_id_is_not_used_again(bot: Bot, you: Person) -> None:
    first = await bot.send_message(PRIVATE, "раз")
    await bot.delete_message(PRIVATE, first.message_id)
    assert await you.messages() == []
    assert (await bot.send_message(PRIVATE, "два")).message_id > first.message_id
    with pytest.raises(TelegramBadRequest, match="message to delete not found"):
        await bot.delete_message(PRIVATE, first.message_id)


async def test_chat_actions_reach_the_page(bot: Bot, you: Person) -> None:
    await bot.send_chat_action(PRIVATE, "typing")
    await bot.send_message(PRIVATE, "готово")
    await you.wait_for("готово")
    assert you.actions == ["typing"]
    with pytest.raises(TelegramBadRequest, match="wrong parameter action in request"):
        await bot.send_chat_action(PRIVATE, "dance")


async def test_drafts_are_shown_and_not_kept(bot: Bot, you: Person) -> None:
    await bot.send_message_draft(PRIVATE, draft_id=3, text="Штраф")
    await bot.send_message_draft(PRIVATE, draft_id=3, text="Штраф <b>0,1 %</b>", parse_mode="HTML")
    await bot.send_message(PRIVATE, "Штраф 0,1 %")
    await you.wait_for("Штраф")
    assert you.drafts == ["Штраф", "Штраф 0,1 %"]
    assert len(await you.messages()) == 1


async def test_a_draft_is_stopped_once_and_only_where_it_can_be(bot: Bot, you: Person) -> None:
    await bot.send_message_draft(PRIVATE, draft_id=3, text="Штраф", can_stop=True)
    await you.wait_for_draft("Штраф")
    await you.stop_draft()
    (update,) = await bot.get_updates(allowed_updates=["stopped_message_generation"])
    assert update.stopped_message_generation
    assert (update.stopped_message_generation.chat.id, update.stopped_message_generation.draft_id) == (PRIVATE, 3)
    with pytest.raises(AssertionError, match="there is no such draft"):
        await you.stop_draft()


async def test_drafts_are_for_private_chats_and_need_an_id(bot: Bot) -> None:
    with pytest.raises(TelegramBadRequest):
        await bot.send_message_draft(GROUP, draft_id=3, text="Штраф")
    with pytest.raises(TelegramBadRequest):
        await bot.send_message_draft(PRIVATE, draft_id=0, text="Штраф")
    with pytest.raises(TelegramBadRequest, match="message is too long"):
        await bot.send_message_draft(PRIVATE, draft_id=3, text="а" * 4097)
