"""The methods of the Bot API: messages, files and drafts, presses, the bot's profile and its chats, long polling.

In: calls; a file by upload or by id. Out: Telegram's JSON; the bot's commands and descriptions are stored for the page.
The limits of files are those of Telegram's own servers. There are no webhooks: the bot that this stands in for runs in
the same process.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from localchat.call import Call, Method
from localchat.exchange import Exchange
from localchat.records import ACCOUNTS, BOT_ID, YOU, FileKind, FormattedText, Json, StoredFile, given
from localchat.text import CAPTION_UNITS, TEXT_UNITS, Refused, bad, check_length

DRAFT_S = 30  # how long a draft stays visible (core.telegram.org/bots/api#sendmessagedraft)
_ACTIONS = {
    "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document",
    "choose_sticker", "find_location", "record_video_note", "upload_video_note",
}  # fmt: skip
_SAME = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)

GET_FILE_BYTES = 20 * 1024 * 1024  # core.telegram.org/bots/api#getfile
PHOTO_BYTES = 10 * 1024 * 1024  # core.telegram.org/bots/api#sendphoto
PHOTO_SIDES = 10_000  # width + height at most
PHOTO_RATIO = 20


async def send_message(call: Call) -> Json:
    """Send a text of the bot."""
    return _posted(call, _text(call).to_json())


def _text(call: Call) -> FormattedText:
    if not call.text:
        raise bad("message text is empty")
    formatted = call.formatted(call.text)
    if not formatted.text:
        raise bad("text must be non-empty")
    check_length(formatted.text, TEXT_UNITS, "message is too long")  # after the formatting is taken out
    return formatted


def _posted(call: Call, content: Json) -> Json:
    """The new message with this content, with the reply and keyboard of the call."""
    exchange, markup, room = call.exchange, call.reply_markup, call.room
    sent = exchange.post(
        room,
        BOT_ID,
        reply_to_message={"message_id": reply_to} if (reply_to := call.reply_to) else None,
        reply_markup=call.inline_markup,
        link_preview_options=call.link_preview_options or None,
        **content,
    )
    if markup and markup.inline_keyboard is None:
        exchange.set_keyboard(room.chat_id, None if markup.remove_keyboard else markup.to_json())
    return sent


async def send_message_draft(call: Call) -> bool:
    """Show a growing preview in a private chat; it is not stored."""
    if call.room.kind != "private":
        raise bad("TEXTDRAFT_PEER_INVALID")
    if not call.draft_id:
        raise bad("RANDOM_ID_INVALID")
    formatted = call.formatted(call.text)
    check_length(formatted.text, TEXT_UNITS, "message is too long")
    entities = [entity.to_json() for entity in formatted.entities]
    shown = {"text": formatted.text, "entities": entities, "seconds": DRAFT_S, "keep_on_stop": call.keep_on_stop}
    call.exchange.draft(call.chat_id, call.draft_id, shown, can_stop=call.can_stop)
    return True


async def edit_message_text(call: Call) -> Json:
    """Replace the text and keyboard of the bot's own message."""
    message = _own_message(call)
    if "text" not in message:
        raise bad("there is no text in the message to edit")
    shown = {"reply_markup": call.inline_markup, "link_preview_options": call.link_preview_options or None}
    return call.exchange.revise(_changed(message, {**shown, **_text(call).to_json()}))


async def edit_message_reply_markup(call: Call) -> Json:
    """Replace or remove the inline keyboard. The message does not count as edited."""
    return call.exchange.revise(_changed(_own_message(call), {"reply_markup": call.inline_markup}), marked=False)


def _own_message(call: Call) -> Json:
    message = call.exchange.store.find(call.room.chat_id, call.message_id)
    if message is None:
        raise bad("message to edit not found")
    if message["from"]["id"] != BOT_ID:
        raise bad("message can't be edited")
    if call.reply_markup and call.reply_markup.inline_keyboard is None:
        raise bad("inline keyboard expected")
    return message


def _changed(message: Json, fields: Json) -> Json:
    changed = given(**{**message, **fields})
    if changed == message:
        raise bad(_SAME)
    return changed


async def delete_message(call: Call) -> bool:
    """Delete one message, of the bot or a person."""
    if not call.exchange.remove(call.room.chat_id, call.message_id):
        raise bad("message to delete not found")
    return True


async def send_chat_action(call: Call) -> bool:
    """Show «печатает…» for five seconds, or until the next message."""
    if call.action not in _ACTIONS:
        raise bad("wrong parameter action in request")
    call.exchange.hub.tell_pages({"type": "action", "chat_id": call.room.chat_id, "action": call.action})
    return True


ANSWER_UNITS = 200


async def answer_callback_query(call: Call) -> bool:
    """Answer a button press, once and in time."""
    check_length(call.text, ANSWER_UNITS, "MESSAGE_TOO_LONG")
    if not call.exchange.answer(call.callback_query_id, text=call.text, alert=call.show_alert):
        raise bad("query is too old and response timeout expired or query ID is invalid")
    return True


async def _send(kind: FileKind, call: Call) -> Json:
    """A new message with a file."""
    formatted = call.formatted(call.caption)
    check_length(formatted.text, CAPTION_UNITS, "message caption is too long")
    file = _read_file(call, kind, call.photo if kind == "photo" else call.document)
    if kind == "photo":
        if not file.width or not file.height:
            raise bad("IMAGE_PROCESS_FAILED")
        if file.size > PHOTO_BYTES:
            raise bad("file is too big")
        ratio = max(file.width, file.height) / min(file.width, file.height)
        if file.width + file.height > PHOTO_SIDES or ratio > PHOTO_RATIO:
            raise bad("PHOTO_INVALID_DIMENSIONS")
    return _posted(call, {**formatted.to_json("caption"), **file.shown_as(kind)})


