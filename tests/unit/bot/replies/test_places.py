"""Where something stands, in the person's words."""

import pytest

from bot.replies.places import page_of, places
from domain.locator import Locator
from ingestion.records import Block, BlockKind
from tests.fakes.bot import texts

RU = texts().for_language("ru")


@pytest.mark.parametrize(
    ("locators", "words"),
    [
        ([Locator(page=7)], "стр. 7"),
        ([Locator(page=7), Locator(page=8), Locator(page=12, page_end=13)], "стр. 7–8, 12–13"),
        ([Locator(slide=3)], "слайд 3"),
        ([Locator(row=12, row_end=15, headings=("Смета",))], "строки 12–15 листа «Смета»"),
        ([Locator(row=2)], "строки 2"),
        ([Locator(start_s=200, end_s=225)], "3:20–3:45"),
        ([Locator(start_s=200, end_s=225), Locator(start_s=60, end_s=70)], "с 1:00"),
        ([Locator(headings=("Договор", "Сроки"))], "раздел «Сроки»"),
        ([Locator(member="смета.xlsx", row=2)], "смета.xlsx, строки 2"),
        ([Locator()], ""),
    ],
)
def test_a_place_is_named_as_exactly_as_it_is_known(locators: list[Locator], words: str) -> None:
    assert places(locators, RU, title="Документ") == words


def test_a_section_called_like_the_document_says_nothing_new() -> None:
    assert places([Locator(headings=("Договор",))], RU, title="договор ") == ""


@pytest.mark.parametrize(
    ("quote", "page", "page_end"),
    [
        ("Плата вносится до пятого числа.", 5, None),
        ("Плата  вносится\nдо пятого", 5, None),  # spaces differ from block to passage
        ("Срок действия", 6, 7),  # the paragraph itself runs over a page break
        ("нет таких слов", 4, 7),
        ("", 4, 7),
    ],
)
def test_a_quote_stands_on_its_page(quote: str, page: int, page_end: int | None) -> None:
    blocks = [
        Block(kind=BlockKind.PARAGRAPH, text="Плата вносится до пятого числа.", locator=Locator(page=2)),  # elsewhere
        Block(kind=BlockKind.PARAGRAPH, text="Предмет договора.", locator=Locator(page=4)),
        Block(kind=BlockKind.PARAGRAPH, text="Плата вносится до пятого числа.", locator=Locator(page=5)),
        Block(kind=BlockKind.PARAGRAPH, text="Срок действия – год.", locator=Locator(page=6, page_end=7)),
    ]
    found = page_of(quote, Locator(page=4, page_end=7), blocks)
    assert (found.page, found.page_end) == (page, page_end)
