"""The application: its endpoints over its services, and the server that runs it.

In: `ApiServices`, made by the composition root. Out: a FastAPI app; `serving` runs it while its context is open. Bodies
are bounded before anything reads them.
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus

import uvicorn
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api import bases, chat, documents, mcp, openai_chat, web, webhooks
from api.problems import PROBLEMS, answer_problems
from api.services import ApiServices
from api.turns import Turns
from api.uploads import FORM_BYTES, MULTIPART

JSON_BYTES = 256 * 1024
SHUTDOWN_S = 10
_TAKES_FILES = re.compile(r"/rags/[^/]+/documents(/[^/]+)?")

ABOUT = "Ask a base of documents over HTTP, with sources. Every request carries `Authorization: Bearer <token>`."


def build_api(services: ApiServices) -> FastAPI:
    """The app; it opens and closes nothing."""
    app = FastAPI(title="Baza", description=ABOUT, version="0.1.0")
    app.state.services, app.state.turns = services, Turns(services=services)
    routers = [part.router for part in (bases, documents, webhooks, chat, openai_chat, mcp, web)]
    answer_problems(app, services, [route for router in routers for route in router.routes])
    app.add_middleware(BoundedBodies, file_bytes=services.uploads.file_bytes)
    for router in routers:
        app.include_router(router, responses=PROBLEMS)
    return app


class BoundedBodies:
    """Refuses bodies that say they are too large before any of them is read, others while they come."""

    def __init__(self, app: ASGIApp, *, file_bytes: int) -> None:
        self._app, self._form_bytes = app, file_bytes + FORM_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises HTTPException 413 in whoever reads on."""
        most = self._form_bytes if _is_upload(scope) else JSON_BYTES
        seen, said = 0, _said_length(scope)

        async def bounded() -> Message:
            nonlocal seen
            message = await receive() if said <= most else {}
            seen += len(message.get("body", b""))
            if max(seen, said) > most:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)  # FastAPI would make a 400 of any other
            return message

        await self._app(scope, bounded if scope["type"] == "http" else receive, send)


def _said_length(scope: Scope) -> int:
    """How long the body says it is; 0 where it does not."""
    said = dict(scope.get("headers", ())).get(b"content-length", b"0")
    return int(said) if said.isdigit() else 0


def _is_upload(scope: Scope) -> bool:
    """Only these requests are written to disk as they come; of others the whole body is in memory."""
    sent = dict(scope.get("headers", ())).get(b"content-type", b"").lower()
    return sent.startswith(MULTIPART.encode()) and _TAKES_FILES.fullmatch(scope.get("path", "")) is not None


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
