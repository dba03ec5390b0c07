"""Who talks where (one bot, two people, three rooms), texts with their entities, and files.

In and out: the Bot API's JSON; a message is that JSON itself, in the store, for the bot and for the page. Offsets and
lengths are in UTF-16 units, as in Telegram; sizes in bytes; times in Unix seconds.
"""

from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]  # an object of the Bot API
FileKind = Literal["document", "photo", "audio", "voice", "video"]


@dataclass(frozen=True, kw_only=True)
class Room:
    """A chat with its people (the bot is in each)."""

    chat_id: int
    kind: Literal["private", "supergroup"]
    title: str
    people: tuple[int, ...]

    def to_json(self) -> Json:
        """A Chat."""
        if self.kind == "supergroup":
            return {"id": self.chat_id, "type": self.kind, "title": self.title}
        person = ACCOUNTS[self.chat_id]
        return {"type": self.kind, **{name: person[name] for name in ("id", "first_name", "username")}}


BOT_ID = 7_000_000_001
YOU = 1001  # who owns the page, and the group
_PEOPLE = {YOU: ("Вы", "you_local"), 1002: ("Анна", "anna_local")}
ACCOUNTS: dict[int, Json] = {
    BOT_ID: {"id": BOT_ID, "is_bot": True, "first_name": "База", "username": "baza_local_bot"},
    **{
        number: {"id": number, "is_bot": False, "first_name": name, "username": username, "language_code": "ru"}
        for number, (name, username) in _PEOPLE.items()
    },
}
"""Users, by their ids."""
PEOPLE = tuple(ACCOUNTS[number] for number in _PEOPLE)
ROOMS = {
    room.chat_id: room
    for room in (
        Room(chat_id=YOU, kind="private", title="База", people=(YOU,)),
        Room(chat_id=1002, kind="private", title="База: Анна", people=(1002,)),
        Room(chat_id=-1_002_000_000_001, kind="supergroup", title="Группа", people=(YOU, 1002)),
    )
}


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

    def to_json(self) -> Json:
        """A MessageEntity."""
        user = None if self.user_id is None else ACCOUNTS.get(self.user_id)
        span = {"offset": self.offset, "length": self.length, "url": self.url, "language": self.language}
        return given(type=self.kind, user=user, **span)


@dataclass(frozen=True, kw_only=True)
class FormattedText:
    """A text with its spans, in the order Telegram gives them."""

    text: str
    entities: tuple[Entity, ...] = ()

    def to_json(self, name: Literal["text", "caption"] = "text") -> Json:
        """The two fields of a Message that hold it; None for what is not there."""
        spans = [entity.to_json() for entity in self.entities]
        return {name: self.text or None, "entities" if name == "text" else "caption_entities": spans or None}


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

    def to_json(self) -> Json:
        """A File, without its path."""
        return {"file_id": self.file_id, "file_unique_id": self.unique_id, "file_size": self.size}

    def shown_as(self, kind: FileKind) -> Json:
        """The field of a Message that holds it."""
        common, sides = self.to_json(), {"width": self.width, "height": self.height}
        if kind == "photo":
            return {"photo": [{**common, **sides}]}
        named = {"mime_type": self.mime} if kind == "voice" else {"mime_type": self.mime, "file_name": self.name}
        lasting = {} if kind == "document" else {"duration": 0}
        return {kind: {**common, **named, **lasting, **(sides if kind == "video" else {})}}


def given(**fields: object) -> Json:
    """The fields that are there."""
    return {name: value for name, value in fields.items() if value is not None}
