"""CSV and TSV: delimiters, quotes and encodings are found out."""

from pathlib import Path

import pytest

from ingestion.records import BlockKind
from tests.unit.ingestion.parsers.reading import read_bytes, told

TABLE = "| Товар | Цена |\n| --- | --- |\n| Стол письменный | 1 200,50 |\n| Стул | 300,00 |"
ROWS = [("Товар", "Цена"), ("Стол письменный", "1 200,50"), ("Стул", "300,00")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1251", "utf-16", "cp866"])
@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiter_and_encoding_are_found_out(tmp_path: Path, encoding: str, delimiter: str) -> None:
    content = "\r\n".join(delimiter.join(row) for row in ROWS)
    document = read_bytes(tmp_path, content.encode(encoding), name="a.csv")
    assert told(document) == [(BlockKind.TABLE, TABLE)]
    assert (document.blocks[0].locator.row, document.blocks[0].locator.row_end) == (2, 3)


def test_quotes_hold_delimiters_and_line_ends(tmp_path: Path) -> None:
    content = 'имя,слова\nАнна,"первая, и\nвторая ""строка"""\n'
    document = read_bytes(tmp_path, content.encode(), name="a.csv")
    assert document.blocks[0].text.endswith('| Анна | первая, и вторая "строка" |')
    assert document.blocks[0].locator.row == 2


def test_the_files_own_word_on_its_delimiter_is_taken(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, b"sep=,\na,b;c\n1,2;3\n", name="a.csv")
    assert document.blocks[0].text == "| a | b;c |\n| --- | --- |\n| 1 | 2;3 |"


def test_a_file_without_columns_is_plain_text(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, "Просто строка\n\nИ ещё одна".encode(), name="a.csv")
    assert [kind for kind, _ in told(document)] == [BlockKind.PARAGRAPH, BlockKind.PARAGRAPH]


def test_text_that_is_called_a_workbook_is_a_table(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, "Товар\tЦена\nСтол\t5\n".encode("cp1251"), name="выгрузка.xls")
    assert document.blocks[0].text == "| Товар | Цена |\n| --- | --- |\n| Стол | 5 |"
