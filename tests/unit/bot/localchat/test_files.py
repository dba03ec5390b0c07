"""Where uploads go: names of their senders never become paths."""

import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.localchat.store.files import Files
from bot.localchat.store.schema import open_store


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_store(tmp_path)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\a\\отчёт.pdf", "отчёт.pdf"),
        ("..", ".."),
        ("", "file"),
        ("a" * 300, "a" * 255),
    ],
)
def test_only_the_last_part_of_a_name_is_kept(
    connection: sqlite3.Connection, tmp_path: Path, name: str, kept: str
) -> None:
    files = Files(connection, tmp_path / "files")
    saved = files.save(io.BytesIO(b"x"), name=name, mime=None)
    assert saved.name == kept
    assert files.location(saved).parent == tmp_path / "files"
    assert files.location(saved).read_bytes() == b"x"


def test_a_file_is_found_by_its_id_and_by_its_told_path(connection: sqlite3.Connection, tmp_path: Path) -> None:
    files = Files(connection, tmp_path / "files")
    saved = files.save(io.BytesIO(b"x"), name="План.DOCX", mime="application/octet-stream")
    assert files.find(saved.file_id) == saved
    assert files.find_by_path(saved.path) == saved
    assert saved.path == "documents/file_0.docx"
    assert saved.mime.endswith("wordprocessingml.document")
    assert files.find_by_path("../chat.sqlite3") is None
