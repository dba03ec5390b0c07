"""The records of the local chat: entities, files, messages, and who talks where (one bot, two people, three rooms).

In: rows of the store and checked calls. Out: the same records everywhere inside the package, and as the Bot API's JSON,
which the page gets as well. Offsets and lengths are in UTF-16 units, as in Telegram; sizes in bytes; times in Unix
seconds.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

Json = Mapping[str, object]  # an outgoing object of the Bot API
FileKind = Literal["document", "photo", "audio", "voice", "video"]


@dataclass(frozen=True, kw_only=True)
class Entity:
    """One formatted span of a text."""

    kind: str
    offset: int
    length: int
    url: str | None = None  # text_link
    user_id: int | None = None  # text_mention
    language: str | None = None  # pre

    @property
    def end(self) -> int:
        return self.offset + self.length


@dataclass(frozen=True, kw_only=True)
class FormattedText:
    """A text with its spans, in the order Telegram gives them."""

    text: str
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """A file on disk; `path` is the one that getFile returns, not a path of this machine."""

    file_id: str
    unique_id: str
    name: str
    mime: str
    size: int
    path: str
    width: int = 0
    height: int = 0


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A file as it is shown in a message."""

    kind: FileKind
    file: StoredFile


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message of a chat. `text` is the caption when there is an attachment."""

    chat_id: int
    message_id: int
    sender_id: int
    date: int
    text: str = ""
    entities: tuple[Entity, ...] = ()
    attachment: Attachment | None = None
    album: str | None = None
    reply_to: int | None = None
    markup: str | None = None  # the inline keyboard as canonical JSON, already checked
    preview: str | None = None  # link_preview_options as canonical JSON
    edited: int | None = None
    origin: str | None = None  # where it was forwarded from: a MessageOrigin as canonical JSON


@dataclass(frozen=True, kw_only=True)
class Query:
    """A press on an inline button that the bot has not answered yet."""

    query_id: str
    chat_id: int
    message_id: int
    user_id: int
    pressed_at: float


BOT_ID = 7_000_000_001
BOT_USERNAME = "baza_local_bot"


@dataclass(frozen=True, kw_only=True)
class Account:
    """A person or the bot."""

    user_id: int
    first_name: str
    username: str | None = None
    is_bot: bool = False


@dataclass(frozen=True, kw_only=True)
class Room:
    """A chat with its people (the bot is in each)."""

    chat_id: int
    kind: Literal["private", "supergroup"]
    title: str
    people: tuple[int, ...]


BOT = Account(user_id=BOT_ID, first_name="База", username=BOT_USERNAME, is_bot=True)
PEOPLE = (
    Account(user_id=1001, first_name="Вы", username="you_local"),
    Account(user_id=1002, first_name="Анна", username="anna_local"),
)
ROOMS = (
    Room(chat_id=1001, kind="private", title="База", people=(1001,)),
    Room(chat_id=1002, kind="private", title="База: Анна", people=(1002,)),
    Room(chat_id=-1_002_000_000_001, kind="supergroup", title="Группа", people=(1001, 1002)),
)

ACCOUNTS = {account.user_id: account for account in (BOT, *PEOPLE)}
YOURS = tuple(room for room in ROOMS if 1001 in room.people)
ROOM_BY_ID = {room.chat_id: room for room in ROOMS}


def account_json(account: Account, *, language: str | None = None) -> Json:
    """A User."""
    return _given(
        id=account.user_id,
        is_bot=account.is_bot,
        first_name=account.first_name,
        username=account.username,
        language_code=None if account.is_bot else language or "ru",
    )


def room_json(room: Room) -> Json:
    """A Chat."""
    if room.kind == "private":
        person = ACCOUNTS[room.chat_id]
        return _given(id=room.chat_id, type="private", first_name=person.first_name, username=person.username)
    return {"id": room.chat_id, "type": room.kind, "title": room.title}


def entity_json(entity: Entity) -> Json:
    """A MessageEntity."""
    fields = asdict(entity)
    user_id = fields.pop("user_id")
    user = account_json(ACCOUNTS[user_id]) if user_id in ACCOUNTS else None
    return _given(type=fields.pop("kind"), user=user, **fields)


def message_json(message: Message, *, replied: Message | None = None, language: str | None = None) -> Json:
    """A Message; `replied` is the message it answers, included without that message's own `reply_to_message`."""
    return _given(
        message_id=message.message_id,
        date=message.date,
        chat=room_json(ROOM_BY_ID[message.chat_id]),
        **{"from": account_json(ACCOUNTS[message.sender_id], language=language)},
        edit_date=message.edited,
        forward_origin=json.loads(message.origin) if message.origin else None,
        media_group_id=message.album,
        reply_to_message=message_json(replied) if replied else None,
        link_preview_options=json.loads(message.preview) if message.preview else None,
        reply_markup=json.loads(message.markup) if message.markup else None,
        **_content(message),
    )


def file_json(file: StoredFile) -> Json:
    """A File, without its path."""
    return {"file_id": file.file_id, "file_unique_id": file.unique_id, "file_size": file.size}


def _content(message: Message) -> Json:
    entities = [entity_json(entity) for entity in message.entities] or None
    if not message.attachment:
        return _given(text=message.text, entities=entities)
    caption = _given(caption=message.text or None, caption_entities=entities)
    return {**_attachment_json(message.attachment), **caption}


def _attachment_json(attachment: Attachment) -> Json:
    file = attachment.file
    common = file_json(file)
    named = {**common, "file_name": file.name, "mime_type": file.mime}
    if attachment.kind == "photo":
        return {"photo": [{**common, "width": file.width, "height": file.height}]}
    if attachment.kind == "voice":
        return {"voice": {**common, "duration": 0, "mime_type": file.mime}}
    if attachment.kind == "audio":
        return {"audio": {**named, "duration": 0}}
    if attachment.kind == "video":
        return {"video": {**named, "duration": 0, "width": file.width, "height": file.height}}
    return {"document": named}


def _given(**fields: object) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
