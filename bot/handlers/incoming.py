"""A Telegram message as intake takes it.

In: aiogram's `Message`. Out: `IncomingMessage`, and the `Batch` of what is in it. It decides nothing about kinds of
sources: `ingestion.intake` does.
"""

from collections.abc import Callable, Mapping

from aiogram import Bot
from aiogram.enums import MessageEntityType
from aiogram.types import (
    Message,
    MessageOriginChannel,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUser,
)

from bot.middlewares.addressed import without_mention
from bot.talk import Talk
from domain.ids import MessageId
from ingestion.intake import AttachedFile, IncomingMessage, MessageLink, sources_of
from ingestion.records import Batch, Source

KINDS: Mapping[str, str] = {
    "animation": "video",  # before "document": a GIF carries both
    "photo": "photo",
    "voice": "voice",
    "audio": "audio",
    "video": "video",
    "video_note": "video",
    "sticker": "sticker",
    "location": "location",
    "venue": "location",
    "poll": "poll",
    "contact": "contact",
}
"""Fields of a message -> what `unsupported` in the locales calls them."""


def incoming_message(message: Message) -> IncomingMessage:
    """What the bot knows of it."""
    author, forwarded_at = _author(message), message.forward_origin.date if message.forward_origin else None
    kind = unsupported_kind(message)
    return IncomingMessage(
        text=message.text or message.caption or "",
        links=_links(message),
        file=_file(message) if kind is None else None,
        forwarded=message.forward_origin is not None,
        author=author,
        published_at=forwarded_at,
        unsupported=kind,
    )


def sources_in(message: Message) -> tuple[Source, ...]:
    """The sources that the message holds."""
    return sources_of(incoming_message(message))


def batch_of(message: Message, sources: tuple[Source, ...], talk: Talk) -> Batch:
    """What came in this message, for the queue."""
    return Batch(
        base_id=talk.base_id,
        user_id=talk.person,
        language=talk.words.language,
        chat_id=talk.place.chat,
        thread_id=talk.place.thread,
        message_id=MessageId(message.message_id),
        media_group=message.media_group_id,
        sources=sources,
    )


async def original_of(shown: Message, bot: Bot) -> Message | None:
    """The message that a question of ours replies to, as it would read in a private chat."""
    original = shown.reply_to_message
    return without_mention(original, await bot.me()) if original else None


def unsupported_kind(message: Message) -> str | None:
    """The kind of a message that is neither text nor a file; None when it is one of them."""
    for field, kind in KINDS.items():
        if getattr(message, field) is not None:
            return kind
    return None if message.text or message.document else "other"


def _file(message: Message) -> AttachedFile | None:
    document = message.document
    if document is None:
        return None
    return AttachedFile(
        file_id=document.file_id,
        name=document.file_name,
        size_bytes=document.file_size,
        media_type=document.mime_type,
    )


def _links(message: Message) -> tuple[MessageLink, ...]:
    kinds = (MessageEntityType.URL, MessageEntityType.TEXT_LINK)
    return tuple(
        MessageLink(offset=entity.offset, length=entity.length, target=entity.url)
        for entity in message.entities or message.caption_entities or []
        if entity.type in kinds
    )


_ORIGINS: Mapping[type, Callable[..., str | None]] = {
    MessageOriginUser: lambda origin: origin.sender_user.full_name,
    MessageOriginHiddenUser: lambda origin: origin.sender_user_name,
    MessageOriginChat: lambda origin: origin.author_signature or origin.sender_chat.title,
    MessageOriginChannel: lambda origin: origin.author_signature or origin.chat.title,
}


def _author(message: Message) -> str | None:
    origin = message.forward_origin
    return _ORIGINS[type(origin)](origin) if origin else None
