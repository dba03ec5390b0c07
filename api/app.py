"""The application: its endpoints over its services, the web chat at `/`, and the server that runs it.

In: `ApiServices`, made by the composition root. Out: a FastAPI app; `serving` runs it while its context is open. Bodies
are bounded before anything reads them. The web chat is one page over the API, for whoever has a token, with a policy
that lets it run its own scripts and reach its own server only. It holds no secret; it sends the token with each
request, like any other program.
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api import bases, chat, documents, mcp, openai_chat
from api.access import ApiServices
from api.chat import Turns
from api.documents import FORM_BYTES, MULTIPART
from api.problems import PROBLEMS, answer_problems

JSON_BYTES = 256 * 1024
SHUTDOWN_S = 10
_TAKES_FILES = re.compile(r"/rags/[^/]+/documents(/[^/]+)?")

ABOUT = "Ask a base of documents over HTTP, with sources. Every request carries `Authorization: Bearer <token>`."


def build_api(services: ApiServices) -> FastAPI:
    """The app; it opens and closes nothing."""
    app = FastAPI(title="Baza", description=ABOUT, version=version("baza"))
    app.state.services, app.state.turns = services, Turns(services=services)
    routers = [bases.router, documents.router, bases.webhooks, chat.router, openai_chat.router, mcp.router]
    answer_problems(app, services, [route for router in routers for route in router.routes])
    app.add_middleware(BoundedBodies, file_bytes=services.file_bytes)
    for router in routers:
        app.include_router(router, responses=PROBLEMS)
    app.add_api_route("/", show_page, include_in_schema=False)
    app.mount("/page", Page(directory=FOLDER))
    return app


class BoundedBodies:
    """Refuses bodies that say they are too large before any of them is read, others while they come."""

    def __init__(self, app: ASGIApp, *, file_bytes: int) -> None:
        self._app, self._form_bytes = app, file_bytes + FORM_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises HTTPException 413 in whoever reads on."""
        headers = dict(scope.get("headers", ()))
        # Only uploads are written to disk as they come; of other requests the whole body is in memory.
        is_form = headers.get(b"content-type", b"").lower().startswith(MULTIPART.encode())
        most = self._form_bytes if is_form and _TAKES_FILES.fullmatch(scope.get("path", "")) else JSON_BYTES
        length = headers.get(b"content-length", b"0")
        seen, said = 0, int(length) if length.isdigit() else 0

        async def bounded() -> Message:
            nonlocal seen
            message = await receive() if said <= most else {}
            seen += len(message.get("body", b""))
            if max(seen, said) > most:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)  # FastAPI would make a 400 of any other
            return message

        await self._app(scope, bounded if scope["type"] == "http" else receive, send)


class _Server(uvicorn.Server):
    """Signals belong to the process, which stops all its parts in order."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield


@asynccontextmanager
async def serving(app: FastAPI, *, host: str, port: int) -> AsyncIterator[str]:
    """The address of the app, which answers while the context is open. Raises OSError when the port is taken."""
    with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as listening:
        shown = f"[{host}]" if ":" in host else host
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=SHUTDOWN_S
        )
        server = _Server(config)
        running = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://{shown}:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await running


FOLDER = Path(__file__).parent / "page"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


async def show_page() -> FileResponse:
    """The web chat."""
    return FileResponse(FOLDER / "index.html", headers=HEADERS)


class Page(StaticFiles):
    """Its scripts, styles and pictures."""

    def file_response(self, *given: Any, **options: Any) -> Response:
        """With its headers."""
        response = super().file_response(*given, **options)
        response.headers.update(HEADERS)
        return response
