"""Converts a Telegram message for intake.

In: aiogram's `Message`. Out: `IncomingMessage`, and the `Batch` of its sources. It does not decide which kinds of
sources a message holds: `ingestion.intake` does.
"""

from collections.abc import Callable, Mapping

from aiogram import Bot
from aiogram.enums import ChatType, MessageEntityType
from aiogram.types import (
    Message,
    MessageOriginChannel,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUser,
)

from bot.handlers.attached import attached_file, spoken_text, unsupported_kind
from bot.middlewares.addressed import without_mention
from bot.talk import Talk
from bot.texts import Words
from domain.ids import MessageId
from ingestion.intake import IncomingMessage, MessageLink, one_line, sources_of, words_of
from ingestion.records import Batch, Source


def incoming_message(message: Message, words: Words) -> IncomingMessage:
    """The message in intake's terms; files without a name get one in the language of `words`."""
    origin = message.forward_origin
    return IncomingMessage(
        text=message.text or message.caption or spoken_text(message),
        links=_links(message),
        file=attached_file(message, words),
        forwarded=origin is not None,
        author=_author(message),
        published_at=origin.date if origin else None,
        origin=_address(origin),
        unsupported=unsupported_kind(message),
    )


def sources_in(message: Message, words: Words) -> tuple[Source, ...]:
    """The sources that the message holds."""
    return sources_of(incoming_message(message, words))


def words_under(message: Message, words: Words) -> tuple[Source, ...]:
    """The sources in the caption alone, for a message whose file cannot be kept."""
    return words_of(incoming_message(message, words)) if message.caption else ()


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


async def original_of(shown: Message, bot: Bot) -> Message | None:
    """The message that the bot's question `shown` replies to, without a mention of the bot."""
    original = shown.reply_to_message
    return without_mention(original, await bot.me()) if original else None


def has_own_words(message: Message) -> bool:
    """Whether the message has words beside its addresses: in «https://a.b что это?» these are the question."""
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
