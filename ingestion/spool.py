"""A sequence of records of which only a short one is held as it is: a book must not fill a process that reads several.

In: records, and how a batch of them is written and read. Out: a tuple, or a sequence that lies in a file, or compressed
in memory where no file may be written (the parsing process), and can be gone through again and again. The file has no
name: however its process ends, nothing is left of it.
"""

import errno
import os
import tempfile
import weakref
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Generic, Protocol, TypeVar, overload

HELD_BYTES = 2_000_000  # of written records, some two to four times that as objects: a book of 900 pages fits
HELD_UNPRESSED_BYTES = 4_000_000  # the same where the alternative is compression, 20 ms for each million
BATCH_BYTES = 100_000  # of what is appended one by one: a millisecond's work
QUICKLY = 1  # of zlib's levels: a third of the room at 50 MB/s, at the highest level a quarter at 10

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Writing(Generic[T]):
    """How a batch of records becomes bytes, and back."""

    write: Callable[[Sequence[T]], bytes]
    read: Callable[[bytes], Sequence[T]]


class Store(Protocol):
    """Where written batches lie."""

    def append(self, written: bytes) -> None:
        """Add the next batch. Raises OSError."""
        ...

    def read(self, number: int) -> bytes:
        """A batch, from 0."""
        ...


class NamelessFile:
    """Meets `Store`: a file, which is closed, and gone, with the last reference to this."""

    def __init__(self, file: int) -> None:
        """`file` is a descriptor, from now on this one's."""
        self._file = file
        weakref.finalize(self, os.close, file)
        self._ends = [0]  # where the batches end

    def append(self, written: bytes) -> None:
        """As the protocol says."""
        if os.pwrite(self._file, written, self._ends[-1]) < len(written):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._ends.append(self._ends[-1] + len(written))

    def read(self, number: int) -> bytes:
        """As the protocol says."""
        begin, end = self._ends[number : number + 2]
        return os.pread(self._file, end - begin, begin)


class Pressed:
    """Meets `Store`: compressed in memory."""

    def __init__(self) -> None:
        self._batches: list[bytes] = []

    def append(self, written: bytes) -> None:
        """As the protocol says."""
        self._batches.append(zlib.compress(written, QUICKLY))

    def read(self, number: int) -> bytes:
        """As the protocol says."""
        return zlib.decompress(self._batches[number])


class Spool(Generic[T]):
    """Takes records in order, in batches that are read back whole; a batch is some milliseconds' work."""

    def __init__(self, folder: Path | None, writing: Writing[T]) -> None:
        """`folder`, made when missing, is where many records go; without one they are compressed."""
        self._folder = folder
        self._writing = writing
        self._held: list[Sequence[T]] = []
        self._held_bytes = 0
        self._most_held = HELD_UNPRESSED_BYTES if folder is None else HELD_BYTES
        self._open: list[T] = []  # the batch that is gathered one by one
        self._open_bytes = 0
        self._stored: Spooled[T] | None = None

    def append(self, record: T, *, size: int) -> None:
        """Add one that takes about `size` bytes; batches are made here. Raises OSError."""
        if self._open and self._open_bytes + size > BATCH_BYTES:
            self._close_batch()
        self._open.append(record)
        self._open_bytes += size

    def add(self, batch: Sequence[T], *, size: int, written: bytes | None = None) -> None:
        """Append records that take about `size` bytes, or are `written` already. Raises OSError."""
        self._close_batch()
        self._add(batch, size=size, written=written)

    def finish(self) -> Sequence[T]:
        """All that was added, after the last."""
        if self._stored is None:
            return tuple(chain(*self._held, self._open))
        self._close_batch()
        return self._stored

    def _close_batch(self) -> None:
        if self._open:
            batch, size = self._open, self._open_bytes
            self._open, self._open_bytes = [], 0
            self._add(batch, size=size, written=None)

    def _add(self, batch: Sequence[T], *, size: int, written: bytes | None) -> None:
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


class Spooled(Sequence[T], Generic[T]):
    """Records in a store."""

    def __init__(self, store: Store, writing: Writing[T]) -> None:
        self._store = store
        self.writing = writing
        self._firsts: list[int] = []  # ordinal of the first record of each batch
        self._count = 0
        self._latest: tuple[int, Sequence[T]] = -1, ()  # number and records of the batch that was read last

    def append(self, batch: Sequence[T], written: bytes) -> None:
        """Add records at the end. Raises OSError."""
        self._store.append(written)
        self._firsts.append(self._count)
        self._count += len(batch)

    def written(self) -> Iterator[bytes]:
        """The batches as they lie there."""
        return map(self._store.read, range(len(self._firsts)))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        for number in range(len(self._firsts)):
            yield from self._batch(number)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self._one(ordinal) for ordinal in range(*index.indices(self._count))]
        return self._one(range(self._count)[index])

    def _one(self, ordinal: int) -> T:
        number = bisect_right(self._firsts, ordinal) - 1
        return self._batch(number)[ordinal - self._firsts[number]]

    def _batch(self, number: int) -> Sequence[T]:
        latest, batch = self._latest  # in one step: another thread may read, too
        if latest != number:
            batch = self.writing.read(self._store.read(number))
            self._latest = number, batch
        return batch


class _Joined(Sequence[T], Generic[T]):
    """One after the other, nothing copied."""

    def __init__(self, parts: Sequence[Sequence[T]]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self._parts)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self[ordinal] for ordinal in range(*index.indices(len(self)))]
        ordinal = range(len(self))[index]
        for part in self._parts:
            if ordinal < len(part):
                return part[ordinal]
            ordinal -= len(part)
        raise IndexError(index)


def joined(*parts: Sequence[T]) -> Sequence[T]:
    """All of them in a row: a tuple where they are."""
    filled = [part for part in parts if part]
    if all(isinstance(part, tuple) for part in filled):
        return tuple(chain.from_iterable(filled))
    return filled[0] if len(filled) == 1 else _Joined(filled)


def _open_nameless(folder: Path) -> int:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.dup(file.fileno())
