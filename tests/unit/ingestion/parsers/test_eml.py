"""Letters: who, when, on what, and the better one of their bodies."""

from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from ingestion.parsers.eml import attachments, bodies
from ingestion.parsers.mime import open_letter
from ingestion.records import BlockKind, Document
from tests.unit.ingestion.parsers.packages import letter
from tests.unit.ingestion.parsers.reading import read_bytes, told


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
