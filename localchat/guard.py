"""Keeps other people, other web pages and other machines out of the local chat.

In: every request, and the page's token. Out: the same request, or 403 with a sentence. The page belongs to whoever can
read the token: the printed address carries it once, then a cookie does, as in Jupyter. The Bot API is opened by the
bot's token instead. Foreign host names that resolve to this machine (DNS rebinding), forms of other sites and
cross-site fetches are refused. Response headers let the page load only its own resources.
"""

import hmac

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

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


def is_local(host: str, port: int) -> bool:
    """Whether a Host header (or the host of an Origin) is this server's own."""
    return host in {f"{name}:{port}" for name in _NAMES}


def guard(token: str) -> Middleware:
    """The middleware that checks every request before its route; `token` opens the page."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if refusal := _foreign(request):
            return web.Response(status=403, text=refusal)
        if request.path.startswith(("/bot", "/file/bot")):  # these carry the bot's token
            return await handler(request)
        if request.method == "GET" and request.path == "/" and _is(token, request.query.get("token")):
            return _open_page(request, token)
        if not _is(token, request.cookies.get(_cookie(request))):
            return web.Response(status=403, text=LOCKED)
        return await handler(request)

    return check


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers to every response, including files and the event stream."""
    response.headers.update(HEADERS)
    if request.path.startswith("/page/"):
        response.headers["Cache-Control"] = "no-cache"  # else a new version of Baza may run with old files of the page


def _open_page(request: web.Request, token: str) -> web.Response:
    """Hand over the cookie, and lead to the address without the token, which is then in no bookmark and no history."""
    answer = web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
    answer.set_cookie(_cookie(request), token, max_age=_COOKIE_S, httponly=True, samesite="Strict", path="/")
    return answer


def _cookie(request: web.Request) -> str:
    """Browsers share cookies among the ports of a host, so its name holds the port."""
    return f"baza-page-{_port(request)}"


def _is(token: str, given: str | None) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), token.encode())


def _port(request: web.Request) -> int:
    return int(request.transport.get_extra_info("sockname")[1]) if request.transport else 0


def _foreign(request: web.Request) -> str | None:
    port = _port(request)
    if not is_local(request.host, port):
        return "This server answers only to 127.0.0.1 and localhost."
    origin = request.headers.get("Origin")
    if origin is not None and not is_local(origin.removeprefix("http://"), port):
        return "Another site may not use this server."
    foreign = request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    if foreign and not (request.path == "/" and request.headers.get("Sec-Fetch-Mode") == "navigate"):
        return "Another site may not use this server."
    return None
