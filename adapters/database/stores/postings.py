"""The postings of a batch of passages as `put_chunks` takes them: a list for each column, in the order of the index.

In: passages with their terms. Out: JSON values; the numbers as PostgreSQL's arrays, which it reads faster than JSON's.
It knows no document and makes no terms.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, groupby

from domain.locator import JsonValue
from ingestion.records import IndexedChunk

TERM_SEPARATOR = "\n"  # a term is joined of letters, digits and a few signs
LONGEST_TERM_BYTES = 1000  # a longer one is no word, and an index entry holds less than 2,704 bytes
SURELY_SHORTER = LONGEST_TERM_BYTES // 4  # characters, of four bytes at the most
ALIKE_CHARACTERS = 5  # terms that begin so are added up; as in the functions of search

Posting = tuple[int, int, int]
"""Place of its passage in the batch (from 1), how often in the text, how often in what stands above it."""


def postings_json(chunks: Sequence[IndexedChunk]) -> dict[str, JsonValue]:
    """Ordered by term and passage. `around` and `around_titled`: the first of the terms of a passage that begin alike
    has their sums, the others 0; a search that added them up spent a third of its time on it."""
    by_term = _by_term(chunks)
    terms = sorted(by_term)
    postings = [posting for term in terms for posting in by_term[term]]
    around, around_titled = _sums(terms, by_term)
    return {
        "terms": TERM_SEPARATOR.join([term for term in terms for _ in by_term[term]]),
        "places": _array_text([posting[0] for posting in postings]),
        "frequencies": _array_text([posting[1] for posting in postings]),
        "around": _array_text(around),
        "titled": _array_text([posting[2] for posting in postings]),
        "around_titled": _array_text(around_titled),
    }


def _by_term(chunks: Sequence[IndexedChunk]) -> dict[str, list[Posting]]:
    """In the order of passages: there are some three times fewer terms to sort than postings."""
    postings: defaultdict[str, list[Posting]] = defaultdict(list)
    for place, indexed in enumerate(chunks, 1):
        body, above = indexed.terms, indexed.titled
        for term, frequency in body.items():
            postings[term].append((place, frequency, above.get(term, 0)))
        for term, titled in above.items():
            if term not in body:
                postings[term].append((place, 0, titled))
    return {term: those for term, those in postings.items() if _fits(term)}


def _fits(term: str) -> bool:
    return len(term) <= SURELY_SHORTER or len(term.encode(errors="replace")) <= LONGEST_TERM_BYTES


def _sums(terms: Sequence[str], by_term: Mapping[str, Sequence[Posting]]) -> tuple[list[int], list[int]]:
    """Of the frequencies in the text and above it."""
    around: list[int] = []
    around_titled: list[int] = []
    for _, alike in groupby(terms, key=lambda term: term[:ALIKE_CHARACTERS]):
        first: dict[int, int] = {}  # place -> index of its first posting that begins so
        for place, frequency, titled in chain.from_iterable(map(by_term.__getitem__, alike)):
            index = len(around)
            its_first = first.setdefault(place, index)
            if its_first == index:
                around.append(frequency)
                around_titled.append(titled)
            else:
                around[its_first] += frequency
                around_titled[its_first] += titled
                around.append(0)
                around_titled.append(0)
    return around, around_titled


def _array_text(numbers: list[int]) -> str:
    """PostgreSQL skips the blanks that Python's own writing of a list has."""
    return f"{{{str(numbers)[1:-1]}}}"
