"""`rag_db_query`: what a plan may narrow a search to."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from domain.documents import Medium, SourceType
from domain.ids import DocumentId
from rag.execution.search_tool import SearchBase
from rag.planning.tool import ToolMisused
from rag.records import SearchFilter
from tests.fakes.cards import ready
from tests.fakes.catalogue import Catalogue
from tests.fakes.planning import begin
from tests.fakes.rag import USER, FoundPassages, LowerWords, make_candidate
from tests.fakes.turns import by_words_alone

RENT, ESTIMATE = DocumentId("rent"), DocumentId("estimate")
CARDS = (ready(id=RENT, title="Договор аренды.pdf"), ready(id=ESTIMATE, title="Смета.xlsx"))


async def narrowed(**args: JsonValue) -> SearchFilter | None:
    """The filter that reaches the database."""
    search = FoundPassages((make_candidate("срок оплаты", bm25=1.0),))
    tool = SearchBase(by_words_alone(search), Catalogue(CARDS))
    assert (await tool.run(tool.read({"query": "срок оплаты", **args}), begin())).facts
    return search.queries[0].only


async def test_a_query_alone_searches_everything() -> None:
    assert await narrowed() is None


async def test_a_name_becomes_the_documents_that_have_it() -> None:
    assert await narrowed(document="аренд") == SearchFilter(documents=(RENT,))


async def test_a_name_that_no_document_has_narrows_nothing() -> None:
    assert await narrowed(document="устав") is None


@pytest.mark.parametrize(
    ("source", "types"),
    [
        ("note", (SourceType.NOTE,)),
        ("file", (SourceType.FILE, SourceType.PATH)),
        ("link", (SourceType.LINK, SourceType.SITE)),
    ],
)
async def test_a_source_is_all_ways_that_it_comes(source: str, types: tuple[SourceType, ...]) -> None:
    assert await narrowed(source=source) == SearchFilter(types=types)


async def test_what_was_recorded_is_asked_for_by_its_medium() -> None:
    assert await narrowed(source="audio") == SearchFilter(media=(Medium.AUDIO,))


async def test_the_last_day_counts_to_its_end() -> None:
    wanted = SearchFilter(since=datetime(2026, 5, 1, tzinfo=UTC), before=datetime(2026, 6, 1, tzinfo=UTC))

    assert await narrowed(since="2026-05-01", until="2026-05-31") == wanted


async def test_the_author_goes_on_as_named() -> None:
    assert await narrowed(author="Иван") == SearchFilter(author="Иван")


async def test_the_sender_is_another_than_the_author() -> None:
    assert await narrowed(sender="Анна") == SearchFilter(sender="Анна")


@pytest.mark.parametrize("sender", ["asker", "Я", " me "])
async def test_what_the_asker_sent_is_known_by_their_number_and_not_by_a_name(sender: str) -> None:
    assert await narrowed(sender=sender) == SearchFilter(sent_by=USER)


@pytest.mark.parametrize(("top_k", "found"), [(2, 2), (0, 1), (1000, 3), (None, 3)])
async def test_no_more_passages_are_found_than_were_asked_for(top_k: int | None, found: int) -> None:
    search = FoundPassages(tuple(make_candidate(f"срок {n}", number=n, bm25=1.0) for n in (1, 2, 3)))
    tool = SearchBase(by_words_alone(search), Catalogue(CARDS))
    assert len((await tool.run(tool.read({"query": "срок", "top_k": top_k}), begin())).facts) == found


async def test_a_day_that_is_none_is_sent_back_to_the_planner() -> None:
    with pytest.raises(ToolMisused, match="since"):
        await narrowed(since="вчера")


SIGNED = (
    ready(id=RENT, title="Аванс по УСН", author="Налоги просто, Ирина Лесная", sender="Анна"),
    ready(id=ESTIMATE, title="Ключ от зала", sender="Ирина Лесная"),
    ready(title="Цены на зерно", author="Кофейный вестник", sender="Ирина Лесная"),
)


@pytest.mark.parametrize(
    ("args", "asked"),
    [
        ({"query": "Ирина Лесная", "author": "Ирина"}, "Ирина Лесная"),
        ({"query": "Лесная Ирина", "author": "Ирина Лесная"}, "Аванс по УСН\nКлюч от зала"),
        ({"query": "Ирина", "sender": "Ирина"}, "Ключ от зала\nЦены на зерно"),
        ({"query": "Ирина аванс", "author": "Ирина"}, "Ирина аванс"),
        ({"query": "Пётр", "author": "Пётр"}, "Пётр"),
    ],
)
async def test_what_somebody_writes_of_no_subject_is_found_by_its_titles(
    args: dict[str, JsonValue], asked: str
) -> None:
    search = FoundPassages((make_candidate("слова", bm25=1.0),))
    tool = SearchBase(by_words_alone(search), Catalogue(SIGNED))
    await tool.run(tool.read(args), begin())
    assert set(search.queries[0].terms) == set(LowerWords().terms(asked))


async def test_what_somebody_sent_is_found_though_it_has_none_of_the_words() -> None:
    search = FoundPassages()
    tool = SearchBase(by_words_alone(search), Catalogue(SIGNED))
    payload = await tool.run(tool.read({"query": "цена", "sender": "Ирина"}), begin())
    assert [set(query.terms) for query in search.queries] == [{"цена"}, {"ключ", "от", "зала", "цены", "на", "зерно"}]
    assert payload.coverage == 0.0  # the fallback searches without the limit, too
