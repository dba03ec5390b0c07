"""What a file is, by its content."""

from pathlib import Path

import pytest

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileKind, inspect_file
from tests.unit.ingestion.parsers.files import write_docx

OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512
KINDS = [
    ("letter.txt", b"junk first\n%PDF-1.7\n", FileKind.PDF),
    ("picture.pdf", "Просто текст".encode(), FileKind.TEXT),
    ("old.txt", "Просто текст без прикрас".encode("cp866"), FileKind.TEXT),
    ("wide.txt", "Просто текст".encode("utf-16-le"), FileKind.TEXT),
    ("page", b"\n<!DOCTYPE html><html><body>x</body></html>", FileKind.HTML),
    ("notes.md", b"# About the <html> tag", FileKind.TEXT),
    ("dos.txt", b"text with its end mark\x1a", FileKind.TEXT),
]
REFUSED = [
    ("a.txt", b"", FailureCode.FILE_EMPTY),
    ("a.txt", b" \n\t ", FailureCode.FILE_EMPTY),
    ("a.doc", OLE2, FailureCode.FILE_UNSUPPORTED),
    ("a.docx", OLE2 + "EncryptedPackage".encode("utf-16-le"), FailureCode.FILE_ENCRYPTED),
    ("a.docx", b"PK\x03\x04 cut short", FailureCode.FILE_DAMAGED),
    ("a.zip", b"PK\x03\x04 cut short", FailureCode.FILE_UNSUPPORTED),
    ("a.txt", bytes(range(256)), FailureCode.FILE_UNSUPPORTED),
    ("a.txt", b"\x1f\x8b\x08 gzip", FailureCode.FILE_UNSUPPORTED),
    ("a.doc", b"{\\rtf1 text}", FailureCode.FILE_UNSUPPORTED),
]


def _write(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("name", "content", "kind"), KINDS)
def test_the_content_decides(tmp_path: Path, name: str, content: bytes, kind: FileKind) -> None:
    assert inspect_file(_write(tmp_path, content), name=name, media_type=None).kind is kind


@pytest.mark.parametrize(("name", "content", "code"), REFUSED)
def test_what_nobody_reads_is_refused_with_its_reason(
    tmp_path: Path, name: str, content: bytes, code: FailureCode
) -> None:
    with pytest.raises(SourceError) as caught:
        inspect_file(_write(tmp_path, content), name=name, media_type=None)
    assert caught.value.code is code
    assert caught.value.params == {"name": name}


def test_an_archive_with_a_word_document_is_docx_under_any_name(tmp_path: Path) -> None:
    path = write_docx(tmp_path / "x.bin", "")
    assert inspect_file(path, name="x.bin", media_type=None).kind is FileKind.DOCX
