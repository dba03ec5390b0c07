"""What code does where no model writes."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from adapters.lexical import RussianEnglishAnalyzer
from prompts.loader import load_prompts
from rag.answering.plain import Draft, PlainAnswers
from rag.answering.prompt import Assignment
from rag.execution.search_tool import passages_payload
from rag.planning.plain_requests import RequestKind, outline
from rag.records import Fit, RankedPassage
from rag.words import AskedWords
from tests.fakes.planning import BREADTH as REQUESTS
from tests.fakes.rag import make_passage, rank

PRICES = """Цены

| Сорт | Вес, г | Цена, ₽ | Остаток |
| --- | --- | --- | --- |
| Эфиопия | 1000 | 1 890 | 17 |
| Бразилия | 250 | 430 | 60 |
| Гватемала | 250 | 500 | 31 |"""
MINUTES = "Протокол\n\nРешили\n\nКупить погрузчик. Срок июнь.\n\nРазное\n\nКод 4815."


@pytest.mark.parametrize(
    ("question", "kind", "about"),
    [
        ("Перескажи протокол планёрки", RequestKind.OUTLINE, "протокол планерки"),
        ("Summarize the report.", RequestKind.OUTLINE, "the report"),
        ("сравни договоры ромашки и василька", RequestKind.COMPARISON, " договоры ромашки и василька"),
        ("список товаров дешевле 500", RequestKind.ROWS, ""),
        ("Чем отличается String от &str?", None, ""),
        ("Кто пересказал книгу?", None, ""),
        ("Сколько стоит больше всего?", None, ""),
        ("до 30 мая", None, ""),
    ],
)
def test_a_request_is_known_by_how_it_begins_or_by_a_comparison_with_a_number(
    question: str, kind: RequestKind | None, about: str
) -> None:
    request = REQUESTS.request(question)
    assert (request.kind if request else None, request.about if request else "") == (kind, about)


def asked(question: str, found: Sequence[RankedPassage], understood: str = "") -> Draft:
    facts = passages_payload(found, asked=understood or question)
    plain = PlainAnswers(load_prompts(), "ru", REQUESTS)
    return plain.write(Assignment(question=question, understood=understood, facts=facts))


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("список товаров дешевле 500", ["Бразилия"]),
        ("что не дороже 500 рублей?", ["Бразилия", "Гватемала"]),
        ("дороже 1 тыс", ["Эфиопия"]),
        ("у чего остаток больше 20", ["Бразилия", "Гватемала"]),
        ("what is cheaper than 100", []),
    ],
)
def test_rows_are_filtered_and_counted(question: str, rows: list[str]) -> None:
    answer = asked(question, rank(make_passage("Дешевле 500 не найти.", number=2), make_passage(PRICES)))
    told, *lines = answer.text.splitlines()
    assert f": {len(rows)} " in told or f"{len(rows)} of 3" in told
    assert [line[2:].split(":")[0] for line in lines] == rows
    assert answer.instead == RequestKind.ROWS


@pytest.mark.parametrize("question", ["сколько людей старше, больше 20", "весна дешевле 500"])
def test_without_a_column_for_the_condition_quotes_answer(question: str) -> None:
    table = PRICES.replace("Цена, ₽", "Код").replace("Остаток", "Полка")
    assert asked(question, rank(make_passage(table))).instead == ""


def test_what_a_part_of_a_long_table_says_is_said_to_be_a_part() -> None:
    part = replace(make_passage(PRICES), searchable=9)
    assert "в документе их больше" in asked("дешевле 500", rank(part)).text
    assert (
        "больше" not in asked("дешевле 500", rank(replace(part, pieces=((part.chunk_id, 0),) * 9))).text
    )  # merged, it is all of it


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        # the advice speaks of it, the price list names its price
        ("сколько стоит масло льняное", "Масло льняное"),
        # «стоит» tells the price of another thing; the contract's name and its clause have the other words
        ("сколько стоит аренда мастерской", "2.1. Арендная плата"),
        # no price of it is named: what was found best stays
        ("сколько стоит доставка масла", "Столешницу покройте"),
        # the best passage holds the word beside no sum, and no sum stands beside more
        ("размер мастерской", "Размер мастерской"),
        # no price is asked for
        ("чем покрыть маслом", "Столешницу покройте"),
    ],
)
def test_the_passage_that_names_the_price_is_quoted(question: str, lead: str) -> None:
    texts = {
        "Советы": "Столешницу покройте льняным маслом. Доставка масла бесплатна.",
        "Планёрка": "Станок стоит 640 тысяч рублей. Размер мастерской 64 метра.",
        "Прайс": "| Товар | Цена, ₽ |\n| --- | --- |\n| Масло льняное | 690 |",
        "Договор аренды мастерской": "2.1. Арендная плата составляет 38 500 рублей.",
    }
    terms = AskedWords(terms_of=RussianEnglishAnalyzer().terms)
    found = [
        replace(make_passage(text, number=number, document=title, title=title), searchable=2)
        for number, (title, text) in enumerate(texts.items())
    ]
    first = texts["Планёрка"] if "мастерской" in question else texts["Советы"]
    ranked = rank(*sorted(found, key=lambda each: each.text != first))
    assert lead in asked(question, tuple(replace(each, asked=terms) for each in ranked)).text.partition("\n\n")[0]


def test_a_follow_up_about_a_price_means_what_was_asked_before() -> None:
    texts = {"Библиотека": "Ксерокопия стоит 8 рублей.", "Прайс": "| Сорт | Цена, ₽ |\n| --- | --- |\n| Слива | 640 |"}
    words = AskedWords(terms_of=RussianEnglishAnalyzer().terms)
    found = [make_passage(text, number=n, document=title, title=title) for n, (title, text) in enumerate(texts.items())]
    question = "а сколько она стоит?"
    answer = asked(question, [replace(each, asked=words) for each in rank(*found)], f"{question} есть ли слива")
    assert answer.text.startswith("**Слива: цена 640 ₽")


@pytest.mark.parametrize(
    ("question", "text", "is_found"),
    [
        # «стоит» weighs most, and a contract that names the rent does not say it
        ("сколько стоит аренда", "2.1. Арендная плата составляет 38 500 рублей.", True),
        # no sum
        ("сколько стоит аренда", "2.1. Арендная плата вносится пятого числа.", False),
        # no price is asked for
        ("когда откроется аренда", "2.1. Арендная плата составляет 38 500 рублей.", False),
        # the word that is left stands nowhere
        ("сколько стоит дератизация", "2.1. Арендная плата составляет 38 500 рублей.", False),
    ],
)
def test_a_sum_stands_for_the_word_that_asks_for_it_where_nothing_fits(
    question: str, text: str, is_found: bool
) -> None:
    terms = RussianEnglishAnalyzer().terms
    words = AskedWords(terms_of=terms, rarities={term: 0.2 if term == "аренда" else 2.0 for term in terms(question)})
    (lease,) = rank(make_passage(text, title="Договор аренды"))
    answer = asked(question, (replace(lease, asked=words, judge=lambda: Fit.CHANCE),))
    assert (bool(answer.text), answer.is_weak) == (is_found, False)


def test_an_outline_has_each_heading_with_its_first_sentence_in_the_document_s_order() -> None:
    second = replace(make_passage("Итоги\n\nХорошо. Дальше.", number=2), ordinal=1)
    done = outline(rank(second, replace(make_passage(MINUTES), ordinal=0)))
    assert done
    assert done[0].splitlines() == [
        "- **Протокол**",
        "- **Решили** Купить погрузчик.",
        "- **Разное** Код 4815.",
        "- **Итоги** Хорошо.",
    ]
    assert outline(()) is None
