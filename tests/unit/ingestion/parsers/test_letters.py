"""Letters: who, when, on what, and the better one of their bodies."""

import random
import struct
import tracemalloc
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest

from ingestion.errors import FailureCode
from ingestion.parsers.kinds import FileKind, glance
from ingestion.parsers.letters import PIECE_BYTES, attachments, bodies, open_letter
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
CODINGS = ("base64", "quoted-printable", "8bit")
LARGE_BYTES = 3_000_000


def _read(folder: Path, message: EmailMessage) -> Document:
    return read_bytes(folder, message.as_bytes(), name="a.eml")


def _attached(folder: Path, message: EmailMessage) -> list[tuple[str, bytes]]:
    path = folder / "a.eml"
    path.write_bytes(message.as_bytes())
    return [(attached.name, b"".join(attached.pieces())) for attached in attachments(open_letter(path))]


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
    assert bodies(open_letter(path)).plain == "слова"


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
    return [(part.headers.get_content_type(), b"".join(part.content())) for part in open_letter(path).parts]


def _python_parts(content: bytes) -> list[tuple[str, bytes]]:
    walked = message_from_bytes(content, policy=policy.default).walk()
    leaves = [part for part in walked if not part.is_multipart()]
    return [(part.get_content_type(), bytes(part.get_payload(decode=True) or b"")) for part in leaves]


def _some_letter(seed: int) -> EmailMessage:
    choose = random.Random(seed)
    message = letter(
        "слова\n--\nподпись = 5\n" * choose.randint(0, 400), html="<p>é = \u2026</p>" * choose.randint(1, 9)
    )
    for number in range(choose.randint(0, 5)):
        text = f"строка {number} =20\r\n--x\n" * choose.randint(0, 30)
        message.add_attachment(text, filename=f"{number}.txt", cte=choose.choice(CODINGS))
        content = choose.randbytes(choose.randint(0, 3 * PIECE_BYTES))
        message.add_attachment(content, maintype="application", subtype="pdf", filename="Счёт.pdf")
    return message


@pytest.mark.parametrize("seed", range(12))
def test_parts_are_those_that_python_finds(tmp_path: Path, seed: int) -> None:
    lines = policy.SMTP if seed % 2 else policy.default
    content = _some_letter(seed).as_bytes(policy=lines)
    assert _parts(tmp_path, content) == _python_parts(content)


@pytest.mark.parametrize("end", [b"", b"\n--b", b"\n--b--\nbehind\n--b--\n", b"\n--a--\n--c\n\nbehind"])
def test_a_letter_that_breaks_off_or_goes_on_is_read(tmp_path: Path, end: bytes) -> None:
    content = (
        b"Content-Type: multipart/mixed; boundary=b\n\nbefore\n--b\n\nwords\n--b\nContent-Type: a/b\n\nattached" + end
    )
    assert _parts(tmp_path, content)[:2] == _python_parts(content)[:2]


def test_a_boundary_of_a_letter_outside_ends_those_inside(tmp_path: Path) -> None:
    inner = b"Content-Type: multipart/mixed; boundary=in\n\n--in\n\nfirst\n"
    content = b"Content-Type: multipart/mixed; boundary=out\n\n--out\n" + inner + b"--out\n\nsecond\n--out--\n"
    assert _parts(tmp_path, content) == [("text/plain", b"first"), ("text/plain", b"second")]


@pytest.mark.parametrize("between", [b", ", b",\n "])
def test_a_letter_to_thousands_is_read(tmp_path: Path, between: bytes) -> None:
    content = b"To: " + between.join([b"somebody@site.example"] * 5_000) + b"\nContent-Type: text/html\n\nwords"
    assert _parts(tmp_path, content) == [("text/html", b"words")]


def test_what_is_very_deep_is_one_part(tmp_path: Path) -> None:
    multiparts = [b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (depth, depth) for depth in range(200)]
    assert [kind for kind, _ in _parts(tmp_path, b"".join(multiparts) + b"\nwords")] == ["multipart/mixed"]


def test_parts_of_a_digest_are_letters(tmp_path: Path) -> None:
    digest = b"Content-Type: multipart/digest; boundary=in\n\n--in\n\nSubject: a\n\nfirst\n--in--\n"
    content = b"Content-Type: multipart/mixed; boundary=out\n\n--out\n" + digest + b"--out\n\nsecond\n--out--\n"
    assert _parts(tmp_path, content) == [("message/rfc822", b"Subject: a\n\nfirst"), ("text/plain", b"second")]


def test_base64_that_ends_between_two_pieces_is_read(tmp_path: Path) -> None:
    lines_before = b"\n" * (PIECE_BYTES - len("d29yZHMxMg="))
    content = b"Content-Type: a/b\nContent-Transfer-Encoding: base64\n\n" + lines_before + b"d29yZHMxMg==not read"
    assert _parts(tmp_path, content) == [("a/b", b"words12")]


def test_base64_with_strange_signs_in_it_is_read(tmp_path: Path) -> None:
    content = b"Content-Type: a/b\nContent-Transfer-Encoding: BASE64 \n\nd29\xffy\n =ZHM=\nnot read"
    assert _parts(tmp_path, content) == [("a/b", b"words")]


def test_an_old_unix_attachment_is_read(tmp_path: Path) -> None:
    content = b"Content-Type: a/b\nContent-Transfer-Encoding: x-uuencode\n\nbegin 644 a.txt\n\n%=V]R9',\n`\nend\n"
    assert _parts(tmp_path, content) == [("a/b", b"words")]


def test_lines_before_the_headers_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(b"\xef\xbb\xbf\r\nSubject: words\r\n\r\nbody")
    assert open_letter(path).headers["Subject"] == "words"


def test_attachments_are_not_held_in_memory(tmp_path: Path) -> None:
    message = letter("слова")
    message.add_attachment(bytes(LARGE_BYTES), maintype="application", subtype="pdf", filename="a.pdf")
    path = tmp_path / "a.eml"
    path.write_bytes(message.as_bytes())
    tracemalloc.start()
    size = sum(len(piece) for part in open_letter(path).parts for piece in part.content())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > LARGE_BYTES
    assert most < LARGE_BYTES / 4


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
