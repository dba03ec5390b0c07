"""/api: the tokens with which a person's programs reach the open base, or all of theirs, over HTTP.

In: the command in the private chat, and its buttons. Out: the list, and a new token, shown once. Only its hash is
stored; a token may do no more than the person who made it.
"""

from aiogram import F, Router
from aiogram.filters import Command
from aiogram.filters.callback_data import CallbackData

from bot.handlers.filters import has_message
from bot.keyboards import button, rows, worded
from bot.services import Refusal, Talk
from domain.bases import Role
from domain.ids import UserId
from domain.people import new_token, token_hash


class NewToken(CallbackData, prefix="token"):
    """Make one: for the open base or for all, to read or to write."""

    everything: bool
    writes: bool


class RevokeToken(CallbackData, prefix="untoken"):
    token: int


def register(router: Router) -> None:
    router.message.register(show, Command("api"))
    router.callback_query.register(make, NewToken.filter(), F.message.chat.type == "private", has_message)
    router.callback_query.register(revoke, RevokeToken.filter(), F.message.chat.type == "private", has_message)


async def show(talk: Talk) -> None:
    if talk.place.is_private:
        await _show_list(talk)
    else:
        await talk.tell("tokens-private")


async def make(talk: Talk, callback_data: NewToken) -> None:
    """A new token, in a message of its own, which the person may delete."""
    if len(await talk.stores.tokens.all(None)) >= 20:
        raise Refusal("tokens-too-many")
    token, base = new_token(), None if callback_data.everything else talk.base_id
    await talk.stores.tokens.add(base, token_hash(token), is_read_only=not callback_data.writes, days=None)
    await _show_list(talk)
    await talk.tell("token-made", token=token)


async def revoke(talk: Talk, callback_data: RevokeToken) -> None:
    await talk.stores.tokens.revoke(None, UserId(callback_data.token))
    await talk.acknowledge("token-revoked")
    await _show_list(talk)


async def _show_list(talk: Talk) -> None:
    words, may_write = talk.words, talk.state.role is not Role.READER
    lines, off = [words("tokens-title")], []
    for at, each in enumerate(await talk.stores.tokens.all(None), start=1):
        where = words.plain("token-all") if each.base is None else each.base_name or words.plain("base-own")
        way = words.plain("role-reader" if each.is_read_only else "role-writer")
        used = [words.plain("token-used", day=each.used_at)] if each.used_at else []
        lines.append(words("token-line", number=at, what=" · ".join([where, way, *used])))
        off.append([button(words.plain("button-token-revoke", number=at), RevokeToken(token=each.id))])
    new = [
        [
            worded(words, f"token-{what}-{way}", NewToken(everything=what == "all", writes=way == "write"))
            for way in (("read", "write") if may_write or what == "all" else ("read",))
        ]
        for what in ("base", "all")
    ]
    await talk.show("\n".join(lines), rows(*new, *off))
