"""Plain text files."""

from pathlib import Path

from ingestion.parsers.registry import parse_file


def test_empty_lines_separate_paragraphs_and_line_ends_stay(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes("Однажды в студёную\r\nзимнюю пору  \r\n \r\n\r\nЯ из лесу".encode("cp1251"))
    document = parse_file(path, name="стих.txt", media_type="text/plain")
    assert [block.text for block in document.blocks] == ["Однажды в студёную\nзимнюю пору", "Я из лесу"]
    assert (document.title, document.language) == ("стих", "ru")
