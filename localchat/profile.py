"""The bot's profile and its chats: getMe, commands, descriptions, members.

In: calls. Out: profiles as JSON; the bot's commands and descriptions are stored for the page.
"""

from functools import partial

from localchat.call import Call, Method
from localchat.checks import bad, check_length
from localchat.exchange import Exchange
from localchat.records import ACCOUNTS, BOT, BOT_ID, Json, account_json

_TEXTS = {"description": 512, "short_description": 120}  # units at most
_OWNER = 1001  # the person who is the creator of the group


async def get_me(call: Call) -> Json:
    """The bot's account. Privacy mode is off: the bot gets every message of a group and must filter them itself, which
    is a stricter test."""
    return {
        **account_json(BOT),
        "can_join_groups": True,
        "can_read_all_group_messages": True,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
    }


async def set_my_commands(call: Call) -> bool:
    """Store the menu of a language."""
    return _changed(call, "commands", [command.model_dump() for command in call.commands or ()])


def _changed(call: Call, name: str, value: object) -> bool:
    call.exchange.values.put(f"{name} {call.language_code}", value or None)
    call.exchange.hub.tell_pages({"type": "profile"})
    return True


def commands_for(exchange: Exchange, user_id: int) -> object:
    """The menu that a person sees, in their language."""
    values = exchange.values
    return values.get(f"commands {exchange.language(user_id)}") or values.get("commands ") or []


async def _set_text(name: str, call: Call) -> bool:
    text = call.description or call.short_description
    check_length(text, _TEXTS[name], f"BOT_{name.upper()}_TOO_LONG")
    return _changed(call, name, text)


def profile_text(exchange: Exchange, name: str, language: str) -> str:
    """The bot's text `name` in this language, else the one without a language."""
    return str(exchange.values.get(f"{name} {language}") or exchange.values.get(f"{name} ") or "")


async def get_chat_member(call: Call) -> Json:
    """The status of a member: `_OWNER` is the creator; the bot and other people are members."""
    if call.user_id not in (*call.room.people, BOT_ID):
        raise bad("PARTICIPANT_ID_INVALID")
    user = account_json(ACCOUNTS[call.user_id])
    if call.user_id == _OWNER:
        return {"status": "creator", "user": user, "is_anonymous": False}
    return {"status": "member", "user": user}


METHODS: dict[str, Method] = {
    "getMe": get_me,
    "setMyCommands": set_my_commands,
    "setMyDescription": partial(_set_text, "description"),
    "setMyShortDescription": partial(_set_text, "short_description"),
    "getChatMember": get_chat_member,
}
