"""The page's initial state.

In: the exchange and a person. Out: JSON of the bot, the people, the chats with their last message and menus.
"""

from bot.localchat.api.profile import commands_for, profile_text
from bot.localchat.exchange import Exchange
from bot.localchat.records import Json
from bot.localchat.rooms import BOT, PEOPLE, ROOMS, Room
from bot.localchat.wire import account_json


def whole_view(exchange: Exchange, user_id: int) -> Json:
    """Everything but the histories."""
    language = exchange.language(user_id)
    bot = {
        **account_json(BOT),
        "description": profile_text(exchange, "description", language),
        "short_description": profile_text(exchange, "short_description", language),
    }
    name = profile_text(exchange, "name", language)
    return {
        "bot": {**bot, "first_name": name or BOT.first_name},
        "people": [account_json(person) for person in PEOPLE],
        "chats": [_room_view(exchange, room, user_id) for room in ROOMS],
    }


def _room_view(exchange: Exchange, room: Room, user_id: int) -> Json:
    last = exchange.messages.page(room.chat_id, before=None, limit=1)
    return {
        "id": room.chat_id,
        "type": room.kind,
        "title": room.title,
        "people": list(room.people),
        "last": exchange.view(last[0]) if last else None,
        "keyboard": exchange.keyboard(room.chat_id),
        "commands": commands_for(exchange, room, user_id),
    }
