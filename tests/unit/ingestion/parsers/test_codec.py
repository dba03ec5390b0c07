"""Documents as JSON and back; what is not one is refused."""

import tempfile
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import (
    LINE_CHARS,
    DocumentLines,
    PagesRead,
    Picture,
    PictureHead,
    decode_answer,
    encode_document,
    encode_failure,
    encode_picture,
)
from ingestion.parsers.outline import Outline
from ingestion.records import Block, BlockKind, Document
from ingestion.spool import HELD_UNPRESSED_BYTES, Spooled
from sandbox.records import to_line

FOLDER = Path(tempfile.gettempdir())
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
PAGES = st.none() | st.integers(1, 999)
LOCATORS = st.builds(Locator, page=PAGES, page_end=PAGES, headings=st.lists(TEXT, max_size=3).map(tuple))
BLOCKS = st.builds(
    Block, kind=st.sampled_from(BlockKind), text=TEXT, locator=LOCATORS, level=st.none() | st.integers(1, 6)
)
# Offsets, not places: where clocks are turned back, an hour is two moments and equals neither.
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
DOCUMENTS = st.builds(
    Document,
    title=TEXT,
    blocks=st.lists(BLOCKS, max_size=5).map(tuple),
    pages=PAGES,
    pages_without_text=st.lists(st.integers(1, 99), max_size=3).map(tuple),
    language=st.none() | st.just("ru"),
    author=st.none() | TEXT,
    published_at=st.none() | st.datetimes(min_value=datetime(1990, 1, 1), timezones=OFFSETS),  # noqa: DTZ001 - bounds of a strategy are naive
)
ABOUT = (
    b'{"record":"Document","title":"t","blocks":[],"names":[],"pages":null,"pages_without_text":[],"language":null,"author":null,'
    b'"published_at":null,"medium":"text","duration_s":null,"parts":null,"unread":[]}'
)
MALFORMED = [
    b"",
    b"null",
    b"[]",
    b"{}",
    ABOUT.replace(b'"t"', b"1"),
    ABOUT.replace(b'"unread"', b'"read"'),
    ABOUT.replace(b'text":[]', b'text":[true]'),
    ABOUT.replace(b'"text"', b'"smell"'),
    ABOUT.replace(b'"published_at":null', b'"published_at":"today"'),
    b'{"blocks":[["spell","x",{},null]]}',
    b'{"blocks":[["code","x",{},true]]}',
    b'{"blocks":[["code",1,{},null]]}',
    b'{"blocks":[["code","x",[],null]]}',
    b'{"blocks":[["code","x",null]]}',
    b'{"blocks":[{}]}',
    b'{"blocks":null}',
    b'{"blocks":{"a":1}}',
    b'{"record":"PagesRead","done":1}',
    b'{"record":"PagesRead","done":1,"total":"2"}',
    b'{"record":"_Failed","code":"no-such-code","detail":"","name":null,"seconds":null,"limit_mb":null,"minutes":null}',
    b'{"record":"_Failed","code":"duplicate","detail":"","name":null,"seconds":null,"limit_mb":null,"minutes":null}',
    b"[" * 100_000,
    b'{"blocks":' + b"[" * 100_000,
    b'{"blocks":[["code","x",{"page":1e999},null]]}',
    b"\xff\xfe",
    b'{"exit":0}',
]


def _decoded(lines: Iterable[bytes]) -> Document:
    reader = DocumentLines(FOLDER)
    *before, last = map(reader.add, lines)
    assert not any(before)
    assert isinstance(last, Document)
    return last


@given(DOCUMENTS)
def test_a_document_comes_back_as_it_was(document: Document) -> None:
    lines = list(encode_document(document))
    assert _decoded(lines) == document
    assert all(line.index(b"\n") == len(line) - 1 for line in lines)


def test_a_book_comes_in_many_lines() -> None:
    block = Block(kind=BlockKind.PARAGRAPH, text="слово " * 1000)
    document = Document(title="t", blocks=(block,) * 200)
    lines = list(encode_document(document))
    decoded = _decoded(lines)
    assert max(map(len, lines)) < 3 * LINE_CHARS
    assert isinstance(decoded.blocks, Spooled)
    assert tuple(decoded.blocks) == document.blocks


def test_brief_blocks_under_long_headings_come_in_short_lines() -> None:
    outline = Outline()
    for level in range(1, 7):
        outline.add_heading("Раздел " * 30, level)
    for _ in range(HELD_UNPRESSED_BYTES // 1000):
        outline.add(BlockKind.PARAGRAPH, "да")
    blocks = outline.finish()
    assert isinstance(blocks, Spooled)
    for document in (Document(title="t", blocks=blocks), Document(title="t", blocks=tuple(blocks))):
        assert max(map(len, encode_document(document))) < 3 * LINE_CHARS


def test_what_an_outline_has_written_goes_out_as_it_is() -> None:
    outline = Outline()
    outline.add_heading("Глава", 1)
    for number in range(HELD_UNPRESSED_BYTES // 5000):
        outline.add(BlockKind.PARAGRAPH, f"{number} " + "слово " * 1000)
    blocks = outline.finish()
    assert isinstance(blocks, Spooled)
    assert tuple(_decoded(list(encode_document(Document(title="t", blocks=blocks)))).blocks) == tuple(blocks)


def test_progress_comes_between() -> None:
    assert DocumentLines(FOLDER).add(to_line(PagesRead(done=3, total=9))) == PagesRead(done=3, total=9)


def test_a_picture_follows_its_head() -> None:
    head, content = encode_picture(Picture(content=b"\n\0x", pages=2))
    assert decode_answer(head, PictureHead) == PictureHead(size_bytes=3, pages=2)
    assert content == b"\n\0x"


def test_a_failure_comes_back_with_its_values() -> None:
    line = encode_failure(SourceError(FailureCode.FILE_TOO_SLOW, detail="d", name="x.pdf", seconds=60))
    with pytest.raises(SourceError) as caught:
        DocumentLines(FOLDER).add(line)
    assert (caught.value.code, caught.value.params) == (FailureCode.FILE_TOO_SLOW, {"name": "x.pdf", "seconds": 60})
    assert caught.value.detail == "d"
    with pytest.raises(SourceError):
        decode_answer(line, PictureHead)


def test_lone_surrogates_do_not_stop_a_document() -> None:
    assert _decoded(encode_document(Document(title="a\ud800b", blocks=()))).title == "a?b"


def test_a_text_that_the_database_cannot_hold_is_mended() -> None:
    assert _decoded([ABOUT.replace(b'"t"', b'"a\\u0000b\\ud800"')]).title == "ab?"


@pytest.mark.parametrize("line", MALFORMED)
@pytest.mark.parametrize(
    "decode", [lambda line: DocumentLines(FOLDER).add(line), lambda line: decode_answer(line, PictureHead)]
)
def test_what_is_no_result_is_refused(decode: Callable[[bytes], object], line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the type is the contract, its words are not
        decode(line)
