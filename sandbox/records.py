"""The one protocol between us and our child processes: typed records, one line of JSON each.

In: frozen dataclasses. Out: lines, and back. What comes from a process that has met a stranger's file is trusted in
nothing: another shape raises ValueError, and no code is ever loaded (no pickle).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints, overload

import orjson

LINE_BYTES = 64 * 1024
"""Of a request; answers may be longer."""

R = TypeVar("R")


def to_line(record: object) -> bytes:
    """`{"record": its class, its fields}` and a line end. Escapes keep lone surrogates, which file names may hold."""
    if not is_dataclass(record) or isinstance(record, type):
        raise TypeError("a record was expected")
    fields = {"record": type(record).__name__, **asdict(record)}
    return json.dumps(fields, allow_nan=False, default=datetime.isoformat).encode() + b"\n"


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
    return _value(kind, content)


@cache
def _hints(kind: type[object]) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(wanted: Any, value: Any) -> Any:
    """`value` as what the hint of its field wants: `X | None`, a tuple or sequence, a record, a plain value."""
    origin, kinds = get_origin(wanted), get_args(wanted)
    if origin in (Union, UnionType):
        (wanted,) = (each for each in kinds if each is not NoneType)
        return None if value is None else _value(wanted, value)
    if origin in (tuple, Sequence) and isinstance(value, list):
        kinds = kinds[:1] * len(value) if origin is Sequence or kinds[-1] is Ellipsis else kinds
        return tuple(_value(kind, each) for kind, each in zip(kinds, value, strict=True))
    if is_dataclass(wanted) and isinstance(value, dict):
        hints = _hints(wanted)  # type: ignore[arg-type] # a class, as all hints of ours
        if value.keys() != hints.keys():
            raise ValueError(f"not the fields of {wanted}")
        return wanted(**{name: _value(hints[name], each) for name, each in value.items()})  # type: ignore[operator]
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return wanted(value)
    return _plain(wanted, value)


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
