"""The lines of a page with their font and place; cleans their text, and judges whether it is what one sees.

In: lines as PDF readers give them; the text of a page. Out: `PageLine`s without invisible characters; a verdict, or the
same words in their real letters: broken fonts yield characters that nobody sees, and such a page is for OCR.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from string import punctuation
from typing import NamedTuple

from ingestion.language import FREQUENT_WORDS

SUBSTITUTES = {
    **dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)),  # ligatures
    0x00: None,
    0xAD: None,  # soft hyphen
    0xFFFE: None,
    **dict(zip((0xF0B7, 0xF0A7, 0xF02D, 0xF0D8, 0xF0FC), "•▪–➢✓", strict=True)),  # of the fonts Symbol and Wingdings
    **dict.fromkeys(range(0xD800, 0xE000)),  # lone surrogates from broken fonts: not text, and not valid in UTF-8
}
SUBSTITUTED = re.compile(f"[{re.escape(''.join(map(chr, SUBSTITUTES)))}]")
FEWEST_LEADERS = 5
LEADERS = re.compile(rf"\s*(?:[.·]\s?){{{FEWEST_LEADERS},}}\s*")  # between a title and its page in a table of contents

FEWEST_CHARS = 20  # a number, a caption or a logo is no evidence
PLAUSIBLE_SHARE = 0.5  # of the characters of all words; never below 0.85 on 197 pages of real files
STRANGE_SHARE = 0.1  # of the characters
STRANGE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")  # controls, private use, noncharacters
LETTERS_OR_DIGITS = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?:[A-Z]?+[a-z]{2,}+|[A-Z]{2,}+)++\d*")  # userName, HTMLParser2

FEWEST_WORDS, MOST_WORDS = 30, 400  # that are looked at
FEWEST_KNOWN = 5  # different ones
KNOWN_SHARE = 0.06  # of words; running text has 0.1 to 0.5
MOST_COMMON = 6  # characters of a page, among which its e, a or o is
KNOWN_WORDS = frozenset(  # without words of one letter: a moved letter is one easily
    word for scripts in FREQUENT_WORDS.values() for words in scripts.values() for word in words.split() if len(word) > 1
)
PUNCTUATION = punctuation + "«»“”„…—–"

LATIN1_SHARE = 0.6  # of the letters; European languages have far fewer: French 0.05, Icelandic 0.1
LATIN1_LETTERS = re.compile("[\u00c0-\u00ff\u00a8\u00b8]")
LETTERS = re.compile(r"[^\W\d_]|[\u00a8\u00b8]")


class Segment(NamedTuple):
    """A part of a line between wide gaps, from `left` to `right`; without text, the place of a column."""

    text: str
    left: float
    right: float

    @property
    def middle(self) -> float:
        """Half-way between."""
        return (self.left + self.right) / 2


class Cell(NamedTuple):
    """A place in a ruled table."""

    grid: int  # number of the table on its page
    row: int
    column: int
    left: float  # its rules, points
    right: float


class PageLine(NamedTuple):
    """A line and its look; measures in points (1/72 inch), 0 where unknown."""

    text: str
    size: float = 0  # of the font
    bold: bool = False
    baseline: float = 0  # above the bottom of the page
    left: float = 0
    right: float = 0
    segments: tuple[Segment, ...] = ()  # only of a line on a page that may have tables
    cell: Cell | None = None  # of a line inside a ruled table

    @property
    def is_placed(self) -> bool:
        """Whether the position is known."""
        return self.right > self.left


def plain_lines(texts: Sequence[str]) -> list[PageLine]:
    """Lines of which only the text is known."""
    return [PageLine(text=text) for text in texts]


def clean_line(line: PageLine) -> PageLine:
    """The line as people would read it; it may become empty."""
    return line if (text := _clean(line.text)) == line.text else _changed(line, text, _clean)


def _changed(line: PageLine, text: str, change: Callable[[str], str]) -> PageLine:
    segments = (each._replace(text=change(each.text)) for each in line.segments)
    return line._replace(text=text, segments=tuple(each for each in segments if each.text))


def _clean(text: str) -> str:
    if SUBSTITUTED.search(text):  # few lines have any, and searching is cheaper than translating
        text = text.translate(SUBSTITUTES)
    if text.count(".") + text.count("·") >= FEWEST_LEADERS:
        text = LEADERS.sub(" … ", text)
    return text.strip()


def is_readable(text: str) -> bool:
    """False when most of it cannot be words: fonts without a Unicode map, boxes, control characters."""
    if STRANGE.search(text):
        characters = "".join(text.split())
        if len(STRANGE.findall(characters)) > len(characters) * STRANGE_SHARE:
            return False
    words = LETTERS_OR_DIGITS.findall(text)
    total = sum(map(len, words))
    plausible = sum(map(len, filter(str.islower, words)))  # on most pages the lower-case words suffice
    if total >= FEWEST_CHARS and plausible < total * PLAUSIBLE_SHARE:
        # Words are in lower case, Capitalised, UPPER CASE or camelCase; glyph codes follow no such rule.
        usual = (
            word for word in words if word in {word.lower(), word.capitalize(), word.upper()} or CAMEL.fullmatch(word)
        )
        plausible = sum(map(len, usual))
    return total < FEWEST_CHARS or plausible >= total * PLAUSIBLE_SHARE


def is_shifted(text: str) -> bool:
    """Whether each letter stands for another one so many places further: «)UDQFKLVH» for «Franchise», from fonts
    without a Unicode map. Hardly any word may be known as it stands, and many at one distance: so code and tables
    are none."""
    if len(KNOWN_WORDS.intersection(text.lower().split())) >= FEWEST_KNOWN:
        return False  # nearly every page
    words = text.split()[:MOST_WORDS]
    if len(words) < FEWEST_WORDS:
        return False
    sample = " ".join(words)
    letters = {ord(letter) for letter in sample} - {ord(" ")}
    common = [ord(letter) for letter, _ in Counter("".join(words)).most_common(MOST_COMMON)]
    for distance in {ord(letter) - code for letter in "eatoеоаи" for code in common} - {0}:
        moved = {letter: chr(min(max(letter + distance, 0), 0xFFFF)) for letter in letters}
        moved = {letter: " " if to in PUNCTUATION else to for letter, to in moved.items()}
        there = sample.translate(moved).lower().split()
        known = [word for word in there if word in KNOWN_WORDS]
        if len(known) >= len(there) * KNOWN_SHARE and len(set(known)) >= FEWEST_KNOWN:
            return True
    return False


def mend_encoding(lines: list[PageLine]) -> list[PageLine]:
    """Turns «Ïðèâåò» into «Привет» (Windows-1251 that a font declares as Latin-1), if a whole page looks like it; a
    line may be a foreign name."""
    text = "\n".join(line.text for line in lines)
    suspects = 0 if text.isascii() else len(LATIN1_LETTERS.findall(text))
    if not suspects or suspects < len(LETTERS.findall(text)) * LATIN1_SHARE:
        return lines
    high = {code: bytes((code,)).decode("cp1251", errors="replace") for code in range(0x80, 0x100)}
    return [_changed(line, line.text.translate(high), lambda part: part.translate(high)) for line in lines]
