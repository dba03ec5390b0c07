"""Late chunking on tokens: which tokens are encoded together, and one vector for each span of characters.

In: counts, offsets and vectors of tokens. Out: stretches, batches and pooled vectors. Pure; it runs no model.
A text longer than the encoder's context is encoded in stretches that overlap, and every token takes its vector from
the stretch in which it stands farther from an edge, so that it sees both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Offsets = npt.NDArray[np.int64]  # a row for each token: its characters [start, end)

BATCH_TOKENS = 4096  # of one run, padding included: more brings no speed on a processor
BATCH_SQUARES = 2**22  # sum of squared lengths of one run: attention of 16 heads then takes 270 MB
SHORTEST_LENGTH = 1e-9  # a vector of length 0 points nowhere


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Tokens [start, end) are encoded together; the vectors of [keeps_from, keeps_to) are taken from here."""

    start: int
    end: int
    keeps_from: int
    keeps_to: int


def plan_stretches(count: int, *, size: int, overlap: int) -> list[Stretch]:
    """The fewest stretches of at most `size` that cover `count` tokens and overlap by at least `overlap`, evenly
    spread."""
    if count <= size:
        return [Stretch(start=0, end=count, keeps_from=0, keeps_to=count)]
    parts = -(-(count - overlap) // (size - overlap))
    starts = [number * (count - size) // (parts - 1) for number in range(parts)]
    borders = [0, *((later + earlier + size) // 2 for earlier, later in pairwise(starts)), count]
    return [
        Stretch(start=start, end=start + size, keeps_from=borders[number], keeps_to=borders[number + 1])
        for number, start in enumerate(starts)
    ]


def plan_batches(lengths: Sequence[int]) -> list[list[int]]:
    """Numbers of the sequences to run together, like lengths side by side, within the limits above."""
    batches: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        longest = lengths[batches[-1][0]] if batches else 0
        together = len(batches[-1]) + 1 if batches else 1
        if batches and together * longest <= BATCH_TOKENS and together * longest**2 <= BATCH_SQUARES:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches


def token_span(offsets: Offsets, start: int, end: int) -> tuple[int, int]:
    """Tokens [first, last) that have a character of [start, end); at least one where there are tokens at all."""
    first = int(np.searchsorted(offsets[:, 1], start, side="right"))
    last = int(np.searchsorted(offsets[:, 0], end, side="left"))
    first = min(first, max(len(offsets) - 1, 0))
    return first, min(max(last, first + 1), len(offsets))


def pool_mean(vectors: Array, spans: Sequence[tuple[int, int]]) -> Array:
    """The mean of each span's token vectors, L2-normalised."""
    means = np.stack([vectors[start:end].mean(axis=0, dtype=np.float64) for start, end in spans])
    return normalise(means)


def normalise(vectors: npt.NDArray[np.floating]) -> Array:
    """Rows of length 1."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), SHORTEST_LENGTH)
    normalised: Array = (vectors / lengths).astype(np.float32)
    return normalised
