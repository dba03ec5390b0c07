"""Proximity: how much of the question stands together in one sentence of a passage.

In: ranked passages, best first, and the weights of the question's terms. Out: the same passages with scores raised by
their best sentence. The index counts words wherever they stand; an answer has them close together.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import chain
from operator import or_

from domain.ids import ChunkId, DocumentId
from rag.records import RankedPassage
from rag.retrieval.ranking import best_first
from rag.words import STEM_LETTERS

# Relative to a score of 1 for the best passage. From .3 to .5 all four corpora gain, see benchmarks/README.md.
SENTENCE_WEIGHT = 0.4
# Inside one document every word counts so much more: where all documents are of one form, the words of a clause are in
# many passages and so worth next to nothing, and one word of the preamble would outweigh them all.
FLOOR = 0.5
LOOKED_INTO = 50  # passages; those ranked lower would not be raised into the best ten

_SENTENCE_END = re.compile(r"[.!?…\n](?:(?<=\n)|(?=\s))")  # `\n|[.!?…](?=\s)` in two thirds of the time
_WORD = re.compile(r"\w+")

TermsOf = Callable[[str], Collection[str]]


@dataclass(frozen=True, kw_only=True)
class _Sought:
    """What is searched for in a text: terms of the question that look the same there."""

    bit: int  # in the mask of what a sentence says
    words: tuple[str, ...]  # consecutive words, whatever signs stand between them
    is_stem: bool  # a word of the text need only begin with it
    terms: tuple[int, ...]  # places in the question


Worths = Sequence[tuple[int, float]]  # bit, and the weight of the term it stands for


def _as_typed(word: str) -> Collection[str]:
    """The default analyzer: a word is its own term."""
    return (word,)


def raise_close(
    ranked: Sequence[RankedPassage],
    rarities: Mapping[str, float],
    inherited: Mapping[ChunkId, tuple[float, ...]] | None = None,
    *,
    terms_of: TermsOf = _as_typed,
    weight: float = SENTENCE_WEIGHT,
) -> list[RankedPassage]:
    """`rarities`: term of the question -> its weight in the base. `inherited`: for some passages the share of each
    term's weight, in that order, that their document has given them; no sentence counts for it. `terms_of` a word tells
    short words in other forms. Returns the passages in the new order.

    Documents compare by what a sentence holds of the whole question; passages of one document by what it holds of the
    words that the document has not given and any passage says, since these alone tell the clauses of a contract apart.
    """
    sought, looked_into, weights = _sought(rarities), ranked[:LOOKED_INTO], tuple(rarities.values())
    whole = sum(max(weights[term] for term in each.terms) for each in sought)
    if not whole:
        return list(ranked)
    sentences = [_sentences(each.passage.text, sought, terms_of) for each in looked_into]
    said = reduce(or_, chain.from_iterable(sentences), 0)

    @cache
    def worths(given: tuple[float, ...], floor: float) -> Worths:
        shares = given or (0.0,) * len(weights)
        left = [(rarity + floor) * (1 - share) for rarity, share in zip(weights, shares, strict=True)]
        return [(each.bit, max(left[term] for term in each.terms)) for each in sought if each.bit & said]

    of_all, of_left = list[float](), list[float]()
    for each, masks in zip(looked_into, sentences, strict=True):
        given = (inherited or {}).get(each.passage.chunk_id, ())
        left = worths(given, FLOOR)
        of_all.append(each.score + weight * _best(masks, worths(given, 0.0)) / whole)
        of_left.append(each.score + weight * _best(masks, left) / max(sum(worth for _, worth in left), FLOOR))
    among, inside = _highest(looked_into, of_all), _highest(looked_into, of_left)
    raised = [
        RankedPassage(
            passage=each.passage, score=among[each.passage.document_id] - inside[each.passage.document_id] + score
        )
        for each, score in zip(looked_into, of_left, strict=True)
    ]
    return [*sorted(raised, key=best_first), *ranked[LOOKED_INTO:]]


def _best(sentences: Collection[int], worths: Worths) -> float:
    """What the sentence says that says most."""
    return max((sum(worth for bit, worth in worths if bit & said) for said in sentences), default=0.0)


def _highest(ranked: Sequence[RankedPassage], scores: Sequence[float]) -> Mapping[DocumentId, float]:
    """The best score of each document."""
    highest: dict[DocumentId, float] = {}
    for each, score in zip(ranked, scores, strict=True):
        document = each.passage.document_id
        highest[document] = max(score, highest.get(document, score))
    return highest


def _sought(terms: Collection[str]) -> list[_Sought]:
    """A search for substrings takes a tenth of the time of analysing each word; forms with another stem («шёл» of
    «идти») are missed. Only for a short word («срок», «день») are the words analysed that begin with its letter.
    """
    places: dict[tuple[tuple[str, ...], bool], list[int]] = {}
    for place, term in enumerate(terms):
        words = tuple(_WORD.findall(term))
        is_stem = len(words) == 1 and words[0].isalpha() and len(words[0]) >= STEM_LETTERS
        kept = (words[0][:STEM_LETTERS],) if is_stem else words
        places.setdefault((kept, is_stem), []).append(place)
    return [
        _Sought(bit=1 << number, words=words, is_stem=is_stem, terms=tuple(of))
        for number, ((words, is_stem), of) in enumerate(places.items())
        if words
    ]


def _sentences(text: str, sought: Sequence[_Sought], terms_of: TermsOf) -> set[int]:
    """What each sentence says. Goes from one found word to the next: most sentences hold none and are skipped."""
    lowered = text.lower().replace("ё", "е")
    sentences, sentence_end, said = set[int](), -1, 0
    for begin, end, bit in sorted(place for each in sought for place in _places(lowered, each, terms_of)):
        if begin >= sentence_end:
            sentences.add(said)
            said = 0
            following = _SENTENCE_END.search(lowered, begin)
            sentence_end = following.start() if following else len(lowered)
        if end <= sentence_end:
            said |= bit
    return {*sentences, said} - {0}


def _places(text: str, sought: _Sought, terms_of: TermsOf) -> list[tuple[int, int, int]]:
    """Where the term stands: start, end (exclusive), and the term's bit."""
    first, places = sought.words[0], []
    if not sought.is_stem and len(sought.words) == 1 and first.isalpha():
        words = _beginning_with(first[0]).finditer(text)
        return [(*word.span(), sought.bit) for word in words if word[0] == first or first in terms_of(word[0])]
    at = text.find(first)
    while at >= 0:
        if not (at and _is_of_word(text[at - 1])):
            end = at + len(first) if sought.is_stem else _end_of(sought.words, text, at)
            if end:
                places.append((at, end, sought.bit))
        at = text.find(first, at + 1)
    return places


@cache
def _beginning_with(letter: str) -> re.Pattern[str]:
    return re.compile(rf"{letter}(?<!\w{letter})[^\W\d_]*")  # `\bt…` would be tried at every sign


def _end_of(words: Sequence[str], text: str, at: int) -> int:
    """End of the words that begin at `at`; 0 where the text has other words there."""
    for number, word in enumerate(words):
        if number:
            following = _WORD.search(text, at)
            at = following.start() if following else len(text)
        if not text.startswith(word, at):
            return 0
        at += len(word)
        if at < len(text) and _is_of_word(text[at]):
            return 0
    return at


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"  # as in `\w`
