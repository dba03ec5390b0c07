"""The real tesseract on real pictures. CI installs it; without it these tests fail rather than hide that."""

import asyncio
import contextlib
import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from adapters.tesseract import Tesseract, TesseractRecognizer, find_tesseract
from ingestion.errors import FailureCode, ServiceError
from ingestion.records import Block, BlockKind
from tests.processes import below

LEASE = Path(__file__).parents[2] / "ingestion" / "scans" / "lease.png"
PAGE_S = 300
SAID = Block(kind=BlockKind.PARAGRAPH, text="прочитано зорким")


class Second:
    """A recogniser that says one thing, or is away."""

    def __init__(self, error: ServiceError | None = None) -> None:
        self._error = error
        self.asked = 0

    async def recognise(self, picture: bytes) -> list[Block]:
        """Counted."""
        self.asked += 1
        if self._error is not None:
            raise self._error
        return [SAID]


@pytest.fixture(scope="module")
def tesseract() -> Tesseract:
    found = find_tesseract(("rus", "eng"))
    assert found is not None, "apt-get install tesseract-ocr tesseract-ocr-rus"
    return found


async def _recognised(recognizer: TesseractRecognizer, picture: bytes) -> list[Block]:
    async with recognizer:
        return await recognizer.recognise(picture)


def _picture(*, turned: int = 0, size: tuple[int, int] | None = None) -> bytes:
    with Image.open(LEASE) as lease:
        picture = lease.convert("L").rotate(turned, expand=True, fillcolor=255)
    stream = io.BytesIO()
    (picture.resize(size) if size else picture).save(stream, "JPEG")
    return stream.getvalue()


def _text(blocks: list[Block]) -> str:
    return " ".join(" ".join(block.text for block in blocks).split())


def test_both_languages_and_the_model_of_orientation_are_installed(tesseract: Tesseract) -> None:
    assert (tesseract.languages, tesseract.knows_orientation) == (("rus", "eng"), True)


def test_languages_that_are_not_installed_are_not_asked_for() -> None:
    found = find_tesseract(("xxx", "eng"))
    assert found is not None
    assert found.languages == ("eng",)
    assert find_tesseract(("xxx",)) is None


def test_a_program_that_is_not_there_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_tesseract(("eng",)) is None


@pytest.mark.parametrize("turned", [0, 90, 180])
async def test_a_russian_page_is_read_however_it_lies(tesseract: Tesseract, turned: int) -> None:
    blocks = await _recognised(TesseractRecognizer(tesseract=tesseract, page_s=PAGE_S), _picture(turned=turned))
    text = _text(blocks)
    assert "вносит плату не позднее пятого числа каждого месяца" in text
    assert "8 (495) 123-45-67" in text


async def test_a_white_page_has_no_words(tesseract: Tesseract) -> None:
    stream = io.BytesIO()
    Image.new("L", (600, 400), 255).save(stream, "PNG")
    assert await _recognised(TesseractRecognizer(tesseract=tesseract, page_s=PAGE_S), stream.getvalue()) == []


async def test_what_is_no_picture_has_no_words(tesseract: Tesseract) -> None:
    assert await _recognised(TesseractRecognizer(tesseract=tesseract, page_s=PAGE_S), b"no picture at all") == []


async def test_a_page_that_takes_too_long_has_no_words(tesseract: Tesseract) -> None:
    assert await _recognised(TesseractRecognizer(tesseract=tesseract, page_s=0.05), _picture()) == []
    assert _tesseracts() == []


async def test_a_program_that_is_gone_fails_the_page_and_not_the_worker(tesseract: Tesseract) -> None:
    gone = replace(tesseract, path="/nowhere/tesseract")
    with pytest.raises(ServiceError) as caught:
        await _recognised(TesseractRecognizer(tesseract=gone, page_s=PAGE_S), _picture())
    assert caught.value.code is FailureCode.SERVICE_AWAY


async def test_stopping_ends_the_program(tesseract: Tesseract) -> None:
    async with asyncio.timeout(120):
        reading = asyncio.create_task(_recognised(TesseractRecognizer(tesseract=tesseract, page_s=PAGE_S), _picture()))
        while not (running := _tesseracts()):
            await asyncio.sleep(0.01)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
    assert not set(_tesseracts()) & set(running)


def _tesseracts() -> list[int]:
    """Processes of this one that have become tesseract."""
    return [child for child in below(os.getpid()) if b"psm" in _command(child)]


def _command(process: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


async def test_a_page_that_tesseract_is_sure_of_is_not_shown_to_the_other(tesseract: Tesseract) -> None:
    second = Second()
    await _recognised(TesseractRecognizer(tesseract=tesseract, page_s=PAGE_S, second=second), _picture())
    assert second.asked == 0


async def test_a_page_that_it_cannot_make_out_is(tesseract: Tesseract) -> None:
    second = Second()
    recognizer = TesseractRecognizer(tesseract=tesseract, page_s=PAGE_S, second=second)
    assert await _recognised(recognizer, _picture(size=(120, 50))) == [SAID]


async def test_what_it_saw_counts_when_the_other_is_away(tesseract: Tesseract) -> None:
    second = Second(ServiceError(FailureCode.SERVICE_AWAY, service="vision"))
    unsure = TesseractRecognizer(tesseract=tesseract, page_s=PAGE_S, second=second, sure=101)
    assert "пятого числа" in _text(await _recognised(unsure, _picture()))
    assert second.asked == 1
