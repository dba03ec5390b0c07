"""Memory of parsing: it does not grow with the size of a text, a table, a document or a letter. Linux: /proc."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.ingestion.parsers.files import write_docx
from tests.unit.ingestion.parsers.packages import letter, write_xlsx

PARSING = """
import sys
from pathlib import Path
from ingestion.parsers.registry import parse_file
def peak():  # of this program alone: `ru_maxrss` begins with that of whoever has started it
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])
small, large, name = sys.argv[1:]
parse_file(Path(small), name=name, media_type=None)
before = peak()
parse_file(Path(large), name=name, media_type=None)
print(peak() - before)
"""
ROW = f"Запись;{'в журнале ' * 200};много\n"
MOST_KB = 25_000
MOST_KB_OF_MARKDOWN = 32_000  # 16 MB of tokens of one portion, 5 of the text itself; held whole it took 45
LARGE_BYTES = 30_000_000


def _growth_kb(folder: Path, small: bytes, large: bytes, *, name: str) -> int:
    (folder / "small").write_bytes(small)
    (folder / "large").write_bytes(large)
    command = [sys.executable, "-c", PARSING, str(folder / "small"), str(folder / "large"), name]
    return int(subprocess.run(command, check=True, capture_output=True, timeout=600).stdout)


@pytest.mark.parametrize(("name", "encoding"), [("журнал.txt", "cp1251"), ("таблица.csv", "utf-8")])
def test_a_long_text_is_not_held_whole(tmp_path: Path, name: str, encoding: str) -> None:
    small, large = (ROW * times for times in (100, 6_000))
    assert _growth_kb(tmp_path, small.encode(encoding), large.encode(encoding), name=name) < MOST_KB


@pytest.mark.parametrize(
    "block", [f"## Раздел\n\n{'в *журнале* ' * 100}\n\n", "- *пункт* [ссылка](x)\n" * 40], ids=["sections", "one list"]
)
def test_long_markdown_is_not_held_whole(tmp_path: Path, block: str) -> None:
    small, large = ((block * times).encode() for times in (20, 2_000_000 // len(block.encode())))
    assert _growth_kb(tmp_path, small, large, name="книга.md") < MOST_KB_OF_MARKDOWN


@pytest.mark.parametrize("wrap", ["{}", "<w:tbl>{}</w:tbl>"], ids=["paragraphs", "one table"])
def test_a_long_docx_is_not_held_whole(tmp_path: Path, wrap: str) -> None:
    run = '<w:r><w:rPr><w:sz w:val="24"/></w:rPr><w:t>в журнале </w:t></w:r>'
    line = f"<w:p>{run * 9}</w:p>" if wrap == "{}" else f"<w:tr><w:tc><w:p>{run * 9}</w:p></w:tc></w:tr>"
    small, large = (
        write_docx(tmp_path / "f.docx", wrap.format(line * times)).read_bytes()
        for times in (10, 7_000_000 // len(line.encode()))
    )
    assert _growth_kb(tmp_path, small, large, name="книга.docx") < MOST_KB


def test_the_shared_texts_of_a_workbook_take_little_beside_their_letters(tmp_path: Path) -> None:
    def book(texts: int) -> bytes:
        shared = [f"запись в журнале {number}" for number in range(texts)]
        row = '<sheetData><row r="1"><c t="s"><v>0</v></c></row></sheetData>'
        return write_xlsx(tmp_path / "f.xlsx", {"Лист": row}, shared=shared).read_bytes()

    assert _growth_kb(tmp_path, book(100), book(250_000), name="журнал.xlsx") < MOST_KB


def test_a_letter_takes_three_times_its_size(tmp_path: Path) -> None:
    small, large = letter("слова"), letter("слова")
    large.add_attachment(bytes(LARGE_BYTES), maintype="application", subtype="pdf", filename="a.pdf")
    most_kb = 3 * len(large.as_bytes()) // 1024
    assert _growth_kb(tmp_path, small.as_bytes(), large.as_bytes(), name="письмо.eml") < most_kb + MOST_KB
