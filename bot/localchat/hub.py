"""Notifies open pages and waiting pollers of events. In: events. Out: the same events, to each listener.

It stores nothing: a page that connects late reads the history instead.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from bot.localchat.records import Json

QUEUE_EVENTS = 10_000  # a page that is this far behind is disconnected; when it reconnects it reads the history


class Hub:
    """Fan-out within one event loop."""

    def __init__(self) -> None:
        self._pages: set[asyncio.Queue[Json | None]] = set()
        self._pollers: set[asyncio.Event] = set()
        self.closed = False

    @contextmanager
    def page(self) -> Iterator["asyncio.Queue[Json | None]"]:
        """The queue of events for one page; None means that the page must disconnect."""
        queue: asyncio.Queue[Json | None] = asyncio.Queue()
        self._pages.add(queue)
        try:
            yield queue
        finally:
            self._pages.discard(queue)

    @contextmanager
    def poller(self) -> Iterator[asyncio.Event]:
        """An event that is set at every new update, and when the server stops."""
        event = asyncio.Event()
        self._pollers.add(event)
        try:
            yield event
        finally:
            self._pollers.discard(event)

    def tell_pages(self, event: Json) -> None:
        for queue in list(self._pages):
            queue.put_nowait(None if queue.qsize() >= QUEUE_EVENTS else event)

    def wake_pollers(self) -> None:
        for event in self._pollers:
            event.set()

    def close(self) -> None:
        """Wake every waiter, so that the server can stop at once."""
        self.closed = True
        self.wake_pollers()
        for queue in self._pages:
            queue.put_nowait(None)
