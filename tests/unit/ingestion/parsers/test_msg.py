"""Outlook's letters: headers, body, attachments."""

import struct
from pathlib import Path

from ingestion.errors import FailureCode
from ingestion.parsers.kinds import FileKind, glance
from ingestion.parsers.unpack import Sink, unpack_outlook
from tests.unit.ingestion.parsers.ole2 import compound_file
from tests.unit.ingestion.parsers.reading import read, refusal, told

TEXT, BINARY, MOMENT = 0x001F, 0x0102, 0x0040
SUBJECT, SENDER, ADDRESS, BODY, SENT = 0x0037, 0x0C1A, 0x5D01, 0x1000, 0x0039
NAME, CONTENT, METHOD = 0x3707, 0x3701, 0x3705
FILETIME_2026_05_15 = 134_233_704_000_000_000
RECIPIENT = "__recip_version1.0_#00000000"
ATTACHMENT = "__attach_version1.0_#00000000"


def _properties(head_bytes: int, entries: dict[tuple[int, int], bytes]) -> bytes:
    lines = [struct.pack("<HHI", kind, key, 6) + value.ljust(8, b"\0")[:8] for (key, kind), value in entries.items()]
    return bytes(head_bytes) + b"".join(lines)


def _storage(prefix: str, head_bytes: int, texts: dict[int, str], **more: bytes) -> dict[str, bytes]:
    """Streams of one storage; sizes of texts stand in the property table."""
    streams, entries = {}, {}
    for key, text in texts.items():
        data = text.encode("utf-16-le")
        streams[f"{prefix}__substg1.0_{key:04X}{TEXT:04X}"] = data
        entries[key, TEXT] = struct.pack("<I", len(data) + 2)
    for name, data in more.items():
        key = int(name[1:], 16)
        streams[f"{prefix}__substg1.0_{key:04X}{BINARY:04X}"] = data
        entries[key, BINARY] = struct.pack("<I", len(data))
    if not prefix:
        entries[SENT, MOMENT] = struct.pack("<Q", FILETIME_2026_05_15)
    streams[f"{prefix}__properties_version1.0"] = _properties(head_bytes, entries)
    return streams


def _write(path: Path) -> Path:
    streams = _storage("", 32, {SUBJECT: "Договор", SENDER: "Анна", ADDRESS: "anna@e.org", BODY: "Добрый день"})
    streams |= _storage(f"{RECIPIENT}/", 8, {0x3001: "Иван", 0x39FE: "ivan@e.org"})
    streams |= _storage(f"{ATTACHMENT}/", 8, {NAME: "а.txt"}, x3701=b"attached")
    path.write_bytes(compound_file(streams))
    return path


def test_a_letter_is_read(tmp_path: Path) -> None:
    document = read(_write(tmp_path / "a.msg"))
    text = "\n".join(text for _, text in told(document))
    assert document.title == "Договор"
    assert "Анна" in text
    assert "Добрый день" in text


def test_its_attachments_are_unpacked(tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    sink = Sink(folder=folder, members=9, total_bytes=10_000)
    unpack_outlook(_write(tmp_path / "a.msg"), sink)
    assert [member.name for member in sink.written] == ["а.txt"]
    assert (folder / "1").read_bytes().startswith(b"attached")


def test_it_is_known_by_its_content(tmp_path: Path) -> None:
    assert glance(_write(tmp_path / "a.bin")) is FileKind.OUTLOOK


def test_one_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.msg")
    path.write_bytes(path.read_bytes()[:1500])
    assert refusal(path) in (FailureCode.FILE_DAMAGED, FailureCode.FILE_UNSUPPORTED)
