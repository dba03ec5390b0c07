"""A base of any size made of the few thousand texts that there are, with words as rare as in a base that really grew.

In: the data folder, and how many passages are wanted. Out: their texts. In a repeated corpus every word is far too
frequent: real documents that come later are about other things, in words of their own. Here each copy after the first
writes its rarer words in one of several ways, by exchanging letters at their beginnings, so that the vocabulary grows
with the root of the number of passages. Endings stay, and so do lemmas.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from zlib import crc32

from benchmarks.search import read_texts

CORPORA = ("vkcloud/ru", "vkcloud/en", "xquad/ru", "xquad/en")
BOOK = "rustbook"
PASSAGE_CHARS = 1_500  # a passage of 300 tokens (CHUNK_TOKENS) has no more; sections of the corpora have up to 33,602

# Of 8,278 texts in the order of their subjects, the vocabulary (beginnings of five letters) grows with the power of .4
# to .5 of the texts inside one subject, and faster where the subject changes: Heaps' law.
HEAPS = 0.5
FREQUENT_SHARE = 0.01  # of the passages: 1,317 beginnings, 78 % of all words; the language's own, not the subject's
BEGINNING = 5  # letters
ENDING = 2  # letters that stay as they are

_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = ("аеиоуыэюя", "бвгджзклмнпрстфхцчшщ", "aeiouy", "bcdfghjklmnpqrstvwxz")


def known_texts(data: Path) -> list[str]:
    """Every text that there is, once, in pieces as long as passages are."""
    texts = [text for corpus in CORPORA for text in read_texts(data / corpus, "corpus.jsonl")]
    texts += [page.read_text(encoding="utf-8") for page in sorted((data / BOOK).rglob("*.md"))]
    return [text[at : at + PASSAGE_CHARS] for text in texts for at in range(0, len(text), PASSAGE_CHARS)]


def grown(texts: Sequence[str], passages: int) -> Iterator[str]:
    """`passages` texts: the known ones first, then copies about other things."""
    frequent = _frequent(texts)
    ways = max(1, round((passages / len(texts)) ** HEAPS))
    written = (_rewritten(text, copy, ways, frequent) for copy in count() for text in texts)
    return (text for text, _ in zip(written, range(passages), strict=False))


def _frequent(texts: Sequence[str]) -> frozenset[str]:
    held = Counter(start for text in texts for start in {_beginning(word) for word in _WORD.findall(text)})
    least = math.ceil(FREQUENT_SHARE * len(texts))
    return frozenset(start for start, times in held.items() if times >= least)


def _rewritten(text: str, copy: int, ways: int, frequent: frozenset[str]) -> str:
    """Which way a word is written depends on the copy alone, so that its forms stay together in it."""
    if not copy:
        return text

    def rewrite(match: re.Match[str]) -> str:
        start = _beginning(match[0])
        way = crc32(f"{copy} {start}".encode()) % ways
        if not way or start in frequent:
            return match[0]
        changed = min(BEGINNING, max(len(match[0]) - ENDING, 1))
        return match[0][:changed].translate(_alphabet(way)) + match[0][changed:]

    return _WORD.sub(rewrite, text)


def _beginning(word: str) -> str:
    return word[:BEGINNING].casefold()


@lru_cache(maxsize=64)
def _alphabet(way: int) -> dict[int, int]:
    """Vowels for vowels, consonants for consonants."""
    return {
        ord(letter): ord(case[(at + way) % len(letters)])
        for letters in _LETTERS
        for case in (letters, letters.upper())
        for at, letter in enumerate(case)
    }
