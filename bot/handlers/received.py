"""A Telegram message, read once at the door.

In: aiogram's `Message`. Out: `Received`: its sources, what could be asked in it, and why it cannot be kept;
and the `Batch` of its sources. Polls, contacts, venues, checklists and rich messages are read as what they say. It
downloads nothing; which kinds of sources a text holds is decided by `ingestion.intake`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aiogram.enums import ChatType, MessageEntityType
from aiogram.types import (
    Audio,
    Checklist,
    Contact,
    Message,
    MessageOriginChannel,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUser,
    PhotoSize,
    Poll,
    RichMessage,
    Venue,
)

from bot.middlewares import without_mention
from bot.services import Refusal, Talk
from bot.texts import Words
from domain.ids import MessageId
from ingestion.intake import AttachedFile, IncomingMessage, MessageLink, one_line, sources_of, words_of
from ingestion.records import Batch, Source

FIELDS = ("animation", "document", "voice", "audio", "video", "video_note")
"""In order: a GIF has `document`, too, so `animation` comes first."""
RECORDINGS = frozenset({"animation", "voice", "audio", "video", "video_note"})
UNSUPPORTED = {"sticker": "sticker", "dice": "sticker", "story": "other", "paid_media": "other"}
"""Field of a message -> its kind in the locale text `unsupported`."""


@dataclass(frozen=True, kw_only=True)
class Received:
    """What a message holds."""

    message: Message
    sources: tuple[Source, ...]  # what can be kept of it
    written: tuple[Source, ...]  # what its caption alone holds, for a file that cannot be kept
    has_own_words: bool  # beside addresses: in «https://a.b что это?» these may be a question
    unsupported: str | None  # its kind, when it cannot be kept

    @property
    def own_text(self) -> str:
        """What the person typed; empty for captions and forwarded messages."""
        return "" if self.message.forward_origin else self.message.text or ""


def receive(message: Message, words: Words) -> Received:
    """Read a message; files without a name get one in the language of `words`."""
    origin = message.forward_origin
    unsupported = _unsupported(message)
    said = IncomingMessage(
        text=message.text or message.caption or _spoken(message),
        links=_links(message),
        file=_attached(message, words),
        forwarded=origin is not None,
        author=_author(message),
        published_at=origin.date if origin else None,
        origin=_address(origin),
        unsupported=unsupported,
    )
    return Received(
        message=message,
        sources=sources_of(said),
        written=words_of(said) if message.caption else (),
        has_own_words=_has_own_words(message),
        unsupported=unsupported,
    )


def batch_of(message: Message, sources: tuple[Source, ...], talk: Talk) -> Batch:
    """A batch of these sources for the queue, with the message's sender and place."""
    return Batch(
        base_id=talk.base_id,
        user_id=talk.person,
        sender=_sender(message),
        language=talk.words.language,
        chat_id=talk.place.chat,
        thread_id=talk.place.thread,
        message_id=MessageId(message.message_id),
        media_group=message.media_group_id,
        sources=sources,
    )


async def original_of(talk: Talk) -> Message:
    """The message that the bot's question replies to, without a mention of the bot. Raises Refusal where it is gone."""
    if (original := talk.message.reply_to_message) is None:
        raise Refusal("original-gone")
    return without_mention(original, await talk.bot.me())


def _has_own_words(message: Message) -> bool:
    said = text = message.text or message.caption or ""
    for entity in message.entities or message.caption_entities or []:
        if entity.type == MessageEntityType.URL:
            text = text.replace(entity.extract_from(said), " ", 1)
    return any(character.isalnum() for character in text)


def _links(message: Message) -> tuple[MessageLink, ...]:
    kinds = (MessageEntityType.URL, MessageEntityType.TEXT_LINK)
    return tuple(
        MessageLink(offset=entity.offset, length=entity.length, target=entity.url)
        for entity in message.entities or message.caption_entities or []
        if entity.type in kinds
    )


MessageOrigin = MessageOriginUser | MessageOriginHiddenUser | MessageOriginChat | MessageOriginChannel

_ORIGINS: Mapping[type, Callable[..., str | None]] = {
    MessageOriginUser: lambda origin: origin.sender_user.full_name,
    MessageOriginHiddenUser: lambda origin: origin.sender_user_name,
    MessageOriginChat: lambda origin: _signed(origin.sender_chat.title, origin.author_signature),
    MessageOriginChannel: lambda origin: _signed(origin.chat.title, origin.author_signature),
}


def _author(message: Message) -> str | None:
    origin = message.forward_origin
    return one_line(_ORIGINS[type(origin)](origin)) or None if origin else None


def _sender(message: Message) -> str | None:
    """The sender's name in a group; None in a private chat."""
    if message.chat.type == ChatType.PRIVATE:
        return None
    speaker = message.sender_chat or message.from_user  # an anonymous administrator speaks as the group
    return speaker.full_name if speaker else None


def _signed(title: str | None, signature: str | None) -> str | None:
    """A channel, and who signed the post there."""
    return f"{title}, {signature}" if title and signature else title or signature


