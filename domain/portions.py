"""Splits a long sequence into portions that can be handled at once.

In: things in order, how large each is, and how large a portion may be. Out: the same things in the same order, lazily.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def in_portions(things: Iterable[T], size: Callable[[T], int], *, limit: int) -> Iterator[list[T]]:
    """Portions of at most `limit`; a thing that is larger makes a portion of its own. None is empty."""
    portion: list[T] = []
    held = 0
    for thing in things:
        own = size(thing)
        if portion and held + own > limit:
            yield portion
            portion, held = [], 0
        portion.append(thing)
        held += own
    if portion:
        yield portion
