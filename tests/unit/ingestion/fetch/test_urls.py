"""Addresses of pages, and the links of a page."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.fetch.urls import (
    MOST_LINKS,
    address_to_read,
    normalise_url,
    scan_links,
    sent_on_to,
    site_of,
)

URL = "https://site.example/docs/"


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("https://example.org", "https://example.org"),
        ("  HTTP://Example.ORG/A  ", "http://example.org/A"),  # a path has its case
        ("example.org/a", "https://example.org/a"),
        ("example.org:8443/x", "https://example.org:8443/x"),
        ("http://example.org:80/", "http://example.org/"),  # the scheme's own port
        ("https://президент.рф/", "https://xn--d1abbgf6aiiy.xn--p1ai/"),
        ("https://e.org/?q=%D0%B0+b&utm_source=x&UTM_Medium=y", "https://e.org/?q=%D0%B0+b"),
        ("https://e.org/a?yclid=1#b", "https://e.org/a"),
    ],
)
def test_a_web_address_takes_one_form(written: str, address: str) -> None:
    assert normalise_url(written) == address


@pytest.mark.parametrize(
    "written", ["", "tg://resolve?domain=x", "mailto:a@example.org", "file:///etc", "https://", "http://[::"]
)
def test_what_is_no_web_address_is_none(written: str) -> None:
    assert normalise_url(written) is None


@given(st.text())
def test_the_form_of_a_form_is_the_same(written: str) -> None:
    address = normalise_url(written)
    assert address is None or normalise_url(address) == address


@pytest.mark.parametrize(
    "written", ["https://t.me/gorod/77", "https://t.me/s/gorod/77?single", "http://www.t.me/gorod/77"]
)
def test_a_telegram_post_is_read_where_its_words_are(written: str) -> None:
    assert address_to_read(written) == "https://t.me/gorod/77?embed=1&mode=tme"


@pytest.mark.parametrize("written", ["https://t.me/gorod", "https://t.me/s/gorod", "https://e.org/t.me/gorod/77"])
def test_other_addresses_are_read_where_they_are(written: str) -> None:
    assert address_to_read(written) == written


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.example.org/a", "example.org"),
        ("https://www.xn--j1ail.xn--p1ai/", "кто.рф"),
        ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com"),
    ],
    ids=["plain", "letters", "letters that look like others"],
)
def test_a_site_is_called_by_its_host(url: str, site: str) -> None:
    assert site_of(url) == site


def _links(html: str) -> list[str]:
    return [link.url.removeprefix("https://site.example") for link in scan_links(html, url=URL).links]


@pytest.mark.parametrize(
    ("html", "links"),
    [
        ("<a href=a>x</a>", ["/docs/a"]),
        ("<A class=b HREF='/c?x=1&amp;y=2'>x</A>", ["/c?x=1&y=2"]),
        ('<a href="../up#part">x</a>', ["/up"]),
        ('<a href="a?utm_source=x">x</a><a href="a">x</a>', ["/docs/a"]),
        ('<base href="/other/"><a href="a">x</a>', ["/other/a"]),
        ('<a href="mailto:a@e.org">x</a><a href="javascript:void(0)">x</a><a href="#top">x</a><a>x</a>', []),
        ('<!-- <a href="a"> --><script>"<a href=b>"</script><a href="c">x</a>', ["/docs/c"]),
        ('<a rel="nofollow noopener" href="a">x</a><a rel="noopener" href="b">x</a>', ["/docs/b"]),
        ('<meta name="ROBOTS" content="noindex,nofollow"><a href="a">x</a>', []),
        ('<a href="http://[::">x</a><a href="b">x</a>', ["/docs/b"]),
        ("<!-- <a href=a>", []),
    ],
)
def test_links_are_absolute_and_clean(html: str, links: list[str]) -> None:
    assert _links(html) == links


def test_menus_come_after_the_content() -> None:
    html = "<nav><a href=menu>m</a></nav><p><a href=text>t</a></p><footer><a href=foot>f</a></footer>"
    found = scan_links(html, url=URL).links
    assert [(link.url.rsplit("/", 1)[1], link.in_content) for link in found] == [
        *(("text", True), ("menu", False), ("foot", False)),
    ]


def test_a_link_of_the_menu_that_the_text_has_too_is_the_texts() -> None:
    (link,) = scan_links("<nav><a href=a>x</a></nav><a href=a>x</a>", url=URL).links
    assert link.in_content


def test_the_canonical_address_is_told() -> None:
    assert scan_links('<link rel="canonical" href="/one">', url=URL).canonical == "https://site.example/one"


def test_a_million_links_are_cut_off() -> None:
    assert len(_links("".join(f"<a href=/{number}>x</a>" for number in range(10_000)))) == MOST_LINKS


@pytest.mark.parametrize("piece", ["<a href='", "<a ", "<!--", "<script>", '<a href="x" ', "<nav><a href=/b>"])
def test_broken_markup_is_scanned_in_linear_time(piece: str) -> None:
    began = time.thread_time()
    scan_links(piece * 200_000, url=URL)
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("content", ["1" * 4000, "1." * 2000, "0" + " " * 4000, "0;" + " " * 4000, "0;url=" * 700])
def test_broken_orders_to_go_on_are_read_in_linear_time(content: str) -> None:
    began = time.thread_time()
    for _ in range(20):
        sent_on_to(f'<meta http-equiv="refresh" content="{content}">', url=URL)
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("attributes", ["a" * 4096, "a" + " " * 4095, 'a="' * 1365, "a='\"" * 1000])
def test_attributes_without_end_are_read_in_linear_time(attributes: str) -> None:
    began = time.thread_time()
    scan_links(f"<a {attributes[:4090]}>x</a>" * 100, url=URL)
    assert time.thread_time() - began < 5


@given(st.text(alphabet="<>/a!-= \"'hrefnvscipt:#x", max_size=300))
def test_no_markup_makes_the_scan_fail(html: str) -> None:
    for link in scan_links(html, url=URL).links:
        assert link.url.startswith(("http://", "https://"))


@pytest.mark.parametrize(
    ("tag", "address"),
    [
        ("<meta http-equiv='refresh' content='0; url=/new'>", "https://site.example/new"),
        ("<META HTTP-EQUIV=Refresh CONTENT=\"1;URL='https://other.example/a'\">", "https://other.example/a"),
        ('<meta http-equiv="refresh" content="0,url=../b">', "https://site.example/b"),
        ('<meta http-equiv="refresh" content="300; url=/new">', None),
        ('<meta http-equiv="refresh" content="0">', None),
        (f'<meta http-equiv="refresh" content="0; url={URL}">', None),
        ('<meta http-equiv="refresh" content="0; url=javascript:alert(1)">', None),
        ('<!-- <meta http-equiv="refresh" content="0; url=/new"> -->', None),
    ],
)
def test_where_a_page_sends_its_reader(tag: str, address: str | None) -> None:
    assert sent_on_to(f"<html><head>{tag}</head></html>", url=URL) == address


@pytest.mark.parametrize(
    ("name", "wishes", "links"),
    [("robots", "nofollow", 0), ("Baza", "none", 0), ("robots", "noindex", 1), ("otherbot", "nofollow", 1)],
)
def test_a_page_may_forbid_to_follow_its_links(name: str, wishes: str, links: int) -> None:
    html = f'<meta name="{name}" content="{wishes}, max-image-preview:large"><a href=a>x</a>'
    assert len(scan_links(html, url=URL).links) == links
