"""What stands together: how much of the question in one sentence of a passage, and in one name of its document.

In: ranked passages, best first, the weights of the question's terms, and how far passages have them from their
documents. Out: the same passages with scores raised by their best sentence, and lowered where the document has a word
of the question only in a longer name («Вектор-Строй» for «Вектор»). The index counts words wherever they stand. Pure.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, pairwise
from math import log
from operator import or_

from domain.ids import ChunkId, DocumentId
from domain.names import LEGAL_FORMS
from rag.records import Passage, RankedPassage
from rag.retrieval.alike import opening_of
from rag.retrieval.ranking import best_first
from rag.words import STEM_LETTERS, stem_of

# Relative to a score of 1 for the best passage. From .3 to .5 all four corpora gain, see benchmarks/README.md.
SENTENCE_WEIGHT = 0.4
# Inside one document every word counts so much more: where all documents are of one form, the words of a clause are in
# many passages and so worth next to nothing, and one word of the preamble would outweigh them all.
FLOOR = 0.5
LOOKED_INTO = 50  # passages; those ranked lower would not be raised into the best ten
NAMED = 10  # passages; the names of documents that are not among these decide nothing
# Relative to a score of 1 for the best passage; from .4 on forms gain the same, see benchmarks/README.md.
NAME_WEIGHT = 0.8

_SENTENCE_END = re.compile(r"[.!?…\n](?:(?<=\n)|(?=\s))")  # `\n|[.!?…](?=\s)` in two thirds of the time
_WORD = re.compile(r"\w+")
# Words with a capital, joined by a hyphen or one space; a number may follow («Лазурит 2»).
_NAME = re.compile(r"[^\W\d_a-zа-яё]\w*(?:[ -](?:[^\W\d_a-zа-яё]\w*|\d+))*")
_WORD_OF_NAME = re.compile(r"[^\W_]+")

TermsOf = Callable[[str], Collection[str]]
Worths = Sequence[tuple[int, float]]  # bit of a `_Sought`, and the weight of the term it stands for


@dataclass(frozen=True, kw_only=True)
class _Sought:
    """What is searched for in a text: terms of the question that look the same there."""

    bit: int  # in the mask of what a sentence says
    pattern: re.Pattern[str]
    word: str  # a short one: of what the pattern finds only this or another form of it counts
    terms: tuple[int, ...]  # places in the question


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


def widened_to_names(
    ranked: Sequence[RankedPassage],
    asked: Sequence[str],
    inherited: Mapping[ChunkId, tuple[float, ...]],
    *,
    terms_of: TermsOf,
) -> Mapping[ChunkId, tuple[float, ...]]:
    """`inherited` with what stands beside a given term both in the question and in how the document begins: «ООО» of
    «ООО "Вектор"» is of the name, too, and tells no more of the clause. `asked`: the question's terms."""
    given = {passage.document_id: passage for passage in (each.passage for each in ranked[:NAMED])}
    beside = {
        document: frozenset(pairwise(terms_of(opening_of(passage))))
        for document, passage in given.items()
        if any(inherited.get(passage.chunk_id) or ())
    }
    widened = dict[ChunkId, tuple[float, ...]]()
    for passage in (each.passage for each in ranked):
        own, names = inherited.get(passage.chunk_id) or (), beside.get(passage.document_id)
        widened[passage.chunk_id] = _widened(asked, own, names) if own and names else own
    return widened


def _widened(asked: Sequence[str], given: Sequence[float], beside: Set[tuple[str, str]]) -> tuple[float, ...]:
    """A number has the share of the one that it is a part of (162 of №162, 2016 of 765/2016). Then from the first term
    to the last, and back: «ООО торговый дом "Вектор"». In either order: "July 9" is "9 July"."""
    shares, rights = list(given), range(1, len(given))
    places = {term: place for place, term in enumerate(asked)}
    for term, whole in places.items():
        for part in (places[each] for each in _WORD_OF_NAME.findall(term) if each != term and each in places):
            shares[part] = max(shares[part], shares[whole])
    for right in (*rights, *reversed(rights)):
        if {(asked[right - 1], asked[right]), (asked[right], asked[right - 1])} & beside:
            shares[right - 1] = shares[right] = max(shares[right - 1 : right + 1])
    return tuple(shares)


def lower_half_named(
    ranked: Sequence[RankedPassage],
    rarities: Mapping[str, float],
    inherited: Mapping[ChunkId, tuple[float, ...]],
    *,
    terms_of: TermsOf,
) -> list[RankedPassage]:
    """`rarities` and `inherited` as in `raise_close`. A term that a passage has from its document counts in full where
    the question says the whole name in which it stands there, else by its share of that name."""
    looked_into, whole = ranked[:LOOKED_INTO], sum(rarities.values())
    given = [each.passage for each in looked_into if any(inherited.get(each.passage.chunk_id) or ())]
    documents = {passage.document_id: passage for passage in given}
    if len(documents) < 2 or not whole:
        return list(ranked)
    stems = {term: stem_of(term) for term in rarities}
    said = _said(documents, frozenset(stems.values()), terms_of)
    most = {stem: max(each.get(stem, 0.0) for each in said.values()) for stem in stems.values()}

    def lowered(each: RankedPassage) -> RankedPassage:
        known = said.get(each.passage.document_id, {})
        shares = zip(rarities.items(), inherited.get(each.passage.chunk_id) or (), strict=False)
        lost = sum(
            rarity * share * (most[stems[term]] - known.get(stems[term], 0.0)) for (term, rarity), share in shares
        )
        return replace(each, score=each.score - NAME_WEIGHT * lost / whole)

    return [*sorted(map(lowered, looked_into), key=best_first), *ranked[LOOKED_INTO:]]


def _said(
    documents: Mapping[DocumentId, Passage], asked: frozenset[str], terms_of: TermsOf
) -> Mapping[DocumentId, Mapping[str, float]]:
    """For each document the asked words in its names: the share of the name that is said most, or of a longer name that
    is said («Вектор» where «Вектор 2» is asked for). A word weighs as much as it is rare among these documents."""
    names = dict[DocumentId, list[list[str]]]()  # of each name the stems of its words
    for document, passage in documents.items():
        texts = dict.fromkeys((passage.name, passage.title, opening_of(passage)))  # the title is mostly the file's name
        split = (_WORD_OF_NAME.findall(name) for text in texts for name in _NAME.findall(text))
        own = ([word for word in words if word.lower() not in LEGAL_FORMS] for words in split)
        names[document] = [[stem_of(next(iter(terms_of(word)), word.lower())) for word in each] for each in own if each]
    count = Counter(word for each in names.values() for word in {word for name in each for word in name})
    worth = {word: log((len(names) + 1) / (1 if word in asked else times)) for word, times in count.items()}
    whole = {frozenset(name) for each in names.values() for name in each if asked.issuperset(name)}
    said: dict[DocumentId, dict[str, float]] = {}
    for document, each in names.items():
        shares = said[document] = {}
        for name in each:
            held = asked.intersection(name)
            longer = max((each for each in whole if held <= each), key=len, default=held) if held else held
            share = sum(worth[word] for word in held) / sum(worth[word] for word in longer.union(name))
            shares.update({word: max(share, shares.get(word, 0.0)) for word in held})
    return said
