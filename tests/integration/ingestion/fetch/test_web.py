"""Fetching over real sockets: redirects, limits, types, charsets, and what each failure is called."""

import gzip
import hashlib
import zlib

import pytest

from ingestion.errors import FailureCode, ServiceError, SourceError
from tests.integration.ingestion.fetch.conftest import SITE_IP, Crawler
from tests.servers.web import Reply

SITE = "http://site.example"
PAGE = "<!doctype html><html><body><p>Привет, мир</p></body></html>"
HTML = ("Content-Type", "text/html; charset=utf-8")
GZIP = ("Content-Encoding", "gzip")


def _redirect(location: str, status: int = 302) -> Reply:
    return Reply(status=status, headers=(("Location", location),))


async def test_a_page_is_written_as_it_came_with_its_hash(crawler: Crawler) -> None:
    crawler.web.replies["/news"] = Reply(body=PAGE.encode())
    file = await crawler.fetch(f"{SITE}/news")
    assert file.path.read_bytes() == PAGE.encode()
    assert file.sha256 == hashlib.sha256(PAGE.encode()).hexdigest()
    assert (file.name, file.media_type, file.url) == ("news.html", "text/html", f"{SITE}/news")


async def test_the_connection_goes_to_the_checked_number_and_asks_for_the_name(crawler: Crawler) -> None:
    crawler.web.replies["/"] = Reply(body=PAGE.encode())
    await crawler.fetch(SITE)
    assert crawler.connector.connected == [f"{SITE_IP}:80"]
    assert crawler.web.asked[0].headers["host"] == "site.example"
    assert "Baza" in crawler.web.asked[0].headers["user-agent"]


async def test_a_name_is_resolved_once_so_a_second_answer_changes_nothing(crawler: Crawler) -> None:
    crawler.resolver.answer("rebind.example", [SITE_IP], ["127.0.0.1"])
    crawler.web.replies["/"] = Reply(body=PAGE.encode())
    await crawler.fetch("http://rebind.example/")
    assert crawler.resolver.asked == ["rebind.example"]
    assert crawler.connector.connected == [f"{SITE_IP}:80"]


async def test_a_redirect_is_resolved_and_checked_anew(crawler: Crawler) -> None:
    crawler.resolver.answer("rebind.example", [SITE_IP], ["127.0.0.1"])
    crawler.web.replies["/"] = _redirect("http://rebind.example/again")
    error = await crawler.failure("http://rebind.example/")
    assert error.code is FailureCode.PAGE_ADDRESS_FORBIDDEN
    assert len(crawler.connector.connected) == 1


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "//[::1]/",
        "http://inside.example/",  # resolves to 10.0.0.5
        "http://localhost:80/",
        "http://2130706433/",
        "http://site.example:22/",
        "file:///etc/passwd",
        "http://user:pass@site.example/",
    ],
)
async def test_a_redirect_inside_is_refused_without_a_connection(crawler: Crawler, location: str) -> None:
    crawler.resolver.answer("inside.example", ["10.0.0.5"])
    crawler.web.replies["/"] = _redirect(location)
    error = await crawler.failure(SITE)
    assert isinstance(error, SourceError)
    assert error.code in (FailureCode.PAGE_ADDRESS_FORBIDDEN, FailureCode.PAGE_ADDRESS_INVALID)
    assert len(crawler.connector.connected) == 1


async def test_redirects_are_followed_without_cookies(crawler: Crawler) -> None:
    headers = (("Location", "/b"), ("Set-Cookie", "session=1"))
    crawler.web.replies |= {"/a": Reply(status=301, headers=headers), "/b": Reply(body=PAGE.encode())}
    file = await crawler.fetch(f"{SITE}/a")
    assert file.url == f"{SITE}/b"
    assert "cookie" not in crawler.web.asked[1].headers


async def test_a_sixth_redirect_is_one_too_many(crawler: Crawler) -> None:
    crawler.web.replies["/"] = _redirect("/")
    error = await crawler.failure(SITE)
    assert error.code is FailureCode.PAGE_TOO_MANY_REDIRECTS
    assert len(crawler.web.asked) == 6


def _sending_on(address: str, *, words: str = "") -> Reply:
    return Reply(body=f'<html><meta http-equiv="refresh" content="0; url={address}"><p>{words}</p></html>'.encode())


async def test_a_page_that_sends_its_reader_on_is_followed(crawler: Crawler) -> None:
    crawler.web.replies |= {"/short": _sending_on("/long"), "/long": Reply(body=PAGE.encode())}
    file = await crawler.fetch(f"{SITE}/short")
    assert (file.path.read_bytes(), file.url) == (PAGE.encode(), f"{SITE}/long")


