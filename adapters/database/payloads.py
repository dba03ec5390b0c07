"""How our values travel to the database: JSON and vectors as text (PostgREST casts neither from lists).

In: records and plain values. Out: arguments of SQL functions. Text that PostgreSQL cannot store is repaired here,
because documents contain anything.
"""

import json
import re
import struct
import unicodedata
from array import array
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import orjson

from adapters.database.transport import Reals
from domain.locator import JsonValue

DIMENSIONS = 1024
"""Width of the embedding column; shorter vectors are padded with zeros, which changes no cosine."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # a zero character, half a surrogate
_ESCAPED_ZERO = b"\\u0000"  # as JSON writes it
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def storable(text: str) -> str:
    """The text with U+FFFD in place of what PostgreSQL refuses."""
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def json_text(value: Mapping[str, JsonValue] | Sequence[Mapping[str, JsonValue]]) -> str:
    """The value as JSON for a function that casts it; all texts in it are made storable."""
    try:
        written = _dumped(value)
    except orjson.JSONEncodeError:  # half a surrogate, or what a model may write: a number of more than 64 bits
        written = json.dumps(_mended(value), ensure_ascii=False, separators=(",", ":")).encode()
    # Repairing each text takes longer than serialising all of them, so only the serialised batch is searched for zeros.
    return (_dumped(_mended(value)) if _ESCAPED_ZERO in written else written).decode()


def vector_text(vector: Sequence[float]) -> str:
    """The vector as pgvector reads it, padded, in the half precision in which it is stored."""
    return "[" + _numbers_text(vector) + ",0" * (DIMENSIONS - len(vector)) + "]"


def vectors_in_line(vectors: Iterable[Sequence[float]]) -> Reals:
    """The vectors one after the other, each padded."""
    numbers = array("f")
    for vector in vectors:
        numbers.extend(array("f", vector))  # through an array: number by number it would take twice as long
        numbers.frombytes(bytes((DIMENSIONS - len(vector)) * numbers.itemsize))
    return Reals(numbers)


def reals_text(reals: Reals) -> str:
    """An array literal of PostgreSQL, in half precision, since only vectors are sent this way."""
    return "{" + _numbers_text(reals.numbers) + "}"


def _numbers_text(numbers: Sequence[float]) -> str:
    halves = struct.unpack(f"<{len(numbers)}H", struct.pack(f"<{len(numbers)}e", *numbers))
    return ",".join(map(_HALF_TEXT.__getitem__, halves))


class _HalfTexts(dict[int, str]):
    """The text of each half-precision number by its bit pattern, made on first use: formatting 1,024 numbers anew took
    a third of the time that a passage took. Five digits tell any two of them apart."""

    def __missing__(self, bits: int) -> str:
        (number,) = struct.unpack("<e", struct.pack("<H", bits))
        text = self[bits] = f"{number:.5g}"
        return text


_HALF_TEXT = _HalfTexts()


def name_key(name: str) -> str:
    """Equal for names that a person would call the same: composed or not, in large letters or small.

    Folding can decompose («İ»), hence the second normalisation (Unicode 3.13, canonical caseless matching).
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def iso(moment: datetime | None) -> str | None:
    """The moment as JSON carries it."""
    return moment.isoformat() if moment else None


def _dumped(value: object) -> bytes:
    """In a tenth of the time that Python's own JSON takes."""
    return orjson.dumps(value, default=dict, option=orjson.OPT_NON_STR_KEYS)


def _mended(value: object) -> object:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(name): _mended(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(part) for part in value]
    return value
