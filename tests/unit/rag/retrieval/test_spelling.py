"""How else a word may be written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.spelling import LONGEST, SHORTEST_MISTYPED, other_spellings

WORDS = st.text(st.characters(min_codepoint=ord("а"), max_codepoint=ord("я")), min_size=1, max_size=LONGEST + 3)

LATIN_WORDS = st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), min_size=1, max_size=LONGEST)


def is_meant(term: str, held: str, *, known: bool = False) -> bool:
    """Whether a base that holds `held` is found by a question with `term`."""
    spellings = other_spellings([term], frozenset() if known else frozenset({term}))
    return any(held.startswith(each.beginnings) and re.search(each.pattern, held) for each in spellings)


def transcribed(word: str) -> str:
    """One of many ways."""
    latin = dict(zip("абвгдезийклмнопрстуфхцыэ", "abvgdeziyklmnoprstufhcye", strict=True))
    return "".join(latin.get(letter, "") for letter in word)


@pytest.mark.parametrize(
    ("term", "held"),
    [
        ("сервир", "сервер"),  # a wrong letter
        ("сервре", "сервер"),  # two exchanged
        ("севрер", "сервер"),
        ("серверр", "сервер"),  # one too many
        ("сервр", "сервер"),  # one too few
        ("postgre", "postgres"),
        ("kubernetes", "кубернетес"),  # the other alphabet
        ("кубернетис", "kubernet"),  # as it is spoken; the index holds the stem
        ("постгресс", "postgr"),
        ("терраформ", "terraform"),
        ("редис", "redi"),
        ("jenkins", "дженкинс"),
        ("malakhit", "малахит"),
        ("yantar", "янтарь"),
        ("zhukov", "жуков"),
        ("nginx", "нгинкс"),
        ("линукс", "linux"),
        ("битрикс", "bitrix"),
        ("докс", "doc"),
        ("джир", "jira"),  # what the lemmatiser makes of «джира»
        ("ворда", "word"),
        ("grafana", "графан"),
        ("docker", "докер"),
        ("вайфай", "wifi"),
        ("youtub", "ютуб"),
        ("трафик", "traffic"),
        ("traffic", "трафик"),  # a double letter counts as one
        ("whatsapp", "вотсап"),
        ("вотсап", "whatsapp"),
        ("таймаут", "timeout"),  # letters that nobody hears
        ("центр", "center"),
        ("дашборд", "dashboard"),
        ("гитхаб", "github"),
        ("github", "гитхаб"),
        ("блютуз", "bluetooth"),
        ("bluetooth", "блютус"),
        ("эксель", "excel"),
        ("excel", "эксель"),
        ("python", "пайтон"),
    ],
)
def test_a_typo_or_the_other_alphabet_is_understood(term: str, held: str) -> None:
    assert is_meant(term, held)


@pytest.mark.parametrize(
    ("term", "held"),
    [
        ("сервер", "сервис"),  # two letters
        ("кот", "код"),  # a short word is another one
        ("сервер", "вервер"),  # nobody mistypes the first letter
        ("pg15", "pg16"),  # codes mean what they say
        ("2023", "2024"),
    ],
)
def test_another_word_stays_another_word(term: str, held: str) -> None:
    assert not is_meant(term, held)


def test_a_word_of_the_dictionary_is_not_taken_for_a_typo() -> None:
    assert not is_meant("сервер", "северер", known=True)
    assert is_meant("сервер", "server", known=True)


@given(WORDS, st.data())
def test_any_single_slip_behind_the_first_letter_is_understood(word: str, data: st.DataObject) -> None:
    if not SHORTEST_MISTYPED <= len(word) <= LONGEST:
        assert all(each.term == word for each in other_spellings([word], frozenset({word})))  # transcribed, or nothing
        return
    at = data.draw(st.integers(1, len(word) - 1))
    letter = data.draw(st.sampled_from("абвгд"))
    swapped = word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
    for slip in (
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        swapped,
    ):
        assert is_meant(word, slip)


@given(st.lists(WORDS, max_size=5))
def test_every_pattern_is_sound(words: list[str]) -> None:
    for spelling in other_spellings(words, frozenset(words)):
        assert spelling.term in words
        assert re.compile(spelling.pattern)
        assert list(spelling.beginnings) == sorted(set(spelling.beginnings))  # as the index is walked through
        assert (
            sum(spelling.beginnings[0].startswith(start) for start in spelling.beginnings) == 1
        )  # no term comes twice


@given(WORDS)
def test_a_spelling_is_looked_for_wherever_it_may_stand(word: str) -> None:
    latin = transcribed(word)
    fitting = [each for each in other_spellings([word], frozenset()) if re.search(each.pattern, latin)]
    assert not fitting or any(latin.startswith(each.beginnings) for each in fitting)


@given(st.one_of(WORDS, LATIN_WORDS), st.data())
def test_what_matches_is_looked_for_where_it_stands(word: str, data: st.DataObject) -> None:
    """Unless it begins with two letters for one that has several («ссервер» for "server")."""
    for spelling in other_spellings([word], frozenset()):
        held = data.draw(st.from_regex(spelling.pattern, fullmatch=True))
        alike = [start for start in spelling.beginnings if start[:2] == held[:2]]
        assert not alike or held.startswith(spelling.beginnings)


def test_a_word_in_the_other_alphabet_is_looked_for_by_three_letters() -> None:
    (each,) = {each.beginnings for each in other_spellings(["обратимый"], frozenset()) if "obr" in each.beginnings}
    assert each == ("oab", "obb", "obr")
