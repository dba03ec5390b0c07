"""Assembles the local chat (store, exchange, Bot API, page) on one loopback port, and keeps others out of it.

In: a folder and a port; every request. Out: a running server as `LocalChat`, until the context ends; 403 with a
sentence. It binds only to 127.0.0.1, so neither the network nor a container's neighbours reach it. A bot calls
/bot<token>/<method>, in which the method's name is case-insensitive, as on the live service, and gets the envelope with
`ok`. The page belongs to whoever can read its token: the printed address carries it once, then a cookie does, as in
Jupyter. Foreign host names that resolve to this machine (DNS rebinding), forms of other sites and cross-site fetches
are refused. Response headers let the page load only its own resources.
"""

import hmac
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from localchat.call import EXCHANGE, Call, read_request
from localchat.exchange import Exchange
from localchat.methods import GET_FILE_BYTES, METHODS
from localchat.people import ACTS, Act, send_events, send_file
from localchat.records import Json
from localchat.store import open_store, read_page_token, read_token
from localchat.text import Refused

_NAMES = ("127.0.0.1", "localhost", "[::1]")
_COOKIE_S = 30 * 24 * 3600
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
LOCKED = (
    "Эта страница открывается только по адресу с ключом. Его напечатала команда `baza run`; `baza page` покажет снова."
    "\n\nThis page opens only by the address that holds its key. `baza run` printed it; `baza page` shows it again.\n"
)


def names_this_server(request: web.Request, host: str) -> bool:
    """Whether a Host header (or the host of an Origin) is this server's own."""
    return host in {f"{name}:{_port(request)}" for name in _NAMES}


def guard(token: str) -> Middleware:
    """The middleware that checks every request before its route; `token` opens the page."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if refusal := _foreign(request):
            return web.Response(status=403, text=refusal)
        if request.path.startswith(("/bot", "/file/bot")):  # these carry the bot's token
            return await handler(request)
        cookie = f"baza-page-{_port(request)}"  # browsers share cookies among the ports of a host
        if request.method == "GET" and request.path == "/" and _is(token, request.query.get("token")):
            # The address without the token, to which this leads, is then in no bookmark and no history.
            answer = web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
            answer.set_cookie(cookie, token, max_age=_COOKIE_S, httponly=True, samesite="Strict", path="/")
            return answer
        if not _is(token, request.cookies.get(cookie)):
            return web.Response(status=403, text=LOCKED)
        return await handler(request)

    return check


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers to every response, including files and the event stream."""
    response.headers.update(HEADERS)
    if request.path.startswith("/page/"):
        response.headers["Cache-Control"] = "no-cache"  # else a new version of Baza may run with old files of the page


def _is(token: str, given: str | None) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), token.encode())


def _port(request: web.Request) -> int:
    return int(request.transport.get_extra_info("sockname")[1]) if request.transport else 0


def _foreign(request: web.Request) -> str | None:
    if not names_this_server(request, request.host):
        return "This server answers only to 127.0.0.1 and localhost."
    origin = request.headers.get("Origin")
    is_foreign = origin is not None and not names_this_server(request, origin.removeprefix("http://"))
    is_opened = request.path == "/" and request.headers.get("Sec-Fetch-Mode") == "navigate"
    if is_foreign or (request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and not is_opened):
        return "Another site may not use this server."
    return None


HOST = "127.0.0.1"
BODY_BYTES = 51 * 1024 * 1024  # a file of 50 MB, as sendDocument allows, plus its form
_PAGE = Path(__file__).parent / "page"
_LINGER_S = 0.5  # open streams end when the hub closes; the shutdown waits no longer than this

_METHODS = {name.lower(): method for name, method in METHODS.items()}


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
    checks = (guard(read_page_token(folder)), tell_refusals, *middlewares)
    app = web.Application(middlewares=checks, client_max_size=BODY_BYTES)
    app.on_response_prepare.append(add_headers)
    app.add_routes([web.route(method, path, _acting(act)) for (method, path), act in ACTS.items()])
    app.add_routes(
        [
            web.route("*", "/bot{token:[^/]+}/{method}", _call),
            web.get("/file/bot{token:[^/]+}/{path:.+}", _download),
            web.get("/people/{user}/events", send_events),
            web.get("/files/{file}", send_file),
            web.get("/", _index),
            web.static("/page/", _PAGE),
        ]
    )
    with closing(open_store(folder)) as connection:
        app[EXCHANGE], app[TOKEN] = Exchange(connection, folder, clock), token
        async with listening(app, HOST, port, linger_s=_LINGER_S) as bound:
            try:
                yield LocalChat(page_url=page_url(folder, bound), api_url=f"http://{HOST}:{bound}", token=token)
            finally:
                app[EXCHANGE].hub.close()


@asynccontextmanager
async def listening(app: web.Application, host: str, port: int, *, linger_s: float = 60.0) -> AsyncIterator[int]:
    """The port at which the application answers while the context is open; at its end requests have `linger_s`. Raises
    OSError when the port is taken."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=linger_s)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def page_url(folder: Path, port: int) -> str:
    """The address that opens the page served from `folder` on `port`, also where nothing is running yet."""
    return f"http://{HOST}:{port}/?token={read_page_token(folder)}"


TOKEN = web.AppKey("token", str)


def _acting(act: Callable[[Act], Awaitable[Json]]) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(await act(await read_request(request, Act)))

    return answer


async def _call(request: web.Request) -> web.Response:
    _check_bot(request)
    method = _METHODS.get(request.match_info["method"].lower())
    if method is None:
        raise Refused("Not Found", code=404)
    return web.json_response({"ok": True, "result": await method(await read_request(request, Call))})


async def _download(request: web.Request) -> web.StreamResponse:
    _check_bot(request)
    files = request.app[EXCHANGE].files
    file = files.find(request.match_info["path"], by="path")
    if file is None or file.size > GET_FILE_BYTES:
        raise Refused("Not Found", code=404)
    return web.FileResponse(files.location(file), headers={"Content-Type": "application/octet-stream"})


def _check_bot(request: web.Request) -> None:
    if not _is(request.app[TOKEN], request.match_info["token"]):
        raise Refused("Unauthorized", code=401)


async def _index(_: web.Request) -> web.StreamResponse:
    return web.FileResponse(_PAGE / "index.html", headers={"Cache-Control": "no-cache"})


@web.middleware
async def tell_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turns the refusal of a call or of a person's action into the Bot API's JSON."""
    try:
        return await handler(request)
    except Refused as refusal:
        code, description = refusal.code, refusal.description
    except web.HTTPRequestEntityTooLarge:
        code, description = 413, "Request Entity Too Large"
    return web.json_response({"ok": False, "error_code": code, "description": description}, status=code)
