"""Finds out who is talking, in which mode and language, with which base, what they were asked, where the answer goes.

In: messages and button presses. Out: a `Talk` for the handlers, who act for the person, or in a group for the group
(its `user_id` is the group's chat id): the database lets them do what the person, or the group, may. Each topic of a
chat has a mode, a dialogue and an open base of its own. A base that was closed to them meanwhile is left for their own.
"""

import asyncio
from dataclasses import replace
from typing import Any

from aiogram import BaseMiddleware, Bot
from aiogram.dispatcher.middlewares.user_context import EVENT_CONTEXT_KEY, EventContext
from aiogram.enums import ChatType
from aiogram.types import Chat, Message, TelegramObject, Update, User

from bot.handlers.rights import is_in_group
from bot.middlewares import Handler
from bot.replies.sending import Place, send
from bot.services import Services
from bot.talk import Talk
from bot.texts import language_of
from domain.bases import Role
from domain.ids import ChatId, MessageId, ThreadId, UserId
from domain.people import UserState, acting_for


class ReadState(BaseMiddleware):
    """Reads `user_state`; raises DatabaseAway, which the errors handler turns into a sentence."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        """See the module."""
        context: EventContext = data[EVENT_CONTEXT_KEY]
        if context.chat is None or context.user is None:
            return None
        place = _place(context.chat, context.thread_id, event)
        update: Update = data["event_update"]
        state, asked = await asyncio.gather(
            self._state(context.user, context.chat, place, _topic(event)),
            self._services.people.take_question(
                place.chat, thread=place.thread, person=UserId(context.user.id), update=update.update_id
            ),
        )
        self._services.languages.note(place.chat, state.language)
        talk = Talk(
            person=UserId(context.user.id),
            state=state,
            base_id=state.base_id,
            words=self._services.texts.for_language(state.language),
            place=place,
            asked=asked,
        )
        with acting_for(state.user_id):
            data["talk"] = talk if state.role else await self._left(talk, data["bot"])
            return await handler(event, data)

    async def _state(self, user: User, chat: Chat, place: Place, topic: str | None) -> UserState:
        people, person = self._services.people, UserId(user.id)
        name = user.full_name if place.is_private else chat.title
        base = await people.open_base(place.chat, thread=place.thread, member=person, name=name, topic=topic)
        language = language_of(user.language_code, default=self._services.default_language)
        owner = person if place.is_private else UserId(place.chat)
        return await people.state(owner, base=base, language=language, thread=place.thread)

    async def _left(self, talk: Talk, bot: Bot) -> Talk:
        """The right to the open base has ended. That to a group's base ends after a day; then Telegram is asked."""
        state, people = talk.state, self._services.people
        is_there = state.base_group and await is_in_group(bot, state.base_group, talk.person)
        if is_there and await self._services.bases.confirm_member(talk.person, state.base_id):
            return replace(talk, state=replace(state, role=Role.READER))
        home = await people.go_home(state.user_id, thread=state.thread)
        await send(bot, talk.place, talk.words("base-left", name=state.base_name or ""))
        return replace(talk, state=home, base_id=home.base_id)


def _topic(event: TelegramObject) -> str | None:
    """The name of the topic that a message is in, where Telegram tells it: in the message that began the topic."""
    told = (event, event.reply_to_message) if isinstance(event, Message) else ()
    return next((each.forum_topic_created.name for each in told if each and each.forum_topic_created), None)


def _place(chat: Chat, thread_id: int | None, event: TelegramObject) -> Place:
    """Where the answer goes; in a group it is a reply to the message."""
    is_private = chat.type == ChatType.PRIVATE
    answered = event.message_id if isinstance(event, Message) and not is_private else None
    return Place(
        chat=ChatId(chat.id),
        thread=ThreadId(thread_id) if thread_id is not None else None,
        reply_to=MessageId(answered) if answered is not None else None,
        is_private=is_private,
    )
