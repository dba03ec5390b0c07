"""Documents as JSON and back; what is not one is refused."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import decode_result, encode_document, encode_failure
from ingestion.records import Block, BlockKind, Document

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
PAGES = st.none() | st.integers(1, 999)
LOCATORS = st.builds(Locator, page=PAGES, page_end=PAGES, headings=st.lists(TEXT, max_size=3).map(tuple))
BLOCKS = st.builds(
    Block, kind=st.sampled_from(BlockKind), text=TEXT, locator=LOCATORS, level=st.none() | st.integers(1, 6)
)
DOCUMENTS = st.builds(
    Document,
    title=TEXT,
    blocks=st.lists(BLOCKS, max_size=5).map(tuple),
    pages=PAGES,
    pages_without_text=st.lists(st.integers(1, 99), max_size=3).map(tuple),
    language=st.none() | st.just("ru"),
    author=st.none() | TEXT,
    published_at=st.none() | st.datetimes(min_value=datetime(1990, 1, 1), timezones=st.timezones()),  # noqa: DTZ001 - bounds of a strategy are naive
)
MALFORMED = [
    b"",
    b"null",
    b"[]",
    b"{}",
    b'{"document":{"title":1,"blocks":[]}}',
    b'{"document":{"title":"t","blocks":[{"kind":"spell","text":"x","locator":{},"level":null}],"pages_without_text":[]}}',
    b'{"document":{"title":"t","blocks":{},"pages_without_text":[]}}',
    b'{"document":{"title":"t","blocks":[],"pages_without_text":[true]}}',
    b'{"failure":{"code":"no-such-code","params":{},"detail":""}}',
    b'{"failure":{"code":"duplicate","params":{},"detail":""}}',
    b"[" * 100_000,
    b'{"document":{"title":"t","blocks":[{"kind":"code","text":"x","locator":{"page":1e999}}],"pages_without_text":[]}}',
    b"\xff\xfe",
    b'{"exit":0}',
]


@given(DOCUMENTS)
def test_a_document_comes_back_as_it_was(document: Document) -> None:
    line = encode_document(document)
    assert decode_result(line) == document
    assert line.index(b"\n") == len(line) - 1


def test_a_failure_comes_back_with_its_values() -> None:
    with pytest.raises(SourceError) as caught:
        decode_result(encode_failure(SourceError(FailureCode.FILE_TOO_SLOW, detail="d", name="x.pdf", seconds=60)))
    assert (caught.value.code, caught.value.params) == (FailureCode.FILE_TOO_SLOW, {"name": "x.pdf", "seconds": 60})
    assert caught.value.detail == "d"


def test_lone_surrogates_do_not_stop_a_document() -> None:
    document = Document(title="a\ud800b", blocks=())
    assert decode_result(encode_document(document)).title == "a?b"


def test_a_text_that_the_database_cannot_hold_is_mended() -> None:
    line = b'{"document":{"title":"a\\u0000b\\ud800","blocks":[],"pages_without_text":[]}}'
    assert decode_result(line).title == "ab?"


@pytest.mark.parametrize("line", MALFORMED)
def test_what_is_no_result_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the type is the contract, its words are not
        decode_result(line)
