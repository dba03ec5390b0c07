"""Compares two versions of a document by their blocks.

In: the blocks of both versions. Out: headings that were added and removed, words that were replaced, with their place,
and how many other blocks changed. Pure; it compares words, not meanings.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from operator import itemgetter

from ingestion.records import Block, BlockKind

ALIKE = 0.6  # share of equal words: below it one paragraph went and another came
EDITED_WORDS = 8  # of one replacement; a longer one is read in the document
COMPARED = 200  # paragraphs of a side; in a text that is new all over nothing can be named
COMPARED_CHARS = 50_000  # of both sides: each paragraph is compared with each, word by word

_CLAUSE = re.compile(r"(?:п\.\s*)?(\d+(?:\.\d+)+)\.?\s")
_WORD = re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d])\S*|\S+")  # «100 000» is one
_NUMBER = re.compile(r"[\d\s\u00a0\u202f.,%]+")


@dataclass(frozen=True, kw_only=True)
class Edit:
    """Words of one paragraph or row that were replaced. The place is a clause, else a row, else a section."""

    before: str
    after: str
    clause: str = ""  # 3.2
    row: str = ""  # its first cell
    section: str = ""  # the heading above


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What is different; empty when only the layout is, or nothing can be named."""

    added: tuple[str, ...] = ()  # headings, in order
    removed: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    paragraphs: int = 0  # with other new words: the larger of those that came and those that went


@dataclass(frozen=True, kw_only=True)
class _Unit:
    """A paragraph, or a row of a table."""

    text: str
    words: list[str]
    section: str


def compare(before: Sequence[Block], after: Sequence[Block]) -> Changes:
    """Two paragraphs are equal when their words are, wherever they stand."""
    old_headings, new_headings = (
        {_plain(block.text): block.text for block in blocks if block.kind is BlockKind.HEADING}
        for blocks in (before, after)
    )
    old, new = _units(before), _units(after)
    went = [unit for key, unit in old.items() if key not in new]
    came = [unit for key, unit in new.items() if key not in old]
    edits, edited = [], 0
    is_short = sum(len(unit.text) for unit in (*came, *went)) <= COMPARED_CHARS
    for unit in came if is_short and max(len(came), len(went)) <= COMPARED else ():
        alike = [(SequenceMatcher(None, each.words, unit.words, autojunk=False).ratio(), each) for each in went]
        share, nearest = max(alike, key=itemgetter(0), default=(0, unit))
        if share >= ALIKE and (found := list(_edits(nearest, unit))):
            went.remove(nearest)
            edits += found
            edited += 1
    return Changes(
        added=tuple(heading for key, heading in new_headings.items() if key not in old_headings),
        removed=tuple(heading for key, heading in old_headings.items() if key not in new_headings),
        edits=tuple(edits),
        paragraphs=max(len(came) - edited, len(went)),
    )


def _edits(before: _Unit, after: _Unit) -> Iterator[Edit]:
    """The replaced words, each with the unit that follows a number; none where something else than words was replaced,
    or too many of them."""
    old, new = before.words, after.words
    changed = [code for code in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if code[0] != "equal"]
    if any(code[0] != "replace" or max(code[2] - code[1], code[4] - code[3]) > EDITED_WORDS for code in changed):
        return
    clause = _CLAUSE.match(after.text)
    is_row = after.text.startswith("|")
    for _, start, end, new_start, new_end in changed:
        following = old[end] if end < len(old) else "1"
        with_unit = int(bool(_NUMBER.fullmatch(new[new_end - 1])) and not _NUMBER.fullmatch(following))
        yield Edit(
            before=" ".join(old[start : end + with_unit]).rstrip(".,;"),
            after=" ".join(new[new_start : new_end + with_unit]).rstrip(".,;"),
            clause=clause[1] if clause else "",
            row=after.text.strip("| ").split("|")[0].strip() if is_row else "",
            section=after.section,
        )


def _units(blocks: Sequence[Block]) -> dict[str, _Unit]:
    units: dict[str, _Unit] = {}
    section = ""
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            section = block.text
            continue
        texts = block.text.splitlines() if block.kind is BlockKind.TABLE else [block.text]
        for text in filter(str.strip, texts):
            words = [word for word in _WORD.findall(text) if word != "|"]
            units[_plain(text)] = _Unit(text=text.strip(), words=words, section=section)
    return units


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
