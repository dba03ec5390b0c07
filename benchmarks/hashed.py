"""Vectors without a model: hashed words and pieces of words. They add too little to the search by words to be worth
their cost (benchmarks/README.md): Baza does not use them, they are a baseline.

In: windows of a document, or a question. Out: L2-normalised vectors that are near when lemmas are shared, and, through
character n-grams, when a word is only nearly the same: typos, rare word forms, parts of compounds. It knows no
meanings: synonyms and other languages need a real model. Measured by `python -m benchmarks.offline`.
"""

import asyncio
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from adapters.lexical import clean
from ingestion.ports import TermAnalyzer
from ingestion.records import Vector, Window

MODEL = "offline-2"  # raise the number with any change that moves a vector: bases of measurements are then made anew
DIMENSIONS = 1024
WINDOW_TOKENS = 7500  # nothing limits this embedder; the same as Jina's, so that both see the same windows
CACHED_WORDS = 2**15  # about 0.7 kB each; VK Cloud (4,604 sections) has 25,000 different ones

# Shares of the squared length, chosen on vkcloud and xquad: from .25 to .75 the questions as typed differ by under .02
# nDCG@10, and with a typo in each long word more n-grams are better. A word of n n-grams gives each share / sqrt(n).
TERM_SHARE = 0.7
GRAM_SHARE = 0.3
GRAM_LENGTHS = (3, 4, 5)
SHORTEST_WORD = 3  # characters; shorter ones are only their term

_WORD = re.compile(r"[^\W_]+")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads CRC-32 over the upper bits

Array = npt.NDArray[np.float32]


class Features:
    """Where in the vector a word's features fall, and how heavy they are, with their sign."""

    __slots__ = ("places", "weights")

    def __init__(self, names: Sequence[str], share: float) -> None:
        sums = np.fromiter((zlib.crc32(name.encode()) for name in names), dtype=np.uint64, count=len(names))
        mixed = sums * _MULTIPLIER
        self.places = (mixed >> np.uint64(54)).astype(np.int16)  # the top 10 bits: 0 to 1023
        signs = np.where(mixed & np.uint64(1 << 53), np.float32(1), np.float32(-1))
        self.weights: Array = signs * np.float32(math.sqrt(share))


class OfflineEmbedder:
    """Meets `ingestion.ports.Embedder` and `rag.ports.QueryEmbedder`; give it the analyzer of the lexical index."""

    def __init__(self, analyzer: TermAnalyzer) -> None:
        self._analyzer = analyzer
        self._term_features: Callable[[str], Features] = lru_cache(maxsize=CACHED_WORDS)(term_features)
        self._gram_features: Callable[[str], Features | None] = lru_cache(maxsize=CACHED_WORDS)(self._grams_that_count)

    @property
    def model(self) -> str:
        """Name and version of the scheme."""
        return MODEL

    @property
    def window_tokens(self) -> int:
        """How many tokens one window may hold at the most."""
        return WINDOW_TOKENS

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """For each window, a vector for each of its own chunks. In a thread: a long document takes a second."""
        return await asyncio.to_thread(lambda: [[self.embed(chunk.text) for chunk in window.own] for window in windows])

    async def embed_query(self, text: str) -> list[float]:
        """The question's vector; questions and passages are treated alike."""
        return self.embed(text)

    def embed(self, text: str) -> list[float]:
        """1024 numbers of length 1. A text without a single word gets the vector of the empty word."""
        found = list(self._weighed(text)) or [(term_features(""), 1.0)]
        places = np.concatenate([features.places for features, _ in found])
        weights = np.concatenate([features.weights * np.float32(times) for features, times in found])
        summed = np.bincount(places, weights=weights, minlength=DIMENSIONS)
        length = float(np.linalg.norm(summed))
        # Opposite signs can cancel in theory; a vector of length 0 has no cosine, which pgvector answers with NaN.
        return [float(number) for number in summed / length] if length else self.embed("")

    def _weighed(self, text: str) -> Iterator[tuple[Features, float]]:
        """Features of every different term and word with the damped number of its occurrences."""
        for term, times in _damped(self._analyzer.terms(text)).items():
            yield self._term_features(term), times
        for word, times in _damped(_WORD.findall(clean(text))).items():
            features = self._gram_features(word)
            if features is not None:
                yield features, times

    def _grams_that_count(self, word: str) -> Features | None:
        """Words that the analyzer leaves out (stop words) have no n-grams either."""
        if len(word) < SHORTEST_WORD or not self._analyzer.terms(word):
            return None
        return gram_features(word)


def term_features(term: str) -> Features:
    """One place for the whole term."""
    return Features([f"={term}"], TERM_SHARE)


def gram_features(word: str) -> Features:
    """A place for each character n-gram, of the word as it was typed with its ends marked."""
    marked = f"<{word}>"
    grams = [marked[at : at + size] for size in GRAM_LENGTHS for at in range(len(marked) - size + 1)]
    return Features(grams, GRAM_SHARE / math.sqrt(len(grams)))


def _damped(words: Sequence[str]) -> Mapping[str, float]:
    """1 for a word that occurs once, 1.7 for twice, 3.3 for ten times."""
    return {word: 1 + math.log(times) for word, times in Counter(words).items()}
