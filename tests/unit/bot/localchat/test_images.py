"""Sizes of pictures from their first bytes."""

import struct
from pathlib import Path

import pytest

from bot.localchat.store.images import image_size

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
