"""Compares sketches: bits that tell on which side of an edge the numbers of a vector lie (000400, `sketch`).

In: sketches as bytes with the passages they stand for; a vector. Out: the passages whose sketches differ in the fewest
bits, and of those the ones whose bits agree best with the vector's numbers: a bit counts for as much as the number is
large, so that only the passages' side is rough (as in RaBitQ, arXiv:2405.12497). Nothing here knows of bases or of the
database. Five hundred thousand sketches of 1,024 bits take 68 MB and are compared in some ten milliseconds, without
Python's lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

BLOCK = 65_536  # passages: their words of 64 bits, one for each passage, are compared in a processor's cache
LEAST_ROOM = 1_000  # passages
ROUGHLY = 5
"""Of so many times as many passages as are wanted all bits are compared, of the others half of them. Of 500,000 made
vectors and of 13,630 by MiniLM the nearest thirty lose nothing by it; with four thousand, .003."""
LEAST_ROUGHLY = 4_000  # passages
SAMPLED = 16_384  # passages that tell how few differing bits are few
_WORD = 8  # bytes

Words = npt.NDArray[np.uint64]
Passages = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]
Differences = npt.NDArray[np.uint16]

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).astype(np.float32)  # of each byte


def sketch_of(vector: Sequence[float], edges: Sequence[Sequence[float]]) -> bytes:
    """The sketch that the database makes of this vector: for each edge a bit of each number, in half precision, filled
    up to whole bytes."""
    halves = _halves(vector, edges)
    sides = [halves[: len(edge)] > np.asarray(edge, dtype=np.float32).astype(np.float16) for edge in edges]
    return np.packbits(np.concatenate(sides)).tobytes()


def weights_of(vector: Sequence[float], edges: Sequence[Sequence[float]]) -> Weights:
    """What each bit of a sketch is worth: the number of the vector that it is about."""
    halves = _halves(vector, edges).astype(np.float32)
    return np.concatenate([halves[: len(edge)] for edge in edges])


def _halves(vector: Sequence[float], edges: Sequence[Sequence[float]]) -> npt.NDArray[np.float16]:
    halves = np.zeros(max(len(vector), *map(len, edges)), dtype=np.float16)  # a short vector is padded, as there
    halves[: len(vector)] = np.asarray(vector, dtype=np.float32)
    return halves


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

    def differences(self, sketch: Words, part: slice) -> Differences:
        """Bits by which each differs in this part of the words."""
        held = self.held
        sums = np.zeros(held, dtype=np.uint16)
        differing, counts = np.empty(held, dtype=np.uint64), np.empty(held, dtype=np.uint8)
        for mine, theirs in zip(self.words[part], sketch[part], strict=True):
            np.bitwise_xor(mine[:held], theirs, out=differing)
            np.bitwise_count(differing, out=counts)
            sums += counts
        return sums

    def differences_at(self, places: Passages, sketch: Words, part: slice) -> Differences:
        """The same of some."""
        differing = self.words[part].take(places, axis=1) ^ sketch[part, np.newaxis]
        sums: Differences = np.bitwise_count(differing).sum(axis=0, dtype=np.uint16)
        return sums

    def worth(self, places: Passages, byte_worth: Weights) -> Weights:
        """Of the sketches at these places; `byte_worth[i, b]` is what the i-th byte is worth when it is b."""
        rows = np.ascontiguousarray(self.words.take(places, axis=1).T).view(np.uint8)[:, : len(byte_worth)]
        worth: Weights = byte_worth.reshape(-1).take(rows + np.arange(0, byte_worth.size, 256)).sum(axis=1)
        return worth


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

    def nearest(self, sketch: bytes, weights: Weights, *, sketched: int, count: int) -> list[int]:
        """Of the `sketched` passages with the fewest differing bits the `count` whose bits are worth most, in no order;
        all where there are no more."""
        near = self._fewest_differing(sketch, sketched)
        if not near:
            return []
        bit_worth = np.zeros((self.size, 8), dtype=np.float32)
        bit_worth.reshape(-1)[: len(weights)] = weights
        byte_worth = bit_worth @ _BITS.T
        worth = np.concatenate([block.worth(places, byte_worth) for block, places in near])
        passages = np.concatenate([block.passages[places] for block, places in near])
        if len(worth) > count:
            passages = passages[np.argpartition(-worth, count - 1)[:count]]
        return [int(passage) for passage in passages]

    def _fewest_differing(self, sketch: bytes, count: int) -> list[tuple[_Block, Passages]]:
        """The places of the `count` with the fewest differing bits, as far as half of the bits do not deceive."""
        (asked,) = self._words(sketch, 1)
        blocks = [*self._blocks]  # one that comes meanwhile is not compared
        if not blocks:
            return []
        half = len(asked) // 2
        rough = [block.differences(asked, slice(half)) for block in blocks]
        edge = _edge(rough, max(ROUGHLY * count, LEAST_ROUGHLY))
        near = [np.nonzero(differences <= edge)[0] for differences in rough]
        whole = [
            differences[places] + block.differences_at(places, asked, slice(half, None))
            for block, differences, places in zip(blocks, rough, near, strict=True)
        ]
        kept = _fewest(whole, count)
        return [(block, places[chosen]) for block, places, chosen in zip(blocks, near, kept, strict=True)]

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


def _edge(differences: Sequence[Differences], wanted: int) -> int:
    """About so many differ by no more, as a sample tells."""
    step = max(1, sum(map(len, differences)) // SAMPLED)
    sample = np.concatenate([each[::step] for each in differences])
    place = -(-wanted // step)
    return int(np.partition(sample, place)[place]) if place < len(sample) else np.iinfo(np.uint16).max


def _fewest(differences: Sequence[Differences], count: int) -> list[npt.NDArray[np.bool_]]:
    """Which are the `count` fewest of all, each list for itself; all where there are no more."""
    lengths = [len(each) for each in differences]
    chosen = np.ones(sum(lengths), dtype=np.bool_)
    if len(chosen) > count:
        chosen[:] = False
        chosen[np.argpartition(np.concatenate(differences), count - 1)[:count]] = True
    return np.split(chosen, np.cumsum(lengths)[:-1])
