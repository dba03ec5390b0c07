"""The one protocol between us and our child processes: typed records, one line of JSON each.

In: frozen dataclasses. Out: lines, and back. What comes from a process that has met a stranger's file is trusted in
nothing: another shape raises ValueError, and no code is ever loaded (no pickle).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache, partial
from math import isfinite
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints, overload

import orjson

LINE_BYTES = 64 * 1024
"""Of a request; answers may be longer."""

R = TypeVar("R")


def to_line(record: object) -> bytes:
    """`{"record": its class, its fields}` and a line end. Escapes keep lone surrogates, which file names may hold."""
    return _JSON.encode({"record": type(record).__name__, **_told(record)}).encode() + b"\n"


def _told(record: object) -> Any:
    """A record, or a moment in one, as what JSON knows."""
    if isinstance(record, datetime):
        return record.isoformat()
    if not is_dataclass(record) or isinstance(record, type):
        raise TypeError("a record was expected")
    return {field.name: getattr(record, field.name) for field in fields(record)}


_JSON = json.JSONEncoder(allow_nan=False, default=_told)


def array_line(rows: Sequence[Any]) -> bytes:
    """A line of plain JSON values, for what comes in thousands; halves of surrogate pairs become «?»."""
    try:
        return orjson.dumps(rows, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # such a half
        return json.dumps(rows, ensure_ascii=False).encode(errors="replace") + b"\n"


@overload
def from_line(line: bytes, kind: type[R], /) -> R: ...
@overload
def from_line(line: bytes, *kinds: type) -> Any: ...


def from_line(line: bytes, *kinds: type) -> Any:
    """The record, which is of one of these kinds. Raises ValueError."""
    try:
        content = json.loads(line)
        kind = {kind.__name__: kind for kind in kinds}[content.pop("record")]
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("not a record that was expected") from error
    return _reading(kind)(content)


@cache
def _reading(wanted: Any) -> Callable[[Any], Any]:
    """What turns a value into what the hint of its field wants: `X | None`, a tuple or sequence, a record, a plain
    value. It raises ValueError."""
    origin, kinds = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        (stated,) = (_reading(each) for each in kinds if each is not NoneType)
        return lambda value: None if value is None else stated(value)
    if origin is Sequence or kinds[-1:] == (Ellipsis,):
        one = _reading(kinds[0])
        return lambda values: tuple(map(one, _plain(list, values)))
    if origin is tuple:
        ones = tuple(map(_reading, kinds))
        return lambda values: tuple(read(each) for read, each in zip(ones, _plain(list, values), strict=True))
    if isinstance(wanted, type) and is_dataclass(wanted):
        readings = {name: _reading(hint) for name, hint in get_type_hints(wanted).items()}

        def record(value: Any) -> Any:
            if _plain(dict, value).keys() != readings.keys():
                raise ValueError(f"not the fields of {wanted}")
            return wanted(**{name: read(value[name]) for name, read in readings.items()})

        return record
    return wanted if isinstance(wanted, type) and issubclass(wanted, Enum) else partial(_plain, wanted)


def _plain(wanted: Any, value: Any) -> Any:
    if wanted is float and type(value) is int and abs(value) < 2**63:
        value = float(value)
    if wanted is datetime and type(value) is str:
        return datetime.fromisoformat(value)
    if type(value) is not wanted or (wanted is float and not isfinite(value)):
        raise ValueError(f"{wanted} was expected")
    return storable(value) if wanted is str else value


def storable(text: str) -> str:
    """The text without zero characters and halves of surrogate pairs, which PostgreSQL does not store."""
    return text.replace("\0", "").encode("utf-8", errors="replace").decode()
