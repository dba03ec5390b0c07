"""Memory of parsing: it does not grow with the size of a text, a table or a letter."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.ingestion.parsers.packages import letter

PARSING = """
import resource, sys
from pathlib import Path
from ingestion.parsers.registry import parse_file
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
small, large, name = sys.argv[1:]
parse_file(Path(small), name=name, media_type=None)
before = peak()
parse_file(Path(large), name=name, media_type=None)
print(peak() - before)
"""
ROW = f"Запись;{'в журнале ' * 200};много\n"
MOST_KB = 25_000
LARGE_BYTES = 30_000_000


def _growth_kb(folder: Path, small: bytes, large: bytes, *, name: str) -> int:
    (folder / "small").write_bytes(small)
    (folder / "large").write_bytes(large)
    command = [sys.executable, "-c", PARSING, str(folder / "small"), str(folder / "large"), name]
    return int(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


@pytest.mark.parametrize(("name", "encoding"), [("журнал.txt", "cp1251"), ("таблица.csv", "utf-8")])
def test_a_long_text_is_not_held_whole(tmp_path: Path, name: str, encoding: str) -> None:
    small, large = (ROW * times for times in (100, 6_000))
    assert _growth_kb(tmp_path, small.encode(encoding), large.encode(encoding), name=name) < MOST_KB


def test_attachments_are_not_held(tmp_path: Path) -> None:
    small, large = letter("слова"), letter("слова")
    large.add_attachment(bytes(LARGE_BYTES), maintype="application", subtype="pdf", filename="a.pdf")
    assert _growth_kb(tmp_path, small.as_bytes(), large.as_bytes(), name="письмо.eml") < MOST_KB