def _read_file(call: Call, kind: FileKind, sent: str) -> StoredFile:
    """Uploaded in its own field, referenced with attach://, or one that is here, by its id."""
    upload = call.uploads.get(kind) or call.uploads.get(sent.removeprefix("attach://"))
    if upload is not None:
        saved = call.exchange.files.save(upload.file, name=upload.filename, mime=upload.content_type, kind=kind)
        if not saved.size:
            raise bad("file must be non-empty")
        return saved
    if not sent:
        raise bad(f"there is no {kind} in the request")
    file = call.exchange.files.find(sent)
    if file is None:
        raise bad("wrong remote file identifier specified: Wrong string length")
    return file


async def get_file(call: Call) -> Json:
    """The file's path for the download route."""
    file = call.exchange.files.find(call.file_id)
    if file is None:
        raise bad("invalid file_id")
    if file.size > GET_FILE_BYTES:
        raise bad("file is too big")
    return {**file.to_json(), "file_path": file.path}


CONTENT = ("text", "entities", "caption", "caption_entities", "document", "photo", "audio", "voice", "video")


async def copy_message(call: Call) -> Json:
    """A new message with the content of another one, in the same chat."""
    original = call.exchange.store.find(call.from_chat_id, call.message_id)
    if original is None or call.from_chat_id != call.room.chat_id:
        raise bad("message to copy not found")
    return {"message_id": _posted(call, content_of(original))["message_id"]}


def content_of(message: Json) -> Json:
    """What is said in a message."""
    return {name: message[name] for name in CONTENT if name in message}


_TEXTS = {"description": 512, "short_description": 120}  # units at most


async def get_me(call: Call) -> Json:
    """The bot's account. Privacy mode is off: the bot gets every message of a group and must filter them itself, which
    is a stricter test."""
    return {**ACCOUNTS[BOT_ID], "can_join_groups": True, "can_read_all_group_messages": True}


async def set_my_commands(call: Call) -> bool:
    """Store the menu of a language."""
    return _kept(call, "commands", [command.model_dump() for command in call.commands or ()])


def _kept(call: Call, name: str, value: object) -> bool:
    call.exchange.store.put(f"{name} {call.language_code}", value or None)
    call.exchange.hub.tell_pages({"type": "profile"})
    return True


async def _set_text(name: str, call: Call) -> bool:
    text = call.description or call.short_description
    check_length(text, _TEXTS[name], f"BOT_{name.upper()}_TOO_LONG")
    return _kept(call, name, text)


def profile_of(exchange: Exchange, name: str, user_id: int) -> Any:
    """The bot's menu or text that a person sees in their language, else the one without a language."""
    return exchange.store.get(f"{name} {exchange.language(user_id)}") or exchange.store.get(f"{name} ")


async def get_chat_member(call: Call) -> Json:
    """The status of a member: `YOU` are the creator; the bot and other people are members."""
    if call.user_id not in (*call.room.people, BOT_ID):
        raise bad("PARTICIPANT_ID_INVALID")
    user = ACCOUNTS[call.user_id]
    if call.user_id == YOU:
        return {"status": "creator", "user": user, "is_anonymous": False}
    return {"status": "member", "user": user}


POLL_S = 50  # the longest wait
LIMIT = 100


async def get_updates(call: Call) -> Sequence[Json]:
    """Acknowledge all updates before `offset`, then return the rest or wait for more. The kinds of `allowed_updates`
    stay in force until others are given; an empty list means the default ones. Raises Refused when a newer poll
    replaces this one."""
    exchange = call.exchange
    if call.allowed_updates is not None:
        exchange.store.put("allowed_updates", call.allowed_updates)
    exchange.store.acknowledge(call.offset)
    hub, woken = exchange.hub, asyncio.Event()
    hub.wake_bot()
    hub.poll = woken
    seconds = min(max(call.timeout, 0), POLL_S)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while seconds and hub.poll is woken and not hub.closed and not exchange.store.pending(limit=1):
                await woken.wait()
                woken.clear()
    if hub.poll is not woken:
        sentence = "terminated by other getUpdates request; make sure that only one bot instance is running"
        raise Refused(f"Conflict: {sentence}", code=409)
    return exchange.store.pending(limit=min(max(call.limit, 1), LIMIT))


async def delete_webhook(_: Call) -> bool:
    """There is none to delete, as a bot that begins to poll makes sure."""
    return True


METHODS: dict[str, Method] = {
    "sendMessage": send_message,
    "sendMessageDraft": send_message_draft,
    "editMessageText": edit_message_text,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "deleteMessage": delete_message,
    "sendChatAction": send_chat_action,
    "answerCallbackQuery": answer_callback_query,
    "sendDocument": partial(_send, "document"),
    "sendPhoto": partial(_send, "photo"),
    "getFile": get_file,
    "copyMessage": copy_message,
    "getMe": get_me,
    "setMyCommands": set_my_commands,
    "setMyDescription": partial(_set_text, "description"),
    "setMyShortDescription": partial(_set_text, "short_description"),
    "getChatMember": get_chat_member,
    "getUpdates": get_updates,
    "deleteWebhook": delete_webhook,
}
