"""The transport to a Supabase project: its REST interface (PostgREST), through supabase-py.

In: the project's address and its secret key. Out: a `SupabaseTransport` while the context is open. A call is one POST
and one transaction; it is never repeated here, since the first may have been carried out.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import httpx

from adapters.database.answers import BAD_TEXT, refused, whole
from adapters.database.errors import DatabaseAway
from adapters.database.payloads import reals_text
from adapters.database.rivalry import made_again
from adapters.database.transport import Argument, Reals, Row

if TYPE_CHECKING:
    from supabase import AsyncClient

_NO_CODE = "no code"


class SupabaseTransport:
    """Calls SQL functions as PostgREST's /rpc. Make it with `open_supabase`."""

    def __init__(self, client: "AsyncClient") -> None:
        self._client = client

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        """The function's rows as JSON values; the client's patience is one for all calls.

        Raises DatabaseError, DatabaseAway.
        """
        return await made_again(lambda: self._call(function, arguments))

    async def _call(self, function: str, arguments: Mapping[str, Argument]) -> list[Row]:
        from supabase import PostgrestAPIError

        given = {name: reals_text(value) if isinstance(value, Reals) else value for name, value in arguments.items()}
        try:
            response = await self._client.rpc(function, given).execute()
        except httpx.HTTPError as exc:
            raise DatabaseAway(f"{function}: {type(exc).__name__} {exc}") from exc
        except PostgrestAPIError as exc:
            raise refused(function, code=exc.code or _NO_CODE, message=exc.message or "") from exc
        except UnicodeEncodeError as exc:
            raise refused(function, code=BAD_TEXT, message="a text is not valid Unicode") from exc
        return whole(function, cast("list[Row]", response.data))


@asynccontextmanager
async def open_supabase(url: str, key: str, *, timeout_s: float) -> AsyncIterator[SupabaseTransport]:
    """A transport to the project at `url`; nothing is asked of it yet.

    `key` must be a secret one (`sb_secret_…` or the older service_role): the others may call nothing. Raises
    DatabaseAway for an address or a key that cannot be one.
    """
    # Half a second to import, for those who use it.
    from supabase import AsyncClientOptions, AsyncSupabaseException, acreate_client

    async with httpx.AsyncClient(timeout=timeout_s, follow_redirects=False) as http:  # supabase-py's default: 120 s
        options = AsyncClientOptions(httpx_client=http, auto_refresh_token=False, persist_session=False)
        try:
            client = await acreate_client(url, key, options)
        except AsyncSupabaseException as exc:
            raise DatabaseAway(f"SUPABASE_URL or SUPABASE_SERVICE_KEY cannot be right: {exc}") from exc
        yield SupabaseTransport(client)
