"""How far a parser is, told to whoever runs it, without a word in the signature of parsers that have nothing to tell.

In: pages read and pages in all, from a parser that knows them. Out: a call of what `reported_to` was given, or nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Tell = Callable[[int, int], None]
"""Units done and units in all."""

_listener: ContextVar[Tell | None] = ContextVar("listener", default=None)


@contextmanager
def reported_to(tell: Tell) -> Iterator[None]:
    """While the block runs, `tell` hears what parsers report."""
    token = _listener.set(tell)
    try:
        yield
    finally:
        _listener.reset(token)


def report_pages(done: int, total: int) -> None:
    """Called by a parser after each page; costs nothing when nobody listens."""
    tell = _listener.get()
    if tell is not None:
        tell(done, total)
