"""Addresses and telephone numbers of an answer."""

import pytest

from rag.answering.contacts import unknown_contacts
from rag.answering.postcheck import Evidence, remarks_on

SAID = "Звоните +7 (495) 123-45-67, добавочный 8. Почта: Sales@firma.ru."


@pytest.mark.parametrize(
    "contact",
    [
        "+7 495 123-67-45",
        "+7 495 123-45-68",
        "8 (495) 321-45-67",
        "84951234576",
        "+74951234576",
        "sale@firma.ru",
        "sales@firma.com",
    ],
)
def test_one_that_stands_nowhere_is_told(contact: str) -> None:
    answer = f"Обратитесь: {contact}."
    assert unknown_contacts(answer, SAID) == (contact,)
    assert remarks_on(answer, Evidence(question="?", facts=(SAID,)), from_base=True) != ()


@pytest.mark.parametrize(
    "contact",
    [
        "+7 (495) 123-45-67",
        "8 495 123-45-67",
        "8 (495) 123 45 67",
        "84951234567",
        "+74951234567",
        "+7 4951234567",
        "sales@firma.ru",
        "Sales@Firma.ru.",
    ],
)
def test_one_of_the_materials_may_be_written_differently(contact: str) -> None:
    answer = f"Обратитесь: {contact}"
    assert remarks_on(answer, Evidence(question="?", facts=(SAID,)), from_base=True) == ()


def test_a_long_number_is_no_telephone() -> None:
    evidence = Evidence(question="?", facts=("Бюджет 8 млрд рублей.",))
    assert remarks_on("Бюджет 8 000 000 000 рублей.", evidence, from_base=True) == ()
