"""Compares binary-quantised vectors: a bit tells on which side of a threshold a number lies (`quantised` in SQL).

In: their bits as bytes with the passages they stand for; a vector. Out: of the passages whose vectors differ in the
fewest bits, those whose bits agree best with the vector's numbers: a bit is weighted by its number of the query, so
that only the passages' side is quantised (as in RaBitQ, arXiv:2405.12497). Five hundred thousand vectors of 1,024 bits
take 68 MB and are compared in some ten milliseconds, without Python's lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

BLOCK = 65_536  # passages: one 64-bit word of each of them fits into a processor's cache
LEAST_ROOM = 1_000  # passages
ROUGHLY = 5
"""All bits are compared for this many times the wanted passages, half of the bits for the others. Of 500,000 made
vectors and of 13,630 by MiniLM the nearest thirty lose nothing by it; with four thousand, .003."""
LEAST_ROUGHLY = 4_000  # passages
SAMPLED = 16_384  # passages in the sample that sets the bound of differing bits
_WORD = 8  # bytes

Words = npt.NDArray[np.uint64]
Passages = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]
Differences = npt.NDArray[np.uint16]

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).astype(np.float32)  # of each byte


def bits_of(vector: Sequence[float], thresholds: Sequence[Sequence[float]]) -> bytes:
    """The bits that the database makes of this vector: one for each threshold and number, in half precision, padded to
    whole bytes."""
    halves = _halves(vector, thresholds)
    levels = [np.asarray(threshold, dtype=np.float32).astype(np.float16) for threshold in thresholds]
    sides = [halves[: len(level)] > level for level in levels]
    return np.packbits(np.concatenate(sides)).tobytes()


def weights_of(vector: Sequence[float], thresholds: Sequence[Sequence[float]]) -> Weights:
    halves = _halves(vector, thresholds).astype(np.float32)
    return np.concatenate([halves[: len(threshold)] for threshold in thresholds])


def _halves(vector: Sequence[float], thresholds: Sequence[Sequence[float]]) -> npt.NDArray[np.float16]:
    halves = np.zeros(max(len(vector), *map(len, thresholds)), dtype=np.float16)  # padded, as the database does
    halves[: len(vector)] = np.asarray(vector, dtype=np.float32)
    return halves


@dataclass(kw_only=True)
class _Block:
    """The bits of up to BLOCK vectors, transposed: `words[i]` is the i-th word of each."""

    words: Words
    passages: Passages
    held: int = 0

    def take(self, words: Words, passages: Passages) -> int:
        """Add as many of these as there is room for; a comparison under way sees none of them, or all. Returns how
        many."""
        count = min(len(passages), len(self.passages) - self.held)
        place = slice(self.held, self.held + count)
        self.words[:, place] = words[:count].T
        self.passages[place] = passages[:count]
        self.held += count
        return count

    def weights_at(self, places: Passages, byte_weights: Weights) -> Weights:
        """The weights of the vectors at these places; `byte_weights[i, b]` is that of the i-th byte when it is b."""
        rows = np.ascontiguousarray(self.words.take(places, axis=1).T).view(np.uint8)[:, : len(byte_weights)]
        sums: Weights = byte_weights.reshape(-1).take(rows + np.arange(0, byte_weights.size, 256)).sum(axis=1)
        return sums


@dataclass(kw_only=True)
class QuantisedVectors:
    """The bits of the vectors of one segment, all of the same length."""

    size: int  # bytes of one
    _blocks: list[_Block] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(block.held for block in self._blocks)

    def add(self, passages: Sequence[int], bits: bytes) -> None:
        """Add the bits of these passages, one after the other. Raises ValueError where the lengths do not agree."""
        if len(bits) != len(passages) * self.size:
            raise ValueError(f"{len(bits)} bytes are no {len(passages)} vectors of {self.size}")
        words, numbers = self._words(bits, len(passages)), np.asarray(passages, dtype=np.int64)
        while len(numbers):
            if not self._blocks or self._blocks[-1].held == len(self._blocks[-1].passages):
                # No larger than useful: memory that is not written to counts, too, where two megabytes go at a time.
                room = min(BLOCK, max(LEAST_ROOM, len(numbers) + len(self) // 4))
                empty = np.zeros((words.shape[1], room), dtype=np.uint64)
                self._blocks.append(_Block(words=empty, passages=np.zeros(room, dtype=np.int64)))
            taken = self._blocks[-1].take(words, numbers)
            words, numbers = words[taken:], numbers[taken:]

    def nearest(self, bits: bytes, weights: Weights, *, weighed: int, count: int) -> list[int]:
        """Among the `weighed` passages with the fewest differing bits the `count` of the greatest weight, in no order;
        all where there are no more."""
        near = self._fewest_differing(bits, weighed)
        if not near:
            return []
        bit_weights = np.zeros((self.size, 8), dtype=np.float32)
        bit_weights.reshape(-1)[: len(weights)] = weights
        byte_weights = bit_weights @ _BITS.T
        sums = np.concatenate([block.weights_at(places, byte_weights) for block, places in near])
        passages = np.concatenate([block.passages[places] for block, places in near])
        if len(sums) > count:
            passages = passages[np.argpartition(-sums, count - 1)[:count]]
        return [int(passage) for passage in passages]

    def _fewest_differing(self, bits: bytes, count: int) -> list[tuple[_Block, Passages]]:
        """The places of the `count` with the fewest differing bits; approximate, since half of the bits preselect."""
        (asked,) = self._words(bits, 1)
        blocks = [*self._blocks]  # one that is added meanwhile is not compared
        if not blocks:
            return []
        half = len(asked) // 2
        rough = [_differing(block.words[:half, : block.held], asked[:half]) for block in blocks]
        step = max(1, len(self) // SAMPLED)
        sample = np.concatenate([each[::step] for each in rough])
        place = -(-max(ROUGHLY * count, LEAST_ROUGHLY) // step)
        bound = np.partition(sample, place)[place] if place < len(sample) else np.iinfo(np.uint16).max
        near = [np.nonzero(differences <= bound)[0] for differences in rough]
        whole = [
            differences[places] + _differing(block.words[half:].take(places, axis=1), asked[half:])
            for block, differences, places in zip(blocks, rough, near, strict=True)
        ]
        lengths = [len(each) for each in whole]
        kept = np.ones(sum(lengths), dtype=np.bool_)
        if len(kept) > count:
            kept[:] = False
            kept[np.argpartition(np.concatenate(whole), count - 1)[:count]] = True
        masks = np.split(kept, np.cumsum(lengths)[:-1])
        return [(block, places[mask]) for block, places, mask in zip(blocks, near, masks, strict=True)]

    def _words(self, bits: bytes, count: int) -> Words:
        """The bits in shape (count, words of one), each padded with zeros."""
        whole = np.zeros((count, -(-self.size // _WORD) * _WORD), dtype=np.uint8)
        whole[:, : self.size] = np.frombuffer(bits, dtype=np.uint8).reshape(count, self.size)
        return whole.view(np.uint64)


def _differing(words: Words, bits: Words) -> Differences:
    """All at once: a sum for each word in turn takes half as long again."""
    sums: Differences = np.bitwise_count(words ^ bits[:, np.newaxis]).sum(axis=0, dtype=np.uint16)
    return sums
