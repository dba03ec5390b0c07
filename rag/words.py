"""Compares texts by their words, roughly and without a dictionary.

In: text. Out: its sentences with their places, and its words cut to stems. It is not the lexical index (that is
`TermAnalyzer`): it only tells which sentence of a passage an answer or a question is about.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

STEM_LETTERS = 5  # words cut to five letters nearly reach lemmas on Russian (DESIGN section 7)
ROOT_LETTERS = 4  # in a word of four or five letters the last letter is mostly an ending
ALIKE = 0.85  # one letter of five left out or too many
# Words under three letters are mostly prepositions; numbers count at any length.
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]{3,}")
_LINE = re.compile(r"[^\n]+")
_MAYBE_END = re.compile(r"[^\w\s,:|*#–—-]\s+\S")  # nothing else ends a sentence for razdel inside a line


@dataclass(frozen=True, kw_only=True)
class Span:
    """A piece of a text by its offsets."""

    start: int
    end: int


def folded(text: str) -> str:
    """In lower case and with е for ё, so that spellings of a word compare equal. Its length may change («ß»)."""
    return text.casefold().replace("ё", "е")


def stems(text: str) -> frozenset[str]:
    """Words of three letters or more cut to five, and numbers whole; case and ё do not matter."""
    words = _WORD.findall(folded(text))
    return frozenset(word if word[0].isdigit() else word[:STEM_LETTERS] for word in words)


def held(wanted: Iterable[str], text: str) -> frozenset[str]:
    """Those of the stems `wanted` that are among `stems(text)`, without tokenising the whole text."""
    plain = folded(text)
    return frozenset(stem for stem in wanted if stem in plain and _stands(stem, plain))


def akin(wanted: frozenset[str], text: str) -> dict[str, frozenset[str]]:
    """What stands in the text for each of the stems `wanted`: the stem itself; where it is not there, the stems with
    the same first ROOT_LETTERS letters («замки» was asked, «замками» is there); else the one that a typo turns into it
    («плта»). Stems for which nothing stands are left out."""
    exact, own = held(wanted, text), stems(text)
    found = {stem: frozenset((stem,)) if stem in exact else _alike(stem, own) for stem in wanted}
    return {stem: forms for stem, forms in found.items() if forms}


def _alike(stem: str, own: frozenset[str]) -> frozenset[str]:
    if len(stem) < ROOT_LETTERS or not stem.isalpha():
        return frozenset()
    same_root = frozenset(each for each in own if each.startswith(stem[:ROOT_LETTERS]))
    return same_root or frozenset(get_close_matches(stem, sorted(own), n=1, cutoff=ALIKE))


def covered(wanted: frozenset[str], texts: Iterable[str]) -> float:
    """The share of the stems `wanted` that any of the texts holds, 0 to 1. Reading stops once all are found."""
    missing = wanted
    for text in texts:
        if not missing:
            break
        missing -= held(missing, text)
    return share(wanted, wanted - missing)


def _stands(stem: str, plain: str) -> bool:
    if stem[0].isdigit():
        return stem in _WORD.findall(plain)
    at = plain.find(stem)
    while at >= 0:
        end = at + len(stem)
        begins = not _is_letter(plain[at - 1 : at])
        if begins and (len(stem) == STEM_LETTERS or not _is_letter(plain[end : end + 1])):
            return True
        at = plain.find(stem, at + 1)
    return False


def _is_letter(sign: str) -> bool:
    return sign.isalnum() and not sign.isdecimal()  # as in `_WORD`; the empty string is no letter


def sentences(text: str) -> tuple[Span, ...]:
    """Sentences in order; a line break always ends one, so that list items and table rows stay apart."""
    return tuple(span for line in _LINE.finditer(text) for span in _sentences_of_line(line[0], line.start()))


def share(part: frozenset[str], whole: frozenset[str]) -> float:
    """The share of `part` that is in `whole`, 0 to 1; 0 when `part` is empty."""
    return len(part & whole) / len(part) if part else 0.0


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """All words of all sets."""
    return frozenset().union(*sets)


def _sentences_of_line(line: str, offset: int) -> list[Span]:
    if not _MAYBE_END.search(line):
        begin = len(line) - len(line.lstrip())
        return [Span(start=offset + begin, end=offset + len(line.rstrip()))] if line.strip() else []
    # importing razdel takes about 50 ms; a turn whose answer needs no quotes never does it
    from razdel import sentenize

    return [Span(start=offset + piece.start, end=offset + piece.stop) for piece in sentenize(line) if piece.text]
