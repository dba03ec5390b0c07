"""Which document is called exactly what the question says: «Вектор», not «Вектор-Строй»; «Соколова Анна», not her
namesake.

In: ranked passages, the weights of the question's terms, and how far passages have them from their documents. Out: the
same passages; those lose whose document has a word of the question only in a longer name. The index counts words; that
a name is another's part stands in how the document begins and what it is called. Pure.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from math import log

from domain.ids import ChunkId, DocumentId
from domain.names import LEGAL_FORMS
from rag.records import DocumentMatch, Passage, RankedPassage
from rag.retrieval.alike import opening_of
from rag.retrieval.closeness import LOOKED_INTO, TermsOf
from rag.retrieval.ranking import best_first
from rag.words import stem_of

NAMED = 10  # passages; the names of documents that are not among these decide nothing
# Relative to a score of 1 for the best passage; from .4 on forms gain the same, see benchmarks/README.md.
NAME_WEIGHT = 0.8

# Words with a capital, joined by a hyphen or one space; a number may follow («Лазурит 2»).
_NAME = re.compile(r"[^\W\d_a-zа-яё]\w*(?:[ -](?:[^\W\d_a-zа-яё]\w*|\d+))*")
_WORD = re.compile(r"[^\W_]+")

Name = Sequence[str]  # the stems of its words


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
    return {
        passage.chunk_id: _widened(
            asked, inherited.get(passage.chunk_id) or (), beside.get(passage.document_id, frozenset())
        )
        for passage in (each.passage for each in ranked)
    }


def _widened(asked: Sequence[str], given: Sequence[float], beside: Set[tuple[str, str]]) -> tuple[float, ...]:
    """A number has the share of the one that it is a part of (162 of №162, 2016 of 765/2016). Then from the first term
    to the last, and back: «ООО торговый дом "Вектор"». In either order: "July 9" is "9 July"."""
    if not beside or not given:
        return tuple(given)
    shares, rights = list(given), range(1, len(given))
    places = {term: place for place, term in enumerate(asked)}
    for term, whole in places.items():
        for part in (places[each] for each in _WORD.findall(term) if each != term and each in places):
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
    names = {document: _names(passage, terms_of) for document, passage in documents.items()}
    said = _said(names, frozenset(stems.values()))
    most = {stem: max(each.get(stem, 0.0) for each in said.values()) for stem in stems.values()}

    def lowered(each: RankedPassage) -> RankedPassage:
        known = said.get(each.passage.document_id, {})
        shares = zip(rarities.items(), inherited.get(each.passage.chunk_id) or (), strict=False)
        lost = sum(
            rarity * share * (most[stems[term]] - known.get(stems[term], 0.0)) for (term, rarity), share in shares
        )
        return replace(each, score=each.score - NAME_WEIGHT * lost / whole)

    return [*sorted(map(lowered, looked_into), key=best_first), *ranked[LOOKED_INTO:]]


def is_called(document: DocumentMatch, kind: str, *, terms_of: TermsOf) -> bool:
    """Whether it is a document of that kind («договор поставки»): its name or title says so, or a line of its beginning
    starts so, perhaps behind one word ("MASTER SERVICES AGREEMENT"). One that only speaks of such a document
    («Основание: договор …», «Приложение к договору …») is none."""
    said, length = tuple(terms_of(kind)), len(kind.split())
    begun = (line.split()[: length + 1] for line in document.opening.split("\n"))
    starts = (words for line in begun for words in (line[:length], line[1:] if all(map(str.isalpha, line[:1])) else []))
    return any(tuple(terms_of(" ".join(words))) == said for words in starts) or any(
        said in zip(*(terms[at:] for at in range(len(said))), strict=False)
        for terms in (tuple(terms_of(name)) for name in (document.file_name, document.title))
    )


def _said(
    names: Mapping[DocumentId, Sequence[Name]], asked: frozenset[str]
) -> Mapping[DocumentId, Mapping[str, float]]:
    """For each document the asked words in its names: of the name that is said most, the share that is, or the share of
    a longer name that is said («Вектор» where «Вектор 2» is asked for and there). A word of a name weighs as much as it
    is rare among these documents: «РЕЗЮМЕ» tells nothing."""
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


def _names(passage: Passage, terms_of: TermsOf) -> list[Name]:
    texts = dict.fromkeys((passage.name, passage.title, opening_of(passage)))  # the title is mostly the file's name
    split = (_WORD.findall(name) for text in texts for name in _NAME.findall(text))
    own = ([word for word in words if word.lower() not in LEGAL_FORMS] for words in split)
    return [[stem_of(next(iter(terms_of(word)), word.lower())) for word in words] for words in own if words]
