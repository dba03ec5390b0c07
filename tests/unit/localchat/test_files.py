"""Uploads on disk, and the sizes of images."""

import io
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from localchat.store import Files, image_size, open_store


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


JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", 30, 40) + b"\0" * 12
WEBP = b"RIFF\0\0\0\0WEBP"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 40, 30), (40, 30)),
        (b"GIF89a" + struct.pack("<HH", 40, 30), (40, 30)),
        (JPEG, (40, 30)),
        (WEBP + b"VP8X" + b"\0" * 8 + (39).to_bytes(3, "little") + (29).to_bytes(3, "little"), (40, 30)),
        (WEBP + b"VP8 " + b"\0" * 10 + struct.pack("<HH", 40, 30), (40, 30)),
        (b"%PDF-1.7", None),
        (b"\x89PNG\r\n\x1a\n", None),  # cut off
        (b"\xff\xd8\xff", None),
        (b"", None),
    ],
)
def test_a_size_is_read_or_nothing(tmp_path: Path, content: bytes, expected: tuple[int, int] | None) -> None:
    path = tmp_path / "picture"
    path.write_bytes(content)
    assert image_size(path) == expected