async def test_a_short_page_in_an_old_encoding_that_its_header_does_not_tell_is_kept(crawler: Crawler) -> None:
    body = '<html><meta charset="windows-1251"><p>Привет</p></html>'.encode("cp1251")
    crawler.web.replies["/"] = Reply(body=body)
    assert (await crawler.fetch(f"{SITE}/")).path.read_bytes() == body


async def test_a_page_that_sends_inside_is_refused_without_a_connection(crawler: Crawler) -> None:
    crawler.web.replies["/"] = _sending_on("http://169.254.169.254/latest")
    assert (await crawler.failure(SITE)).code is FailureCode.PAGE_ADDRESS_FORBIDDEN
    assert len(crawler.connector.connected) == 1


async def test_pages_that_send_each_other_on_are_left(crawler: Crawler) -> None:
    crawler.web.replies |= {"/a": _sending_on("/b"), "/b": _sending_on("/a")}
    assert (await crawler.failure(f"{SITE}/a")).code is FailureCode.PAGE_TOO_MANY_REDIRECTS
    assert len(crawler.web.asked) == 4


async def test_a_page_with_much_to_say_is_read_where_it_stands(crawler: Crawler) -> None:
    crawler.web.replies["/"] = _sending_on("/next", words="слово " * 2000)
    assert (await crawler.fetch(f"{SITE}/")).url == f"{SITE}/"


@pytest.mark.parametrize("status", [401, 403, 404, 410, 451])
async def test_a_refusal_is_the_pages_fault(crawler: Crawler, status: int) -> None:
    crawler.web.replies["/"] = Reply(status=status)
    error = await crawler.failure(SITE)
    assert isinstance(error, SourceError)
    assert error.params == {"host": "site.example", "status": status}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_trouble_of_the_server_may_heal(crawler: Crawler, status: int) -> None:
    crawler.web.replies["/"] = Reply(status=status, headers=(("Retry-After", "17"),))
    error = await crawler.failure(SITE)
    assert isinstance(error, ServiceError)
    assert error.retry_after_s == 17


async def test_a_page_over_the_limit_is_refused_by_its_announced_size(crawler: Crawler) -> None:
    crawler.web.replies["/"] = Reply(body=b"<html>", announced_bytes=300_001)
    assert (await crawler.failure(SITE)).code is FailureCode.PAGE_TOO_LARGE


async def test_a_gzip_bomb_is_stopped_at_the_limit(crawler: Crawler) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    crawler.web.replies["/"] = Reply(body=bomb, headers=(HTML, GZIP))
    error = await crawler.failure(SITE)
    assert error.code is FailureCode.PAGE_TOO_LARGE
    assert sum(path.stat().st_size for path in crawler.folder.iterdir()) <= 300_000


async def test_codings_inside_codings_are_refused(crawler: Crawler) -> None:
    headers = (HTML, ("Content-Encoding", "gzip, gzip"))
    crawler.web.replies["/"] = Reply(body=gzip.compress(gzip.compress(b"x")), headers=headers)
    assert (await crawler.failure(SITE)).code is FailureCode.PAGE_UNREACHABLE


@pytest.mark.parametrize("squeeze", [gzip.compress, zlib.compress, lambda body: gzip.compress(body[:9]) * 2])
async def test_a_compressed_page_is_read(crawler: Crawler, squeeze: object) -> None:
    assert callable(squeeze)
    body = b"<html>abc" * 2
    crawler.web.replies["/"] = Reply(body=squeeze(body), headers=(HTML, GZIP))
    assert (await crawler.fetch(SITE)).path.read_bytes() == body


@pytest.mark.parametrize("media_type", ["font/woff2", "text/css", "application/javascript"])
async def test_an_unwanted_type_is_not_read(crawler: Crawler, media_type: str) -> None:
    crawler.web.replies["/"] = Reply(body=b"x", headers=(("Content-Type", media_type),))
    error = await crawler.failure(SITE)
    assert (error.code, error.params["media_type"]) == (FailureCode.PAGE_TYPE, media_type)


@pytest.mark.parametrize("media_type", ["image/png", "text/html", "application/octet-stream"])
async def test_a_file_is_fetched_for_its_bytes_whatever_its_type_says(crawler: Crawler, media_type: str) -> None:
    body = b"\x89PNG\r\n\x1a\n" + bytes(2000)
    crawler.web.replies["/a.png"] = Reply(body=body, headers=(("Content-Type", media_type),))
    file = await crawler.fetch(f"{SITE}/a.png")
    assert (file.name, file.path.read_bytes()) == ("a.png", body)
    assert file.media_type == (None if media_type == "application/octet-stream" else media_type)


