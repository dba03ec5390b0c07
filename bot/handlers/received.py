"""A Telegram message, read once at the door.

In: aiogram's `Message`. Out: whether a group says it to the bot; `Received`, and the `Batch` of its sources. Polls,
contacts, venues, checklists and rich messages are read as what they say. It downloads nothing; what sources a text
holds is decided by `ingestion.intake`.
"""

import re
from dataclasses import dataclass
from typing import Any

from aiogram.enums import ChatType, MessageEntityType
from aiogram.types import (
    Audio,
    Message,
    MessageEntity,
    MessageOriginChannel,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUser,
    User,
)

from bot.services import Refusal, Talk
from bot.telegram import COMMANDS
from bot.texts import Words
from domain.documents import Lane, SourceType
from domain.ids import MessageId
from ingestion.intake import IncomingMessage, MessageLink, one_line, sources_of, words_of
from ingestion.records import Batch, Source

FIELDS = ("animation", "document", "voice", "audio", "video", "video_note")  # a GIF has `document`, too
# field of a message -> its kind in the locale text `unsupported`
UNSUPPORTED = {"sticker": "sticker", "dice": "sticker", "story": "other", "paid_media": "other"}
_COMMAND = re.compile(r"/(?P<name>\w+)(?:@(?P<bot>\w+))?(?:\s|$)")


@dataclass(frozen=True, kw_only=True)
class Received:
    """What a message holds."""

    message: Message
    said: IncomingMessage
    sources: tuple[Source, ...]  # what can be kept of it

    @property
    def own_text(self) -> str:
        """What the person typed; empty for captions and forwarded messages."""
        return "" if self.message.forward_origin else self.message.text or ""

    @property
    def written(self) -> tuple[Source, ...]:
        """What its caption alone holds, for a file that cannot be kept."""
        return words_of(self.said) if self.message.caption else ()

    @property
    def has_own_words(self) -> bool:
        """Whether there are words beside addresses: in «https://a.b что это?» these may be a question."""
        said = text = self.message.text or self.message.caption or ""
        for entity in self.message.entities or self.message.caption_entities or []:
            if entity.type == MessageEntityType.URL:
                text = text.replace(entity.extract_from(said), " ", 1)
        return any(character.isalnum() for character in text)


def receive(message: Message, words: Words) -> Received:
    """Read a message; files without a name get one in the language of `words`."""
    origin, kinds = message.forward_origin, (MessageEntityType.URL, MessageEntityType.TEXT_LINK)
    links = (each for each in message.entities or message.caption_entities or [] if each.type in kinds)
    said = IncomingMessage(
        text=message.text or message.caption or _spoken(message),
        links=tuple(MessageLink(offset=each.offset, length=each.length, target=each.url) for each in links),
        file=_attached(message, words),
        forwarded=origin is not None,
        author=_author(message),
        published_at=origin.date if origin else None,
        origin=f"https://t.me/{origin.chat.username}/{origin.message_id}"
        if isinstance(origin, MessageOriginChannel) and origin.chat.username
        else None,
        unsupported=_unsupported(message),
    )
    return Received(message=message, said=said, sources=sources_of(said))


