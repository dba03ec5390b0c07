"""The block of sources and its buttons."""

from typing import Any

import pytest

from bot.handlers.sources import answer_keyboard, source_buttons
from bot.replies.answers import finished_answer, growing_answer
from bot.replies.citations import page_of, passage_quote, places, source_block
from domain.documents import SourceType
from domain.ids import ChunkId, DocumentId
from domain.locator import Locator
from ingestion.records import Block, BlockKind
from rag.records import AnswerKind, Citation, TextGrew
from rag.words import Span
from tests.fakes.bot import plain_answer, texts
from tests.fakes.rag import make_passage

WORDS = texts().for_language("ru")


def citation(**changes: Any) -> Citation:
    fields: dict[str, Any] = {
        "document_id": DocumentId("a"),
        "chunk_id": ChunkId(1),
        "title": "Договор аренды.pdf",
        "source_type": SourceType.FILE,
        "source_identifier": "Договор аренды.pdf",
        "locator": Locator(page=7),
        "quote": "",
    }
    return Citation(**(fields | changes))


def link(**changes: Any) -> Citation:
    fields: dict[str, Any] = {
        "document_id": DocumentId("b"),
        "title": "Правила расчётов",
        "source_type": SourceType.LINK,
        "source_identifier": "https://bank.example.org/rules?x=1",
        "locator": Locator(),
    }
    return citation(**(fields | changes))


def lines(*citations: Citation) -> list[str]:
    return source_block(citations, WORDS).text.splitlines()


def labels(*citations: Citation) -> list[str]:
    return [button.text for button in source_buttons(citations, WORDS)]


def test_the_block_is_as_in_the_standard() -> None:
    assert lines(citation(), link()) == [
        "Информация взята из:",
        "📄 Договор аренды.pdf, стр. 7",
        "🔗 Правила расчётов, bank.example.org",
    ]


def test_the_host_of_a_page_is_told_in_letters() -> None:
    assert lines(link(source_identifier="https://xn--e1afmkfd.xn--p1ai/a"))[1:] == ["🔗 Правила расчётов, пример.рф"]


def test_the_address_of_a_site_is_told_in_letters() -> None:
    site = link(source_type=SourceType.SITE, source_identifier="https://xn--e1afmkfd.xn--p1ai/%D1%8F")
    assert lines(site)[1].endswith(" Правила расчётов, пример.рф/я")


def test_pages_of_one_document_stand_together() -> None:
    block = lines(citation(locator=Locator(page=12)), citation(), citation(locator=Locator(page=3, page_end=4)))
    assert block[1:] == ["📄 Договор аренды.pdf, стр. 3–4, 7, 12"]


def test_without_pages_the_section_is_named() -> None:
    assert lines(citation(locator=Locator(headings=("Общее", "Сроки"))))[1].endswith(", раздел «Сроки»")


def test_a_section_called_like_its_document_is_not_repeated() -> None:
    page = link(locator=Locator(headings=("Правила расчётов",)))
    assert lines(page)[1] == "🔗 Правила расчётов, bank.example.org"


def test_pages_that_follow_each_other_are_one_stretch() -> None:
    places = (Locator(page=1), Locator(page=1, page_end=2), Locator(page=2), Locator(page=5))
    assert lines(*(citation(locator=place) for place in places))[1].endswith("стр. 1–2, 5")


def test_a_note_has_its_own_sign() -> None:
    assert lines(citation(source_type=SourceType.NOTE, title="Сбор", locator=Locator()))[1] == "📝 Сбор"


def test_a_button_names_the_page_and_with_other_documents_the_title_too() -> None:
    assert labels(citation()) == ["📄 стр. 7"]
    assert labels(citation(), link()) == ["📄 Договор аренды.pdf, стр. 7", "🔗 Правила расчётов"]


def test_places_that_look_the_same_share_a_button() -> None:
    assert labels(citation(), citation(chunk_id=ChunkId(2))) == ["📄 стр. 7"]


