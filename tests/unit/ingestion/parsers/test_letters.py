"""Letters: who, when, on what, and the better one of their bodies."""

import base64
import struct
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from ingestion.errors import FailureCode
from ingestion.parsers.kinds import FileKind, glance
from ingestion.parsers.letters import attachments, bodies, content_of, open_letter, parts_of
from ingestion.parsers.unpack import Sink, unpack_outlook
from ingestion.records import BlockKind, Document
from tests.unit.ingestion.parsers.ole2 import compound_file
from tests.unit.ingestion.parsers.packages import letter
from tests.unit.ingestion.parsers.reading import read, read_bytes, refusal, told

TEXT, BINARY, MOMENT = 0x001F, 0x0102, 0x0040
SUBJECT, SENDER, ADDRESS, BODY, SENT = 0x0037, 0x0C1A, 0x5D01, 0x1000, 0x0039
NAME, CONTENT, METHOD = 0x3707, 0x3701, 0x3705
FILETIME_2026_05_15 = 134_233_704_000_000_000
RECIPIENT = "__recip_version1.0_#00000000"
ATTACHMENT = "__attach_version1.0_#00000000"


def _read(folder: Path, message: EmailMessage) -> Document:
    return read_bytes(folder, message.as_bytes(), name="a.eml")


def _attached(folder: Path, message: EmailMessage) -> list[tuple[str, bytes]]:
    path = folder / "a.eml"
    path.write_bytes(message.as_bytes())
    return [(name, content_of(part)) for name, part in attachments(open_letter(path))]


def test_a_letter_begins_with_its_headers(tmp_path: Path) -> None:
    document = _read(tmp_path, letter("Добрый день!\n\nДоговор готов.\n"))
    head = "From: Анна Петрова <anna@example.org>\nTo: ivan@example.org\nDate: Fri, 15 May 2026 10:00:00 +0300"
    assert [text for _, text in told(document)] == [
        f"{head}\nSubject: Договор аренды",
        "Добрый день!",
        "Договор готов.",
    ]
    assert (document.title, document.author, document.language) == ("Договор аренды", "Анна Петрова", "ru")
    assert document.published_at == datetime(2026, 5, 15, 7, tzinfo=UTC)


@pytest.mark.parametrize("charset", ["utf-8", "koi8-r", "windows-1251"])
def test_a_body_is_read_in_its_charset(tmp_path: Path, charset: str) -> None:
    document = _read(tmp_path, letter("Ёлка и дом", charset=charset))
    assert document.blocks[1].text.startswith("Ёлка")


def test_a_charset_that_is_missing_is_guessed(tmp_path: Path) -> None:
    head = b"From: a@b.org\nTo: c@d.org\nSubject: x\nContent-Type: text/plain\n\n"
    content = head + "Просто обычные русские слова в письме".encode("koi8-r")
    assert read_bytes(tmp_path, content, name="a").blocks[1].text == "Просто обычные русские слова в письме"


def test_a_charset_that_cannot_be_one_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(b'Content-Type: text/plain; charset="utf\0-8"\n\n' + "слова".encode())
    assert bodies(open_letter(path)) == ("слова", "")


def test_the_fuller_body_is_read(tmp_path: Path) -> None:
    page = "<p>Все слова письма стоят только здесь, в разметке, и больше нигде.</p><ul><li>раз</li></ul>"
    blocks = told(_read(tmp_path, letter("Откройте в браузере", html=page)))
    assert [kind for kind, _ in blocks] == [BlockKind.PARAGRAPH, BlockKind.PARAGRAPH, BlockKind.LIST]


def test_attachments_are_those_that_a_person_sees(tmp_path: Path) -> None:
    message = letter("слова", html='<p>слова<img src="cid:logo"></p>')
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="Счёт № 5.pdf")
    message.add_attachment(b"PNG", maintype="image", subtype="png", cid="<logo>", disposition="inline")
    message.add_attachment(b"sig", maintype="application", subtype="pgp-signature", filename="signature.asc")
    assert _attached(tmp_path, message) == [("Счёт № 5.pdf", b"%PDF")]


def test_a_letter_in_a_letter_is_attached(tmp_path: Path) -> None:
    message = letter("снаружи")
    message.add_attachment(letter("внутри"))
    ((name, content),) = _attached(tmp_path, message)
    assert name == "Договор аренды.eml"
    assert read_bytes(tmp_path, content, name=name).blocks[-1].text == "внутри"
    assert "внутри" not in [text for _, text in told(_read(tmp_path, message))]


