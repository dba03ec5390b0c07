"""Turns the text of a PDF into paragraphs, page by page, and judges whether it is the text that one sees.

In: the lines of each page in order; the characters of a page. Out: paragraphs, and a spool for many of them: only some
hundred pages of a book are held at a time; a verdict, or the same words in their real letters. Running lines and
hyphenated words are looked up in a stretch of pages and both its neighbours, so in the whole document if it has at most
two stretches. Broken fonts yield characters that nobody sees on the page: without the verdict they would be stored, and
the page never recognised by OCR.
"""

import marshal
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from string import punctuation

from ingestion.language import FREQUENT_WORDS
from ingestion.parsers.pdf_layout import HYPHENS, WORD, Paragraph, join_pages
from ingestion.parsers.pdf_lines import PageLine, RunningKey, RunningLines, clean_line, count_edges
from ingestion.spool import Spool, Writing

STRETCH_PAGES = 200  # some 3 MB of lines; three stretches are held

Page = Sequence[PageLine]

FEWEST_CHARS = 20  # a number, a caption or a logo is no evidence
PLAUSIBLE_SHARE = 0.5  # of the characters of all words; never below 0.85 on 197 pages of real files
STRANGE_SHARE = 0.1  # of the characters
LATIN1_SHARE = 0.6  # of the letters; European languages have far fewer: French 0.05, Icelandic 0.1

FEWEST_WORDS, MOST_WORDS = 30, 400  # that are looked at
FEWEST_KNOWN = 5  # different ones
KNOWN_SHARE_OF_TEXT = 0.06  # of words; running text has 0.1 to 0.5
MOST_COMMON = 6  # characters of a page, among which its e, a or o is
COMMON_LETTERS = "eatoеоаи"
KNOWN_WORDS = frozenset(
    word for scripts in FREQUENT_WORDS.values() for words in scripts.values() for word in words if len(word) > 1
)
"""Words of one letter are left out: a moved letter is one easily."""
PUNCTUATION = punctuation + "«»“”„…—–"

LETTERS_OR_DIGITS = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?:[A-Z]?+[a-z]{2,}+|[A-Z]{2,}+)++\d*")  # userName, HTMLParser2
STRANGE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")  # controls, private use, noncharacters
LATIN1_LETTERS = re.compile("[\u00c0-\u00ff\u00a8\u00b8]")
LETTERS = re.compile(r"[^\W\d_]|[\u00a8\u00b8]")


def build_paragraphs(pages: Iterable[Page]) -> Iterator[Paragraph]:
    """Paragraphs in order, as soon as enough of the following pages is known; an empty line ends a paragraph."""
    return join_pages(_readable(pages))


def paragraph_spool() -> Spool[Paragraph]:
    """A spool for single paragraphs; many are compressed in memory."""
    return Spool(None, Writing(write=_write, read=_read))


def _write(paragraphs: Sequence[Paragraph]) -> bytes:
    """Serialise with `marshal`, which is fast, and safe because only this process writes what it reads."""
    return marshal.dumps(
        [(one.text, one.page, one.last_page, one.size, one.bold, one.lines, one.is_table) for one in paragraphs]
    )


def _read(written: bytes) -> list[Paragraph]:
    return [
        Paragraph(text=text, page=page, last_page=last_page, size=size, bold=bold, lines=lines, is_table=is_table)
        for text, page, last_page, size, bold, lines, is_table in marshal.loads(written)  # noqa: S302 - never left this process
    ]


@dataclass(frozen=True, kw_only=True)
class _Stretch:
    """Consecutive pages."""

    first: int  # from 0
    pages: Sequence[Page]

    @cached_property
    def edges(self) -> Counter[RunningKey]:
        return count_edges(self.pages, first=self.first)

    @cached_property
    def is_divided(self) -> bool:
        """Whether any line ends with a hyphen; if none does, `words` is not needed."""
        return any(line.text.endswith(HYPHENS) for page in self.pages for line in page)

    @cached_property
    def words(self) -> frozenset[str]:
        texts = ("\n".join(line.text for line in page) for page in self.pages)
        return frozenset(word.lower() for text in texts for word in WORD.findall(text))


