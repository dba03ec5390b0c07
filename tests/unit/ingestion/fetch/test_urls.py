"""Addresses in one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.fetch.urls import address_to_read, normalise_url, site_of


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
