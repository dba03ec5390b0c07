"""Which documents are read, and in which order."""

import pytest

from rag.iterative.selection import PAGE, Selection, named
from tests.fakes.rag import BASE
from tests.fakes.reading import Shelf

SHELF = Shelf({"Смета.xlsx": ["a"], "Договор 12.pdf": ["b"], "Договор 7.pdf": ["c"]}, found=("Договор 12.pdf",))


async def names(shelf: Shelf, *, wanted: list[str] | None = None, exhaustive: bool = False) -> list[str]:
    chosen = await Selection(shelf, shelf).choose(BASE, "цена", names=wanted, exhaustive=exhaustive)
    return [card.title for card in chosen.cards]


async def test_only_what_the_search_names_is_read() -> None:
    assert await names(SHELF) == ["Договор 12.pdf"]


async def test_everything_is_read_when_everything_counts_the_best_first_then_the_newest() -> None:
    assert await names(SHELF, exhaustive=True) == ["Договор 12.pdf", "Договор 7.pdf", "Смета.xlsx"]


async def test_the_whole_catalogue_is_paged_through() -> None:
    shelf = Shelf({f"Письмо {number}": ["x"] for number in range(2 * PAGE + 5)})
    assert len(await names(shelf, exhaustive=True)) == 2 * PAGE + 5


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("договор № 7", ["Договор 7.pdf"]),
        ("договоры", ["Договор 7.pdf", "Договор 12.pdf"]),  # every document that holds all of the words
        ("смета ремонта", ["Смета.xlsx"]),
        ("Договор 12.PDF", ["Договор 12.pdf"]),
        ("Устав", []),
    ],
)
def test_documents_are_known_by_the_words_of_their_names(name: str, found: list[str]) -> None:
    assert [card.title for card in named([name], SHELF.cards)] == found


async def test_named_documents_are_read_in_that_order_without_a_search() -> None:
    shelf = Shelf(SHELF.texts)
    assert await names(shelf, wanted=["смета", "договор 7"]) == ["Смета.xlsx", "Договор 7.pdf"]
    assert shelf.searched == []
