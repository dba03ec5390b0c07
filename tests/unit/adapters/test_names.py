"""Names folded into keys: forms, alphabets, quotation marks, legal forms."""

from types import SimpleNamespace
from typing import Any, SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters import names
from adapters.names import NameForms, fold

NAMES = NameForms()


def keys_of(text: str) -> set[str]:
    """Keys of the only, or of the last word."""
    return set(NAMES.words(text)[-1].keys)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("АЛОР", "Алора"),
        ("АЛОР", "в Алоре"),
        ("Алор", "Alor"),
        ("Дмитрий", "Дмитрия"),
        ("Дмитрий", "Dmitry"),
        ("Дмитрий", "Dmitrij"),
        ("Юлия", "Julia"),
        ("Михаила", "Mikhail"),
        ("Иванову", "Ivanov"),
        ("Щукин", "Shchukin"),
        ("Хабр", "Habr"),
        ("Яндексу", "Yandex"),
        ("Кубернетес", "Kubernetes"),
        ("Москве", "Moskva"),
        ("ООО «Ромашка»", "Ромашкой"),
    ],
)
def test_forms_and_alphabets_of_a_name_meet(one: str, other: str) -> None:
    assert keys_of(one) & keys_of(other)


@pytest.mark.parametrize(("one", "other"), [("C++", "C#"), ("Казань", "Рязань"), ("Java", "JavaScript"), ("Go", "Git")])
def test_different_names_stay_apart(one: str, other: str) -> None:
    assert not keys_of(one) & keys_of(other)


def test_hyphens_quotes_and_legal_forms_are_dropped() -> None:
    assert [word.keys[0] for word in NAMES.words("ООО «Алор-Брокер», LLC")] == ["alor", "broker"]


@pytest.mark.parametrize(
    ("text", "is_ordinary", "is_written_as_name"),
    [
        ("где каталог", True, False),
        ("что в «каталоге»", True, True),
        ("работал в Кедре", True, True),
        ("Кедр", True, False),
        ("про алор", False, False),
        ("применял Rust", True, True),
        ("why rust", True, False),
    ],
)
def test_ordinary_words_count_as_names_only_where_they_are_written_so(
    text: str, is_ordinary: bool, is_written_as_name: bool
) -> None:
    word = NAMES.words(text)[-1]
    assert (word.is_ordinary, word.is_written_as_name) == (is_ordinary, is_written_as_name)


@pytest.mark.parametrize(("name", "wanted"), [("АЛОР Брокер", "alor-broker"), ("Дмитрий Иванов", "dmitrij-ivanov")])
def test_a_canonical_id_is_readable(name: str, wanted: str) -> None:
    assert NAMES.slug(name) == wanted


@pytest.mark.parametrize(
    ("name", "is_one"), [("Дмитрий Иванов", True), ("Как устроено", False), ("АЛОР Брокер", False), ("Дмитрий", False)]
)
def test_somebodys_full_name_is_told_from_a_heading(name: str, is_one: bool) -> None:
    assert NAMES.names_person(name) is is_one


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    assert all(word.keys for word in NAMES.words(text))


@given(st.text(alphabet="абвгдежзийклмнопрстуфхцчшщъыьэюяabcdefghijklmnopqrstuvwxyz", max_size=20))
def test_keys_and_ids_are_written_in_latin_letters(word: str) -> None:
    assert fold(word).isascii()
    assert NAMES.slug(word).isascii()


class WatchedText(str):
    """A text that notes the longest piece that is cut out of it."""

    longest = 0

    def __getitem__(self, key: "SupportsIndex | slice[Any, Any, Any]") -> str:
        piece = super().__getitem__(key)
        self.longest = max(self.longest, len(piece))
        return piece


def test_a_text_is_not_copied_up_to_each_of_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A paragraph of a million characters took half a minute."""
    text = WatchedText("Слово, два «Слова» " * 100)
    monkeypatch.setattr(names, "unicodedata", SimpleNamespace(normalize=lambda _form, _text: text))
    assert NAMES.words("")
    assert text.longest == 1
