"""Plain text files."""

from pathlib import Path

import pytest

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import outline
from ingestion.parsers.registry import parse_file


def test_empty_lines_separate_paragraphs_and_line_ends_stay(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes("Однажды в студёную\r\nзимнюю пору  \r\n \r\n\r\nЯ из лесу".encode("cp1251"))
    document = parse_file(path, name="стих.txt", media_type="text/plain")
    assert [block.text for block in document.blocks] == ["Однажды в студёную\nзимнюю пору", "Я из лесу"]
    assert (document.title, document.language) == ("стих", "ru")


def test_a_form_feed_ends_a_paragraph(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("one\ftwo\n\f\nthree")
    assert [block.text for block in parse_file(path, name="f.txt", media_type=None).blocks] == ["one", "two", "three"]


def test_a_text_without_empty_lines_is_divided_where_a_sentence_ends(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("Строка книги, которая\nпродолжается здесь.\n" * 10_000)
    texts = [block.text for block in parse_file(path, name="книга.txt", media_type=None).blocks]
    assert len(texts) > 1
    assert all(text.endswith("здесь.") for text in texts)
    assert sum(text.count("здесь") for text in texts) == 10_000


def test_more_than_can_be_used_ends_the_reading_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "MOST_CHARS", 1_000)
    path = tmp_path / "f"
    path.write_text("слова\n\n" * 1_000)
    with pytest.raises(SourceError) as raised:
        parse_file(path, name="много.txt", media_type=None)
    assert (raised.value.code, raised.value.params["name"]) == (FailureCode.FILE_TOO_HEAVY, "много.txt")