def test_a_letter_in_a_letter_may_be_packed(tmp_path: Path) -> None:
    head = b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n"
    content = (
        head + b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(b"Subject: a\n\nwords") + b"\n--b--\n"
    )
    assert _parts(tmp_path, content) == [("message/rfc822", b"Subject: a\n\nwords")]


def test_a_saved_web_page_is_read_as_a_letter(tmp_path: Path) -> None:
    head = b"From: <Saved by Blink>\nSubject: x\nDate: x\nMIME-Version: 1.0\n"
    head += b'Content-Type: multipart/related; boundary="b"\n\n'
    content = head + b"--b\nContent-Type: text/html; charset=utf-8\n\n<h1>Title</h1><p>words\n--b--\n"
    assert read_bytes(tmp_path, content, name="a.mhtml").blocks[-1].text == "words"


def test_broken_headers_are_no_reason_to_refuse(tmp_path: Path) -> None:
    content = b"From: =?utf-8?b?!!!?= <<<\nTo: ;;;\nSubject: =?x?q?\xff?=\nDate: never\n\nwords"
    document = read_bytes(tmp_path, content, name="a.eml")
    assert (document.blocks[-1].text, document.published_at) == ("words", None)


def _parts(folder: Path, content: bytes) -> list[tuple[str, bytes]]:
    path = folder / "a.eml"
    path.write_bytes(content)
    return [(part.get_content_type(), content_of(part)) for part in parts_of(open_letter(path))]


@pytest.mark.parametrize("end", [b"", b"\n--b", b"\n--b--\nbehind\n--b--\n", b"\n--a--\n--c\n\nbehind"])
def test_a_letter_that_breaks_off_or_goes_on_is_read(tmp_path: Path, end: bytes) -> None:
    content = (
        b"Content-Type: multipart/mixed; boundary=b\n\nbefore\n--b\n\nwords\n--b\nContent-Type: a/b\n\nattached" + end
    )
    assert [kind for kind, _ in _parts(tmp_path, content)][:2] == ["text/plain", "a/b"]


def test_a_boundary_of_a_letter_outside_ends_those_inside(tmp_path: Path) -> None:
    inner = b"Content-Type: multipart/mixed; boundary=in\n\n--in\n\nfirst\n"
    content = b"Content-Type: multipart/mixed; boundary=out\n\n--out\n" + inner + b"--out\n\nsecond\n--out--\n"
    assert _parts(tmp_path, content) == [("text/plain", b"first"), ("text/plain", b"second")]


@pytest.mark.parametrize("between", [b", ", b",\n "])
def test_a_letter_to_thousands_is_read(tmp_path: Path, between: bytes) -> None:
    content = b"To: " + between.join([b"somebody@site.example"] * 5_000) + b"\nContent-Type: text/html\n\nwords"
    assert _parts(tmp_path, content) == [("text/html", b"words")]


def test_what_is_very_deep_is_read(tmp_path: Path) -> None:
    multiparts = [b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (depth, depth) for depth in range(200)]
    assert _parts(tmp_path, b"".join(multiparts) + b"\nwords") == [("text/plain", b"words")]


def test_parts_of_a_digest_are_letters(tmp_path: Path) -> None:
    digest = b"Content-Type: multipart/digest; boundary=in\n\n--in\n\nSubject: a\n\nfirst\n--in--\n"
    content = b"Content-Type: multipart/mixed; boundary=out\n\n--out\n" + digest + b"--out\n\nsecond\n--out--\n"
    assert _parts(tmp_path, content) == [("message/rfc822", b"Subject: a\n\nfirst"), ("text/plain", b"second")]


def test_lines_before_the_headers_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(b"\xef\xbb\xbf\r\nSubject: words\r\n\r\nbody")
    assert open_letter(path)["Subject"] == "words"


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


def test_a_letter_with_thousands_of_letters_in_each_other_is_read(tmp_path: Path) -> None:
    inner = b"Subject: inner\nContent-Type: message/rfc822\n\n" * 5_000
    content = b"Subject: outer\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nwords\n--b\n"
    path = tmp_path / "letter.eml"
    path.write_bytes(content + b"Content-Type: message/rfc822\n\n" + inner + b"\n--b--\n")
    letter = open_letter(path)
    assert bodies(letter)[0] == "words"
    assert [name for name, _ in attachments(letter)] == ["inner.eml"]