def batch_of(message: Message, sources: tuple[Source, ...], talk: Talk) -> Batch:
    """What was sent; or what a button asked for, in reply to its message: pressed twice it is the same batch."""
    speaker = message.sender_chat or message.from_user  # an anonymous administrator speaks as the group
    is_ours = isinstance(speaker, User) and speaker.is_bot
    return Batch(
        base_id=talk.base_id,
        user_id=talk.person,
        sender=speaker.full_name if speaker and not is_ours and message.chat.type != ChatType.PRIVATE else None,
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


def is_addressed(message: Message, me: User) -> bool:
    """Whether a group's message is meant for `me`, or tells that somebody has left, or of a topic's other name."""
    text = message.text or message.caption or ""
    if command := _COMMAND.match(message.text or "") if message.forward_origin is None else None:
        bot = command["bot"]
        return bot.lower() == (me.username or "").lower() if bot else command["name"] in COMMANDS
    if message.left_chat_member or message.forum_topic_edited:
        return True
    replied = message.reply_to_message
    if replied and replied.from_user and replied.from_user.id == me.id:
        return True
    return any(_mentions(text, entity, me) for entity in message.entities or message.caption_entities or [])


def without_mention(message: Message, me: User) -> Message:
    """The message without its mentions of the bot and a space after each. The offsets of its other entities, which are
    in UTF-16 units, are adjusted."""
    text, entities = message.text or message.caption, message.entities or message.caption_entities or []
    if not text or not (mentions := [entity for entity in entities if _mentions(text, entity, me)]):
        return message
    units, space = text.encode("utf-16-le"), " ".encode("utf-16-le")
    entities = [entity for entity in entities if entity not in mentions]
    for mention in reversed(mentions):
        start, end = mention.offset, mention.offset + mention.length
        end += units[end * 2 : end * 2 + 2] == space
        units = units[: start * 2] + units[end * 2 :]
        entities = [
            each.model_copy(update={"offset": each.offset - (end - start)}) if each.offset >= end else each
            for each in entities
        ]
    fields = ("text", "entities") if message.text else ("caption", "caption_entities")
    said = zip(fields, (units.decode("utf-16-le"), entities), strict=True)
    return message.model_copy(update=dict(said))


def _mentions(text: str, entity: MessageEntity, me: User) -> bool:
    if entity.type == MessageEntityType.TEXT_MENTION:
        return entity.user is not None and entity.user.id == me.id
    return entity.type == MessageEntityType.MENTION and entity.extract_from(text).lower() == f"@{me.username}".lower()


def _author(message: Message) -> str | None:
    """Of a forwarded message; of a post in a channel the channel, and who signed it there."""
    match message.forward_origin:
        case MessageOriginUser(sender_user=user):
            return one_line(user.full_name) or None
        case MessageOriginHiddenUser(sender_user_name=name):
            return one_line(name) or None
        case (
            MessageOriginChat(sender_chat=chat, author_signature=by)
            | MessageOriginChannel(chat=chat, author_signature=by)
        ):
            return one_line(", ".join(filter(None, (chat.title, by)))) or None
    return None


def _attached(message: Message, words: Words) -> Source | None:
    """The message's file; of a photo its largest size. A file without a name is named by its kind and the day of the
    original message: a voice message forwarded today may be from last year."""
    found = ((field, getattr(message, field)) for field in FIELDS)
    field, file = next(((field, file) for field, file in found if file is not None), ("photo", None))
    if message.photo:
        file = max(message.photo, key=lambda size: size.width * size.height)
    if file is None:
        return None
    own_name, known = one_line(getattr(file, "file_name", None)), "video" if field == "animation" else field
    day = message.forward_origin.date if message.forward_origin else message.date
    title = None if own_name else words.plain(f"name-{known.replace('_', '-')}", day=day)
    if isinstance(file, Audio) and (file.performer or file.title):
        title = " – ".join(filter(None, (one_line(file.performer), one_line(file.title)))) or title
    return Source(
        type=SourceType.FILE,
        identifier=own_name or f"{field}-{message.message_id}",
        title=title,
        file_id=file.file_id,
        size_bytes=file.file_size,
        media_type="image/jpeg" if field == "photo" else getattr(file, "mime_type", None),
        lane=Lane.QUICK if field in ("document", "photo") else Lane.LONG,
    )


def _spoken(message: Message) -> str:
    if poll := message.poll:
        return "\n".join([poll.question, *(f"- {option.text}: {option.voter_count}" for option in poll.options)])
    if contact := message.contact:
        return f"{contact.first_name} {contact.last_name or ''}".strip() + f"\n{contact.phone_number}"
    if venue := message.venue:
        return f"{venue.title}\n{venue.address}"
    if checklist := message.checklist:
        return "\n".join([checklist.title, *(f"- {task.text}" for task in checklist.tasks)])
    return "\n\n".join(filter(None, map(_block, message.rich_message.blocks))) if message.rich_message else ""


def _unsupported(message: Message) -> str | None:
    if message.location and not message.venue:
        return "location"
    has_content = message.text or message.photo or _spoken(message) or any(getattr(message, field) for field in FIELDS)
    kinds = [kind for field, kind in UNSUPPORTED.items() if getattr(message, field) is not None]
    return next(iter(kinds), None if has_content else "other")


def _block(block: Any) -> str:
    """`block` is one of twenty types of a rich message, which keep their text in a few common fields."""
    if block.type == "thinking":
        return ""
    own = [_inline(getattr(block, field, None)) for field in ("summary", "text", "expression")]
    inner = [_block(each) for each in getattr(block, "blocks", None) or ()]
    listed = ((item.label, "\n".join(map(_block, item.blocks))) for item in getattr(block, "items", None) or ())
    items = [" ".join(filter(None, item)) for item in listed]  # the label is «1.» or a bullet
    lines = [" | ".join(_inline(cell.text) for cell in row) for row in getattr(block, "cells", None) or ()]
    below = [_inline(getattr(block, field, None)) for field in ("caption", "credit")]
    return "\n".join(filter(None, (*own, *inner, *items, *lines, *below)))


def _inline(text: Any) -> str:
    """The plain text of `text`: a string, a list of pieces, or a formatted piece (a caption is one, too)."""
    if text is None or isinstance(text, str):
        return text or ""
    if isinstance(text, list):
        return "".join(map(_inline, text))
    fields = ("text", "expression", "alternative_text")
    said = next((found for field in fields if (found := getattr(text, field, None)) is not None), None)
    return " ".join(filter(None, (_inline(said), _inline(getattr(text, "credit", None)))))
