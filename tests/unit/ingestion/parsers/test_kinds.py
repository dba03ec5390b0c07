"""What a file is, by its content."""

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import LARGEST_DIRECTORY_BYTES, FileKind, glance, kind_of
from ingestion.parsers.registry import parse_file
from tests.unit.ingestion.parsers.files import write_docx
from tests.unit.ingestion.parsers.ole2 import compound_file
from tests.unit.ingestion.parsers.packages import (
    letter,
    sheet_rows,
    write_archive,
    write_epub,
    write_fb2,
    write_odf,
    write_pptx,
    write_xlsx,
)

OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512
XML = b"<?xml version='1.0'?>"


def _tar() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"))
    return stream.getvalue()


KINDS = [
    ("letter.txt", b"junk first\n%PDF-1.7\n", FileKind.PDF),
    ("picture.pdf", "Просто текст".encode(), FileKind.TEXT),
    ("old.txt", "Просто текст без прикрас".encode("cp866"), FileKind.TEXT),
    ("wide.txt", "Просто текст".encode("utf-16-le"), FileKind.TEXT),
    ("page", b"\n<!DOCTYPE html><html><body>x</body></html>", FileKind.HTML),
    ("report.doc", b"<html xmlns:o='x'><body>x", FileKind.HTML),
    ("page.html", b"<p>a fragment</p>", FileKind.HTML),
    ("page.xml", XML + b"<!-- x --><html xmlns='y'>", FileKind.HTML),
    ("notes.md", b"# About the <html> tag", FileKind.TEXT),
    ("notes.md", "Такой файл начинается с %PDF-1.7, поэтому его узнают.".encode(), FileKind.TEXT),
    ("dos.txt", b"text with its end mark\x1a", FileKind.TEXT),
    ("data.json", b'{"a": [1, 2]}', FileKind.TEXT),
    ("main.py", b"import os\n\nprint(os.name)\n", FileKind.TEXT),
    ("a.txt", XML + b"\n<!DOCTYPE x [<!ENTITY y 'z'>]>\n<FictionBook xmlns='u'>", FileKind.FB2),
    ("a.fb2", (XML.decode() + "<FictionBook>").encode("utf-16"), FileKind.FB2),
    ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", FileKind.XML),
    ("a.txt", XML + b"<feed><content>&lt;html&gt; <html/></content></feed>", FileKind.XML),
    ("a.txt", b"<b>no</b> markup to speak of", FileKind.TEXT),
    ("a.doc", b"{\\rtf1\\ansi text}", FileKind.RTF),
    ("a.txt", b"Received: x\n by y\nFrom: a@b\nTo: c@d\nSubject: x\n\nwords", FileKind.EMAIL),
    ("a.mbox", b"From a@b Fri May 15 2026\nFrom: a@b\nDate: x\nSubject: x\n\nwords", FileKind.EMAIL),
    ("a.txt", b"From: the desk\nSubject: to change\n\nA text.", FileKind.TEXT),
    ("a.txt", b"Note: this\nThat: those\nDate: today\n\nwords", FileKind.TEXT),
    ("a.zip", gzip.compress(b"text", mtime=0), FileKind.ARCHIVE),
    ("a.tgz", _tar(), FileKind.ARCHIVE),
    ("a.doc", compound_file({"WordDocument": b"x", "ObjectPool/a/Workbook": b"x"}), FileKind.DOC),
    ("a.doc", compound_file({"Workbook": b"x"}), FileKind.XLS),
    ("a.doc", compound_file({"__properties_version1.0": b"x"}), FileKind.OUTLOOK),
    ("a.txt", b"\xff\xd8\xff\xe0 picture", FileKind.IMAGE),
    ("a.pdf", b"\0\0\0\x18ftypheic", FileKind.IMAGE),
    ("a.doc", b"\0\0\0\x18ftypM4A ", FileKind.MEDIA),
    ("a.txt", b"RIFF....WAVEfmt ", FileKind.MEDIA),
    ("a.txt", b"\xff\xfb\x90\x64\0\0\0", FileKind.MEDIA),
    ("a.txt", "яыЯЫ это слова".encode("cp1251"), FileKind.TEXT),
]
PACKAGES: list[tuple[Callable[[Path], Path], FileKind]] = [
    (lambda path: write_docx(path, ""), FileKind.DOCX),
    (lambda path: write_xlsx(path, {"A": sheet_rows()}), FileKind.XLSX),
    (lambda path: write_pptx(path, []), FileKind.PPTX),
    (lambda path: write_odf(path, "text", ""), FileKind.ODT),
    (lambda path: write_odf(path, "spreadsheet", ""), FileKind.ODS),
    (lambda path: write_odf(path, "presentation", ""), FileKind.ODP),
    (lambda path: write_epub(path, {}), FileKind.EPUB),
    (lambda path: write_archive(path, {"META-INF/container.xml": "x"}), FileKind.EPUB),
    (lambda path: write_archive(path, {"xl/workbook.bin": "x"}), FileKind.XLS),
    (lambda path: write_archive(path, {"backup/word/document.xml": "x"}), FileKind.ARCHIVE),
    (lambda path: write_archive(path, {}), FileKind.ARCHIVE),
]
REFUSED = [
    ("a.txt", b"", FailureCode.FILE_EMPTY),
    ("a.txt", b" \n\t ", FailureCode.FILE_EMPTY),
    ("a.txt", b"\xef\xbb\xbf\n", FailureCode.FILE_EMPTY),
    ("a.doc", OLE2, FailureCode.FILE_DAMAGED),
    ("a.ppt", compound_file({"PowerPoint Document": b"x"}), FailureCode.FILE_UNSUPPORTED),
    ("a.docx", OLE2 + "EncryptedPackage".encode("utf-16-le"), FailureCode.FILE_ENCRYPTED),
    ("a.docx", compound_file({"EncryptedPackage": b"x"}), FailureCode.FILE_ENCRYPTED),
    ("a.docx", b"PK\x03\x04 cut short", FailureCode.FILE_DAMAGED),
    ("a.zip", b"PK\x03\x04 cut short", FailureCode.FILE_DAMAGED),
    ("a.txt", bytes(range(256)), FailureCode.FILE_UNSUPPORTED),
    ("a.rar", b"Rar!\x1a\x07 text", FailureCode.FILE_UNSUPPORTED),
    ("a.7z", b"7z\xbc\xaf\x27\x1c text", FailureCode.FILE_UNSUPPORTED),
]


