"""Each file is read in the way that its content asks for, or refused with what is missing."""

from collections.abc import Awaitable
from pathlib import Path

import pytest

from domain.documents import Medium
from ingestion.errors import FailureCode, SourceError
from ingestion.progress import Progress
from ingestion.reading.reader import FileReader
from ingestion.records import Block, BlockKind, Document, FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of

PNG, OGG, TEXT = b"\x89PNG\r\n\x1a\n", b"OggS", b"words"
WORDS = (Block(kind=BlockKind.PARAGRAPH, text="слова"),)


class Ways:
    """A parser, pictures and recordings in one: each answers with its name as the title."""

    def __init__(self, parsed: Document, *, filled: Document | None = None) -> None:
        self._parsed = parsed
        self._filled = filled or parsed

    async def parse(self, file: FetchedFile, progress: Progress) -> Document:
        """As scripted."""
        return self._parsed

    async def fill_pages(self, file: FetchedFile, parsed: Document, progress: Progress) -> Document:
        """As scripted."""
        return self._filled

    async def read_picture(self, file: FetchedFile, progress: Progress) -> Document:
        """A picture."""
        return Document(title="picture", blocks=WORDS, medium=Medium.IMAGE)

    async def read_recording(self, file: FetchedFile, progress: Progress) -> Document:
        """A recording."""
        return Document(title="recording", blocks=WORDS, medium=Medium.AUDIO)


PARSED = Document(title="parsed", blocks=WORDS)
SCAN = Document(title="scan", blocks=(), pages=1, pages_without_text=(1,))


def _read(reader: FileReader, folder: Path, content: bytes) -> Awaitable[Document]:
    path = folder / "a.bin"
    path.write_bytes(content)
    file = FetchedFile(path=path, name="a.bin", media_type=None, size_bytes=len(content), sha256="")
    return reader.read(file, progress_of(FakeQueue()))


def _reader(ways: Ways, *, equipped: bool = True) -> FileReader:
    models = ways if equipped else None
    return FileReader(parser=ways, pictures=models, recordings=models)


@pytest.mark.parametrize(("content", "title"), [(PNG, "picture"), (OGG, "recording"), (TEXT, "parsed")])
async def test_content_decides(tmp_path: Path, content: bytes, title: str) -> None:
    assert (await _read(_reader(Ways(PARSED)), tmp_path, content)).title == title


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (PNG, FailureCode.FILE_NEEDS_RECOGNITION),
        (OGG, FailureCode.FILE_NEEDS_HEARING),
        (TEXT, FailureCode.FILE_NEEDS_RECOGNITION),
    ],
)
async def test_without_a_model_it_is_said_what_is_missing(tmp_path: Path, content: bytes, code: FailureCode) -> None:
    with pytest.raises(SourceError) as caught:
        await _read(_reader(Ways(SCAN), equipped=False), tmp_path, content)
    assert caught.value.code is code


async def test_pages_without_text_are_looked_at(tmp_path: Path) -> None:
    assert await _read(_reader(Ways(SCAN, filled=PARSED)), tmp_path, TEXT) is PARSED


async def test_a_scan_without_words_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        await _read(_reader(Ways(SCAN)), tmp_path, TEXT)
    assert caught.value.code is FailureCode.FILE_WITHOUT_WORDS
