"""The tools that look at the documents of a base: their list, and one of them read through."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from domain.documents import DocumentCard, Medium, SourceType
from domain.ids import BaseId, DocumentId, UserId
from domain.locator import Locator
from prompts.loader import load_prompts
from rag.execution.document_tools import (
    MOST_SECTIONS,
    PART,
    PASSAGES,
    ListArguments,
    ListDocuments,
    ReadArguments,
    ReadDocument,
    contents_of,
)
from rag.execution.documents import PAGE
from rag.execution.facts import FactKind
from rag.records import DocumentMatch, Passage
from rag.retrieval.search import DocumentSearch
from tests.fakes.cards import card, ready
from tests.fakes.catalogue import Catalogue
from tests.fakes.planning import begin
from tests.fakes.rag import BASE, USER, ScriptedModel, away, make_passage
from tests.fakes.reading import WORDINGS


@dataclass
class Shelf:
    """A DocumentPassages that keeps what it was asked."""

    asked: list[tuple[DocumentId, int, int]] = field(default_factory=list)

    async def read(self, base: BaseId, document: DocumentId, *, after: int, limit: int) -> list[Passage]:
        assert base == BASE
        self.asked.append((document, after, limit))
        return [make_passage("Первый раздел.", number=1), make_passage("Второй раздел.", number=2)]


def titled(title: str, **changes: Any) -> DocumentCard:
    return ready(title=title, source_identifier=title, id=DocumentId(title), **changes)


SHELF = Catalogue(
    (
        titled("Договор аренды.pdf"),
        titled("Голосовое.ogg", medium=Medium.AUDIO, duration_s=252.0, pages=None),
        titled("Смета", source_type=SourceType.NOTE),
        card(title="Ещё читается.pdf"),
    )
)


async def test_every_document_that_was_read_is_listed_and_counted() -> None:
    payload = await ListDocuments(SHELF, WORDINGS).run(ListArguments(), begin())
    assert payload.facts[0].text == "Всего документов: 3"
    assert [fact.title for fact in payload.facts[1:]] == ["Договор аренды.pdf", "Голосовое.ogg", "Смета"]
    assert payload.facts[1].kind is FactKind.DOCUMENT


class Kinds(DocumentSearch):
    """A finder that knows one kind."""

    def __init__(self) -> None:
        """Without an index."""

    async def find_documents(self, base: BaseId, text: str, *, limit: int) -> tuple[DocumentMatch, ...]:
        raise AssertionError("counting is no search")

    async def called(self, base: BaseId, kind: str) -> frozenset[DocumentId]:
        return frozenset({DocumentId("Договор аренды.pdf")}) if kind == "договоры" else frozenset()


async def test_documents_of_a_kind_are_counted_with_the_words_of_the_question() -> None:
    tool = ListDocuments(SHELF, WORDINGS, Kinds())
    counted = await tool.run(ListArguments(about="договоры"), begin())
    assert [fact.title for fact in counted.facts] == [counted.facts[0].text, "Договор аренды.pdf"]
    assert counted.facts[0].text.endswith("(«договоры»): 1")
    filtered = await tool.run(ListArguments(about="договоры", kind="text"), begin())
    assert filtered.facts[0].text == "Documents that fit (about: договоры, kind: text): 1."
    assert not (await tool.run(ListArguments(about="счета"), begin())).found


async def test_the_oldest_documents_of_a_large_base_are_listed_and_read_too() -> None:
    large = Catalogue((*(titled(f"Новое {number}") for number in range(PAGE)), titled("Старая смета")))
    payload = await ListDocuments(large, WORDINGS).run(ListArguments(), begin())
    assert payload.facts[0].text == f"Всего документов: {PAGE + 1}"
    await ReadDocument(large, shelf := Shelf()).run(ReadArguments(document="старая смета"), begin())
    assert [document for document, _, _ in shelf.asked] == ["Старая смета"]


@pytest.mark.parametrize(
    ("arguments", "titles"),
    [
        (ListArguments(kind="audio"), ["Голосовое.ogg"]),
        (ListArguments(kind="note"), ["Смета"]),
        (ListArguments(name_contains="аренд"), ["Договор аренды.pdf"]),
        (ListArguments(name_contains="нет такого"), []),
    ],
)
async def test_the_list_is_narrowed_by_name_and_kind(arguments: ListArguments, titles: list[str]) -> None:
    payload = await ListDocuments(SHELF, WORDINGS).run(arguments, begin())
    assert [fact.title for fact in payload.facts if fact.title] == titles


SENT = Catalogue(
    (
        titled("Смета", sent_by=USER, sender="Пётр Первый"),
        titled("Акт", sent_by=UserId(USER + 1), sender="Пётр Второй"),
        titled("Договор", sent_by=UserId(USER + 2), sender="Анна"),
        titled("Счёт", sent_by=UserId(USER + 3)),
    )
)


@pytest.mark.parametrize(("sender", "titles"), [("asker", ["Смета"]), ("я", ["Смета"]), ("петр", ["Смета", "Акт"])])
async def test_the_list_is_narrowed_by_who_sent_it_and_says_who_did(sender: str, titles: list[str]) -> None:
    payload = await ListDocuments(SENT, WORDINGS).run(ListArguments(sender=sender), begin())
    listed = [fact for fact in payload.facts if fact.title]
    assert [fact.title for fact in listed] == titles
    assert all("отправитель Пётр" in fact.text for fact in listed)


@pytest.mark.parametrize(
    ("days", "titles"),
    [
        ({"since": "2026-05-11"}, ["Второй", "Третий"]),
        ({"until": "2026-05-11"}, ["Первый", "Второй"]),
        ({"since": "2026-05-11", "until": "2026-05-11"}, ["Второй"]),
    ],
)
async def test_the_list_is_narrowed_to_the_days_on_which_they_came(days: dict[str, str], titles: list[str]) -> None:
    came = (
        titled(name, created_at=datetime(2026, 5, 10 + place, 23, tzinfo=UTC))
        for place, name in enumerate(("Первый", "Второй", "Третий"))
    )
    tool = ListDocuments(Catalogue(tuple(came)), WORDINGS)
    payload = await tool.run(tool.read(days), begin())
    assert [fact.title for fact in payload.facts if fact.title] == titles
    limits = ", ".join(f"{name}: {day}" for name, day in days.items())
    assert payload.facts[0].text == f"Documents that fit ({limits}): {len(titles)}."


async def test_a_recording_of_seconds_has_a_length() -> None:
    short = Catalogue((titled("Напоминание.ogg", medium=Medium.AUDIO, duration_s=12.4, pages=None),))
    payload = await ListDocuments(short, WORDINGS).run(ListArguments(), begin())
    assert ("Длина", "0:00:12") in payload.facts[1].fields


async def test_a_document_is_read_from_its_beginning_on() -> None:
    shelf = Shelf()
    payload = await ReadDocument(SHELF, shelf).run(ReadArguments(document="договор об аренде"), begin())
    assert shelf.asked == [("Договор аренды.pdf", -1, PASSAGES)]
    assert [fact.text for fact in payload.facts] == ["Первый раздел.", "Второй раздел."]


async def test_the_second_part_goes_on_where_the_first_ended() -> None:
    shelf = Shelf()
    await ReadDocument(SHELF, shelf).run(ReadArguments(document="смета", part=2), begin())
    assert shelf.asked == [("Смета", PASSAGES - 1, PASSAGES)]


async def test_a_document_that_is_not_there_is_not_guessed() -> None:
    payload = await ReadDocument(SHELF, Shelf()).run(ReadArguments(document="Устав"), begin())
    assert not payload.found


LONG = tuple(
    make_passage(f"Пункт {at}. " + ("Оговорка о валюте. " if at == 77 else "Прочее. "), number=at + 1, document="long")
    for at in range(100)
)
HEADED = tuple(
    replace(each, locator=Locator(page=at // 4 + 1, headings=("Отчёт", f"Раздел {at // 10}")), ordinal=at)
    for at, each in enumerate(LONG)
)
BARE = tuple(replace(each, ordinal=at) for at, each in enumerate(LONG))


@dataclass
class LongShelf:
    """One long document."""

    held: Sequence[Passage]

    async def read(self, base: BaseId, document: DocumentId, *, after: int, limit: int) -> list[Passage]:
        return [each for each in self.held if each.ordinal > after][:limit]


REPORT = Catalogue((ready(id=DocumentId("long"), title="Отчёт", source_identifier="Отчёт"),))


@pytest.mark.parametrize(
    ("held", "chosen", "read"),
    [
        (HEADED, "[8, 99, 8]", range(70, 80)),
        (HEADED, "[2, 1]", range(20)),
        (BARE, "[7]", range(72, 84)),
        (HEADED, "[8, 1, 2, 3]", None),
    ],
)
async def test_of_a_long_document_the_sections_are_read_that_a_model_chooses_by_its_contents(
    held: Sequence[Passage], chosen: str, read: range | None
) -> None:
    model = ScriptedModel(f'{{"sections": {chosen}}}')
    tool = ReadDocument(REPORT, LongShelf(held), model, load_prompts())
    payload = await tool.run(ReadArguments(document="Отчёт", about="Что сказано о валюте?"), begin())
    shown = model.asked[0][-1].content
    assert ("8. Раздел 7, p. 18-20" in shown) is (held is HEADED)
    places = [fact.passage.passage.ordinal for fact in payload.facts if fact.passage]
    assert places == sorted(places)
    assert places == list(read) if read else len(places) == PASSAGES and 77 in places
    assert "chosen by its contents" in payload.remarks[0]


@pytest.mark.parametrize("model", [None, ScriptedModel('{"sections": []}'), ScriptedModel(error=away())])
async def test_where_no_model_chooses_the_titles_words_do(model: ScriptedModel | None) -> None:
    tool = ReadDocument(REPORT, LongShelf(HEADED), model, load_prompts())
    payload = await tool.run(ReadArguments(document="Отчёт", about="Раздел 7"), begin())
    assert 77 in [fact.passage.passage.ordinal for fact in payload.facts if fact.passage]


async def test_a_short_document_is_read_whole_and_asks_no_model() -> None:
    model = ScriptedModel("")
    tool = ReadDocument(REPORT, LongShelf(HEADED[:9]), model, load_prompts())
    payload = await tool.run(ReadArguments(document="Отчёт", about="валюта"), begin())
    assert (len(payload.facts), model.asked, payload.remarks) == (9, [], ())


@given(st.lists(st.lists(st.sampled_from("абв"), max_size=3), max_size=60))
def test_every_passage_stands_in_one_section(headings: list[list[str]]) -> None:
    passages = [replace(LONG[0], locator=Locator(headings=tuple(each))) for each in headings]
    sections = contents_of(passages)
    assert [place for each in sections for place in range(each.first, each.last + 1)] == list(range(len(passages)))


def under(*headings: str, text: str = "Прочее.") -> Passage:
    return replace(LONG[0], text=text, locator=Locator(headings=headings))


def test_a_report_of_more_headings_than_contents_may_have_is_still_divided() -> None:
    """Boeing's report of 190 pages was two sections: its 195 headings were folded into the one above all of them."""
    report = [under("Отчёт", f"Раздел {at // 3}") for at in range(600)]
    sections = contents_of([*report, *(under("Отчёт", "Приложение") for _ in range(100))])
    assert MOST_SECTIONS / 2 < len(sections) <= MOST_SECTIONS
    assert max(each.last - each.first + 1 for each in sections) <= PART
    assert all(any(f"Раздел {number}" in each.title for each in sections) for number in range(200))
    assert not any("Отчёт" in each.title for each in sections)


