"""In groups the bot is quiet: it hears only what is said to it.

In: messages. Out: in groups only those that mention the bot, reply to it or are a command for it, with the mention
taken out; everything in private chats. Messages of channels and other bots go no further.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from aiogram import BaseMiddleware, Bot
from aiogram.enums import ChatType, MessageEntityType
from aiogram.types import Message, MessageEntity, TelegramObject, User

from bot.commands import COMMANDS

Handler = Callable[[TelegramObject, dict[str, Any]], Awaitable[Any]]

_COMMAND = re.compile(r"/(?P<name>\w+)(?:@(?P<bot>\w+))?(?:\s|$)")


class OnlyAddressed(BaseMiddleware):
    """Drops what was not meant for the bot."""

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        """See the module."""
        if not isinstance(event, Message) or event.from_user is None or event.from_user.is_bot:
            return None
        if event.chat.type == ChatType.PRIVATE:
            return await handler(event, data)
        bot: Bot = data["bot"]
        me = await bot.me()
        if not is_addressed(event, me):
            return None
        return await handler(without_mention(event, me), data)


def is_addressed(message: Message, me: User) -> bool:
    """Whether a group's message is meant for `me`."""
    text = message.text or message.caption or ""
    if command := _COMMAND.match(text):
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
