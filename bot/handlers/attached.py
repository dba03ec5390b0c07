"""The file of a message, whatever its Telegram kind, and messages that can be stored as text.

In: aiogram's `Message`. Out: an `AttachedFile` with a name for people, or text: a poll, a contact, a venue, a
checklist and a rich message are stored as what they say. It downloads nothing.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from aiogram.types import Audio, Checklist, Contact, Message, PhotoSize, Poll, Venue

from bot.handlers.rich_words import rich_words
from bot.texts import Words
from ingestion.intake import AttachedFile, one_line

FIELDS = ("animation", "document", "voice", "audio", "video", "video_note")
"""In order: a GIF has `document`, too, so `animation` comes first."""
RECORDINGS = frozenset({"animation", "voice", "audio", "video", "video_note"})
UNSUPPORTED = {"sticker": "sticker", "dice": "sticker", "story": "other", "paid_media": "other"}
"""Field of a message -> its kind in the locale text `unsupported`."""


def attached_file(message: Message, words: Words) -> AttachedFile | None:
    """The message's file; of a photo its largest size."""
    if message.photo:
        return _photo(message.photo, message, words)
    for field in FIELDS:
        if (file := getattr(message, field)) is not None:
            return _file(field, file, message, words)
    return None


def spoken_text(message: Message) -> str:
    """What a poll, a contact, a venue, a checklist or a rich message says; empty for other messages."""
    for field, say in _SAYINGS.items():
        if (said := getattr(message, field)) is not None:
            return say(said)
    return ""


def unsupported_kind(message: Message) -> str | None:
    """The kind of a message that cannot be kept; None when it can."""
    if message.location and not message.venue:
        return "location"
    for field, kind in UNSUPPORTED.items():
        if getattr(message, field) is not None:
            return kind
    has_content = message.text or message.photo or spoken_text(message)
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


_SAYINGS: Mapping[str, Callable[..., str]] = {
    "poll": _poll,
    "contact": _contact,
    "venue": _venue,
    "checklist": _checklist,
    "rich_message": rich_words,
}
