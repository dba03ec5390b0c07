"""Words of pictures at their places in the document."""

import asyncio
from pathlib import Path

import pytest

from domain.documents import DocumentStatus, Medium
from domain.locator import Locator
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.reading.pictures import PictureReader
from ingestion.records import Block, BlockKind, Document, FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.fakes.pictures import FakePictureSource, FakeRecognizer

FILE = FetchedFile(path=Path("a"), name="скан.pdf", media_type=None, size_bytes=1, sha256="")


def _reader(
    source: FakePictureSource, recognizer: FakeRecognizer, *, pages: int = 300, concurrency: int = 2
) -> PictureReader:
    return PictureReader(source, recognizer, pages=pages, concurrency=concurrency)


def _parsed(*texts: str | None) -> Document:
    """A PDF with a page for each text; None is a page without."""
    numbered = list(enumerate(texts, start=1))
    return Document(
        title="скан",
        blocks=tuple(
            Block(kind=BlockKind.PARAGRAPH, text=text, locator=Locator(page=page)) for page, text in numbered if text
        ),
        pages=len(texts),
        pages_without_text=tuple(page for page, text in numbered if text is None),
    )


def _placed(document: Document) -> list[tuple[int | None, str]]:
    return [(block.locator.page, block.text) for block in document.blocks]


async def test_only_pages_without_text_are_read_and_come_in_their_place() -> None:
    source = FakePictureSource()
    reader = _reader(source, FakeRecognizer({2: "Вторая страница, с картинки."}))
    filled = await reader.fill_pages(FILE, _parsed("Первая.", None, "Третья."), progress_of(FakeQueue()))
    assert source.drawn == [2]
    assert _placed(filled) == [(1, "Первая."), (2, "Вторая страница, с картинки."), (3, "Третья.")]
    assert (filled.pages_without_text, filled.medium, filled.language) == ((), Medium.TEXT, "ru")


async def test_pages_without_words_or_that_cannot_be_drawn_stay_named() -> None:
    reader = _reader(FakePictureSource(broken=[3]), FakeRecognizer({1: "Слова.", 3: "не видно"}))
    filled = await reader.fill_pages(FILE, _parsed(None, None, None), progress_of(FakeQueue()))
    assert (_placed(filled), filled.pages_without_text) == ([(1, "Слова.")], (2, 3))


async def test_a_document_of_pictures_alone_is_a_picture() -> None:
    reader = _reader(FakePictureSource(), FakeRecognizer({1: "Слова."}))
    assert (await reader.fill_pages(FILE, _parsed(None), progress_of(FakeQueue()))).medium is Medium.IMAGE


async def test_a_stamp_gives_way_to_the_page_that_it_stands_on() -> None:
    stamped = Document(
        title="t",
        blocks=(Block(kind=BlockKind.PARAGRAPH, text="Scanned by X", locator=Locator(page=1)),),
        pages=1,
        pages_without_text=(1,),
    )
    reader = _reader(FakePictureSource(), FakeRecognizer({1: "Договор. Scanned by X"}))
    assert _placed(await reader.fill_pages(FILE, stamped, progress_of(FakeQueue()))) == [(1, "Договор. Scanned by X")]


async def test_a_sentence_over_two_recognised_pages_is_one() -> None:
    words = {1: "Сторона обязуется вернуть доку-", 2: "менты в срок. Иначе пеня."}
    filled = await _reader(FakePictureSource(), FakeRecognizer(words)).fill_pages(
        FILE, _parsed(None, None), progress_of(FakeQueue())
    )
    assert _placed(filled) == [(1, "Сторона обязуется вернуть документы в срок."), (2, "Иначе пеня.")]
    assert filled.blocks[0].locator.page_end == 2


