"""What tells documents of one form apart, and when several of them fit a question equally."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.records import RankedPassage
from rag.retrieval.alike import LABEL_CHARS, equally_fitting, labels, told_apart
from tests.fakes.rag import make_passage

CONTRACT = "ДОГОВОР ПОСТАВКИ № {} ООО «{}», именуемое Поставщик, и ООО «Заказчик» заключили договор. Город {}"
CONTRACTS = tuple(
    CONTRACT.format(*each)
    for each in (("117/2025", "Лазурит", "Казань"), ("118/2025", "Ромашка", "Омск"), ("119/2025", "Кедр", "Казань"))
)


def test_a_label_has_the_words_that_the_other_openings_lack() -> None:
    assert labels(CONTRACTS) == ("117/2025 · Лазурит", "118/2025 · Ромашка · Омск", "119/2025 · Кедр")
    assert labels(["Протокол. Дата: 3 марта 2025 г.", "Протокол. Дата: 7 апреля 2025 г."]) == ("3 марта", "7 апреля")


def test_a_document_is_told_from_those_of_its_form_alone() -> None:
    """Minutes that name the supplier took the name from its contract («именуемое Поставщик и» was left)."""
    minutes = (
        "ПРОТОКОЛ СОВЕЩАНИЯ Дата 16 июня. Слушали: о переносе поставки ООО «Лазурит». Постановили: поручить Титовой"
    )
    contract, others = CONTRACTS[0], CONTRACTS[1:]
    assert told_apart([contract, minutes], characters=60) == (
        "ДОГОВОР ПОСТАВКИ № 117/2025 ООО «Лазурит», именуемое",
        "ПРОТОКОЛ СОВЕЩАНИЯ Дата 16 июня. Слушали: о переносе",
    )
    assert told_apart([minutes, contract, *others], characters=60)[1] == "117/2025 · Лазурит"
    assert told_apart(["", contract], characters=60)[0] == ""


def test_an_amount_names_no_document() -> None:
    openings = [f"Договор № {number} с ООО «{name}». Плата {rent} 000 рублей." for number, name, rent in
                (("12", "Лазурит", "120"), ("13", "Кедр", "95"))]  # fmt: skip
    assert labels(openings) == ("12 · Лазурит", "13 · Кедр")


def test_where_an_opening_is_cut_tells_nothing() -> None:
    ends = ("и заключили настоящий", "и заключили настоящий договор", "и заключили")
    openings = [
        f"Договор с ООО «{name}», {'именуемое в дальнейшем Поставщик, ' * 5}{end}"
        for name, end in zip(("Азов", "Брест", "Вятка"), ends, strict=True)
    ]
    assert labels(openings) == ("Азов", "Брест", "Вятка")


@pytest.mark.parametrize("openings", [[], ["", "Договор"], ["Договор", "Договор"]])
def test_what_says_nothing_of_its_own_has_no_label(openings: list[str]) -> None:
    assert labels(openings) == ("", "Договор")[: len(openings)] if "" in openings else not any(labels(openings))


@given(st.lists(st.text(max_size=300), max_size=12))
def test_labels_are_short_and_there_is_one_for_each(openings: list[str]) -> None:
    told = labels(openings)
    assert len(told) == len(openings)
    assert all(len(label) <= LABEL_CHARS for label in told)


def clause(number: int, text: str, *, score: float = 1.0) -> RankedPassage:
    """Of the contract with this number."""
    passage = make_passage(text, number=number, document=f"c{number}", title=f"Договор {number}.txt")
    return RankedPassage(passage=replace(passage, opening=CONTRACTS[number]), score=score)


FINE = "За просрочку поставки Поставщик уплачивает неустойку {} % от цены за каждый день."
FINES = [clause(number, FINE.format(number + 1)) for number in range(3)]


@pytest.mark.parametrize(
    ("found", "question", "fitting"),
    [
        (FINES, "Какая неустойка по договору?", ["117/2025 · Лазурит", "118/2025 · Ромашка · Омск", "119/2025 · Кедр"]),
        (FINES, "Какая неустойка по договору с Ромашкой?", []),
        (FINES[:1], "Какая неустойка?", []),
        ([FINES[0], clause(1, "Неустойка не взимается, если задержка вызвана погодой.")], "Какая неустойка?", []),
        ([FINES[0], clause(1, FINE.format(9), score=0.5)], "Какая неустойка?", []),
    ],
    ids=["clauses of one form", "a party is named", "one document", "other words", "one stands out"],
)
def test_documents_fit_equally_where_alike_statements_hold_the_same_of_the_question(
    found: list[RankedPassage], question: str, fitting: list[str]
) -> None:
    if "Ромашк" in question:  # what the search does with a name of one document
        found = sorted(found, key=lambda each: "Ромашка" not in each.passage.opening)
    assert [each.label for each in equally_fitting(found, question)] == fitting


def test_a_day_is_told_with_its_month() -> None:
    openings = [
        "Договор № 117/2025 Москва, 3 марта 2025 г. с «Лазурит» заключён",
        "Договор № 118/2025 Москва, 5 марта 2025 г. с «Кедр» заключён",
    ]
    assert labels(openings) == ("117/2025 · 3 марта · Лазурит", "118/2025 · 5 марта · Кедр")
    assert labels(["On May 3, 2025 Dunmore", "On May 5, 2025 Aster"]) == ("3 · Dunmore", "5 · Aster")
