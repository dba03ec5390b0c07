"""PDF files."""

from pathlib import Path

import pytest

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.registry import parse_file
from ingestion.records import Document
from tests.unit.ingestion.parsers.files import write_pdf


def _parse(path: Path) -> Document:
    return parse_file(path, name="report.pdf", media_type="application/pdf")


def _code(path: Path) -> FailureCode:
    with pytest.raises(SourceError) as caught:
        _parse(path)
    return caught.value.code


def test_blocks_know_their_pages_and_empty_pages_are_listed(tmp_path: Path) -> None:
    document = _parse(write_pdf(tmp_path / "f", [["First page."], [], ["Third page."]], title="Annual report"))
    assert [(block.text, block.locator.page) for block in document.blocks] == [("First page.", 1), ("Third page.", 3)]
    assert (document.title, document.pages, document.pages_without_text) == ("Annual report", 3, (2,))


def test_an_empty_password_opens(tmp_path: Path) -> None:
    assert _parse(write_pdf(tmp_path / "f", [["Hello there."]], password="")).blocks[0].text == "Hello there."


def test_a_password_is_not_guessed(tmp_path: Path) -> None:
    assert _code(write_pdf(tmp_path / "f", [["Hello."]], password="secret")) is FailureCode.FILE_ENCRYPTED


def test_pages_without_text_are_a_reason(tmp_path: Path) -> None:
    assert _code(write_pdf(tmp_path / "f", [[], []])) is FailureCode.FILE_WITHOUT_TEXT


def test_what_is_no_pdf_inside_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"%PDF-1.7\nnothing of the kind")
    assert _code(path) is FailureCode.FILE_DAMAGED


def test_a_file_cut_in_the_middle_is_damaged_or_read_in_part(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "f", [["Hello there."]] * 3)
    path.write_bytes(path.read_bytes()[:700])
    assert _code(path) in {FailureCode.FILE_DAMAGED, FailureCode.FILE_WITHOUT_TEXT}
