"""Compares sketches: bits that tell on which side of an edge the numbers of a vector lie (000400, `sketch`).

In: sketches as bytes with the passages they stand for; a vector. Out: the passages whose sketches differ in the fewest
bits. Nothing here knows of bases or of the database. Five hundred thousand sketches of 1,024 bits take 68 MB and are
compared in some ten milliseconds, without Python's lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

BLOCK = 65_536  # passages: their words of 64 bits, one for each passage, are compared in a processor's cache
LEAST_ROOM = 1_000  # passages
_WORD = 8  # bytes

Words = npt.NDArray[np.uint64]
Passages = npt.NDArray[np.int64]


def sketch_of(vector: Sequence[float], edges: Sequence[Sequence[float]]) -> bytes:
    """The sketch that the database makes of this vector: for each edge a bit of each number, in half precision, filled
    up to whole bytes."""
    halves = np.zeros(max(len(vector), *map(len, edges)), dtype=np.float16)  # a short vector is padded, as there
    halves[: len(vector)] = np.asarray(vector, dtype=np.float32)
    sides = [halves[: len(edge)] > np.asarray(edge, dtype=np.float32).astype(np.float16) for edge in edges]
    return np.packbits(np.concatenate(sides)).tobytes()


@dataclass(kw_only=True)
class _Block:
    """Up to BLOCK sketches, turned: `words[i]` is the i-th word of each."""

    words: Words
    passages: Passages
    held: int = 0

    @property
    def is_full(self) -> bool:
        return self.held == len(self.passages)

    def take(self, words: Words, passages: Passages) -> int:
        """As many of these as there is room for; who compares meanwhile sees none of them, or all."""
        count = min(len(passages), len(self.passages) - self.held)
        place = slice(self.held, self.held + count)
        self.words[:, place] = words[:count].T
        self.passages[place] = passages[:count]
        self.held += count
        return count

    def differences(self, sketch: Words) -> npt.NDArray[np.uint16]:
        """Bits by which each differs."""
        held = self.held
        sums = np.zeros(held, dtype=np.uint16)
        differing, counts = np.empty(held, dtype=np.uint64), np.empty(held, dtype=np.uint8)
        for mine, theirs in zip(self.words, sketch, strict=True):
            np.bitwise_xor(mine[:held], theirs, out=differing)
            np.bitwise_count(differing, out=counts)
            sums += counts
        return sums


@dataclass(kw_only=True)
class Sketches:
    """Of one shelf, all of the same length."""

    size: int  # bytes of one
    _blocks: list[_Block] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(block.held for block in self._blocks)

    def add(self, passages: Sequence[int], sketches: bytes) -> None:
        """Sketches one after the other, of these passages. Raises ValueError where the lengths do not agree."""
        if len(sketches) != len(passages) * self.size:
            raise ValueError(f"{len(sketches)} bytes are no {len(passages)} sketches of {self.size}")
        words, numbers = self._words(sketches, len(passages)), np.asarray(passages, dtype=np.int64)
        while len(numbers):
            if not self._blocks or self._blocks[-1].is_full:
                self._blocks.append(self._new_block(room=len(numbers) + len(self) // 4))
            taken = self._blocks[-1].take(words, numbers)
            words, numbers = words[taken:], numbers[taken:]

    def nearest(self, sketch: bytes, count: int) -> list[int]:
        """The `count` passages with the fewest differing bits, in no order; all where there are no more."""
        (asked,) = self._words(sketch, 1)
        best, passages = np.empty(0, dtype=np.uint16), np.empty(0, dtype=np.int64)
        edge = np.iinfo(np.uint16).max  # differences beyond it are not among the best any more
        for block in self._blocks:
            differences = block.differences(asked)
            (near,) = np.nonzero(differences <= edge)
            best = np.concatenate((best, differences[near]))
            passages = np.concatenate((passages, block.passages[near]))
            if len(best) > count:
                kept = np.argpartition(best, count - 1)[:count]
                best, passages = best[kept], passages[kept]
                edge = int(best.max())
        return [int(passage) for passage in passages]

    def _words(self, sketches: bytes, count: int) -> Words:
        """Of shape (count, words of one), each filled up with zeros."""
        rows = np.frombuffer(sketches, dtype=np.uint8).reshape(count, self.size)
        whole = np.zeros((count, -(-self.size // _WORD) * _WORD), dtype=np.uint8)
        whole[:, : self.size] = rows
        return whole.view(np.uint64)

    def _new_block(self, *, room: int) -> _Block:
        """No larger than is of use: most large bases have some thousand passages, and what is not written to takes
        memory, too, where the system gives it two megabytes at a time."""
        room = min(BLOCK, max(LEAST_ROOM, room))
        words = np.zeros((-(-self.size // _WORD), room), dtype=np.uint64)
        return _Block(words=words, passages=np.zeros(room, dtype=np.int64))
