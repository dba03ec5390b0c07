"""Proximity: how much of the question stands together in one sentence of a passage.

In: ranked passages, best first, and the weights of the question's terms. Out: the same passages with scores raised by
their best sentence. The index counts words wherever they stand; an answer has them close together.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
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
    pattern: re.Pattern[str]
    word: str  # a short one: of what the pattern finds only this or another form of it counts
    terms: tuple[int, ...]  # places in the question


Worths = Sequence[tuple[int, float]]  # bit, and the weight of the term it stands for


def raise_close(
    ranked: Sequence[RankedPassage],
    rarities: Mapping[str, float],
    inherited: Mapping[ChunkId, tuple[float, ...]] | None = None,
    *,
    terms_of: TermsOf = lambda word: (word,),
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
    among, inside = dict[DocumentId, float](), dict[DocumentId, float]()  # the best score of each document
    for each, whole_score, score in zip(looked_into, of_all, of_left, strict=True):
        document = each.passage.document_id
        among[document] = max(whole_score, among.get(document, whole_score))
        inside[document] = max(score, inside.get(document, score))
    raised = [
        replace(each, score=among[each.passage.document_id] - inside[each.passage.document_id] + score)
        for each, score in zip(looked_into, of_left, strict=True)
    ]
    return [*sorted(raised, key=best_first), *ranked[LOOKED_INTO:]]


def _best(sentences: Collection[int], worths: Worths) -> float:
    """What the sentence says that says most."""
    return max((sum(worth for bit, worth in worths if bit & said) for said in sentences), default=0.0)


def _sought(terms: Collection[str]) -> list[_Sought]:
    """A search for words that begin so takes a tenth of the time of analysing each word; forms with another stem («шёл»
    of «идти») are missed. Only for a short word («срок», «день») are the words analysed that begin with its letter. The
    lookbehinds stand behind the letters: `\\bt…` would be tried at every sign."""
    places: dict[tuple[str, str], list[int]] = {}
    for place, term in enumerate(terms):
        words = _WORD.findall(term)
        if not words:
            continue
        first, *others = words
        following, short = "".join(rf"\W+{each}" for each in others) + r"(?!\w)", ""
        if first.isalpha() and not others:
            is_stem = len(first) >= STEM_LETTERS
            following, short = ("", "") if is_stem else (r"[^\W\d_]*", first)
            first = first[:STEM_LETTERS] if is_stem else first[0]
        places.setdefault((rf"{first}(?<!\w{first}){following}", short), []).append(place)
    return [
        _Sought(bit=1 << number, pattern=re.compile(pattern), word=word, terms=tuple(of))
        for number, ((pattern, word), of) in enumerate(places.items())
    ]


def _sentences(text: str, sought: Sequence[_Sought], terms_of: TermsOf) -> set[int]:
    """What each sentence says. Goes from one found word to the next: most sentences hold none and are skipped."""
    lowered = text.lower().replace("ё", "е")
    sentences, sentence_end, said = set[int](), -1, 0
    places = (
        (*found.span(), each.bit)
        for each in sought
        for found in each.pattern.finditer(lowered)
        if not each.word or found[0] == each.word or each.word in terms_of(found[0])
    )
    for begin, end, bit in sorted(places):
        if begin >= sentence_end:
            sentences.add(said)
            said = 0
            following = _SENTENCE_END.search(lowered, begin)
            sentence_end = following.start() if following else len(lowered)
        if end <= sentence_end:
            said |= bit
    return {*sentences, said} - {0}