async def test_blocks_with_a_shape_keep_it() -> None:
    table = Block(kind=BlockKind.TABLE, text="| а | б |\n| --- | --- |\n| 1 | 2 |")
    reader = _reader(FakePictureSource(), FakeRecognizer({1: [table]}))
    (block,) = (await reader.fill_pages(FILE, _parsed(None), progress_of(FakeQueue()))).blocks
    assert (block.kind, block.text, block.locator) == (BlockKind.TABLE, table.text, Locator(page=1))


async def test_no_more_pages_than_the_limit_are_read_and_the_rest_is_named() -> None:
    recognizer = FakeRecognizer(dict.fromkeys(range(1, 6), "Слова страницы."))
    reader = _reader(FakePictureSource(), recognizer, pages=3)
    filled = await reader.fill_pages(FILE, _parsed(*[None] * 5), progress_of(FakeQueue()))
    assert (sorted(recognizer.read), filled.pages_without_text) == ([1, 2, 3], (4, 5))


async def test_pages_are_told_as_they_are_recognised() -> None:
    queue = FakeQueue()
    reader = _reader(FakePictureSource(), FakeRecognizer({}), concurrency=1)
    await reader.fill_pages(FILE, _parsed(None, None), progress_of(queue))
    assert queue.reported == [(DocumentStatus.RECOGNISING, done, 2) for done in range(3)]


async def test_a_service_that_is_away_is_said_and_nothing_goes_on() -> None:
    away = ServiceError(FailureCode.SERVICE_AWAY, service="vision")
    recognizer = FakeRecognizer({1: away})
    with pytest.raises(ServiceError):
        await _reader(FakePictureSource(), recognizer, concurrency=1).fill_pages(
            FILE, _parsed(*[None] * 9), progress_of(FakeQueue())
        )
    assert len(recognizer.read) <= 2


async def test_a_photo_has_no_pages_and_pages_of_a_tiff_have_numbers() -> None:
    words = {1: "Первая.", 2: "Вторая."}
    photo = await _reader(FakePictureSource(), FakeRecognizer(words)).read_picture(FILE, progress_of(FakeQueue()))
    tiff = await _reader(FakePictureSource(pages=3), FakeRecognizer(words)).read_picture(FILE, progress_of(FakeQueue()))
    assert (_placed(photo), photo.pages, photo.title, photo.medium) == ([(None, "Первая.")], None, "скан", Medium.IMAGE)
    assert (_placed(tiff), tiff.pages, tiff.pages_without_text) == ([(1, "Первая."), (2, "Вторая.")], 3, (3,))


async def test_a_photo_without_words_is_a_reason() -> None:
    with pytest.raises(SourceError) as caught:
        await _reader(FakePictureSource(), FakeRecognizer({})).read_picture(FILE, progress_of(FakeQueue()))
    assert caught.value.code is FailureCode.FILE_WITHOUT_WORDS


async def test_a_document_whose_pages_take_too_long_is_left_after_a_few() -> None:
    source = FakePictureSource(slow=range(2, 40))
    reader = PictureReader(source, FakeRecognizer({1: "Слова."}), pages=40, concurrency=1)
    filled = await reader.fill_pages(FILE, _parsed(*[None] * 40), progress_of(FakeQueue()))
    assert source.drawn == [1, 2, 3]
    assert (_placed(filled), filled.pages_without_text) == ([(1, "Слова.")], tuple(range(2, 41)))


async def test_a_photo_waits_for_a_page_of_a_scan_and_not_for_all_of_it() -> None:
    recognizer = FakeRecognizer({**dict.fromkeys(range(1, 40), "Слова."), 40: "Фото."})
    reader = _reader(FakePictureSource(), recognizer, concurrency=1)
    scan = reader.fill_pages(FILE, _parsed(*[None] * 39), progress_of(FakeQueue()))
    photo = reader.fill_pages(FILE, _parsed(*["слова"] * 39, None), progress_of(FakeQueue()))
    await asyncio.gather(scan, photo)
    assert recognizer.read.index(40) < 5
