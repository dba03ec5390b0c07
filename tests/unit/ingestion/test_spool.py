"""Long sequences in a file, short ones in memory; both read alike."""

import gc
import json
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.spool import HELD_BYTES, HELD_UNPRESSED_BYTES, NamelessFile, Spool, Spooled, Writing, in_portions, joined

SIZES = st.lists(st.integers(0, 12))


def _write(words: Sequence[str]) -> bytes:
    return json.dumps(list(words)).encode()


def _read(written: bytes) -> list[str]:
    return [str(word) for word in json.loads(written)]


WRITING = Writing(write=_write, read=_read, size=lambda word: 200 * len(word))
WORDS = [str(number) for number in range(10)]


def _add(spool: Spool[str], words: Sequence[str], *, bytes_more: int = 0) -> None:
    spool.add(words, _write(words) + b" " * bytes_more)


def _spooled(folder: Path, words: Sequence[str] = WORDS) -> Sequence[str]:
    """Too long for the memory; in batches of three."""
    spool = Spool(folder, WRITING)
    for first in range(0, len(words), 3):
        _add(spool, words[first : first + 3], bytes_more=HELD_BYTES)
    return spool.finish()


def test_what_is_short_stays_in_memory(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "none", WRITING)
    _add(spool, ["a"])
    _add(spool, ["b", "c"])
    assert spool.finish() == ("a", "b", "c")
    assert not (tmp_path / "none").exists()


def test_what_is_long_is_read_again_and_again(tmp_path: Path) -> None:
    words = _spooled(tmp_path / "made")
    assert isinstance(words, Spooled)
    assert [list(words), list(words), len(words)] == [WORDS, WORDS, 10]


def test_what_was_held_before_the_file_comes_first(tmp_path: Path) -> None:
    spool = Spool(tmp_path, WRITING)
    _add(spool, ["a"])
    _add(spool, ["b"], bytes_more=HELD_BYTES)
    _add(spool, ["c"])
    assert list(spool.finish()) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "place", [slice(2, 7), slice(None), slice(8, 20), slice(-2, None), slice(3, 3), slice(9, 2, -2)]
)
def test_a_stretch_of_it_is_that_of_a_list(tmp_path: Path, place: slice) -> None:
    assert list(_spooled(tmp_path)[place]) == WORDS[place]


def test_without_a_folder_what_is_long_is_compressed() -> None:
    words = [f"{number} and more of it" for number in range(HELD_UNPRESSED_BYTES // 1000)]
    spool: Spool[str] = Spool(None, WRITING)
    for word in words:
        spool.append(word)
    pressed = spool.finish()
    assert isinstance(pressed, Spooled)
    assert (list(pressed), pressed[-1]) == (words, words[-1])
    assert sum(map(len, pressed.written())) > sum(map(len, words))  # as they were written


def test_records_one_by_one_and_in_batches_keep_their_order() -> None:
    spool: Spool[str] = Spool(None, WRITING)
    spool.append("a")
    _add(spool, ["b", "c"])
    spool.append("d")
    assert spool.finish() == ("a", "b", "c", "d")


@pytest.mark.parametrize("place", [0, 2, 3, 9, -1, -10])
def test_one_of_it_is_that_of_a_list(tmp_path: Path, place: int) -> None:
    assert _spooled(tmp_path)[place] == WORDS[place]
    assert joined(("x",), _spooled(tmp_path))[place] == ["x", *WORDS][place]


def test_nothing_lies_in_the_folder(tmp_path: Path) -> None:
    words = _spooled(tmp_path)
    assert (list(tmp_path.iterdir()), len(words)) == ([], 10)


def test_its_file_is_closed_when_nobody_needs_it(tmp_path: Path) -> None:
    gc.collect()  # what tests before this one have left open
    before = len(os.listdir("/proc/self/fd"))
    words = _spooled(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    del words
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_full_disk_is_an_error() -> None:
    with open("/dev/full", "wb") as full:
        words = Spooled(NamelessFile(os.dup(full.fileno())), WRITING)
        with pytest.raises(OSError, match="space"):
            words.append(["a"], _write(["a"]))


def test_tuples_are_joined_to_a_tuple() -> None:
    assert joined(("a",), (), ("b",)) == ("a", "b")


def test_what_is_joined_with_nothing_is_itself(tmp_path: Path) -> None:
    words = _spooled(tmp_path)
    assert joined((), words) is words


def test_long_parts_follow_each_other(tmp_path: Path) -> None:
    words = joined(("x",), _spooled(tmp_path), ("y",))
    assert [list(words), len(words)] == [["x", *WORDS, "y"], 12]
    assert list(words[9:]) == ["8", "9", "y"]


def portions_of(sizes: list[int], limit: int = 10) -> list[list[int]]:
    return list(in_portions(sizes, lambda size: size, limit=limit))


@given(sizes=SIZES)
def test_nothing_is_lost_and_the_order_stays(sizes: list[int]) -> None:
    assert [size for portion in portions_of(sizes) for size in portion] == sizes


@given(sizes=SIZES)
def test_a_portion_is_within_the_limit_unless_it_is_a_single_thing(sizes: list[int]) -> None:
    assert all(portion and (sum(portion) <= 10 or len(portion) == 1) for portion in portions_of(sizes))


@given(sizes=SIZES)
def test_no_portion_would_have_had_room_for_what_follows(sizes: list[int]) -> None:
    portions = portions_of(sizes)
    assert all(sum(portion) + following[0] > 10 for portion, following in pairwise(portions))


def test_nothing_makes_no_portion() -> None:
    assert portions_of([]) == []


def test_no_more_is_taken_than_was_asked_for() -> None:
    things = iter(range(100))
    next(in_portions(things, lambda _: 1, limit=3))
    assert next(things) == 4
