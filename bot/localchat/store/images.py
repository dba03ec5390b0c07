"""Width and height of images.

In: a PNG, GIF, JPEG or WebP file. Out: the two numbers. Only the file's headers are read.
"""

import struct
from pathlib import Path
from typing import IO

_JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # start-of-frame markers; the three are tables
_HEAD_BYTES = 30


def image_size(path: Path) -> tuple[int, int] | None:
    """(width, height) in pixels; None for any other file."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
            return struct.unpack(">II", head[16:24])
        if head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
            return struct.unpack("<HH", head[6:10])
        if head[:4] == b"RIFF" and head[8:12] == b"WEBP" and len(head) == _HEAD_BYTES:
            return _webp_size(head)
        return _jpeg_size(file) if head.startswith(b"\xff\xd8") else None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    kind = head[12:16]
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack("<HH", head[26:30])
    return width & 0x3FFF, height & 0x3FFF


def _jpeg_size(file: IO[bytes]) -> tuple[int, int] | None:
    file.seek(2)
    while len(marker := file.read(4)) == 4 and marker[0] == 0xFF:
        length = int.from_bytes(marker[2:4], "big")
        if marker[1] in _JPEG_FRAMES:
            frame = file.read(5)
            return (int.from_bytes(frame[3:5], "big"), int.from_bytes(frame[1:3], "big")) if len(frame) == 5 else None
        file.seek(length - 2, 1)
    return None