def _write(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("name", "content", "kind"), KINDS)
def test_the_content_decides(tmp_path: Path, name: str, content: bytes, kind: FileKind) -> None:
    assert kind_of(_write(tmp_path, content), name=name) is kind


@pytest.mark.parametrize(("write", "kind"), PACKAGES)
def test_an_archive_is_what_its_members_are(tmp_path: Path, write: Callable[[Path], Path], kind: FileKind) -> None:
    assert kind_of(write(tmp_path / "x.pdf"), name="x.pdf") is kind


@pytest.mark.parametrize(("name", "content", "code"), REFUSED)
def test_what_nobody_reads_is_refused_with_its_reason(
    tmp_path: Path, name: str, content: bytes, code: FailureCode
) -> None:
    with pytest.raises(SourceError) as caught:
        parse_file(_write(tmp_path, content), name=name, media_type=None)
    assert caught.value.code is code
    assert caught.value.params == {"name": name}


@pytest.mark.parametrize(("name", "content", "code"), REFUSED)
def test_a_glance_refuses_nothing(tmp_path: Path, name: str, content: bytes, code: FailureCode) -> None:
    assert glance(_write(tmp_path, content)) is None, (name, code)


def test_a_glance_sees_what_no_parser_reads_alone(tmp_path: Path) -> None:
    seen = {content: glance(_write(tmp_path, content)) for _, content, _ in KINDS}
    expected = {content: kind if kind in ALONE else None for _, content, kind in KINDS}
    assert seen == expected
    assert glance(_write(tmp_path, letter("слова").as_bytes())) is FileKind.EMAIL


ALONE = {FileKind.IMAGE, FileKind.MEDIA, FileKind.ARCHIVE, FileKind.EMAIL, FileKind.OUTLOOK}


def test_a_package_is_no_archive_at_a_glance(tmp_path: Path) -> None:
    assert glance(write_docx(tmp_path / "a.zip", "")) is None
    assert glance(write_fb2(tmp_path / "a.zip", "")) is None


def test_a_directory_that_fills_the_memory_is_not_read(tmp_path: Path) -> None:
    content = bytearray(write_archive(tmp_path / "a.zip", {"a": "x"}).read_bytes())
    content[-10:-6] = (LARGEST_DIRECTORY_BYTES + 1).to_bytes(4, "little")
    content[4:4] = bytes(LARGEST_DIRECTORY_BYTES)  # in a file that could hold it
    with pytest.raises(SourceError) as caught:
        kind_of(_write(tmp_path, bytes(content)), name="a.zip")
    assert caught.value.code is FailureCode.FILE_TOO_HEAVY
