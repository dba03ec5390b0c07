"""Uploads on disk, the sizes of images, messages of earlier versions."""

import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image

from localchat.store import Files, Store, image_size, open_store


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
    assert files.find(saved.path, by="path") == saved
    assert saved.path == "documents/file_0.docx"
    assert saved.mime.endswith("wordprocessingml.document")
    assert files.find("../chat.sqlite3", by="path") is None


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP", "JPEG", "TIFF"])
def test_a_size_is_read_or_nothing(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "picture"
    Image.new("RGB", (40, 30)).save(path, kind)
    assert image_size(path) == (None if kind == "TIFF" else (40, 30))


@pytest.mark.parametrize("content", [b"%PDF-1.7", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b""])
def test_what_is_no_picture_or_cut_off_has_no_size(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "picture"
    path.write_bytes(content)
    assert image_size(path) is None


def test_the_messages_of_an_earlier_version_are_taken_over(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "chat.sqlite3")) as before:
        before.execute(
            "create table messages (chat_id, message_id, sender_id, date, text, entities, kind, file_id, album,"
            " reply_to, markup, preview, edited, origin)"
        )
        entities = '[{"kind": "bold", "offset": 0, "length": 3}]'
        row = (1001, 7, 1001, 1_795_000_000, "раз", entities, None, None, None, 5, '{"a": 1}', None, None, None)
        before.execute(f"insert into messages values ({', '.join('?' * len(row))})", row)
        before.commit()
    for _ in range(2):
        with closing(open_store(tmp_path)) as opened:
            message = Store(opened).find(1001, 7) or {}
        assert (message["from"]["first_name"], message["chat"]["id"], message["text"]) == ("Вы", 1001, "раз")
        assert message["entities"] == [{"type": "bold", "offset": 0, "length": 3}]
        assert (message["reply_to_message"], message["reply_markup"]) == ({"message_id": 5}, {"a": 1})
