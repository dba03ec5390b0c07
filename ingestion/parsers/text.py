"""Reads plain text: paragraphs separated by empty lines.

In: a text file in any of the encodings of `encodings`. Out: a `Document` of paragraphs. Files named like Markdown go to
`markdown`.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from ingestion.parsers.encodings import text_lines
from ingestion.parsers.outline import Outline
from ingestion.records import BlockKind, Document

EMPTY_LINES = re.compile(r"\n\s*\n|\f")
LONG_PARAGRAPH_CHARS = 100_000  # logs and some books have no empty lines: a longer paragraph ends with a sentence
LONGEST_PARAGRAPH_CHARS = 1_000_000  # a still longer one ends with a line
SENTENCE_ENDS = (".", "!", "?", "…", ".»", "!»", "?»", '."', '!"', '?"')


def parse(path: Path, name: str) -> Document:
    """The file's paragraphs."""
    return read_lines(text_lines(path), name=name)


def read_text(text: str, *, name: str) -> Document:
    """The same for text in memory."""
    return read_lines((f"{line}\n" for line in text.split("\n")), name=name)


def read_lines(lines: Iterable[str], *, name: str) -> Document:
    """Line breaks inside a paragraph stay: they may be verses, addresses or an informal table."""
    outline = Outline()
    for paragraph in _paragraphs(lines):
        outline.add(BlockKind.PARAGRAPH, "\n".join(line.rstrip() for line in paragraph.strip().split("\n")))
    return outline.document(name)


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Consecutive paragraphs that concatenate to the text; some are blank."""
    gathered: list[str] = []
    chars = 0
    for part in chain.from_iterable(line.splitlines(keepends=True) if "\f" in line else (line,) for line in lines):
        gathered.append(part)
        chars += len(part)
        is_enough = chars > LONG_PARAGRAPH_CHARS and (
            chars > LONGEST_PARAGRAPH_CHARS or part.rstrip().endswith(SENTENCE_ENDS)
        )
        if part.endswith("\f") or not part.strip() or is_enough:
            yield "".join(gathered)
            gathered, chars = [], 0
    yield "".join(gathered)
