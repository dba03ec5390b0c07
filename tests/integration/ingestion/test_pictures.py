"""Photos and scans through the real process and the real tesseract, and pictures made to break them."""

import asyncio
import io
import os
import signal
from collections.abc import AsyncIterator, Awaitable
from contextlib import ExitStack, suppress
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from PIL import Image

from adapters.tesseract import TesseractRecognizer, find_tesseract
from domain.documents import DocumentStatus, Medium
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import Picture
from ingestion.parsers.process import ParseProcess
from ingestion.reading.pictures import PictureReader
from ingestion.reading.reader import FileReader
from ingestion.records import Document, FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.processes import confined
from tests.unit.ingestion.parsers.files import write_pdf
from tests.waiting import until

SCANS = Path(__file__).parent / "scans"
SENTENCE = "Арендатор вносит плату не позднее пятого числа каждого месяца."
LONGEST_SIDE = 4000  # pixels


@pytest.fixture
async def parser() -> AsyncIterator[ParseProcess]:
    async with ParseProcess(timeout_s=300, memory_mb=1024) as process:
        yield process


@pytest.fixture
async def reader(parser: ParseProcess) -> AsyncIterator[FileReader]:
    tesseract = find_tesseract(("rus", "eng"))
    assert tesseract is not None, "apt-get install tesseract-ocr tesseract-ocr-rus"
    async with TesseractRecognizer(tesseract=tesseract, page_s=300) as recognizer:
        pictures = PictureReader(parser, recognizer, pages=10, concurrency=2)
        yield FileReader(parser=parser, pictures=pictures, recordings=None)


def _fetched(path: Path) -> FetchedFile:
    return FetchedFile(path=path, name=path.name, media_type=None, size_bytes=path.stat().st_size, sha256="")


def _scanned(path: Path, *, turned: int = 0, text_pages: int = 0) -> Path:
    """A PDF of a picture of a page, after pages with text."""
    with Image.open(SCANS / "lease.png") as lease:
        lease.convert("L").rotate(turned, expand=True, fillcolor=255).save(path, "PDF", resolution=170)
    if text_pages:
        document = pdfium.PdfDocument(write_pdf(path.with_suffix(".text"), [["A page of plain text."]] * text_pages))
        document.import_pages(pdfium.PdfDocument(path))
        document.save(path)
    return path


def _words(document: Document) -> str:
    return " ".join(" ".join(block.text for block in document.blocks).split())


async def _code(work: Awaitable[object]) -> FailureCode:
    with pytest.raises(SourceError) as caught:
        await work
    return caught.value.code


@pytest.mark.parametrize("name", ["lease.png", "lease.heic"])
async def test_a_photo_is_read(reader: FileReader, name: str) -> None:
    document = await reader.read(_fetched(SCANS / name), progress_of(FakeQueue()))
    assert SENTENCE in _words(document)
    assert (document.title, document.medium, document.language) == ("lease", Medium.IMAGE, "ru")


@pytest.mark.parametrize("turned", [0, 180])
async def test_a_scan_is_read_however_it_lay_on_the_glass(reader: FileReader, tmp_path: Path, turned: int) -> None:
    queue = FakeQueue()
    document = await reader.read(_fetched(_scanned(tmp_path / "a.pdf", turned=turned)), progress_of(queue))
    assert SENTENCE in _words(document)
    assert (document.pages, document.pages_without_text, document.medium) == (1, (), Medium.IMAGE)
    assert queue.reported[-1] == (DocumentStatus.RECOGNISING, 1, 1)


async def test_only_the_scanned_page_of_a_mixed_pdf_is_recognised(reader: FileReader, tmp_path: Path) -> None:
    queue = FakeQueue()
    file = _fetched(_scanned(tmp_path / "a.pdf", text_pages=2))
    document = await reader.read(file, progress_of(queue))
    assert [block.locator.page for block in document.blocks if "пятого числа" in block.text] == [3]
    assert document.blocks[0].text == "A page of plain text."
    assert queue.reported[-1] == (DocumentStatus.RECOGNISING, 1, 1)


async def test_without_a_recogniser_a_scan_is_told_to_need_one(parser: ParseProcess, tmp_path: Path) -> None:
    reader = FileReader(parser=parser, pictures=None, recordings=None)
    file = _fetched(_scanned(tmp_path / "a.pdf"))
    assert await _code(reader.read(file, progress_of(FakeQueue()))) is FailureCode.FILE_NEEDS_RECOGNITION


async def test_a_page_of_any_size_is_drawn_no_larger_than_the_limit(parser: ParseProcess, tmp_path: Path) -> None:
    document = pdfium.PdfDocument.new()
    document.new_page(100_000, 50_000)
    document.new_page(0.1, 900)
    document.save(tmp_path / "a.pdf")
    for page in range(2):
        picture = await parser.draw_page(_fetched(tmp_path / "a.pdf"), page)
        assert max(_size(picture)) <= LONGEST_SIDE


def _size(picture: Picture) -> tuple[int, int]:
    return Image.open(io.BytesIO(picture.content)).size


async def test_a_page_that_is_not_there_is_damage(parser: ParseProcess, tmp_path: Path) -> None:
    assert await _code(parser.draw_page(_fetched(_scanned(tmp_path / "a.pdf")), 7)) is FailureCode.FILE_DAMAGED


async def test_a_picture_that_explodes_is_refused(parser: ParseProcess, tmp_path: Path) -> None:
    path = tmp_path / "bomb.png"
    Image.new("1", (30_000, 30_000)).save(path)
    assert path.stat().st_size < 1_000_000
    assert await _code(parser.open_picture(_fetched(path), 0)) is FailureCode.FILE_TOO_HEAVY


async def test_a_picture_beyond_the_memory_limit_is_refused_alone(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    Image.new("RGB", (14_000, 14_000)).save(path, compress_level=1)
    async with ParseProcess(timeout_s=300, memory_mb=400) as parser:
        assert await _code(parser.open_picture(_fetched(path), 0)) is FailureCode.FILE_TOO_HEAVY
        assert _size(await parser.open_picture(_fetched(SCANS / "lease.png"), 0))[0] > 0


def _is_opened(pipe: Path, ends: ExitStack) -> bool:
    """Whether somebody reads from it, who gets nothing until `ends` are closed."""
    with suppress(OSError):  # nobody yet
        ends.callback(os.close, os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return True
    return False


async def test_a_process_killed_while_it_draws_costs_its_page_alone(parser: ParseProcess, tmp_path: Path) -> None:
    path = tmp_path / "endless.png"
    os.mkfifo(path)  # whoever reads it waits for what nobody writes
    drawing = asyncio.create_task(parser.open_picture(_fetched(path), 0))
    with ExitStack() as ends:
        await until(lambda: _is_opened(path, ends))
        for child in confined():  # those of other parsers, too: nothing tells which of them it is
            os.kill(child, signal.SIGKILL)
        assert await _code(drawing) is FailureCode.FILE_TOO_HEAVY
    assert _size(await parser.open_picture(_fetched(SCANS / "lease.png"), 0))[0] > 0
