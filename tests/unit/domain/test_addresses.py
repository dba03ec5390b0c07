"""Addresses as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.addresses import readable_address, readable_host


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        pytest.param("https://example.org/a?b=c#d", "https://example.org/a?b=c#d", id="nothing is coded"),
        pytest.param("https://a.b/wiki/%D0%9B%D0%B5%D1%81_1", "https://a.b/wiki/Лес_1", id="letters of the path"),
        pytest.param("https://xn--j1ail.xn--p1ai:8080/x", "https://кто.рф:8080/x", id="a Cyrillic host"),
        pytest.param("https://a.b/c%20d%2Fe%25", "https://a.b/c%20d%2Fe%25", id="what has a meaning stays"),
        pytest.param("https://a.b/%D0%9B%D0", "https://a.b/%D0%9B%D0", id="a letter cut in two stays"),
        pytest.param("https://a.b/%CF%F0", "https://a.b/%CF%F0", id="another encoding stays"),
        pytest.param("https://a.b/%E2%80%AEfdp.c", "https://a.b/%E2%80%AEfdp.c", id="what turns the line round stays"),
        pytest.param("https://xn--a-b-.c/", "https://xn--a-b-.c/", id="a label that means nothing stays"),
        pytest.param("http://[::1", "http://[::1", id="no address at all"),
        pytest.param("https://ex%D0%B0mple.com/%D0%B0", "https://ex%D0%B0mple.com/а", id="in a host a code stays"),
        pytest.param("https://%D0%B0@a.b/", "https://%D0%B0@a.b/", id="before an @, too"),
    ],
)
def test_an_address_is_told_in_letters(address: str, shown: str) -> None:
    assert readable_address(address) == shown


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("аррӏе.com", id="Cyrillic letters that look Latin"),
        pytest.param("раураl.com", id="two scripts in a label"),
        pytest.param("ɡоogle.com", id="a Latin letter that looks like another"),
        pytest.param("gıthub.com", id="the i without its dot"),
        pytest.param("пример.раураl.com", id="a label that is plain beside one that is not"),
    ],
)
def test_a_host_that_looks_like_another_stays_coded(name: str) -> None:
    host = coded(name)
    assert readable_host(host).split(".")[-2:] == host.split(".")[-2:]
    assert readable_address(f"https://{host}/").endswith(".".join(host.split(".")[-2:]) + "/")


@pytest.mark.parametrize(
    "name",
    [pytest.param("почта.com", id="with letters that only Cyrillic has"), pytest.param("аррӏе.рф", id="at home")],
)
def test_a_host_that_looks_like_no_other_is_told_in_letters(name: str) -> None:
    assert readable_host(coded(name)) == name


@pytest.mark.parametrize(
    "label",
    [
        pytest.param("xn--j1ail-", id="not as it would be coded"),
        pytest.param("xn--J1AIL", id="a code in capitals"),
        pytest.param("xn--" + "\ufecb\ufecc".encode("punycode").decode(), id="letters in a form for print"),
        pytest.param("xn--" + "Кто".encode("punycode").decode(), id="a capital"),
        pytest.param("xn--" + "и\u0306".encode("punycode").decode(), id="a letter and its mark apart"),
        pytest.param("xn--" + "ж" * 3 + "9" * 80, id="no ASCII"),
        pytest.param("xn--" + "9" * 60, id="beyond all letters"),
        pytest.param("xn--" + ("ж" * 70).encode("punycode").decode(), id="too long"),
    ],
)
def test_a_label_that_no_registry_gives_out_stays_coded(label: str) -> None:
    assert readable_host(f"{label}.com") == f"{label}.com"


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789-", max_size=70))
def test_whatever_is_coded_is_told_or_stays(code: str) -> None:
    shown = readable_host(f"xn--{code}.com")
    assert shown.endswith(".com")
    assert shown.isprintable()


def coded(name: str) -> str:
    """As the DNS has it."""
    return ".".join(
        label if label.isascii() else "xn--" + label.encode("punycode").decode() for label in name.split(".")
    )
