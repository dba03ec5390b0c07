"""The one protocol between us and our child processes: typed records, one line of JSON each.

In: frozen dataclasses. Out: lines, and back. What comes from a process that has met a stranger's file is trusted in
nothing: a field of another type, a missing one or an unknown record raises ValueError, and no code is ever loaded (no
pickle). Long runs of blocks have an encoding of their own (`ingestion.parsers.codec`), for speed.
"""

import json
from dataclasses import asdict, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints, overload

LINE_BYTES = 64 * 1024
"""Of a request; answers may be longer."""

R = TypeVar("R")


def to_line(record: object) -> bytes:
    """`{"record": its class, its fields}` and a line end. Escapes keep lone surrogates, which file names may hold."""
    if not is_dataclass(record) or isinstance(record, type):
        raise TypeError("a record was expected")
    return json.dumps({"record": type(record).__name__, **asdict(record)}, allow_nan=False).encode() + b"\n"


@overload
def from_line(line: bytes, kind: type[R], /) -> R: ...


@overload
def from_line(line: bytes, *kinds: type) -> Any: ...


def from_line(line: bytes, *kinds: type) -> Any:
    """The record, which is of one of these kinds. Raises ValueError."""
    try:
        content = json.loads(line)
        name = content.pop("record")
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("not a record of ours") from error
    for kind in kinds:
        if kind.__name__ == name:
            return _record(kind, content)
    raise ValueError("a record that was not expected")


def _record(kind: type[R], content: object) -> R:
    if not isinstance(content, dict):
        raise ValueError("an object was expected")
    hints = _hints(kind)  # type: ignore[arg-type] # mypy: a type variable's type is not hashable
    if content.keys() != hints.keys():
        raise ValueError(f"not the fields of {kind.__name__}")
    return kind(**{name: _value(hints[name], value) for name, value in content.items()})


@cache
def _hints(kind: type[object]) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(wanted: Any, value: object) -> object:
    origin = get_origin(wanted)
    if origin in (Union, UnionType):
        return _optional(get_args(wanted), value)
    if origin is tuple:
        return _tuple(get_args(wanted), value)
    if is_dataclass(wanted):
        return _record(wanted, value)  # type: ignore[arg-type] # a class, as all hints of ours
    if issubclass(wanted, Enum):
        return wanted(value)
    return _plain(wanted, value)


def _optional(kinds: tuple[Any, ...], value: object) -> object:
    if value is None and NoneType in kinds:
        return None
    (kind,) = (each for each in kinds if each is not NoneType)
    return _value(kind, value)


def _tuple(kinds: tuple[Any, ...], value: object) -> tuple[object, ...]:
    """`tuple[X, ...]`, or one of exactly these types."""
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    if kinds[-1] is Ellipsis:
        return tuple(_value(kinds[0], each) for each in value)
    return tuple(_value(kind, each) for kind, each in zip(kinds, value, strict=True))


def _plain(wanted: type, value: object) -> object:
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < 2**63 else value
    if type(value) is not wanted:
        raise ValueError(f"{wanted.__name__} was expected")
    if wanted is float and not -float("inf") < float(value) < float("inf"):  # type: ignore[arg-type] # it is one
        raise ValueError("a finite number was expected")
    return storable(value) if isinstance(value, str) else value


def storable(text: str) -> str:
    """The text without zero characters and halves of surrogate pairs, which PostgreSQL does not store."""
    return text.replace("\0", "").encode("utf-8", errors="replace").decode()