def _address(origin: MessageOrigin | None) -> str | None:
    """The address of a post in a public channel; other originals have none."""
    if not isinstance(origin, MessageOriginChannel) or not origin.chat.username:
        return None
    return f"https://t.me/{origin.chat.username}/{origin.message_id}"


def _attached(message: Message, words: Words) -> AttachedFile | None:
    """The message's file; of a photo its largest size."""
    if message.photo:
        return _photo(message.photo, message, words)
    for field in FIELDS:
        if (file := getattr(message, field)) is not None:
            return _file(field, file, message, words)
    return None


def _spoken(message: Message) -> str:
    """What a poll, a contact, a venue, a checklist or a rich message says; empty for other messages."""
    for field, say in _SAYINGS.items():
        if (said := getattr(message, field)) is not None:
            return say(said)
    return ""


def _unsupported(message: Message) -> str | None:
    """The kind of a message that cannot be kept; None when it can."""
    if message.location and not message.venue:
        return "location"
    for field, kind in UNSUPPORTED.items():
        if getattr(message, field) is not None:
            return kind
    has_content = message.text or message.photo or _spoken(message)
    return None if has_content or any(getattr(message, field) for field in FIELDS) else "other"


def _file(field: str, file: Any, message: Message, words: Words) -> AttachedFile:
    """`file` is one of six aiogram types without a common base; some have no name, some no media type."""
    own_name = one_line(getattr(file, "file_name", None))
    title = None if own_name else _title(field, message, words)
    return AttachedFile(
        file_id=file.file_id,
        name=own_name or f"{field}-{message.message_id}",
        title=_performance(file) if isinstance(file, Audio) and _performance(file) else title,
        size_bytes=file.file_size,
        media_type=getattr(file, "mime_type", None),
        is_recording=field in RECORDINGS,
    )


def _title(field: str, message: Message, words: Words) -> str:
    """A title for a file without a name."""
    known = "video" if field == "animation" else field
    return words.plain(f"name-{known.replace('_', '-')}", day=_day(message))


def _day(message: Message) -> datetime:
    """The day of the original message: a voice message forwarded today may be from last year."""
    return message.forward_origin.date if message.forward_origin else message.date


def _performance(audio: Audio) -> str:
    return " – ".join(filter(None, (one_line(audio.performer), one_line(audio.title))))


def _photo(sizes: list[PhotoSize], message: Message, words: Words) -> AttachedFile:
    largest = max(sizes, key=lambda size: size.width * size.height)
    return AttachedFile(
        file_id=largest.file_id,
        name=f"photo-{message.message_id}",
        title=words.plain("name-photo", day=_day(message)),
        size_bytes=largest.file_size,
        media_type="image/jpeg",
    )


def _poll(poll: Poll) -> str:
    return "\n".join([poll.question, *(f"- {option.text}: {option.voter_count}" for option in poll.options)])


def _contact(contact: Contact) -> str:
    name = " ".join(part for part in (contact.first_name, contact.last_name) if part)
    return f"{name}\n{contact.phone_number}"


def _checklist(checklist: Checklist) -> str:
    return "\n".join([checklist.title, *(f"- {task.text}" for task in checklist.tasks)])


def _venue(venue: Venue) -> str:
    return f"{venue.title}\n{venue.address}"


_OWN = ("summary", "text", "expression")
_BELOW = ("caption", "credit")
_SPOKEN = ("text", "expression", "alternative_text")


def _rich_words(message: RichMessage) -> str:
    """The message's blocks, separated by empty lines."""
    return "\n\n".join(filter(None, map(_block, message.blocks)))


def _block(block: Any) -> str:
    """`block` is one of twenty types, which keep their text in a few common fields."""
    if block.type == "thinking":
        return ""
    own = [_inline(getattr(block, field, None)) for field in _OWN]
    inner = [_block(each) for each in getattr(block, "blocks", None) or ()]
    items = [_item(item) for item in getattr(block, "items", None) or ()]
    lines = [" | ".join(_inline(cell.text) for cell in row) for row in getattr(block, "cells", None) or ()]
    below = [_inline(getattr(block, field, None)) for field in _BELOW]
    return "\n".join(filter(None, (*own, *inner, *items, *lines, *below)))


def _item(item: Any) -> str:
    """A list item; its label is «1.» or a bullet."""
    return " ".join(filter(None, (item.label, "\n".join(map(_block, item.blocks)))))


def _inline(text: Any) -> str:
    """The plain text of `text`: a string, a list of pieces, or a formatted piece (a caption is one, too)."""
    if text is None or isinstance(text, str):
        return text or ""
    if isinstance(text, list):
        return "".join(map(_inline, text))
    said = next((found for field in _SPOKEN if (found := getattr(text, field, None)) is not None), None)
    return " ".join(filter(None, (_inline(said), _inline(getattr(text, "credit", None)))))


_SAYINGS: Mapping[str, Callable[..., str]] = {
    "poll": _poll,
    "contact": _contact,
    "venue": _venue,
    "checklist": _checklist,
    "rich_message": _rich_words,
}
