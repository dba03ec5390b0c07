"""The structure of letters: as Python's own parser finds it, for a fraction of its memory."""

import random
import tracemalloc
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest

from ingestion.parsers.mime import PIECE_BYTES, open_letter
from tests.unit.ingestion.parsers.packages import letter

CODINGS = ("base64", "quoted-printable", "8bit")
LARGE_BYTES = 3_000_000


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
