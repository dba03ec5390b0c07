"""Makes paragraphs of the words that tesseract lists.

In: its TSV. Out: lines of text by paragraph in reading order, and how sure it is. Lines that are rubbish, such as the
grain of a photo read as letters, are left out.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

WORD_LEVEL = "5"
WORD_FLOOR = 20.0  # confidence, 0 to 100, below which a word is rubbish, whatever its line
CERTAIN = 90.0  # and from which a line is kept, whatever it consists of: "1)", "+ 7 %"
LETTERS_SHARE = 0.5  # of another line's characters that must be letters or digits

LineKey = tuple[int, int, int]
"""Block, paragraph and line."""


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word and how sure tesseract is of it, 0 to 100."""

    text: str
    confidence: float
    key: LineKey


@dataclass(frozen=True, kw_only=True)
class Floor:
    """What a line must have to be believed."""

    confidence: float
    longest_word: int  # letters


RUNNING_TEXT = Floor(confidence=45, longest_word=1)
SCATTERED = Floor(confidence=75, longest_word=3)  # words looked for all over a photo: its grain has single letters, too


@dataclass(frozen=True, kw_only=True)
class Page:
    """What was read: paragraphs, their lines joined by line breaks."""

    paragraphs: tuple[str, ...]
    confidence: float  # mean over the words that stayed, weighted by their length; 0 without words


def read_page(table: str, floor: Floor = RUNNING_TEXT) -> Page:
    """Everything that is worth keeping."""
    lines = [line for line in map(tuple, _lines(_words(table))) if _is_believed(line, floor)]
    paragraphs = tuple(
        "\n".join(" ".join(word.text for word in line) for line in paragraph)
        for _, paragraph in groupby(lines, key=lambda line: line[0].key[:2])
    )
    words = [word for line in lines for word in line]
    letters = sum(len(word.text) for word in words)
    confidence = sum(word.confidence * len(word.text) for word in words) / letters if letters else 0.0
    return Page(paragraphs=paragraphs, confidence=confidence)


def _words(table: str) -> Iterator[Word]:
    for row in csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] != WORD_LEVEL or not (row["text"] or "").strip():
            continue
        key = (int(row["block_num"]), int(row["par_num"]), int(row["line_num"]))
        yield Word(text=row["text"].strip(), confidence=float(row["conf"]), key=key)


def _lines(words: Iterable[Word]) -> Iterator[list[Word]]:
    for _, line in groupby(words, key=lambda word: word.key):
        kept = [word for word in line if word.confidence >= WORD_FLOOR]
        if kept:
            yield kept


def _is_believed(line: tuple[Word, ...], floor: Floor) -> bool:
    confidence = fmean(word.confidence for word in line)
    longest = max(sum(map(str.isalnum, word.text)) for word in line)
    if longest < floor.longest_word:
        return False
    if confidence >= CERTAIN:
        return True
    text = "".join(word.text for word in line)
    return confidence >= floor.confidence and sum(map(str.isalnum, text)) >= len(text) * LETTERS_SHARE
