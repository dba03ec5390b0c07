"""The records of the local chat: entities, files, messages, and who talks where (one bot, two people, three rooms).

In: rows of the store and checked calls. Out: the same records everywhere inside the package; `wire` turns them into
the Bot API's JSON. Offsets and lengths are in UTF-16 units, as in Telegram; sizes in bytes; times in Unix seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
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
    custom_emoji_id: str | None = None

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
    quote: str | None = None
    markup: str | None = None  # the inline keyboard as canonical JSON, already checked
    preview: str | None = None  # link_preview_options as canonical JSON
    edited: int | None = None
    reaction: str | None = None
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
