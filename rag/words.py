"""Texts and their words, roughly and without a dictionary: normalised, counted, cut into sentences and stems.

In: what a person typed, a document says, or a file gives as a name. Out: the text normalised (seed 4, section 5.1), its
size in a model's context, its sentences with their places, its words cut to stems. Terms of the index are another
matter.
"""

import hashlib
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import TypeVar

from domain.visible import visible

# Upper ends of what GPT-4o's, Qwen's and Llama's tokenizers need for prose; code and numbers fall under "other".
_CHARS_PER_CYRILLIC_TOKEN = 2.5
_CHARS_PER_OTHER_TOKEN = 3.0
# Alphabets and ideographs that these vocabularies cover less well, and emoji: about a token each.
_DEAR = re.compile(r"[\u0530-\u1fff\u2e80-\U0010ffff]+")
_BLANKS = re.compile(r"(?<=\S)[^\S\n]+")
_HEADING = re.compile(r"^([ \t>]*)(#{1,6}[ \t])", re.MULTILINE)
_CYRILLIC, _LATIN = re.compile(r"[Ѐ-ӿ]"), re.compile(r"[A-Za-z]")
_BLANK_LINES = re.compile(r"\n{3,}")
NAME_CHARS = 100  # a channel's title and a signature have no more
STEM_LETTERS = 5  # as in the index; words cut so nearly reach lemmas on Russian (DESIGN section 7)
ROOT_LETTERS = 4  # in a word of four or five letters the last letter is mostly an ending
ALIKE = 0.85  # one letter of five left out or too many
# Words under three letters are mostly prepositions; numbers count at any length.
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]{3,}")
_ANY_WORD = re.compile(r"\w+")
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~]|(?:(?<=^\d)|(?<=^\d\d)|(?<=^\d\d\d))[.)](?=\s)")  # «1. » would be counted
REMEMBERED = 1024  # cached texts: all statements of one part are checked against the same ones
_LINE = re.compile(r"[^\n]+")
Item = TypeVar("Item")
_MAYBE_END = re.compile(r"[^\w\s,:|*#–—-]\s+\S")  # nothing else ends a sentence for razdel inside a line


def estimate_tokens(text: str) -> int:
    """Tokens that `text` takes at most, as a rule; 0 for an empty text."""
    cyrillic, dear = len(_CYRILLIC.findall(text)), sum(map(len, _DEAR.findall(text)))
    others = len(text) - cyrillic - dear
    return round(cyrillic / _CHARS_PER_CYRILLIC_TOKEN + dear + others / _CHARS_PER_OTHER_TOKEN)


def normalise(text: str) -> str:
    """NFC, no invisible characters, single spaces. Line breaks and indents stay: they may belong to code."""
    plain = _BLANKS.sub(" ", visible(unicodedata.normalize("NFC", text.replace("\r\n", "\n"))))
    return _BLANK_LINES.sub("\n\n", plain).strip()


def mostly_cyrillic(text: str) -> bool:
    """Whether more of its letters are Cyrillic than Latin."""
    return len(_CYRILLIC.findall(text)) > len(_LATIN.findall(text))


def digest(*texts: str) -> str:
    """A hash of the texts."""
    return hashlib.sha256("\0".join(texts).encode(errors="replace")).hexdigest()


def fence(word: str, *texts: str) -> str:
    """A tag for a prompt that holds these texts: nobody can have written it into one of them on purpose."""
    return f"{word}-{digest(*texts)[:8]}"


def without_headings(text: str) -> str:
    """A text for a prompt whose lines cannot be taken for headings of the prompt: Markdown's own escape before #."""
    return _HEADING.sub(r"\1\\\2", text)


def escaped(line: str) -> str:
    """A line as plain text in Markdown."""
    return _MARKUP.sub(r"\\\g<0>", line)


def person_name(name: str | None) -> str:
    """The name of a person, a channel or an author; empty without one."""
    return " ".join(visible(name or "").split())[:NAME_CHARS]


@dataclass(frozen=True, kw_only=True)
class Span:
    """A piece of a text by its offsets."""

    start: int
    end: int


def folded(text: str) -> str:
    """In lower case and with е for ё, so that spellings of a word compare equal. Its length may change («ß»)."""
    return text.casefold().replace("ё", "е")


@lru_cache(maxsize=REMEMBERED)
def plain(text: str) -> str:
    """The words in lower case, without punctuation, separated by single blanks."""
    return " ".join(_ANY_WORD.findall(folded(text)))


def stems(text: str) -> frozenset[str]:
    """Words of three letters or more cut to five, and numbers whole; case and ё do not matter."""
    return frozenset(map(stem_of, _WORD.findall(folded(text))))


def stem_of(term: str) -> str:
    """As relatives are found in the index: «аренда» and «арендный» are one."""
    return term[:STEM_LETTERS] if term.isalpha() else term


@dataclass(frozen=True, kw_only=True)
class AskedWords:
    """The words of a question as the search knows them that found the passages."""

    terms_of: Callable[[str], Collection[str]] = stems  # of any text: forms of a word have the same term
    rarities: Mapping[str, float] = field(default_factory=dict)  # of the question's terms: weight (IDF) in the base
    said_by_sum: frozenset[str] = frozenset()  # stems of words that a sum of money answers («стоит»): it says them, too

    def stems(self, text: str) -> frozenset[str]:
        """The stems of a text's terms."""
        return frozenset(map(stem_of, self.terms_of(text)))


def rarity(having: int, of: int) -> float:
    """How much a word tells that so many `of` some texts have (IDF, as in BM25)."""
    return math.log(1 + (of - having + 0.5) / (having + 0.5))


def akin(wanted: Iterable[str], own: frozenset[str]) -> dict[str, frozenset[str]]:
    """Which of a text's `own` stems stand for each of the stems `wanted`: itself, else those with the same ROOT_LETTERS
    («замки», «замками»), else the one that a typo turns into it («плта»). Stems without any are left out."""
    found: dict[str, frozenset[str]] = {}
    for stem in wanted:
        found[stem] = own & {stem}
        if not found[stem] and len(stem) >= ROOT_LETTERS and stem.isalpha():
            same_root = frozenset(each for each in own if each.startswith(stem[:ROOT_LETTERS]))
            found[stem] = same_root or frozenset(get_close_matches(stem, sorted(own), n=1, cutoff=ALIKE))
    return {stem: forms for stem, forms in found.items() if forms}


def sentences(text: str) -> tuple[Span, ...]:
    """In order; a line break always ends one, so that list items stay apart, and a row of a table stays whole."""
    found: list[Span] = []
    for each in _LINE.finditer(text):
        line, offset = each[0], each.start()
        if not line.lstrip().startswith("|") and _MAYBE_END.search(line):
            # importing razdel takes about 50 ms; a turn whose answer needs no quotes never does it
            from razdel import sentenize

            found += [Span(start=offset + it.start, end=offset + it.stop) for it in sentenize(line) if it.text]
        elif line.strip():
            found.append(Span(start=offset + len(line) - len(line.lstrip()), end=offset + len(line.rstrip())))
    return tuple(found)


def share(part: frozenset[str], whole: frozenset[str]) -> float:
    """The share of `part` that is in `whole`, 0 to 1; 0 when `part` is empty."""
    return len(part & whole) / len(part) if part else 0.0


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words of both that are in both, 0 to 1."""
    return len(one & other) / max(len(one | other), 1)


def union(sets: Iterable[frozenset[Item]]) -> frozenset[Item]:
    """All that is in any of the sets."""
    return frozenset().union(*sets)