def test_buttons_of_one_document_without_pages_name_its_sections() -> None:
    sections = [
        citation(chunk_id=ChunkId(number), locator=Locator(headings=(name,))) for number, name in enumerate("АБ")
    ]
    assert labels(*sections) == ["📄 А", "📄 Б"]


def test_buttons_of_one_document_stand_in_the_order_of_its_pages() -> None:
    pages = (Locator(page=2), Locator(page=1, page_end=2), Locator(page=1))
    assert labels(*(citation(locator=place) for place in pages)) == ["📄 стр. 1", "📄 стр. 1–2", "📄 стр. 2"]


def test_there_are_at_most_six_buttons() -> None:
    many = [citation(chunk_id=ChunkId(page), locator=Locator(page=page)) for page in range(1, 20)]
    assert len(labels(*many)) == 6


def test_the_row_that_answers_stands_above_its_table_with_the_names_of_its_columns() -> None:
    table = "| Товар | Цена, ₽ |\n| --- | --- |\n| Клей | 280 |\n| Шкурка | 950 |"
    at = table.index("| Шкурка")
    quote = passage_quote(make_passage(table), WORDS, bold=(Span(start=at, end=len(table)),))
    assert quote.text.splitlines()[1:] == ["Шкурка: цена 950 ₽", "Клей: цена 280 ₽", "Шкурка: цена 950 ₽"]
    assert passage_quote(make_passage(table), WORDS).text.count("Шкурка") == 1


def test_general_knowledge_is_labelled_and_has_no_sources() -> None:
    answer = plain_answer("Столица Франции **Париж**.", kind=AnswerKind.GENERAL)
    assert finished_answer(answer, WORDS).text == "Не из вашей базы:\n\nСтолица Франции Париж."


def test_quotes_are_introduced() -> None:
    answer = plain_answer("**Договор**\n> Штраф 0,1 %", kind=AnswerKind.QUOTES, citations=(citation(),))
    assert finished_answer(answer, WORDS).text.startswith(
        "Вот что нашлось в базе:\n\nДоговор\nШтраф 0,1 %\n\nИнформация"
    )


def test_a_quote_follows_its_introduction_without_a_blank_line() -> None:
    answer = plain_answer("> Штраф 0,1 %", kind=AnswerKind.QUOTES, citations=(citation(),))
    assert finished_answer(answer, WORDS).text.startswith("Вот что нашлось в базе:\nШтраф 0,1 %\n\nИнформация")


def test_nothing_found_is_a_sentence() -> None:
    assert "ничего не нашлось" in finished_answer(plain_answer("", kind=AnswerKind.NOTHING), WORDS).text


def test_a_cut_answer_says_so() -> None:
    assert "Ответ оборвался" in finished_answer(plain_answer("Штраф", cut=True), WORDS).text


def test_passages_stand_between_a_cut_answer_and_its_sources() -> None:
    answer = plain_answer("Штраф", kind=AnswerKind.FROM_BASE, cut=True, passages="> Штраф 0,1 %")
    text = finished_answer(answer, WORDS).text
    assert text.startswith("Штраф\n\nОтвет оборвался")
    assert text.endswith("Вот что нашлось в базе:\nШтраф 0,1 %")


def test_the_growing_answer_is_a_beginning_of_the_finished_one() -> None:
    answer = plain_answer("Штраф **0,1 %** в день.", kind=AnswerKind.GENERAL)
    whole = finished_answer(answer, WORDS).text
    for length in range(1, len(answer.text)):
        grown = growing_answer(TextGrew(kind=answer.kind, text=answer.text[:length]), WORDS).text.rstrip()
        assert whole.startswith(grown)


def test_a_greeting_has_no_buttons() -> None:
    assert answer_keyboard(plain_answer("Здравствуйте!"), WORDS) is None


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
    assert places(locators, WORDS, title="Документ") == words


def test_a_section_called_like_the_document_says_nothing_new() -> None:
    assert places([Locator(headings=("Договор",))], WORDS, title="договор ") == ""


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
