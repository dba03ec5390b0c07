"""Folders for files on their way."""

import subprocess
import sys
from pathlib import Path

import pytest

from ingestion.files import document_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from ingestion.files import document_folder
with document_folder(Path(sys.argv[1])) as folder:
    (folder / "file").write_text("left behind")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _left(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.name != "gate.lock"]


def test_nothing_is_left_at_the_end(tmp_path: Path) -> None:
    with document_folder(tmp_path / "deep" / "scratch") as folder:
        (folder / "file").write_text("x")
    assert _left(tmp_path / "deep" / "scratch") == []


def test_nothing_is_left_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), document_folder(tmp_path):
        raise ZeroDivisionError
    assert _left(tmp_path) == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert len(_left(tmp_path)) == 1
    with document_folder(tmp_path):
        pass
    assert _left(tmp_path) == []


def test_the_folder_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    with document_folder(tmp_path) as first, document_folder(tmp_path) as second:
        assert first.is_dir()
        assert second.is_dir()
    assert _left(tmp_path) == []


def test_others_cannot_look_into_it(tmp_path: Path) -> None:
    with document_folder(tmp_path / "scratch") as folder:
        assert (folder.stat().st_mode & 0o777, folder.parent.stat().st_mode & 0o777) == (0o700, 0o700)
