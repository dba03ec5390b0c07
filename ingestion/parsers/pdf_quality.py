"""Judges whether a page's characters are the text that one sees, and repairs the one kind of garbage that can be
repaired.

In: the characters of a page. Out: a verdict, or the same words in their real letters. Broken fonts yield characters
that nobody sees on the page: without the verdict they would be stored, and the page never recognised by OCR.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from string import punctuation

from ingestion.language import FREQUENT_WORDS

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

WORD = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?:[A-Z]?+[a-z]{2,}+|[A-Z]{2,}+)++\d*")  # userName, HTMLParser2
STRANGE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")  # controls, private use, noncharacters
LATIN1_LETTERS = re.compile("[\u00c0-\u00ff\u00a8\u00b8]")
LETTERS = re.compile(r"[^\W\d_]|[\u00a8\u00b8]")


def is_readable(text: str) -> bool:
    """False when most of it cannot be words: fonts without a Unicode map, boxes, control characters."""
    if STRANGE.search(text):
        characters = "".join(text.split())
        if len(STRANGE.findall(characters)) > len(characters) * STRANGE_SHARE:
            return False
    words = WORD.findall(text)
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
