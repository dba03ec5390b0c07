"""In groups, lets through only messages that address the bot.

In: messages. Out: all messages of private chats; of groups only those that mention the bot (the mention is taken out),
reply to it, are a command for it, or belong to an album that addresses it. Messages of channels and other bots are
dropped. No state is stored: a file of an album waits here (its update is in the inbox) until the album has arrived.
"""

import asyncio
import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiogram import BaseMiddleware, Bot
from aiogram.enums import ChatType, MessageEntityType
from aiogram.types import Message, MessageEntity, TelegramObject, User

from bot.commands import COMMANDS
from bot.inbox import TURN, Turn
from bot.middlewares import Handler

ALBUMS = 1000  # addressed albums that are remembered; their other files arrive within a second
ALBUM_S = 2.0  # how long a file waits for another file of its album that addresses the bot
_COMMAND = re.compile(r"/(?P<name>\w+)(?:@(?P<bot>\w+))?(?:\s|$)")


@dataclass(kw_only=True, eq=False)
class _Held:
    """The waiting files of an album in which no file has addressed the bot so far."""

    until: float = 0.0  # by the event loop's clock
    files: int = 0
    addressed: asyncio.Event = field(default_factory=asyncio.Event)
    one_by_one: asyncio.Lock = field(default_factory=asyncio.Lock)
    handled: asyncio.Event = field(default_factory=asyncio.Event)


class OnlyAddressed(BaseMiddleware):
    """Drops messages that do not address the bot. One file of an album carries the caption, which addresses the bot for
    all of them: later files pass as well, and earlier ones wait for it."""

    def __init__(self) -> None:
        self._albums = deque[str](maxlen=ALBUMS)
        self._held: dict[str, _Held] = {}

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        """See the module."""
        if not isinstance(event, Message) or event.from_user is None or event.from_user.is_bot:
            return None
        if event.chat.type == ChatType.PRIVATE:
            return await handler(event, data)
        bot: Bot = data["bot"]
        me, album = await bot.me(), event.media_group_id
        if is_addressed(event, me):
            if album:
                await self._follow(album)
            return await handler(without_mention(event, me), data)
        if album in self._albums:
            return await handler(event, data)
        return await self._hold(album, handler, event, data) if album else None

    async def _follow(self, album: str) -> None:
        """Let the album pass. The files that came before this one are handled first: if the process dies in between,
        the inbox replays this one, too, and through it the others are addressed again."""
        self._albums.append(album)
        if held := self._held.get(album):
            held.addressed.set()
            await held.handled.wait()

    async def _hold(self, album: str, handler: Handler, event: Message, data: dict[str, Any]) -> Any:
        """Handle the file once another file of its album has addressed the bot; drop it when none does in time."""
        held = self._held.setdefault(album, _Held())
        held.files += 1
        turn = data.get(TURN)
        if isinstance(turn, Turn):
            turn.release()  # otherwise the next file, and what others write meanwhile, would wait for this one
        try:
            if await self._is_addressed_in_time(held):
                async with held.one_by_one:  # in the order in which they came
                    return await handler(event, data)
        finally:
            held.files -= 1
            if not held.files:
                held.handled.set()
                del self._held[album]
        return None

    @staticmethod
    async def _is_addressed_in_time(held: _Held) -> bool:
        clock = asyncio.get_running_loop().time
        held.until = clock() + ALBUM_S  # extends the wait of the earlier files, too
        while not held.addressed.is_set() and (left := held.until - clock()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(held.addressed.wait(), left)
        return held.addressed.is_set()


def is_addressed(message: Message, me: User) -> bool:
    """Whether a group's message is meant for `me`, or tells that somebody has left, who then may not read its base, or
    that a topic has another name, which its base then has, too."""
    text = message.text or message.caption or ""
    if command := _COMMAND.match(message.text or "") if message.forward_origin is None else None:
        name, bot = command["name"], command["bot"]
        return _is_name_of(bot, me) if bot else name in COMMANDS
    if message.left_chat_member or message.forum_topic_edited:
        return True
    replied = message.reply_to_message
    if replied and replied.from_user and replied.from_user.id == me.id:
        return True
    return any(_mentions(text, entity, me) for entity in message.entities or message.caption_entities or [])


def without_mention(message: Message, me: User) -> Message:
    """The message without its mentions of the bot; the offsets of its other entities are adjusted."""
    text, entities = message.text or message.caption, message.entities or message.caption_entities or []
    if not text or not (mentions := [entity for entity in entities if _mentions(text, entity, me)]):
        return message
    for mention in reversed(mentions):
        text, entities = _taken_out(text, entities, mention)
    fields = ("text", "entities") if message.text else ("caption", "caption_entities")
    return message.model_copy(update=dict(zip(fields, (text, entities), strict=True)))


def _taken_out(text: str, entities: list[MessageEntity], mention: MessageEntity) -> tuple[str, list[MessageEntity]]:
    """Text and entities without `mention` and the space after it. Offsets and lengths are in UTF-16 units."""
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
