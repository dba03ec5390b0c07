"""A section and the documents that its pages link to become one document."""

from pathlib import Path

import pytest

from domain.documents import DocumentStatus, UnreadPart
from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.progress import Progress
from ingestion.reading import sites
from ingestion.reading.sites import read_section
from ingestion.records import Block, BlockKind, Document, FetchedFile
from ingestion.site_file import SITE_TYPE
from tests.fakes.ingestion import FakeQueue, progress_of

PAGE = "https://site.example/docs/"
BROKEN = UnreadPart(name=f"{PAGE}broken", code=FailureCode.PAGE_STATUS)
INSIDE = UnreadPart(name="inside.docx", code=FailureCode.FILE_ENCRYPTED)
REASONS = {
    "bad": FailureCode.FILE_DAMAGED,
    "blank": FailureCode.FILE_WITHOUT_TEXT,
    "scan": FailureCode.FILE_NEEDS_RECOGNITION,
}


def _file(name: str, media_type: str, *attached: FetchedFile, url: str) -> FetchedFile:
    return FetchedFile(
        path=Path(name), name=name, media_type=media_type, size_bytes=1, sha256=name, url=url, attached=attached
    )


def _section(*names: str) -> FetchedFile:
    files = (_file(name, "application/pdf", url=f"{PAGE}{name}") for name in names)
    return _file("site.example", SITE_TYPE, *files, url=PAGE)


async def _read_pages(file: FetchedFile, progress: Progress) -> Document:
    heading = Block(kind=BlockKind.HEADING, text="Сайт", level=1, locator=Locator(url=PAGE))
    return Document(title="Сайт", blocks=(heading,), language="ru", parts=2, unread=(BROKEN,))


async def _read_nothing(file: FetchedFile, progress: Progress) -> Document:
    raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=file.name)


async def _read(file: FetchedFile, progress: Progress) -> Document:
    await progress.report(DocumentStatus.RECOGNISING, done=1, total=2)
    for beginning, code in REASONS.items():
        if file.name.startswith(beginning):
            raise SourceError(code, name=file.name)
    heading = Block(kind=BlockKind.HEADING, text="Сроки", level=1, locator=Locator(page=2))
    text = Block(kind=BlockKind.PARAGRAPH, text="До мая.", locator=Locator(page=2, headings=("Сроки",)))
    unread = (INSIDE,) if file.name.startswith("half") else ()
    return Document(title="Microsoft Word - 1", blocks=(heading, text), language="ru", pages=7, unread=unread)


async def _read_whole(file: FetchedFile, queue: FakeQueue | None = None) -> Document:
    return await read_section(file, progress_of(queue or FakeQueue()), read_pages=_read_pages, read=_read)


async def test_a_document_is_a_chapter_under_its_file_name_with_its_address_and_pages() -> None:
    _, front, heading, text = (await _read_whole(_section("plan.pdf"))).blocks
    address = f"{PAGE}plan.pdf"
    assert (front.text, front.level, front.locator) == ("plan.pdf", 1, Locator(url=address))
    assert (heading.text, heading.level) == ("Сроки", 2)
    assert text.locator == Locator(page=2, url=address, headings=("plan.pdf", "Сроки"))


async def test_what_cannot_be_read_is_named_and_what_says_nothing_is_not() -> None:
    document = await _read_whole(_section("bad.pdf", "plan.pdf", "blank.pdf", "scan.pdf"))
    assert document.parts == 3
    assert document.unread == (
        BROKEN,
        UnreadPart(name=f"{PAGE}bad.pdf", code=FailureCode.FILE_DAMAGED),
        UnreadPart(name=f"{PAGE}scan.pdf", code=FailureCode.FILE_NEEDS_RECOGNITION),
    )


async def test_what_could_not_be_read_inside_a_document_is_named() -> None:
    document = await _read_whole(_section("half.zip"))
    assert document.unread == (BROKEN, INSIDE)


async def test_a_mere_list_of_documents_is_read() -> None:
    progress = progress_of(FakeQueue())
    document = await read_section(_section("plan.pdf", "b.pdf"), progress, read_pages=_read_nothing, read=_read)
    assert (document.title, document.parts, document.language) == ("site.example", 2, "ru")


async def test_a_single_document_gives_its_name() -> None:
    progress = progress_of(FakeQueue())
    document = await read_section(_section("plan.pdf"), progress, read_pages=_read_nothing, read=_read)
    assert (document.title, document.parts) == ("plan.pdf", 1)


async def test_a_section_that_says_nothing_at_all_is_refused() -> None:
    with pytest.raises(SourceError) as caught:
        await read_section(_section("bad.pdf"), progress_of(FakeQueue()), read_pages=_read_nothing, read=_read)
    assert caught.value.code is FailureCode.FILE_WITHOUT_TEXT


async def test_progress_is_told_in_documents() -> None:
    queue = FakeQueue()
    await _read_whole(_section("a.pdf", "b.pdf"), queue)
    assert {status for status, *_ in queue.reported} == {DocumentStatus.PARSING}


async def test_documents_for_which_no_time_is_left_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "READING_S", -1.0)
    document = await _read_whole(_section("plan.pdf"))
    late = UnreadPart(name=f"{PAGE}plan.pdf", code=FailureCode.FILE_TOO_SLOW)
    assert (document.parts, document.unread[-1]) == (2, late)
