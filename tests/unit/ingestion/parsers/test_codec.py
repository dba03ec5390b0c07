"""Documents as JSON and back; what is not one is refused."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import (
    LINE_CHARS,
    Failed,
    PagesRead,
    Picture,
    PictureHead,
    decode_answer,
    decode_blocks,
    encode_document,
    encode_picture,
)
from ingestion.parsers.outline import Outline
from ingestion.records import Block, BlockKind, Document
from ingestion.spool import HELD_UNPRESSED_BYTES, Spooled
from sandbox.records import to_line

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
    ABOUT.replace(b'"t"', b"1"),
    ABOUT.replace(b'"unread"', b'"read"'),
    ABOUT.replace(b'text":[]', b'text":[true]'),
    ABOUT.replace(b'"text"', b'"smell"'),
    ABOUT.replace(b'"published_at":null', b'"published_at":"today"'),
    b'[["spell","x",{},null]]',
    b'[["code","x",{},true]]',
    b'[["code",1,{},null]]',
    b'[["code","x",[],null]]',
    b'[["code","x",null]]',
    b"[{}]",
    b'{"a":1}',
    b'{"record":"PagesRead","done":1}',
    b'{"record":"PagesRead","done":1,"total":"2"}',
    b'{"record":"Failed","code":"no-such-code","detail":""}',
    b'{"record":"Failed","code":"duplicate","detail":""}',
    b"[" * 100_000,
    b'[["code","x",{"page":1e999},null]]',
    b"\xff\xfe",
    b'{"exit":0}',
]


def _decoded(lines: Iterable[bytes]) -> Document:
    *before, last = lines
    document: Document = decode_answer(last, Document, name="x")
    return replace(document, blocks=tuple(block for line in before for block in decode_blocks(line)), names=())


@given(DOCUMENTS)
def test_a_document_comes_back_as_it_was(document: Document) -> None:
    lines = list(encode_document(document))
    assert _decoded(lines) == document
    assert all(line.index(b"\n") == len(line) - 1 for line in lines)


def test_a_book_comes_in_many_lines() -> None:
    block = Block(kind=BlockKind.PARAGRAPH, text="слово " * 1000)
    document = Document(title="t", blocks=(block,) * 200)
    lines = list(encode_document(document))
    assert len(lines) > 1
    assert max(map(len, lines)) < 3 * LINE_CHARS
    assert _decoded(lines).blocks == document.blocks


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


def test_a_picture_follows_its_head() -> None:
    head, content = encode_picture(Picture(content=b"\n\0x", pages=2))
    assert decode_answer(head, PictureHead, name="x.pdf") == PictureHead(size_bytes=3, pages=2)
    assert content == b"\n\0x"


def test_a_failure_comes_back_as_that_of_the_file() -> None:
    line = to_line(Failed(code=FailureCode.FILE_TOO_HEAVY, detail="d"))
    with pytest.raises(SourceError) as caught:
        decode_answer(line, PictureHead, name="x.pdf")
    assert (caught.value.code, caught.value.params) == (FailureCode.FILE_TOO_HEAVY, {"name": "x.pdf"})
    assert caught.value.detail == "d"


def test_lone_surrogates_do_not_stop_a_document() -> None:
    assert _decoded(encode_document(Document(title="a\ud800b", blocks=()))).title == "a?b"


def test_a_text_that_the_database_cannot_hold_is_mended() -> None:
    assert _decoded([ABOUT.replace(b'"t"', b'"a\\u0000b\\ud800"')]).title == "ab?"


@pytest.mark.parametrize("line", MALFORMED)
@pytest.mark.parametrize(
    "decode", [decode_blocks, lambda line: decode_answer(line, Document, PagesRead, PictureHead, name="x")]
)
def test_what_is_no_result_is_refused(decode: Callable[[bytes], object], line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the type is the contract, its words are not
        decode(line)
