"""Assembles the local chat (store, exchange, Bot API, page) on one loopback port.

In: a folder and a port. Out: a running server as `LocalChat`, until the context ends. It binds only to 127.0.0.1, so
neither the network nor a container's neighbours reach it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from localchat.api.faults import Rates
from localchat.api.routes import BotApi
from localchat.api.updates import run_courier
from localchat.exchange import Exchange
from localchat.guard import add_headers, guard
from localchat.people import PeopleApi, tell_refusals
from localchat.store import open_store, read_token

HOST = "127.0.0.1"
BODY_BYTES = 51 * 1024 * 1024  # a file of 50 MB, as sendDocument allows, plus its form
_PAGE = Path(__file__).parent / "page"
_LINGER_S = 0.5  # open streams end when the hub closes; the shutdown waits no longer than this


@dataclass(frozen=True, kw_only=True)
class LocalChat:
    """The addresses of a running local chat: `page_url` for people, `api_url` and `token` for the bot."""

    page_url: str
    api_url: str
    token: str


@asynccontextmanager
async def serve_local_chat(
    folder: Path, *, port: int = 0, rates: bool = False, clock: Callable[[], float] = time.time
) -> AsyncIterator[LocalChat]:
    """Serve from `folder` (created if missing, readable only to its owner). Port 0 takes any free port.

    `rates` turns on Telegram's sending limits. Raises OSError when the port is taken.
    """
    token = _open_folder(folder)
    with closing(open_store(folder)) as connection:
        exchange = Exchange(connection, folder, clock)
        runner = web.AppRunner(_build(exchange, token, rates=rates), access_log=None, shutdown_timeout=_LINGER_S)
        await runner.setup()
        courier = asyncio.create_task(run_courier(exchange))
        try:
            site = web.TCPSite(runner, HOST, port)
            await site.start()
            address = f"http://{HOST}:{runner.addresses[0][1]}"
            yield LocalChat(page_url=f"{address}/", api_url=address, token=token)
        finally:
            exchange.hub.close()
            courier.cancel()
            with suppress(asyncio.CancelledError):
                await courier
            await runner.cleanup()


def _open_folder(folder: Path) -> str:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return read_token(folder)


def _build(exchange: Exchange, token: str, *, rates: bool) -> web.Application:
    app = web.Application(middlewares=[guard, tell_refusals], client_max_size=BODY_BYTES)
    app.on_response_prepare.append(add_headers)
    app.add_routes(BotApi(exchange, token, rates=Rates() if rates else None).routes())
    app.add_routes(PeopleApi(exchange).routes())
    app.router.add_get("/", _index)
    app.router.add_static("/page/", _PAGE)
    return app


async def _index(_: web.Request) -> web.StreamResponse:
    return web.FileResponse(_PAGE / "index.html", headers={"Cache-Control": "no-cache"})