async def test_a_file_may_be_larger_than_a_page(crawler: Crawler) -> None:
    crawler.web.replies |= {
        "/file": Reply(body=b"%PDF-1.7" + bytes(200_000)),
        "/page": Reply(body=b"<html>" + b"x" * 200_000, headers=(("Content-Type", "application/pdf"),)),
        "/huge": Reply(body=b"%PDF-1.7" + bytes(300_000), headers=(("Content-Type", "application/pdf"),)),
    }
    assert (await crawler.fetch(f"{SITE}/file")).size_bytes == 200_008
    assert (await crawler.failure(f"{SITE}/page")).code is FailureCode.PAGE_TOO_LARGE
    assert (await crawler.failure(f"{SITE}/huge")).code is FailureCode.PAGE_TOO_LARGE


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, br"])
async def test_a_coding_that_was_not_asked_for_is_refused(crawler: Crawler, coding: str) -> None:
    crawler.web.replies["/"] = Reply(body=b"\x0b\x02\x80", headers=(HTML, ("Content-Encoding", coding)))
    assert (await crawler.failure(SITE)).code is FailureCode.PAGE_UNREACHABLE
    assert crawler.web.asked[0].headers["accept-encoding"] == "gzip"


async def test_a_pdf_is_known_by_its_bytes_and_named_by_the_server(crawler: Crawler) -> None:
    disposition = ("Content-Disposition", "attachment; filename*=UTF-8''%D0%9F%D0%BB%D0%B0%D0%BD.pdf")
    crawler.web.replies["/get"] = Reply(
        body=b"%PDF-1.7 ...", headers=(("Content-Type", "application/octet-stream"), disposition)
    )
    file = await crawler.fetch(f"{SITE}/get")
    assert file.name == "План.pdf"


async def test_a_charset_of_the_header_survives_as_a_byte_order_mark(crawler: Crawler) -> None:
    headers = (("Content-Type", "text/html; charset=windows-1251"),)
    crawler.web.replies["/"] = Reply(body=PAGE.encode("cp1251"), headers=headers)
    file = await crawler.fetch(SITE)
    assert file.path.read_bytes() == PAGE.encode("utf-8-sig")


async def test_a_wrongly_declared_charset_does_not_spoil_utf_8(crawler: Crawler) -> None:
    headers = (("Content-Type", "text/html; charset=iso-8859-1"),)
    crawler.web.replies["/"] = Reply(body=PAGE.encode(), headers=headers)
    assert (await crawler.fetch(SITE)).path.read_bytes() == PAGE.encode()


async def test_an_empty_page_has_no_text(crawler: Crawler) -> None:
    crawler.web.replies["/"] = Reply()
    assert (await crawler.failure(SITE)).code is FailureCode.PAGE_WITHOUT_TEXT


async def test_a_slow_server_may_heal_after_the_deadline(crawler: Crawler) -> None:
    crawler.limits = type(crawler.limits)(total_s=0.2, page_bytes=1000)
    crawler.web.replies["/"] = Reply(wait_s=0.5)
    error = await crawler.failure(SITE)
    assert isinstance(error, ServiceError)
    assert error.code is FailureCode.PAGE_TOO_SLOW


async def test_a_page_that_comes_byte_by_byte_is_left_at_the_deadline(crawler: Crawler) -> None:
    crawler.limits = type(crawler.limits)(total_s=0.5, page_bytes=1000)
    crawler.web.replies["/"] = Reply(body=b"<html>" * 100, drip_s=0.05)
    assert (await crawler.failure(SITE)).code is FailureCode.PAGE_TOO_SLOW


async def test_a_proxy_of_the_environment_is_not_used(crawler: Crawler, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    crawler.web.replies["/"] = Reply(body=PAGE.encode())
    await crawler.fetch(SITE)
    assert crawler.connector.connected == [f"{SITE_IP}:80"]


async def test_a_page_that_breaks_off_may_heal(crawler: Crawler) -> None:
    crawler.web.replies["/"] = Reply(body=b"<html>", announced_bytes=1000)
    error = await crawler.failure(SITE)
    assert isinstance(error, ServiceError)
    assert error.code is FailureCode.PAGE_UNREACHABLE


async def test_not_modified_without_having_asked_is_a_failure(crawler: Crawler) -> None:
    crawler.web.replies["/a"] = Reply(status=304, headers=())
    assert (await crawler.failure(f"{SITE}/a")).params["status"] == 304
