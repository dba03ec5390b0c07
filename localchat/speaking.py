"""A person's actions in a chat: write, send files, forward, edit, press a button.

In: decoded requests. Out: messages and ids.

Texts are trimmed and checked as by Telegram's own clients; entities are those that Telegram detects by itself.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

from localchat.checks import CAPTION_UNITS, TEXT_UNITS, bad, canonical, read_number
from localchat.exchange import Exchange
from localchat.records import (
    ACCOUNTS,
    ROOM_BY_ID,
    Attachment,
    FileKind,
    FormattedText,
    Json,
    Message,
    Room,
    StoredFile,
    account_json,
)
from localchat.text import tidy, utf16_length

ALBUM_FILES = 10
CHANNEL_ID = -1_002_000_000_002  # of every channel that something is said to come from
_PHOTO_TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})
_VOICE_TYPES = frozenset({"audio/ogg", "audio/opus"})


def read_room_of(chat_id: int, user_id: int) -> Room:
    """The chat with this id. Raises Refused when the person is not in it."""
    room = ROOM_BY_ID.get(chat_id)
    if room is None or user_id not in room.people:
        raise bad("this person is not in this chat")
    return room


def say(exchange: Exchange, room: Room, user_id: int, said: Mapping[str, object]) -> Sequence[Json]:
    """`{"text", "files": [file_id], "as_file", "reply_to", "captioned"}` -> the new messages. Several files form an
    album; its file number `captioned` (from 0) carries the text. A text that is too long for a message becomes several,
    as with Telegram's clients."""
    text, files = str(said.get("text") or ""), _files(exchange, said.get("files"))
    parts = [text] if files else parts_of(text, TEXT_UNITS)
    if len(parts) > 1:
        return [message for part in parts for message in say(exchange, room, user_id, {**said, "text": part})]
    formatted = tidy(FormattedText(text=text))
    limit = CAPTION_UNITS if files else TEXT_UNITS
    if utf16_length(formatted.text) > limit:
        raise bad("message is too long")
    if not files and not formatted.text:
        raise bad("message text is empty")
    first = _message(exchange, room, user_id, said.get("reply_to"))
    written = replace(first, text=formatted.text, entities=formatted.entities)
    messages = _messages(written, files, as_file=bool(said.get("as_file")), captioned=said.get("captioned"))
    return [exchange.post(message) for message in messages]


def forward(exchange: Exchange, room: Room, user_id: int, said: Mapping[str, object]) -> Json:
    """`{"chat_id", "message_id", "kind", "name"}` -> the new message: what was said there, and by whom. As `kind`
    "hidden_user" or "channel" it comes from somebody of that name who is not in these chats."""
    source = read_room_of(read_number(said.get("chat_id"), "chat_id"), user_id)
    found = exchange.messages.find(source.chat_id, read_number(said.get("message_id"), "message_id"))
    if found is None:
        raise bad("message to forward not found")
    origin = _origin(str(said.get("kind") or "user"), " ".join(str(said.get("name") or "").split()), found)
    return exchange.post(
        Message(
            chat_id=room.chat_id,
            message_id=0,
            sender_id=user_id,
            date=exchange.now(),
            text=found.text,
            entities=found.entities,
            attachment=found.attachment,
            origin=canonical(origin) if origin else found.origin,
        )
    )


def _origin(kind: str, name: str, found: Message) -> Json | None:
    """Telegram's MessageOrigin; None where that of a message forwarded before stays."""
    if kind != "user" and not name:
        raise bad("the sender has no name")
    if kind == "hidden_user":
        return {"type": kind, "date": found.date, "sender_user_name": name}
    if kind == "channel":
        channel = {"id": CHANNEL_ID, "type": "channel", "title": name}
        return {"type": kind, "date": found.date, "chat": channel, "message_id": found.message_id}
    if kind != "user":
        raise bad("kind is user, hidden_user or channel")
    return (
        None
        if found.origin
        else {"type": kind, "date": found.date, "sender_user": account_json(ACCOUNTS[found.sender_id])}
    )


def parts_of(text: str, units: int) -> list[str]:
    """Parts of at most so many UTF-16 units, cut at an empty line, else at the end of a line, else of a sentence or a
    word, of which each leaves a part at least half full."""
    parts: list[str] = []
    while utf16_length(text) > units:
        head = text.encode("utf-16-le")[: units * 2].decode("utf-16-le", errors="ignore")
        ends = (head.rfind(end) + len(end) for end in ("\n\n", "\n", ". ", " "))
        cut = next((end for end in ends if end > len(head) // 2), len(head))
        parts.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*parts, text] if text or not parts else parts


def _message(exchange: Exchange, room: Room, user_id: int, reply_to: object) -> Message:
    target = exchange.messages.find(room.chat_id, read_number(reply_to, "reply_to")) if reply_to is not None else None
    return Message(
        chat_id=room.chat_id,
        message_id=0,
        sender_id=user_id,
        date=exchange.now(),
        reply_to=target.message_id if target else None,
    )


def _messages(written: Message, files: Sequence[StoredFile], *, as_file: bool, captioned: object) -> list[Message]:
    """One message per file. The first one carries the caption unless `captioned` names another: clients may put the
    caption of an album of documents under the last one."""
    if not files:
        return [written]
    album = str(secrets.randbits(50)) if len(files) > 1 else None
    carried = [Attachment(kind="document" if as_file else _kind(file), file=file) for file in files]
    bare = replace(written, text="", entities=(), album=album)
    messages = [replace(bare, attachment=attachment, reply_to=None) for attachment in carried]
    messages[0] = replace(messages[0], reply_to=written.reply_to)
    place = captioned if isinstance(captioned, int) and 0 <= captioned < len(files) else 0
    messages[place] = replace(messages[place], text=written.text, entities=written.entities)
    return messages


def _kind(file: StoredFile) -> FileKind:
    """The kind as which Telegram's clients send a file of this type."""
    if file.mime in _PHOTO_TYPES and file.width:
        return "photo"
    if file.mime in _VOICE_TYPES:
        return "voice"
    if file.mime.startswith("audio/"):
        return "audio"
    return "video" if file.mime == "video/mp4" else "document"


def _files(exchange: Exchange, ids: object) -> list[StoredFile]:
    wanted = ids if isinstance(ids, list) else []
    if len(wanted) > ALBUM_FILES:
        raise bad("too many files: ten at most in one message")
    found = [exchange.files.find(str(file_id)) for file_id in wanted]
    if not all(found):
        raise bad("upload the file first")
    return [file for file in found if file]


def edit(exchange: Exchange, message: Message, text: str) -> Json:
    """Replace the text (or caption) of a person's own message."""
    formatted = tidy(FormattedText(text=text))
    if not formatted.text and not message.attachment:
        raise bad("message text is empty")
    changed = replace(message, text=formatted.text, entities=formatted.entities)
    if changed == message:
        raise bad("message is not modified")
    return exchange.revise(replace(changed, edited=exchange.now()))


def press(exchange: Exchange, message: Message, user_id: int, *, row: int, column: int) -> str:
    """Press a button; returns the id of the query that the bot will answer. Only buttons with callback data can be
    pressed."""
    keyboard = json.loads(message.markup)["inline_keyboard"] if message.markup else []
    button = keyboard[row][column] if 0 <= row < len(keyboard) and 0 <= column < len(keyboard[row]) else {}
    if "callback_data" not in button:
        raise bad("there is no such button")
    return exchange.press(message, user_id, button["callback_data"])
