"""What the crawler takes, and what it calls it."""

import pytest

from ingestion.fetch.media import Content, file_name, is_wanted, recognise

PAGE = b"<!DOCTYPE html><html>"


@pytest.mark.parametrize(
    ("media_type", "head", "content"),
    [
        ("text/html", b"<p>x", Content.PAGE),
        ("application/xhtml+xml", b"<?xml", Content.PAGE),
        ("text/plain", PAGE, Content.PAGE),  # servers that know no types
        ("", b"\n<!-- x --> <html lang=ru>", Content.PAGE),
        ("application/xml", b'<?xml version="1.0"?>\n' + PAGE, Content.PAGE),
        ("text/plain", b"words", Content.TEXT),
        ("text/csv", b"a;b", Content.TEXT),
        ("text/markdown", b"# x", Content.MARKDOWN),
        ("application/octet-stream", b"just words", Content.TEXT),
        ("application/octet-stream", b"%PDF-1.7", Content.PDF),
        ("text/html", b"junk\n%PDF-1.4", Content.PDF),
        ("application/zip", b"PK\x03\x04", Content.DOCX),
        ("application/pdf", PAGE, Content.PAGE),  # a log-in page in place of the file
        ("application/pdf", b"words", None),
        ("application/octet-stream", b"\x7fELF\x01\x00", None),
        ("", b"", None),
    ],
)
def test_the_first_bytes_decide_where_the_type_says_nothing(media_type: str, head: bytes, content: Content) -> None:
    assert recognise(media_type, head) == content


@pytest.mark.parametrize("media_type", ["image/png", "video/mp4", "application/json", "font/woff2"])
def test_what_has_no_words_is_not_wanted(media_type: str) -> None:
    assert not is_wanted(media_type)


@pytest.mark.parametrize(
    ("disposition", "path", "name"),
    [
        ('attachment; filename="a b.pdf"', "/x", "a b.pdf"),
        ("attachment; filename=plan", "/x", "plan.pdf"),
        ("inline; filename*=UTF-8''%D0%9F%D0%BB%D0%B0%D0%BD.PDF; filename=x", "/x", "План.PDF"),
        ('attachment; filename="../../etc/passwd"', "/", "_.._etc_passwd.pdf"),
        ("", "/docs/%D0%BE%D1%82%D1%87%D1%91%D1%82.pdf", "отчёт.pdf"),
        ("", "/get/17/", "17.pdf"),
        ("", "/", "site.example.pdf"),
    ],
)
def test_a_file_is_called_what_the_server_or_the_address_says(disposition: str, path: str, name: str) -> None:
    assert file_name(disposition, path, "site.example", Content.PDF) == name
