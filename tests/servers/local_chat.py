"""The local chat with faults on demand: refusals, delays and dropped connections for the next calls of a method.

In: POST /control/faults with `{"method", "error_code"?, "retry_after"?, "description"?, "drop"?, "delay"?, "times"?}`,
on the page's address. Out: the method (`*`: all but getUpdates) fails `times` times, then works again. The product has
no such route: it comes with the middleware that tests install.
"""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from localchat.server import LocalChat, serve_local_chat

_SENTENCES = {429: "Too Many Requests: retry after {retry_after}", 500: "Internal Server Error", 502: "Bad Gateway"}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What goes wrong, and for how many more calls."""

    method: str
    error_code: int | None = None
    retry_after: int | None = None
    description: str | None = None
    drop: bool = False
    delay: float = 0.0
    times: int = 1


def serve_faulty_chat(folder: Path, *, port: int = 0) -> AbstractAsyncContextManager[LocalChat]:
    """`serve_local_chat`, as the tests run it."""
    return serve_local_chat(folder, port=port, middlewares=[Faults().middleware])


class Faults:
    """The pending faults."""

    def __init__(self) -> None:
        self._due: list[Fault] = []

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Take orders, and apply the pending fault of the method that is called."""
        if request.path == "/control/faults":
            self._due.append(Fault(**await request.json()))
            return web.json_response({"ok": True})
        fault = self._take(request.match_info.get("method", "").lower())
        if fault is None:
            return await handler(request)
        await asyncio.sleep(fault.delay)
        if fault.drop and request.transport:
            request.transport.abort()
            return web.Response()
        return await handler(request) if fault.error_code is None else _refusal(fault, fault.error_code)

    def _take(self, method: str) -> Fault | None:
        for place, fault in enumerate(self._due):
            if method and (fault.method.lower() == method or (fault.method == "*" and method != "getupdates")):
                self._due[place : place + 1] = [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                return fault
        return None


def _refusal(fault: Fault, code: int) -> web.Response:
    known = _SENTENCES.get(code, "Bad Request: a fault on demand")
    body: dict[str, object] = {"ok": False, "error_code": code}
    body["description"] = fault.description or known.format(retry_after=fault.retry_after)
    if fault.retry_after is not None:
        body["parameters"] = {"retry_after": fault.retry_after}
    return web.json_response(body, status=code)
