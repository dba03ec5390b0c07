"""Terms: what meets, what is kept as typed, what is left out."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters import lexical
from adapters.lexical import LONGEST_TERM, STOP_TERMS, RussianEnglishAnalyzer, clean, uniform_terms

ANALYZER = RussianEnglishAnalyzer()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("виртуальные машины", "виртуальной машине"),  # Russian word forms
        ("зелёная ёлка", "зеленая елка"),  # ё
        ("за́мок", "замок"),  # a stress mark (U+0301)
        ("пере\u00adнос", "перенос"),  # a soft hyphen
        ("веб‑сервера", "веб-сервер"),  # a hyphen that does not break (U+2011)
        ("backups", "backup"),  # English word forms
        ("user’s", "user"),  # a typographic apostrophe
        ("ＰｏｓｔｇｒｅＳＱＬ", "postgresql"),  # full-width letters
    ],
)
def test_spellings_and_forms_of_a_word_meet(one: str, other: str) -> None:
    assert ANALYZER.terms(one) == ANALYZER.terms(other)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("PG-15", ("pg-15", "pg", "15", "pg15")),
        ("Т-34 и COVID-19", ("т-34", "34", "covid-19", "covid", "19", "t34", "covid19")),
        (  # dates and ranges are no codes
            "2026-05-12, 12-15",
            ("2026-05-12", "2026", "05", "12", "12-15", "12", "15", "2026-05", "2026-05-12", "--05-12"),
        ),
        ("1 500 000 рублей", ("1500000", "рубль")),  # no 500: «счёт 500» means no amount
        ("8 800 555 35 35", ("8", "800", "555", "35", "35", "8005553535")),
        ("+7 (912) 345-67-89", ("7", "912", "345-67-89", "345", "67", "89", "9123456789")),
        ("89123456789", ("89123456789", "9123456789")),
        ("1С", ("1c",)),  # Cyrillic and Latin look alike, so codes are Latin
        ("user_id", ("user_id", "user", "id")),
        ("file.pdf", ("file.pdf", "file", "pdf")),
        ("10.5.3", ("10.5.3", "10", "5", "3")),
        ("C++ C#", ("c++", "c#")),
        ("С++ С#", ("c++", "c#")),  # in Cyrillic letters
        ("п.5.3.1", ("п.5.3.1", "5.3.1", "5", "3", "1")),
        ("ст.45", ("ст.45", "ст", "45")),
        ("ivan@mail.ru", ("ivan@mail.ru", "ivan", "mail", "ru")),
        ("№5 Windows™", ("5", "window", "№5")),
    ],
)
def test_codes_are_kept_as_typed_with_their_parts(text: str, terms: tuple[str, ...]) -> None:
    assert ANALYZER.terms(text) == terms


@pytest.mark.parametrize(
    ("with_hyphen", "as_one"),
    [
        ("вай-фай", "вайфай"),
        ("вай-фаем", "вайфая"),
        ("чек-листы", "чеклист"),
        ("е-мейлу", "емейл"),
        ("онлайн-банкинге", "онлайнбанкинг"),
        ("Wi-Fi", "wifi"),
        ("check-lists", "checklist"),
    ],
)
def test_a_word_with_a_hyphen_is_the_word_without(with_hyphen: str, as_one: str) -> None:
    assert ANALYZER.terms(with_hyphen)[0] == ANALYZER.terms(as_one)[0]


def test_the_parts_of_a_word_with_a_hyphen_stand_beside_it() -> None:
    assert ANALYZER.terms("онлайн-банкинга") == ("онлайнбанкинг", "онлайн", "банкинг")


def test_a_word_with_a_hyphen_that_no_dictionary_has_may_be_mistyped() -> None:
    assert "айпи" in ANALYZER.unsure("ай-пи и интернет-магазин")
    assert "ктото" not in ANALYZER.unsure("кто-то")


@pytest.mark.parametrize(
    ("term", "others"),
    [("корм", ("корма",)), ("сталь", ("стать",)), ("срок", ()), ("платить", ("плата",)), ("disk", ()), ("pg-15", ())],
)
def test_a_word_says_as_what_its_forms_and_its_relatives_are_counted(term: str, others: tuple[str, ...]) -> None:
    assert {*others} <= {*ANALYZER.other_lemmas(term)}
    assert bool(others) is bool(ANALYZER.other_lemmas(term))
    assert all(other not in ANALYZER.terms(term) for other in others)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("арендная плта", {"плт": "плата"}),  # a letter too few
        ("арендня плата", {"арендень": "арендный"}),  # the lemma of the mistyped form is two letters away
        ("неусттойка", {"неусттойкий": "неустойка"}),
        ("догвоор", {"догвоор": "договор"}),
        ("плата за аренду, PG-15, disk", {}),
        ("огр", {}),  # too short: nearly every word is a letter away
    ],
)
def test_a_mistyped_word_may_mean_what_is_a_letter_away(typed: str, meant: dict[str, str]) -> None:
    found = ANALYZER.corrections(typed)
    assert found.keys() == meant.keys()
    assert all(word in found[term] for term, word in meant.items())


def test_single_letters_punctuation_and_stop_words_are_left_out() -> None:
    assert ANALYZER.terms("Что это такое — в г. Москве?") == ("такой", "москва")


def test_terms_keep_their_order_and_number() -> None:
    assert ANALYZER.terms("диск, сеть и диск") == ("диск", "сеть", "диск")


def test_the_end_of_a_sentence_is_no_part_of_a_word() -> None:
    assert ANALYZER.terms("Создайте диск.") == ANALYZER.terms("Создайте диск")


def test_endless_tokens_are_left_out() -> None:
    assert ANALYZER.terms("ф" * 100_000 + " диск " + "QUJD" * 50_000) == ("диск",)


def test_what_is_remembered_has_a_limit_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "CACHED_TOKENS", 3)
    text = "Резервные копии базы хранятся в двух зонах, и копии одной зоны доступны из другой; pg-15 и x"
    assert RussianEnglishAnalyzer().terms(text) == ANALYZER.terms(text)


@given(st.text(alphabet="aBz09'.-_@ #", max_size=40))
def test_plain_letters_are_spelled_as_all_others(text: str) -> None:
    assert lexical.clean(text) == lexical.clean(f"{text}é")[:-1]


def test_threads_get_what_one_thread_gets() -> None:
    words = [f"машины{number} серверами backups" for number in range(200)]
    shared = RussianEnglishAnalyzer()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(shared.terms, words)) == [ANALYZER.terms(word) for word in words]


@given(st.text())
def test_any_text_gives_searchable_terms(text: str) -> None:
    terms = ANALYZER.terms(text)
    assert all(0 < len(term) <= LONGEST_TERM * 2 and not term.isspace() for term in terms)
    assert not STOP_TERMS & set(terms)


def uniform(text: str) -> set[str]:
    return set(uniform_terms(text, clean(text)))


@pytest.mark.parametrize(
    "text",
    [
        "24 октября 2016 г.",
        "24-го октября 2016",
        "24.10.2016",
        "24/10/2016",
        "2016-10-24",
        "minutes_24.10.2016",
        "October 24, 2016",
        "24 October 2016",
        "the 24th of October 2016",
        "Oct. 24 2016",
    ],
)
def test_one_day_is_one_term(text: str) -> None:
    assert uniform(text) >= {"2016-10-24", "2016-10", "--10-24"}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("на совещании 17 октября", {"--10-17"}),
        ("прайс за май 2024 года", {"2024-05"}),
        ("апрельский прайс 2025", {"2025-04"}),
        ("price_2025-09", {"2025", "2025-09"}),
        ("Прайс-лист 09.2025", {"2025-09"}),
        ("Q2 of FY2024", {"2024", "2024-q2"}),
        ("BESTBUY_2024Q2_10Q", {"2024", "2024-q2"}),
        ("2-й квартал 2024", {"2024-q2"}),
        ("FY2022", {"2022"}),
        ("$1,577.00", {"1577"}),
        ("12,345,678", {"12345678"}),
        ("договор № 117/2025", {"№117/2025", "117/2025"}),
        ("протокол номер 27", {"№27"}),
        ("agreement No. 12", {"№12"}),
    ],
)
def test_other_forms(text: str, terms: set[str]) -> None:
    assert uniform(text) == terms


SPELLED = (
    "1577",
    "1 577",
    "1\u00a0577",
    "1\u202f577",
    "1,577",
    "$1577.00",
    "$1,577.00",
    "1 577,00 руб.",
    "(1,577)",
)


@pytest.mark.parametrize("asked", SPELLED)
@pytest.mark.parametrize("written", SPELLED)
def test_a_number_is_found_however_its_thousands_are_divided(asked: str, written: str) -> None:
    terms = RussianEnglishAnalyzer().terms
    assert "1577" in set(terms(asked)) & set(terms(f"| Capital spending | {written} | 2022 |"))


@pytest.mark.parametrize("text", ["market 2020", "1,5 и 0,125", "32.13.2020", "майор 2020", "в марте", "3.14.15"])
def test_what_is_none_of_these_gives_nothing(text: str) -> None:
    assert uniform(text) == set()
