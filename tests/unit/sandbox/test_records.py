"""What crosses between us and our child processes; the reading side trusts nothing."""

import json
from dataclasses import dataclass
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.records import from_line, to_line


class Colour(StrEnum):
    """An enumeration."""

    RED = "red"


@dataclass(frozen=True, kw_only=True)
class Inner:
    """A record in a record."""

    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Outer:
    """Every kind of field."""

    text: str
    number: int
    share: float
    is_set: bool
    colour: Colour
    maybe: str | None
    inner: tuple[Inner, ...]
    place: tuple[int, int, str]


RECORD = Outer(
    text="ё\ud800",
    number=2**70,
    share=0.5,
    is_set=True,
    colour=Colour.RED,
    maybe=None,
    inner=(Inner(names=("a", "б")),),
    place=(1, 2, "PER"),
)
FIELDS = json.loads(to_line(RECORD))


def test_a_record_survives_the_way_but_for_what_no_database_stores() -> None:
    read = from_line(to_line(RECORD), Outer)
    assert (read.text, read.number, read.inner, read.place) == ("ё?", 2**70, RECORD.inner, RECORD.place)
    assert (read.share, read.is_set, read.colour, read.maybe) == (0.5, True, Colour.RED, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"record": "Inner"},
        {"record": "Nothing"},
        {"text": 1},
        {"number": 1.5},
        {"number": True},
        {"share": 1e400},
        {"share": "1"},
        {"is_set": 1},
        {"colour": "blue"},
        {"colour": {}},
        {"maybe": []},
        {"inner": [{"names": [1]}]},
        {"inner": {}},
        {"place": [1, 2]},
        {"more": 1},
    ],
    ids=str,
)
def test_another_shape_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of json, of enum or of ours
        from_line(json.dumps(FIELDS | wrong).encode(), Outer)


@given(st.one_of(st.binary(max_size=50), st.sampled_from([b"{}", b"[]", b"1", b'{"record":1}', b"[" * 100_000, b""])))
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of json or of ours
        from_line(line, Outer)
