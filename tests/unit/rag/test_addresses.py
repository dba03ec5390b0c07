"""What a client makes a link of, and how it is written so that none does."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag.addresses import addresses, broken, defanged, keys


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Смотри https://evil.example/x.io?q=1).", "Смотри evil[.]example/x[.]io?q=1)."),
        ("t.me/bot и www.a.ru, сайт.рф", "t[.]me/bot и www[.]a[.]ru, сайт[.]рф"),
        ("me.too@evil.com или mailto:a@b.ru", "me[.]too[at]evil[.]com или mailto:a[at]b[.]ru"),
        ("@evil_bot, (@abc)", "@ evil_bot, (@ abc)"),
        ("tg://resolve?domain=x tg:resolve?x=1", "tg[:]//resolve?domain=x tg[:]resolve?x=1"),
        ("ftp://a.example/b", "ftp[:]//a[.]example/b"),
        ("+7 916 555-03-41 и 8 (800) 555-35-35", "+7·916·555·03·41 и 8·800·555·35·35"),
        ("10.0.0.1:8080/a", "10[.]0[.]0[.]1:8080/a"),
        ("ХТТПС://Evil.COM", "ХТТПС://Evil[.]COM"),
    ],
)
def test_an_address_that_is_not_known_can_be_read_and_not_pressed(text: str, shown: str) -> None:
    assert defanged(text, frozenset()) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Node.js, договор.pdf, т.е., и.о.директора",
        "v2.0, 1.2.3, 12.05.2026",
        "8 000 000 000 руб.",
        "Цена: 5.Срок",
        "a@b",
    ],
)
def test_what_is_no_address_stays_as_it_is(text: str) -> None:
    assert defanged(text, frozenset()) == text


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Вход: https://Bank.example/login/start.", "bank.example/login/start"),
        ("[сюда](https://a.example/wiki/Лес_(река))", "https://a.example/wiki/Лес_(река)"),
        ("https://a.example/b/c?d=1", "https://a.example/b"),
        ("тел. 8 (916) 555-03-41", "+7 916 555-03-41"),
        ("Anna@mail.example", "anna@mail.example"),
        ("@baza_bot", "@Baza_Bot"),
    ],
)
def test_what_a_fact_holds_stays_however_it_is_written(said: str, answer: str) -> None:
    assert defanged(answer, keys([said])) == answer


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("https://bank.example/login", "https://bank.example.evil.com/login"),
        ("https://bank.example/login", "https://bank.example@evil.com/"),
        ("https://bank.example/login", "https://bank.example/login?to=evil"),
        ("bank.example.com", "bank.example.co"),
        ("+7 916 555-03-41", "+7 916 555-03-14"),
    ],
)
def test_anything_else_does_not(said: str, answer: str) -> None:
    assert defanged(answer, keys([said])) != answer


def test_in_code_only_addresses_that_are_written_in_full_are_broken() -> None:
    code = "@cache\ndef main.py(): get('https://evil.example/x', 'a@evil.com')"
    found = [broken(code[each.start : each.end]) for each in addresses(code, in_code=True)]
    assert found == ["evil[.]example/x", "a[at]evil[.]com"]


@given(st.text(alphabet="ab.@/:+78 -()com", max_size=60))
@example("-.aa")
def test_nothing_pressable_is_left(text: str) -> None:
    broken = defanged(defanged(text, frozenset()), frozenset())
    assert not re.search(r"https?://|\w@\w+\.\w", broken)
    assert list(addresses(broken)) == [] or broken != text
