"""What came from behind an address, and what it is called."""

import time

import httpx
import pytest

from ingestion.fetch.download import Content, name_of, recognise

PAGE = b"<!DOCTYPE html><html>"


@pytest.mark.parametrize(
    ("media_type", "head", "content"),
    [
        ("text/html", b"<p>x", Content.PAGE),
        ("application/xhtml+xml", b"<?xml", Content.PAGE),
        ("text/plain", PAGE, Content.PAGE),  # servers that know no types
        ("", b"\n<!-- x --> <html lang=ru>", Content.PAGE),
        ("application/xml", b'<?xml version="1.0"?>\n' + PAGE, Content.PAGE),
        ("text/html", b"\xef\xbb\xbf" + PAGE, Content.PAGE),
        ("text/plain", b"words", Content.TEXT),
        ("text/csv", b"a;b", Content.TEXT),
        ("application/json", b'{"a": 1}', Content.TEXT),
        ("text/plain; charset=utf-16", b"\xff\xfeA\0", Content.TEXT),
        ("text/markdown", b"# x", Content.MARKDOWN),
        ("application/octet-stream", b"just words", Content.TEXT),
        ("application/octet-stream", b"%PDF-1.7", Content.FILE),
        ("text/html", b"junk\n%PDF-1.4", Content.FILE),
        ("text/html", b"PK\x03\x04\x00", Content.FILE),
        ("text/plain", b"\xff\xd8\xff\xe0\x00\x10JFIF", Content.FILE),
        ("application/pdf", PAGE, Content.PAGE),  # a log-in page in place of the file
        ("application/octet-stream", b"\x7fELF\x01\x00", Content.FILE),
    ],
)
def test_the_first_bytes_decide_and_then_the_type(media_type: str, head: bytes, content: Content) -> None:
    assert recognise(media_type, head) is content


@pytest.mark.parametrize(
    ("disposition", "path", "name"),
    [
        ('attachment; filename="a b.pdf"', "/x", "a b.pdf"),
        ("attachment; filename=plan", "/x", "plan.pdf"),
        ("inline; filename*=UTF-8''%D0%9F%D0%BB%D0%B0%D0%BD.PDF; filename=x", "/x", "План.PDF"),
        ("attachment; filename=\"x.pdf\"; filename*=windows-1251''%CF%EB%E0%ED.pdf", "/x", "План.pdf"),
        ('attachment; filename="%D0%9F%D0%BB%D0%B0%D0%BD.pdf"', "/x", "План.pdf"),
        ('attachment; filename="' + "План.pdf".encode().decode("latin-1") + '"', "/x", "План.pdf"),  # raw UTF-8
        (r'attachment; filename="a \"b\".pdf"', "/x", "a _b_.pdf"),
        ('attachment; filename="../../etc/passwd"', "/", "_.._etc_passwd.pdf"),
        ("", "/docs/%D0%BE%D1%82%D1%87%D1%91%D1%82.pdf", "отчёт.pdf"),
        ("", "/get/17/", "17.pdf"),
        ("", "/", "site.example.pdf"),
    ],
)
def test_a_file_is_called_what_the_server_or_the_address_says(disposition: str, path: str, name: str) -> None:
    assert name_of(httpx.URL(f"https://site.example{path}"), Content.FILE, "application/pdf", disposition) == name


@pytest.mark.parametrize(
    ("content", "path", "declared", "name"),
    [
        (Content.PAGE, "/news", "text/html", "news.html"),
        (Content.PAGE, "/v1.2", "text/html", "v1.2.html"),
        (Content.PAGE, "/index.htm", "text/html", "index.htm"),
        (Content.TEXT, "/data.csv", "text/csv", "data.csv"),
        (Content.TEXT, "/robots", "text/plain", "robots.txt"),
        (Content.FILE, "/song", "audio/mpeg", "song.mp3"),
        (Content.FILE, "/report.xlsx", "application/octet-stream", "report.xlsx"),
        (Content.FILE, "/what", "application/octet-stream", "what.bin"),
    ],
)
def test_a_name_has_the_ending_of_its_content(content: Content, path: str, declared: str, name: str) -> None:
    assert name_of(httpx.URL(f"https://site.example{path}"), content, declared, "") == name


@pytest.mark.parametrize("junk", [b"<!---->", b"<!-- -->\n", b" ", b"<?xml ?>", b"<!--"])
def test_what_a_body_is_shows_at_once_whatever_it_begins_with(junk: bytes) -> None:
    """A hundred empty comments were tried in every way to part them: no other chat was answered for as long."""
    head = (junk * 1024)[: 25 * len(junk)] + b"x"
    began = time.thread_time()
    assert recognise("text/html", head) is Content.PAGE
    assert time.thread_time() - began < 1
