"""Keeps other web pages and other machines out of the local chat.

In: every request. Out: the same request, or 403 with a sentence. It refuses foreign host names that resolve to this
machine (DNS rebinding), forms of other sites and cross-site fetches. Response headers let the page load only its own
resources.
"""

from collections.abc import Awaitable, Callable

from aiohttp import web

_NAMES = ("127.0.0.1", "localhost")
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

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def is_local(host: str, port: int) -> bool:
    """Whether a Host header (or the host of an Origin) is this server's own."""
    return host in {f"{name}:{port}" for name in _NAMES}


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The middleware that checks every request before its route."""
    refusal = _refusal(request)
    if refusal:
        return web.Response(status=403, text=refusal, headers=HEADERS)
    return await handler(request)


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers to every response, including files and the event stream."""
    response.headers.update(HEADERS)
    if request.path.startswith("/page/"):
        response.headers["Cache-Control"] = "no-cache"  # else a new version of Baza may run with old files of the page


def _refusal(request: web.Request) -> str | None:
    port = int(request.transport.get_extra_info("sockname")[1]) if request.transport else 0
    if not is_local(request.host, port):
        return "This server answers only to 127.0.0.1 and localhost."
    origin = request.headers.get("Origin")
    if origin is not None and not is_local(origin.removeprefix("http://"), port):
        return "Another site may not use this server."
    foreign = request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    if foreign and not (request.path == "/" and request.headers.get("Sec-Fetch-Mode") == "navigate"):
        return "Another site may not use this server."
    return None
