"""Which documents are read, and in which order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.execution.documents import FEWEST_TOKENS, PAGE, named, parts_of, tokens_of
from rag.execution.iterative_tool import ReadDocuments
from rag.records import Passage
from tests.fakes.rag import BASE, make_passage
from tests.fakes.reading import PROMPTS, WORDINGS, ReadingModel, Shelf
from tests.unit.rag.execution.test_iterative_tool import copies

SHELF = Shelf({"Смета.xlsx": ["a"], "Договор 12.pdf": ["b"], "Договор 7.pdf": ["c"]}, found=("Договор 12.pdf",))


async def names(shelf: Shelf, *, wanted: list[str] | None = None, exhaustive: bool = False) -> list[str]:
    nobody = ReadingModel(copies)  # is not asked
    tool = ReadDocuments(shelf, shelf, shelf, nobody, PROMPTS, WORDINGS, prompt_tokens=6000)
    cards, _ = await tool.choose(BASE, "цена", names=wanted, exhaustive=exhaustive)
    return [card.title for card in cards]


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


TEXTS = st.lists(st.text(alphabet='абв где \n"\\ xyz0', min_size=0, max_size=900), max_size=8)


def passages_of(texts: list[str]) -> list[Passage]:
    return [make_passage(text, number=place) for place, text in enumerate(texts, start=1)]


@given(texts=TEXTS, tokens=st.integers(0, 400))
def test_no_part_is_over_its_budget_and_no_letter_is_lost(texts: list[str], tokens: int) -> None:
    parts = list(parts_of(passages_of(texts), tokens=tokens))
    assert all(sum(map(tokens_of, part)) <= max(tokens, FEWEST_TOKENS) for part in parts)
    assert "".join(piece.text for part in parts for piece in part) == "".join(texts)


@given(texts=TEXTS, tokens=st.integers(0, 400))
def test_pieces_keep_the_order_and_the_place_of_their_passage(texts: list[str], tokens: int) -> None:
    pieces = [piece for part in parts_of(passages_of(texts), tokens=tokens) for piece in part]
    assert list(dict.fromkeys(piece.ordinal for piece in pieces)) == [each.ordinal for each in passages_of(texts)]


def test_a_long_passage_is_cut_between_words() -> None:
    parts = list(parts_of(passages_of(["слово " * 100]), tokens=FEWEST_TOKENS))
    assert len(parts) > 1
    assert all(part[0].text.endswith(" ") for part in parts)
