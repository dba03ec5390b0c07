"""`baza token`: makes, lists and revokes the tokens of the HTTP API.

In: the name of a base. Out: lines or JSON on stdout. A token is printed once, when it is made; only its hash is stored.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from adapters.database.stores.people import PeopleStore, TokenStore
from bot.app import open_transport
from bot.cli.errors import CommandError
from bot.cli.output import print_json, print_line
from bot.settings import Settings
from bot.texts import load_texts
from domain.ids import BaseId, UserId
from domain.people import new_token, token_hash


async def add_token(settings: Settings, *, base_name: str, is_read_only: bool, days: int | None, as_json: bool) -> int:
    """`baza token add`; the base is made when it is not there yet."""
    token = new_token()
    async with _open_tokens(settings, base_name) as (tokens, base):
        number = await tokens.add(base, token_hash(token), is_read_only=is_read_only, days=days)
    if as_json:
        print_json({"token": token, "id": number, "base": base})
        return 0
    words = load_texts().for_language(settings.answer.interface_language)
    print_line(words.plain("cli-token", token=token, id=str(number), base=base))
    return 0


async def list_tokens(settings: Settings, *, base_name: str, as_json: bool) -> int:
    """`baza token list`."""
    async with _open_tokens(settings, base_name) as (tokens, base):
        found = await tokens.all(base)
    if as_json:
        print_json(
            [
                {
                    "id": token.id,
                    "base": base,
                    "read_only": token.is_read_only,
                    "created_at": token.created_at.isoformat(),
                    "expires_at": _iso(token.expires_at),
                    "used_at": _iso(token.used_at),
                }
                for token in found
            ]
        )
        return 0
    for token in found:
        rights = "read" if token.is_read_only else "read and write"
        print_line(f"{token.id}  {rights}  {_iso(token.expires_at) or '-'}  {_iso(token.used_at) or '-'}")
    return 0


async def revoke_token(settings: Settings, token: int, *, base_name: str) -> int:
    """`baza token revoke`. Raises CommandError when the base has no such token."""
    async with _open_tokens(settings, base_name) as (tokens, base):
        if not await tokens.revoke(base, UserId(token)):
            raise CommandError(f"The base {base_name!r} has no token {token}. `baza token list` lists its tokens.")
    return 0


@asynccontextmanager
async def _open_tokens(settings: Settings, name: str) -> AsyncIterator[tuple[TokenStore, BaseId]]:
    async with open_transport(settings) as transport:
        yield TokenStore(transport), await PeopleStore(transport).open_named_base(name)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
