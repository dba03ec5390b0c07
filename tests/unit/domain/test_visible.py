"""Characters that nobody sees leave a text; those that writing needs stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.visible import readable_address, readable_host, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("цена \u202e001\u202c руб", "цена 001 руб"),
        ("па\u200bро\u2060ль\ufeff", "пароль"),
        ("а\u00adб\u200dв\u200cг", "абвг"),
        ("ig\U000e0049\U000e0047nore", "ignore"),
        ("a\u2066b\u2069\u061c\u200f", "ab"),
        ("\u3164x\ud83d\x00\x1b", "x"),
        ("a\tb\nc", "a\tb\nc"),
    ],
)
def test_what_hides_or_turns_words_around_is_left_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "👨\u200d👩\u200d👧",
        "❤\ufe0f\u200d🔥",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "می\u200cخواهم",
        "क्\u200dष",
        "й е\u0301",
    ],
)
def test_emoji_and_scripts_keep_what_they_need(text: str) -> None:
    assert visible(text) == text


@given(st.text(alphabet=st.characters(), max_size=60))
def test_what_is_visible_stays_so(text: str) -> None:
    assert visible(visible(text)) == visible(text)


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
