"""Streams events to the page as server-sent events. In: the hub's events. Out: `data: {json}` lines.

The first event, `hello`, tells the page that it gets all events from now on; it reads earlier ones from the history.
"""

import asyncio
import json
from contextlib import suppress

from aiohttp import web

from bot.localchat.hub import Hub
from bot.localchat.records import Json

HEARTBEAT_S = 15.0  # a comment line, so that both sides notice a dead connection


async def stream_events(request: web.Request, hub: Hub) -> web.StreamResponse:
    """Send events until the page disconnects or the server stops."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    await response.prepare(request)
    with hub.page() as events, suppress(ConnectionResetError):  # raised when the page was closed
        await response.write(b'data: {"type": "hello"}\n\n')
        while not hub.closed and (line := await _next_line(events)):
            await response.write(line)
    return response


async def _next_line(events: "asyncio.Queue[Json | None]") -> bytes | None:
    """The next event, or a heartbeat; None when the page must disconnect."""
    try:
        event = await asyncio.wait_for(events.get(), HEARTBEAT_S)
    except TimeoutError:
        return b": still here\n\n"
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode() if event else None
