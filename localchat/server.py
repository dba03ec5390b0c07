"""Assembles the local chat (store, exchange, Bot API, page) on one loopback port.

In: a folder and a port. Out: a running server as `LocalChat`, until the context ends. It binds only to 127.0.0.1, so
neither the network nor a container's neighbours reach it. A bot calls /bot<token>/<method>, in which the method's name
is case-insensitive, as on the live service, and gets the envelope with `ok`.
"""

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Middleware

from localchat.api import messages, profile, updates
from localchat.api.call import Call, Method, read_params
from localchat.api.updates import run_courier
from localchat.checks import Refused
from localchat.exchange import Exchange
from localchat.guard import add_headers, guard
from localchat.people import PeopleApi, tell_refusals
from localchat.store import open_store, read_page_token, read_token

HOST = "127.0.0.1"
BODY_BYTES = 51 * 1024 * 1024  # a file of 50 MB, as sendDocument allows, plus its form
_PAGE = Path(__file__).parent / "page"
_LINGER_S = 0.5  # open streams end when the hub closes; the shutdown waits no longer than this

_FAMILIES = (messages.METHODS, updates.METHODS, profile.METHODS)
METHODS: dict[str, Method] = {name.lower(): method for family in _FAMILIES for name, method in family.items()}


@dataclass(frozen=True, kw_only=True)
class LocalChat:
    """The addresses of a running local chat: `page_url` with the page's token for its owner, `api_url` and the bot's
    `token` for the bot."""

    page_url: str
    api_url: str
    token: str


@asynccontextmanager
async def serve_local_chat(
    folder: Path, *, port: int = 0, clock: Callable[[], float] = time.time, middlewares: Sequence[Middleware] = ()
) -> AsyncIterator[LocalChat]:
    """Serve from `folder` (created if missing, readable only to its owner). Port 0 takes any free port.

    `middlewares` see every request that was let in. Raises OSError when the port is taken.
    """
    token = read_token(folder)
    with closing(open_store(folder)) as connection:
        exchange = Exchange(connection, folder, clock)
        app = _build(exchange, token, [guard(read_page_token(folder)), tell_refusals, *middlewares])
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_LINGER_S)
        await runner.setup()
        courier = asyncio.create_task(run_courier(exchange))
        try:
            site = web.TCPSite(runner, HOST, port)
            await site.start()
            bound = runner.addresses[0][1]
            yield LocalChat(page_url=page_url(folder, bound), api_url=f"http://{HOST}:{bound}", token=token)
        finally:
            exchange.hub.close()
            courier.cancel()
            with suppress(asyncio.CancelledError):
                await courier
            await runner.cleanup()


def page_url(folder: Path, port: int) -> str:
    """The address that opens the page served from `folder` on `port`, also where nothing is running yet."""
    return f"http://{HOST}:{port}/?token={read_page_token(folder)}"


def _build(exchange: Exchange, token: str, middlewares: Sequence[Middleware]) -> web.Application:
    app = web.Application(middlewares=middlewares, client_max_size=BODY_BYTES)
    app.on_response_prepare.append(add_headers)
    app.add_routes(BotApi(exchange, token).routes())
    app.add_routes(PeopleApi(exchange).routes())
    app.router.add_get("/", _index)
    app.router.add_static("/page/", _PAGE)
    return app


async def _index(_: web.Request) -> web.StreamResponse:
    return web.FileResponse(_PAGE / "index.html", headers={"Cache-Control": "no-cache"})


class BotApi:
    """One bot's API over an exchange. Only this turns refusals into JSON for the bot."""

    def __init__(self, exchange: Exchange, token: str) -> None:
        self._exchange = exchange
        self._token = token

    def routes(self) -> list[web.RouteDef]:
        return [
            web.route("*", "/bot{token:[^/]+}/{method}", self._answer),
            web.get("/file/bot{token:[^/]+}/{path:.+}", messages.file_route(self._exchange, self._token)),
        ]

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            result = await self._carry_out(request)
        except Refused as refusal:
            return _refusal(refusal)
        except web.HTTPRequestEntityTooLarge:
            return _refusal(Refused("Request Entity Too Large", code=413))
        return web.json_response({"ok": True, "result": result})

    async def _carry_out(self, request: web.Request) -> object:
        if not hmac.compare_digest(request.match_info["token"].encode(), self._token.encode()):
            raise Refused("Unauthorized", code=401)
        name = request.match_info["method"].lower()
        method = METHODS.get(name)
        if method is None:
            raise Refused("Not Found", code=404)
        return await method(Call(params=await read_params(request), exchange=self._exchange))


def _refusal(refusal: Refused) -> web.Response:
    body: dict[str, object] = {"ok": False, "error_code": refusal.code, "description": refusal.description}
    if refusal.retry_after is not None:
        body["parameters"] = {"retry_after": refusal.retry_after}
    return web.json_response(body, status=refusal.code)
