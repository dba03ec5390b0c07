"""The postings of a batch of passages as `put_chunks` takes them: a list for each column, in the order of the index.

In: passages with their terms. Out: JSON values; the numbers as PostgreSQL's arrays, which it reads faster than JSON's.
It knows no document and makes no terms.
"""

from collections.abc import Sequence

from domain.locator import JsonValue
from ingestion.records import IndexedChunk

TERM_SEPARATOR = "\n"  # a term is joined of letters, digits and a few signs
LONGEST_TERM_BYTES = 1000  # a longer one is no word, and an index entry holds less than 2,704 bytes
SURELY_SHORTER = LONGEST_TERM_BYTES // 4  # characters, of four bytes at the most
ALIKE_CHARACTERS = 5  # terms that begin so are added up; as in the functions of search

Posting = tuple[str, int, int, int]
"""Term, place of its passage in the batch (from 1), how often in the text, how often in what stands above it."""


def postings_json(chunks: Sequence[IndexedChunk]) -> dict[str, JsonValue]:
    """Ordered by term and passage. `around` and `around_titled`: the first of the terms of a passage that begin alike
    has their sums, the others 0; a search that added them up spent a third of its time on it."""
    postings = sorted(posting for place, indexed in enumerate(chunks, 1) for posting in _postings(place, indexed))
    around, around_titled = _sums(postings)
    return {
        "terms": TERM_SEPARATOR.join([posting[0] for posting in postings]),
        "places": _array_text([posting[1] for posting in postings]),
        "frequencies": _array_text([posting[2] for posting in postings]),
        "around": _array_text(around),
        "titled": _array_text([posting[3] for posting in postings]),
        "around_titled": _array_text(around_titled),
    }


def _postings(place: int, indexed: IndexedChunk) -> list[Posting]:
    body, above = indexed.terms, indexed.titled
    postings = [(term, place, frequency, above.get(term, 0)) for term, frequency in body.items()]
    postings += [(term, place, 0, titled) for term, titled in above.items() if term not in body]
    if max(map(len, [*body, *above]), default=0) <= SURELY_SHORTER:
        return postings
    return [posting for posting in postings if len(posting[0].encode(errors="replace")) <= LONGEST_TERM_BYTES]


def _sums(postings: Sequence[Posting]) -> tuple[list[int], list[int]]:
    """Of the frequencies in the text and above it."""
    around = [posting[2] for posting in postings]
    around_titled = [posting[3] for posting in postings]
    beginning: str | None = None
    first: dict[int, int] = {}  # place -> index of its first posting that begins so
    for index, (term, place, frequency, titled) in enumerate(postings):
        if term[:ALIKE_CHARACTERS] != beginning:
            beginning = term[:ALIKE_CHARACTERS]
            first.clear()
        its_first = first.setdefault(place, index)
        if its_first != index:
            around[its_first] += frequency
            around_titled[its_first] += titled
            around[index] = around_titled[index] = 0
    return around, around_titled


def _array_text(numbers: list[int]) -> str:
    """PostgreSQL skips the blanks that Python's own writing of a list has."""
    return f"{{{str(numbers)[1:-1]}}}"
