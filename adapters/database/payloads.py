"""How our values travel to the database: JSON and vectors as text (PostgREST casts neither from lists).

In: records and plain values; of a batch of passages its postings, lists of packed numbers in the order of the index.
Out: arguments of SQL functions. Text that PostgreSQL cannot store is repaired here, because documents contain anything.
"""

import json
import re
import struct
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from itertools import groupby

import orjson

from adapters.database.transport import Vectors
from domain.locator import JsonValue
from ingestion.records import IndexedChunk

DIMENSIONS = 1024
"""Width of the embedding column; shorter vectors are padded with zeros, which changes no cosine."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # a zero character, half a surrogate
_ESCAPED_ZERO = b"\\u0000"  # as JSON writes it
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
LINE_END = "\n"  # in no term: a term consists of letters, digits and a few signs
LONGEST_TERM_BYTES = 1000  # a longer one is no word
ALIKE_CHARACTERS = 5  # the length of the common prefix over which terms are summed; the same in the SQL of search
Posting = int
"""The seven numbers of a posting packed into one, as `chunk_terms` reads them: from the lowest bit, 7 for its frequency
in the text, 7 for `around`, 7 for its occurrences above the text, 7 for `around_titled`, 12 for the length of the
passage, 15 for `spread`, 8 for the place of the passage in its run, so that lists are in order."""
PASSAGES_A_RUN = 128  # with the longest term they fit an index entry, which holds 2,704 bytes
_AROUND, _TITLED, _AROUND_TITLED, _LENGTH, _SPREAD, _PLACE = 7, 14, 21, 28, 40, 55  # their lowest bits
_MOST, _MOST_LENGTH = 0x7F, 0xFFF  # what fits
# One occurrence of a term that shares its prefix with no other of its passage.
_IN_TEXT = 1 | 1 << _AROUND
_ABOVE_TEXT = 1 << _TITLED | 1 << _AROUND_TITLED
_SUMS = _MOST << _AROUND | _MOST << _AROUND_TITLED


def storable(text: str) -> str:
    """The text with U+FFFD in place of what PostgreSQL refuses."""
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def json_bytes(value: Mapping[str, object] | Sequence[Mapping[str, object]]) -> bytes:
    """The value as JSON in UTF-8 for a function that casts it; all texts in it are made storable."""
    try:
        written = _dumped(value)
    except orjson.JSONEncodeError:  # half a surrogate, or what a model may write: a number of more than 64 bits
        written = json.dumps(_mended(value), ensure_ascii=False, default=str).encode()
    # Repairing each text takes longer than serialising all of them, so only the serialised batch is searched for zeros.
    return _dumped(_mended(value)) if _ESCAPED_ZERO in written else written


def vector_text(vector: Sequence[float]) -> str:
    """The vector as pgvector reads it, padded, in the half precision in which it is stored."""
    return "[" + _numbers_text(vector) + ",0" * (DIMENSIONS - len(vector)) + "]"


def stored_vectors(vectors: Sequence[Sequence[float]]) -> Vectors:
    """The vectors in half precision, each padded."""
    import numpy as np  # a tenth of a second, and not every command stores vectors

    rows = np.zeros((len(vectors), DIMENSIONS), dtype=np.float16)
    for row, vector in zip(rows, vectors, strict=True):
        row[: len(vector)] = np.asarray(vector, dtype=np.float32)
    return Vectors(rows)


def vectors_text(vectors: Vectors) -> str:
    """An array literal of PostgreSQL."""
    return "{" + ",".join(f'"[{_numbers_text(row.tolist())}]"' for row in vectors.rows) + "}"


def _numbers_text(numbers: Sequence[float]) -> str:
    return ",".join(map(_half_text, struct.unpack(f"<{len(numbers)}H", struct.pack(f"<{len(numbers)}e", *numbers))))


@cache  # formatting 1,024 numbers anew took a third of the time that a passage took
def _half_text(bits: int) -> str:
    """Of a number by its bit pattern; five digits tell any two of half precision apart."""
    (number,) = struct.unpack("<e", struct.pack("<H", bits))
    return f"{number:.5g}"


def name_key(name: str) -> str:
    """Equal for names that a person would call the same. Folding can decompose («İ»), hence the second normalisation
    (Unicode 3.13, canonical caseless matching)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _dumped(value: object) -> bytes:
    """In a tenth of the time that Python's own JSON takes."""
    return orjson.dumps(value, default=dict, option=orjson.OPT_NON_STR_KEYS)


