"""A sequence of records that moves to disk when it grows long: a book must not fill a process that reads several.

In: records, and how to serialise a batch of them. Out: a tuple when short; else a sequence that lies in a file, or
compressed in memory where no file may be written (the parsing process). The file has no name, so nothing is left of it.
"""

import errno
import os
import tempfile
import weakref
import zlib
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")
HELD_BYTES = 2_000_000  # serialised; as objects two to four times as much: a book of 900 pages fits
HELD_UNPRESSED_BYTES = 4_000_000  # the same limit where the alternative is compression, at 20 ms per million bytes
BATCH_BYTES = 100_000  # for records that are appended one by one: a millisecond to serialise
QUICKLY = 1  # zlib level 1: compresses to a third at 50 MB/s; the highest level to a quarter at 10 MB/s


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


@dataclass(frozen=True, kw_only=True)
class Writing(Generic[T]):
    """How a batch of records is serialised, and read back."""

    write: Callable[[Sequence[T]], bytes]
    read: Callable[[bytes], Sequence[T]]
    size: Callable[[T], int]  # of a record, about, when serialised


class NamelessFile:
    """Serialised batches in a nameless file, closed and thereby deleted with the last reference to this object."""

    def __init__(self, file: int) -> None:
        """Takes ownership of the descriptor `file`."""
        self._file = file
        weakref.finalize(self, os.close, file)
        self._ends = [0]  # offsets where the batches end

    def append(self, written: bytes) -> None:
        """Add the next batch. Raises OSError."""
        if os.pwrite(self._file, written, self._ends[-1]) < len(written):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._ends.append(self._ends[-1] + len(written))

    def read(self, number: int) -> bytes:
        """The batch with this number, from 0."""
        begin, end = self._ends[number : number + 2]
        return os.pread(self._file, end - begin, begin)


class Pressed:
    """Serialised batches, compressed in memory."""

    def __init__(self) -> None:
        self._batches: list[bytes] = []

    def append(self, written: bytes) -> None:
        """Add the next batch."""
        self._batches.append(zlib.compress(written, QUICKLY))

    def read(self, number: int) -> bytes:
        """The batch with this number, from 0."""
        return zlib.decompress(self._batches[number])


class Spool(Generic[T]):
    """Collects records in order, in batches that are read back whole; reading one takes some milliseconds."""

    def __init__(self, folder: Path | None, writing: Writing[T]) -> None:
        """Many records go to a file in `folder` (made when missing); without a folder they are compressed in memory."""
        self._folder = folder
        self._writing = writing
        self._held: list[Sequence[T]] = []
        self._held_bytes = 0
        self._most_held = HELD_UNPRESSED_BYTES if folder is None else HELD_BYTES
        self._open: list[T] = []  # the batch that `append` is filling
        self._open_bytes = 0
        self._stored: Spooled[T] | None = None

    def append(self, record: T) -> None:
        """Add one record; the spool forms the batches. Raises OSError."""
        size = self._writing.size(record)
        if self._open and self._open_bytes + size > BATCH_BYTES:
            self._close_batch()
        self._open.append(record)
        self._open_bytes += size

    def extend(self, records: Iterable[T]) -> None:
        """Add records as they come, so that only some of them are held. Raises OSError."""
        for record in records:
            self.append(record)

    def add(self, batch: Sequence[T], written: bytes) -> None:
        """Add a batch that is serialised already. Raises OSError."""
        self._close_batch()
        self._add(batch, len(written), written)

    def finish(self) -> Sequence[T]:
        """All records; call it after the last one was added."""
        if self._stored is None:
            return tuple(chain(*self._held, self._open))
        self._close_batch()
        return self._stored

    def _close_batch(self) -> None:
        if self._open:
            batch, size = self._open, self._open_bytes
            self._open, self._open_bytes = [], 0
            self._add(batch, size, None)

    def _add(self, batch: Sequence[T], size: int, written: bytes | None) -> None:
        if self._stored is not None:
            self._stored.append(batch, written or self._writing.write(batch))
            return
        self._held.append(batch)
        self._held_bytes += size
        if self._held_bytes > self._most_held:
            store = Pressed() if self._folder is None else NamelessFile(_open_nameless(self._folder))
            self._stored = Spooled(store, self._writing)
            for held in self._held:
                self._stored.append(held, self._writing.write(held))
            self._held.clear()


class _Ordinals(Sequence[T], Generic[T]):
    """A sequence that finds its records one by one."""

    @abstractmethod
    def _one(self, ordinal: int) -> T: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._one(ordinal) for ordinal in range(*index.indices(len(self)))]
        return self._one(range(len(self))[index])


class Spooled(_Ordinals[T]):
    """A read-only view of the records in a store, one batch in memory."""

    def __init__(self, store: NamelessFile | Pressed, writing: Writing[T]) -> None:
        self._store = store
        self.writing = writing
        self._firsts: list[int] = []  # ordinal of the first record of each batch
        self._count = 0
        self._latest: tuple[int, Sequence[T]] = -1, ()  # number and records of the batch read last

    def append(self, batch: Sequence[T], written: bytes) -> None:
        """Add records at the end. Raises OSError."""
        self._store.append(written)
        self._firsts.append(self._count)
        self._count += len(batch)

    def written(self) -> Iterator[bytes]:
        """The serialised batches."""
        return map(self._store.read, range(len(self._firsts)))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        for number in range(len(self._firsts)):
            yield from self._batch(number)

    def _one(self, ordinal: int) -> T:
        number = bisect_right(self._firsts, ordinal) - 1
        return self._batch(number)[ordinal - self._firsts[number]]

    def _batch(self, number: int) -> Sequence[T]:
        latest, batch = self._latest  # read once: another thread may replace it
        if latest != number:
            batch = self.writing.read(self._store.read(number))
            self._latest = number, batch
        return batch


class Joined(_Ordinals[T]):
    """Several sequences as one, without copying."""

    def __init__(self, parts: Sequence[Sequence[T]]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.parts)

    def _one(self, ordinal: int) -> T:
        for part in self.parts:
            if ordinal < len(part):
                return part[ordinal]
            ordinal -= len(part)
        raise IndexError(ordinal)


def joined(*parts: Sequence[T]) -> Sequence[T]:
    """The parts one after the other: a tuple if all are tuples."""
    filled = [part for part in parts if part]
    if len(filled) == 1:
        return filled[0]
    are_tuples = all(isinstance(part, tuple) for part in filled)
    return tuple(chain.from_iterable(filled)) if are_tuples else Joined(filled)


def _open_nameless(folder: Path) -> int:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.dup(file.fileno())
