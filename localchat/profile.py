"""The bot's profile and its chats: getMe, commands, descriptions, getChat, members.

In: calls. Out: profiles as JSON; the bot's commands and descriptions are stored for the page.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from localchat.call import Call, Method, read_room
from localchat.checks import bad, canonical, check_commands
from localchat.exchange import Exchange
from localchat.records import ACCOUNTS, BOT, BOT_ID, Json, Room, account_json, room_json
from localchat.text import utf16_length

_TEXTS = {"description": 512, "short_description": 120, "name": 64}  # units at most
_SCOPES = frozenset(
    [
        "default",
        "all_private_chats",
        "all_group_chats",
        "all_chat_administrators",
        "chat",
        "chat_administrators",
        "chat_member",
    ]
)
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
    """Store the menu of a scope and language."""
    commands = check_commands(call.params.json("commands"))
    call.exchange.values.put(_key(call), commands or None)
    return _profile_changed(call)


async def delete_my_commands(call: Call) -> bool:
    call.exchange.values.put(_key(call), None)
    return _profile_changed(call)


async def get_my_commands(call: Call) -> object:
    return call.exchange.values.get(_key(call)) or []


def _profile_changed(call: Call) -> bool:
    call.exchange.hub.tell_pages({"type": "profile"})
    return True


def _key(call: Call) -> str:
    scope = call.params.record("scope") or {"type": "default"}
    if scope.get("type") not in _SCOPES:
        raise bad("can't parse BotCommandScope: Unsupported type specified")
    return _commands_key(scope, call.params.text("language_code") or "")


def _commands_key(scope: Mapping[str, object], language: str) -> str:
    return f"commands of {canonical(scope)} {language}"


def commands_for(exchange: Exchange, room: Room, user_id: int) -> object:
    """The menu that a person sees in a chat: the narrowest scope first, then the person's language."""
    everybody = "all_private_chats" if room.kind == "private" else "all_group_chats"
    scopes: Sequence[Mapping[str, object]] = (
        {"type": "chat_member", "chat_id": room.chat_id, "user_id": user_id},
        {"type": "chat", "chat_id": room.chat_id},
        {"type": everybody},
        {"type": "default"},
    )
    for scope in scopes:
        for language in (exchange.language(user_id), ""):
            if found := exchange.values.get(_commands_key(scope, language)):
                return found
    return []


async def _set_text(name: str, call: Call) -> bool:
    text = call.params.text(name) or ""
    if utf16_length(text) > _TEXTS[name]:
        raise bad(f"BOT_{name.upper()}_TOO_LONG")
    call.exchange.values.put(f"{name} {call.params.text('language_code') or ''}", text or None)
    return _profile_changed(call)


async def _get_text(name: str, call: Call) -> Json:
    return {name: profile_text(call.exchange, name, call.params.text("language_code") or "")}


def profile_text(exchange: Exchange, name: str, language: str) -> str:
    """The bot's text `name` in this language, else the one without a language."""
    return str(exchange.values.get(f"{name} {language}") or exchange.values.get(f"{name} ") or "")


async def get_chat(call: Call) -> Json:
    room = read_room(call)
    return {**room_json(room), "accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": _NO_GIFTS}


async def get_chat_member(call: Call) -> Json:
    """The status of a member: `_OWNER` is the creator; the bot and other people are members."""
    room, user_id = read_room(call), call.params.whole("user_id")
    if user_id not in (*room.people, BOT_ID):
        raise bad("PARTICIPANT_ID_INVALID")
    user = account_json(ACCOUNTS[user_id])
    if user_id == _OWNER:
        return {"status": "creator", "user": user, "is_anonymous": False}
    return {"status": "member", "user": user}


async def get_chat_member_count(call: Call) -> int:
    return len(read_room(call).people) + 1


_NO_GIFTS = dict.fromkeys(
    ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"), False
)
METHODS: dict[str, Method] = {
    "getMe": get_me,
    "setMyCommands": set_my_commands,
    "getMyCommands": get_my_commands,
    "deleteMyCommands": delete_my_commands,
    "setMyDescription": partial(_set_text, "description"),
    "getMyDescription": partial(_get_text, "description"),
    "setMyShortDescription": partial(_set_text, "short_description"),
    "getMyShortDescription": partial(_get_text, "short_description"),
    "setMyName": partial(_set_text, "name"),
    "getMyName": partial(_get_text, "name"),
    "getChat": get_chat,
    "getChatMember": get_chat_member,
    "getChatMemberCount": get_chat_member_count,
}
