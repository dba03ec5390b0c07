"""Tokens of the HTTP API.

In: a base, or the hash of a token. Out: tokens, and whose one is. The tokens themselves never come here.
"""

from datetime import datetime

from adapters.database import rows
from adapters.database.transport import Row, Transport
from domain.ids import BaseId, UserId
from domain.tokens import Caller, Token


class TokenStore:
    """Meets `api.ports.Tokens`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def add(self, base: BaseId | None, token_hash: str, *, is_read_only: bool, days: int | None) -> UserId:
        """The id of the new token, for one base or (None) all of who acts; it ends after `days` (None: never)."""
        found = await self._transport.call(
            "add_token", p_base=base, p_hash=token_hash, p_read_only=is_read_only, p_days=days
        )
        return UserId(rows.integer(found[0], "id"))

    async def use(self, token_hash: str, *, per_minute: int) -> Caller | None:
        """Whose token it is; counts the request. None for one that is unknown, revoked or over."""
        found = await self._transport.call("use_token", p_hash=token_hash, p_per_minute=per_minute)
        return _caller(found[0]) if found else None

    async def all(self, base: BaseId | None) -> list[Token]:
        """Those for a base (None: for any) that who acts has made, the oldest first."""
        return [_token(row) for row in await self._transport.call("list_tokens", p_base=base)]

    async def revoke(self, base: BaseId | None, token: UserId) -> bool:
        """End it and erase its dialogues; False when the base has no such token."""
        return bool(await self._transport.call("revoke_token", p_base=base, p_token=token))


def _caller(row: Row) -> Caller:
    person = rows.integer_or_none(row, "user_id")
    return Caller(
        token=UserId(rows.integer(row, "id")),
        person=None if person is None else UserId(person),
        opens_all=bool(row["opens_all"]),
        base=BaseId(rows.text(row, "base_id")),
        base_name=rows.text_or_none(row, "name"),
        is_read_only=bool(row["read_only"]),
        wait_s=rows.integer_or_none(row, "wait_s"),
    )


def _token(row: Row) -> Token:
    base = rows.text_or_none(row, "base_id")
    return Token(
        id=UserId(rows.integer(row, "id")),
        base=None if base is None else BaseId(base),
        base_name=rows.text_or_none(row, "name"),
        is_read_only=bool(row["read_only"]),
        created_at=datetime.fromisoformat(rows.text(row, "created_at")),
        expires_at=rows.moment_or_none(row, "expires_at"),
        used_at=rows.moment_or_none(row, "used_at"),
    )
