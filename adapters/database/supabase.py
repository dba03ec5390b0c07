"""The transport to a Supabase project: its REST interface (PostgREST), through supabase-py.

In: the project's address and its secret key. Out: a `SupabaseTransport` while the context is open. A call is one POST
and one transaction. It is retried only when it was rolled back: otherwise the first may have been carried out.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import httpx

from adapters.database.payloads import vectors_text
from adapters.database.transport import BAD_TEXT, Argument, DatabaseAway, Row, Vectors, refused, retried, whole

if TYPE_CHECKING:
    from supabase import AsyncClient


class SupabaseTransport:
    """Calls SQL functions as PostgREST's /rpc. Make it with `open_supabase`."""

    def __init__(self, client: "AsyncClient", *, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        return await retried(lambda: self._call(function, timeout_s or self._timeout_s, arguments))

    async def _call(self, function: str, patience_s: float, arguments: Mapping[str, Argument]) -> list[Row]:
        from supabase import PostgrestAPIError

        given = {name: _literal(each) for name, each in arguments.items()}
        try:
            async with asyncio.timeout(patience_s):
                response = await self._client.rpc(function, given).execute()
        except TimeoutError as exc:
            raise DatabaseAway(f"{function}: no answer in {patience_s:g} s") from exc
        except httpx.HTTPError as exc:
            raise DatabaseAway(f"{function}: {type(exc).__name__} {exc}") from exc
        except PostgrestAPIError as exc:
            raise refused(function, code=exc.code or "no code", message=exc.message or "") from exc
        except UnicodeEncodeError as exc:
            raise refused(function, code=BAD_TEXT, message="a text is not valid Unicode") from exc
        return whole(function, cast("list[Row]", response.data))


def _literal(value: Argument) -> Argument:
    if isinstance(value, Vectors):
        return vectors_text(value)
    return value.decode() if isinstance(value, bytes) else value


@asynccontextmanager
async def open_supabase(url: str, key: str, *, timeout_s: float) -> AsyncIterator[SupabaseTransport]:
    """A transport to the project at `url`; nothing is asked of it yet.

    `key` must be a secret one (`sb_secret_…` or the older service_role): the others may call nothing. Raises
    DatabaseAway for an address or a key that cannot be one.
    """
    # The import takes half a second, which only those who use it should pay.
    from supabase import AsyncClientOptions, AsyncSupabaseException, acreate_client

    # Each call bounds its own wait for an answer; supabase-py's default is 120 s for all.
    patience = httpx.Timeout(timeout_s, read=None)
    async with httpx.AsyncClient(timeout=patience, follow_redirects=False) as http:
        options = AsyncClientOptions(httpx_client=http, auto_refresh_token=False, persist_session=False)
        try:
            client = await acreate_client(url, key, options)
        except AsyncSupabaseException as exc:
            raise DatabaseAway(f"SUPABASE_URL or SUPABASE_SERVICE_KEY cannot be right: {exc}") from exc
        yield SupabaseTransport(client, timeout_s=timeout_s)