def _readable(pages: Iterable[Page]) -> Iterator[tuple[Page, Collection[str]]]:
    """Cleaned pages, each with the words of the pages around it."""
    running = RunningLines()
    for own, around in _with_neighbours(_stretches(pages)):
        counts = sum((one.edges for one in around), start=Counter[RunningKey]())
        of_pages = sum(len(one.pages) for one in around)
        is_divided = any(one.is_divided for one in around)
        words = frozenset[str]().union(*(one.words for one in around)) if is_divided else frozenset[str]()
        for page in running.drop(own.pages, counts, first=own.first, of_pages=of_pages):
            yield page, words


def _stretches(pages: Iterable[Page]) -> Iterator[_Stretch]:
    cleaned = ([clean_line(line) for line in page] for page in pages)
    first = 0
    while stretch := list(islice(cleaned, STRETCH_PAGES)):
        yield _Stretch(first=first, pages=stretch)
        first += len(stretch)


def _with_neighbours(stretches: Iterable[_Stretch]) -> Iterator[tuple[_Stretch, Sequence[_Stretch]]]:
    """Each stretch with itself and its neighbours before and after."""
    held: list[_Stretch] = []
    for stretch in stretches:
        held.append(stretch)
        if len(held) > 1:
            yield held[-2], held
        del held[:-2]
    if held:
        yield held[-1], held


def is_readable(text: str) -> bool:
    """False when most of it cannot be words: fonts without a Unicode map, boxes, control characters."""
    if STRANGE.search(text):
        characters = "".join(text.split())
        if len(STRANGE.findall(characters)) > len(characters) * STRANGE_SHARE:
            return False
    words = LETTERS_OR_DIGITS.findall(text)
    total = sum(map(len, words))
    if total < FEWEST_CHARS:
        return True
    others = [word for word in words if not word.islower()]  # on most pages the lower-case words suffice
    plausible = total - sum(map(len, others))
    if plausible < total * PLAUSIBLE_SHARE:
        plausible += sum(len(word) for word in others if _is_plausible(word))
    return plausible >= total * PLAUSIBLE_SHARE


def is_shifted(text: str) -> bool:
    """Whether each letter stands for another one so many places further: «)UDQFKLVH» for «Franchise». Fonts without a
    Unicode map yield such text, which looks like words in capitals.

    Two things must come together: hardly any word of a known language as it stands, and many of them at one distance.
    So code, tables and unknown languages are left alone.
    """
    if len(KNOWN_WORDS.intersection(text.lower().split())) >= FEWEST_KNOWN:
        return False  # nearly every page
    words = text.split()[:MOST_WORDS]
    if len(words) < FEWEST_WORDS:
        return False
    sample = " ".join(words)
    letters = {ord(letter) for letter in sample} - {ord(" ")}
    common = [ord(letter) for letter, _ in Counter("".join(words)).most_common(MOST_COMMON)]
    distances = {ord(letter) - code for letter in COMMON_LETTERS for code in common} - {0}
    return any(_is_text(_moved(sample, letters, distance)) for distance in distances)


def _is_text(words: Sequence[str]) -> bool:
    """Whether enough of them are frequent words of some language."""
    known = [word for word in words if word in KNOWN_WORDS]
    return len(known) >= len(words) * KNOWN_SHARE_OF_TEXT and len(set(known)) >= FEWEST_KNOWN


def _moved(text: str, letters: Iterable[int], distance: int) -> Sequence[str]:
    """The words of a text once all of its letters are moved by `distance`; what becomes punctuation parts them."""
    moved = {letter: chr(min(max(letter + distance, 0), 0xFFFF)) for letter in letters}
    return text.translate({letter: " " if to in PUNCTUATION else to for letter, to in moved.items()}).lower().split()


def mend_encoding(text: str) -> str:
    """Turns «Ïðèâåò» into «Привет» (Windows-1251 that a font declares as Latin-1); returns other text unchanged."""
    suspects = len(LATIN1_LETTERS.findall(text))
    if not suspects or suspects < len(LETTERS.findall(text)) * LATIN1_SHARE:
        return text
    return "".join(map(_as_cyrillic, text))


def _is_plausible(word: str) -> bool:
    """Whether a word is in lower case, Capitalised, UPPER CASE or camelCase; glyph codes follow no such rule."""
    if word == word.lower() or word == word.capitalize() or word == word.upper():
        return True
    return CAMEL.fullmatch(word) is not None


def _as_cyrillic(character: str) -> str:
    if "\u0080" <= character <= "\u00ff":
        return character.encode("latin-1").decode("cp1251", errors="replace")
    return character
