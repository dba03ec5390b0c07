"""In groups the bot is quiet: it hears only what is said to it.

In: messages. Out: in groups only those that mention the bot, reply to it, are a command for it or of an album that
does, with the mention taken out; everything in private chats. Messages of channels and other bots go no further.
"""

import re
from collections import deque
from typing import Any

from aiogram import BaseMiddleware, Bot
from aiogram.enums import ChatType, MessageEntityType
from aiogram.types import Message, MessageEntity, TelegramObject, User

from bot.commands import COMMANDS
from bot.middlewares import Handler

ALBUMS = 1000  # that were meant for the bot; their other files come within a second
_COMMAND = re.compile(r"/(?P<name>\w+)(?:@(?P<bot>\w+))?(?:\s|$)")


class OnlyAddressed(BaseMiddleware):
    """Drops what was not meant for the bot. The words under an album are those of one of its files, and mean all: the
    others follow it."""

    def __init__(self) -> None:
        self._albums = deque[str](maxlen=ALBUMS)

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        """See the module."""
        if not isinstance(event, Message) or event.from_user is None or event.from_user.is_bot:
            return None
        if event.chat.type == ChatType.PRIVATE:
            return await handler(event, data)
        bot: Bot = data["bot"]
        me = await bot.me()
        if not is_addressed(event, me) and event.media_group_id not in self._albums:
            return None
        if event.media_group_id:
            self._albums.append(event.media_group_id)
        return await handler(without_mention(event, me), data)


def is_addressed(message: Message, me: User) -> bool:
    """Whether a group's message is meant for `me`."""
    text = message.text or message.caption or ""
    if command := _COMMAND.match(message.text or "") if message.forward_origin is None else None:
        name, bot = command["name"], command["bot"]
        return _is_name_of(bot, me) if bot else name in COMMANDS
    replied = message.reply_to_message
    if replied and replied.from_user and replied.from_user.id == me.id:
        return True
    return any(_mentions(text, entity, me) for entity in message.entities or message.caption_entities or [])


def without_mention(message: Message, me: User) -> Message:
    """The message as it would read in a private chat; its other entities keep their places."""
    text, entities = message.text or message.caption, message.entities or message.caption_entities or []
    if not text or not (mentions := [entity for entity in entities if _mentions(text, entity, me)]):
        return message
    for mention in reversed(mentions):
        text, entities = _taken_out(text, entities, mention)
    fields = ("text", "entities") if message.text else ("caption", "caption_entities")
    return message.model_copy(update=dict(zip(fields, (text, entities), strict=True)))


def _taken_out(text: str, entities: list[MessageEntity], mention: MessageEntity) -> tuple[str, list[MessageEntity]]:
    """Offsets and lengths count UTF-16 units; the space after a mention goes with it."""
    units = text.encode("utf-16-le")
    start, end = mention.offset, mention.offset + mention.length
    end += units[end * 2 : end * 2 + 2] == " ".encode("utf-16-le")
    kept = (units[: start * 2] + units[end * 2 :]).decode("utf-16-le")
    moved = [
        entity.model_copy(update={"offset": entity.offset - (end - start)}) if entity.offset >= end else entity
        for entity in entities
        if entity is not mention
    ]
    return kept, moved


def _mentions(text: str, entity: MessageEntity, me: User) -> bool:
    if entity.type == MessageEntityType.TEXT_MENTION:
        return entity.user is not None and entity.user.id == me.id
    return entity.type == MessageEntityType.MENTION and _is_name_of(entity.extract_from(text).lstrip("@"), me)


def _is_name_of(name: str, me: User) -> bool:
    return name.lower() == (me.username or "").lower()