def _mended(value: object) -> object:
    if isinstance(value, str):
        return storable(value)
    if is_dataclass(value):
        return _mended(vars(value))
    if isinstance(value, Mapping):
        return {storable(name): _mended(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(part) for part in value]
    return value


def posting_lists(chunks: Sequence[IndexedChunk]) -> list[JsonValue]:
    """The lists of each run: terms in the order of the index, and for each its postings in the order of passages, which
    is that of their document. Of the terms of a passage with a common prefix the first has the sums in `around` and
    `around_titled`, the others 0: a search that added them up spent a third of its time on it. The postings of the
    first passage of a document tell how many passages of the run have the term."""
    return [_run(chunks[begin : begin + PASSAGES_A_RUN]) for begin in range(0, len(chunks), PASSAGES_A_RUN)]


def _run(chunks: Sequence[IndexedChunk]) -> dict[str, JsonValue]:
    by_term = _by_term(chunks)
    terms = sorted([term for term in by_term if len(term.encode(errors="replace")) <= LONGEST_TERM_BYTES])
    lists = [by_term[term] for term in terms]
    if chunks[0].chunk.ordinal == 0:
        for postings in lists:
            if not postings[0] >> _PLACE:
                postings[0] += len(postings) << _SPREAD
    _add_up(terms, lists)
    # PostgreSQL reads arrays as JSON writes them, but for the brackets; Python's `str` takes ten times as long.
    numbers = (
        orjson.dumps(lists).decode()[1:-1].replace("],[", "}" + LINE_END + "{").replace("[", "{").replace("]", "}")
    )
    return {"terms": LINE_END.join(terms), "postings": numbers}


def _by_term(chunks: Sequence[IndexedChunk]) -> Mapping[str, list[Posting]]:
    """Postings by term in the order of passages, with nothing but themselves in their sums yet. Grouping spares
    sorting: there are some three times fewer terms than postings."""
    by_term: defaultdict[str, list[Posting]] = defaultdict(list)
    for place, indexed in enumerate(chunks):
        body = indexed.terms
        none = place << _PLACE | min(indexed.length, _MOST_LENGTH) << _LENGTH
        once = none + _IN_TEXT  # half of the terms occur once: they share one number
        for term, frequency in body.items():
            several = frequency if frequency < _MOST else _MOST
            by_term[term].append(once if frequency == 1 else none + several * _IN_TEXT)
        for term, titled in indexed.titled.items():
            postings = by_term[term]
            above = min(titled, _MOST) * _ABOVE_TEXT
            if term in body:
                postings[-1] += above
            else:
                postings.append(none + above)
    return by_term


def _add_up(terms: Sequence[str], lists: Sequence[list[Posting]]) -> None:
    """Sums the postings of sorted terms with a common prefix, in place."""
    for _, alike in groupby(zip(terms, lists, strict=True), key=lambda each: each[0][:ALIKE_CHARACTERS]):
        first, *others = (postings for _, postings in alike)
        if others:
            _add_up_alike([first, *others])


def _add_up_alike(lists: Sequence[list[Posting]]) -> None:
    first: dict[int, tuple[list[Posting], int]] = {}  # place -> the list with its first posting among these, and where
    for postings in lists:
        for index, later in enumerate(postings):
            holder, at = first.setdefault(later >> _PLACE, (postings, index))
            if holder is postings:
                continue
            held = holder[at]
            around = min((held >> _AROUND & _MOST) + (later >> _AROUND & _MOST), _MOST)
            titled = min((held >> _AROUND_TITLED & _MOST) + (later >> _AROUND_TITLED & _MOST), _MOST)
            holder[at] = held & ~_SUMS | around << _AROUND | titled << _AROUND_TITLED
            postings[index] = later & ~_SUMS