def test_a_part_without_headings_is_called_by_what_stands_alone_in_it_but_on_every_page() -> None:
    table = "Выручка по регионам\n(тыс. руб.)\n| Регион | 2024 |\n| --- | --- |\n| Омск | 5 |"
    texts = ["Годовой отчёт\n\nСлова, много слов.\n\nПрочее."] * (4 * PART)
    texts[PART] = "Годовой отчёт\n\nСудебные споры\n\nИсков нет.\n\n17\n\nи прочее, что бывает\n\n"
    texts[2 * PART] = f"Годовой отчёт\n\n{table}"
    titles = [each.title for each in contents_of([under(text=text) for text in texts])]
    assert titles[1:3] == ["Судебные споры", "Выручка по регионам"]


@pytest.mark.parametrize(
    ("raw", "read_as"),
    [
        ({"document": "x", "base_id": "another"}, ("x", 1)),
        ({"documents": ["x"], "part": 0}, ("x", 1)),
        ({"document": "x", "part": "5000"}, ("x", 1000)),
        ({"document": "x" * 400, "part": None}, ("x" * 300, 1)),
    ],
)
def test_arguments_are_put_right_and_unknown_ones_ignored(raw: dict[str, JsonValue], read_as: tuple[str, int]) -> None:
    read = ReadDocument(SHELF, Shelf()).read(raw)
    assert (read.document, read.part) == read_as


async def test_what_is_listed_is_told_in_the_language_of_the_question() -> None:
    photo = Catalogue((titled("Фото от 12 мая", medium=Medium.IMAGE, pages=None, author="Анна"),))
    in_russian = await ListDocuments(photo, WORDINGS).run(ListArguments(), begin())
    in_english = await ListDocuments(photo, WORDINGS).run(ListArguments(), replace(begin(), question="What is there?"))
    assert in_russian.facts[1].text == "Фото от 12 мая, фото, автор Анна, добавлен 12.05.2026"
    assert in_english.facts[1].text == "Фото от 12 мая, photo, author Анна, added 12 May 2026"
    assert [column for column, _ in in_russian.facts[1].fields] == ["Документ", "Вид", "Автор", "Добавлен"]
