"""Archives and letters through the real processes: unpacked apart, each file parsed under its own limits.

In: archives made here. Out: assertions about the documents, and about what is left behind.
"""

import io
import os
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from domain.documents import UnreadPart
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.process import ParseProcess
from ingestion.reading.reader import FileReader
from ingestion.records import Document, FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.unit.ingestion.parsers.files import p, write_docx
from tests.unit.ingestion.parsers.packages import letter, sheet_rows, write_archive, write_fb2, write_xlsx


@pytest.fixture
async def reader() -> AsyncIterator[FileReader]:
    async with ParseProcess(timeout_s=300, memory_mb=1024) as parser:
        yield FileReader(parser=parser, pictures=None, recordings=None)


async def _read(reader: FileReader, path: Path) -> Document:
    file = FetchedFile(path=path, name=path.name, media_type=None, size_bytes=_size(path), sha256="")
    return await reader.read(file, progress_of(FakeQueue()))


def _size(path: Path) -> int:
    return path.stat().st_size


def _office_files(folder: Path) -> dict[str, str | bytes]:
    letters = letter("Добрый день!")
    letters.add_attachment(b"attached words", maintype="text", subtype="plain", filename="вложение.txt")
    return {
        "договор.docx": write_docx(folder / "1", p("Плата пятого числа")).read_bytes(),
        "цены/прайс.xlsx": write_xlsx(folder / "2", {"Май": sheet_rows(["Товар", "Цена"], ["Стол", 5])}).read_bytes(),
        "письмо.eml": letters.as_bytes(),
        "прошивка.bin": bytes(range(256)),
    }


async def test_every_file_of_an_archive_is_read_at_its_place(reader: FileReader, tmp_path: Path) -> None:
    document = await _read(reader, write_archive(tmp_path / "документы.zip", _office_files(tmp_path)))
    found = {(block.locator.member, block.text) for block in document.blocks}
    assert ("договор.docx", "Плата пятого числа") in found
    assert ("цены/прайс.xlsx", "| Товар | Цена |\n| --- | --- |\n| Стол | 5 |") in found
    assert ("письмо.eml/вложение.txt", "attached words") in found
    assert document.title == "документы"
    assert document.unread == (UnreadPart(name="прошивка.bin", code=FailureCode.FILE_UNSUPPORTED),)


async def test_a_packed_book_is_the_book(reader: FileReader, tmp_path: Path) -> None:
    book = write_fb2(tmp_path / "b", "<section><p>слова</p></section>", about="<book-title>Каштанка</book-title>")
    document = await _read(reader, write_archive(tmp_path / "b.fb2.zip", {"b.fb2": book.read_bytes()}))
    assert (document.title, document.parts, document.blocks[0].locator.member) == ("Каштанка", None, None)


async def test_a_file_that_breaks_its_parser_costs_that_file(reader: FileReader, tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {"a.txt": "слова"}
    members["bomb.docx"] = write_docx(tmp_path / "1", p("x" * 70_000_000)).read_bytes()
    document = await _read(reader, write_archive(tmp_path / "a.zip", members))
    assert document.unread == (UnreadPart(name="bomb.docx", code=FailureCode.FILE_TOO_HEAVY),)
    assert document.parts == 1


async def test_a_tar_is_read_and_nothing_is_left_behind(reader: FileReader, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        for name in ("раз.txt", "два.txt"):
            member = tarfile.TarInfo(name)
            member.size = len(name.encode())
            archive.addfile(member, io.BytesIO(name.encode()))
    document = await _read(reader, tmp_path / "a.tar.gz")
    assert document.parts == 2
    assert os.listdir(tmp_path) == ["a.tar.gz"]


async def test_an_archive_of_nothing_readable_says_so(reader: FileReader, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        await _read(reader, write_archive(tmp_path / "a.zip", {"a.bin": bytes(range(256))}))
    assert caught.value.code is FailureCode.FILE_ARCHIVE_EMPTY
