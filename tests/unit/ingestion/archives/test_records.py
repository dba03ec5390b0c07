"""What crosses between the worker and the unpacking process; the reading side trusts nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.archives.records import Listing, Member, UnpackRequest, failure_line, read_answer
from ingestion.errors import FailureCode, SourceError

MEMBER = Member(name="папка/а.txt", number=1, size_bytes=5, sha256="ab")


def test_a_listing_survives_the_way() -> None:
    listing = Listing(members=(MEMBER,), refused=("большой",), encrypted=("тайный",))
    assert read_answer(listing.to_line(), name="a.zip") == listing


def test_a_request_survives_the_way() -> None:
    request = UnpackRequest(path="/a", name="ё.zip", folder="/b", members=1, total_bytes=2, memory_bytes=3, cpu_s=4)
    assert UnpackRequest.from_line(request.to_line()) == request


def test_a_reason_survives_the_way() -> None:
    with pytest.raises(SourceError) as caught:
        read_answer(failure_line(FailureCode.FILE_TOO_HEAVY, "why"), name="a.zip")
    assert (caught.value.code, caught.value.params) == (FailureCode.FILE_TOO_HEAVY, {"name": "a.zip"})


@given(st.one_of(st.binary(max_size=50), st.sampled_from([b"{}", b"[]", b'{"failure":1}', b'{"members":[1]}', b""])))
def test_anything_else_is_damage(line: bytes) -> None:
    with pytest.raises(SourceError) as caught:
        read_answer(line, name="a.zip")
    assert caught.value.code is FailureCode.FILE_DAMAGED
