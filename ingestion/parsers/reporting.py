"""Passes a parser's progress to its runner through a context variable, so that no parser needs a parameter for it.

In: pages read and pages in total, from a parser that knows them. Out: a call of the function given to `reported_to`, or
nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Tell = Callable[[int, int], None]
"""Takes units done and units in total."""

_listener: ContextVar[Tell | None] = ContextVar("listener", default=None)


@contextmanager
def reported_to(tell: Tell) -> Iterator[None]:
    """While the block runs, `tell` receives what parsers report."""
    token = _listener.set(tell)
    try:
        yield
    finally:
        _listener.reset(token)


def report_pages(done: int, total: int) -> None:
    """Called by a parser after each page; cheap when nobody listens."""
    tell = _listener.get()
    if tell is not None:
        tell(done, total)
