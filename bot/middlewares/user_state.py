"""Finds out who is talking, in which mode and language, with which base, what they were asked, where the answer goes.

In: messages and button presses. Out: a `Talk` for the handlers. A group has one mode, one dialogue and one base for
everybody (a topic has a base of its own); its `user_id` is the group's chat id.
"""

import asyncio
from typing import Any

from aiogram import BaseMiddleware
from aiogram.dispatcher.middlewares.user_context import EVENT_CONTEXT_KEY, EventContext
from aiogram.enums import ChatType
from aiogram.types import Chat, Message, TelegramObject, Update, User

from bot.middlewares import Handler
from bot.replies.sending import Place
from bot.services import Services
from bot.talk import Talk
from bot.texts import language_of
from domain.ids import ChatId, MessageId, ThreadId, UserId


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
        data["talk"] = await self._talk(context.user, place, update.update_id)
        return await handler(event, data)

    async def _talk(self, user: User, place: Place, update: int) -> Talk:
        people, person = self._services.people, UserId(user.id)
        base, asked = await asyncio.gather(
            people.open_base(place.chat, thread=place.thread, member=person),
            people.take_question(place.chat, thread=place.thread, person=person, update=update),
        )
        language = language_of(user.language_code, default=self._services.default_language)
        owner = person if place.is_private else UserId(place.chat)
        state = await people.state(owner, base=base, language=language)
        self._services.languages.note(place.chat, state.language)
        return Talk(
            person=person,
            state=state,
            base_id=state.base_id if place.is_private else base,
            words=self._services.texts.for_language(state.language),
            place=place,
            asked=asked,
        )


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
