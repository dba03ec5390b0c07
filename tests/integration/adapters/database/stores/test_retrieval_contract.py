"""The whole search without a model, over real words: `rag.retrieval` and the analyzer upon every store."""

from collections import Counter
from dataclasses import dataclass, field, replace

import pytest

from adapters.database.stores import Stores
from adapters.database.stores.search import SearchStore
from adapters.database.transport import Argument, Row, Transport
from adapters.lexical import RussianEnglishAnalyzer
from domain.ids import BaseId
from rag.ports import PassageSearch
from rag.records import SearchFilter
from rag.retrieval.search import Retrieval
from tests.fakes.rag import FixedEmbedder
from tests.integration.adapters.database.stores.material import (
    EAST,
    MODEL,
    NORTH,
    claim_new,
    indexed,
    open_base,
)

ANALYZER = RussianEnglishAnalyzer()
TEXTS = (
    "Кластер Kubernetes обновляется раз в квартал.",
    "База PostgreSQL работает в версии PG-15, прежняя была PG-14.",
    "Обмен с 1С идёт ночью.",
    "Поле user_id хранит номер человека, поле user_ip — адрес.",
    "Итоги лежат в report_final.docx, черновик в report_draft.docx.",
    "Зелёная ёлка стоит во дворе.",
    "Веб-сервер отдаёт картинки.",
    "Журнал хранится тридцать дней.",
)
CLUSTER, VERSION, ONE_C, FIELD, REPORT, TREE, WEB, JOURNAL = TEXTS


@dataclass
class CountedCalls:
    """A Transport that counts what goes through it."""

    transport: Transport
    calls: list[str] = field(default_factory=list)

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        self.calls.append(function)
        return await self.transport.call(function, timeout_s=timeout_s, **arguments)


def retrieval(search: PassageSearch, *, vector_weight: float = 0.0, embedder: FixedEmbedder | None = None) -> Retrieval:
    return Retrieval(
        search,
        embedder or FixedEmbedder(),
        ANALYZER,
        None,
        candidates=30,
        passages=10,
        lexical_weight=1.0,
        vector_weight=vector_weight,
    )


async def open_filled(stores: Stores, *texts: str) -> BaseId:
    """A base with a document for each text."""
    base = await open_base(stores)
    for text in texts:
        held = await claim_new(stores, base, text)
        terms = ANALYZER.terms(text)
        await stores.work.add_chunks(held, chunks=[replace(indexed(0, text), terms=Counter(terms), length=len(terms))])
        await stores.work.publish(held, chunks=1)
    return base


@pytest.mark.parametrize(
    ("question", "first"),
    [
        pytest.param("обновление кубернетис", CLUSTER, id="as it is spoken"),
        pytest.param("версия постгресс", VERSION, id="spoken and mistyped"),
        pytest.param("куберентес", None, id="two slips in another alphabet"),
        pytest.param("сколько хранитться жунрал", JOURNAL, id="typos"),
        pytest.param("что в PG-15", VERSION, id="a code"),
        pytest.param("pg 15", VERSION, id="a code without its hyphen"),
        pytest.param("pg15", VERSION, id="a code in one piece"),
        pytest.param("PG-16", VERSION, id="of another code the parts that are there"),
        pytest.param("обмен с 1С", ONE_C, id="Cyrillic 1С"),
        pytest.param("обмен с 1C", ONE_C, id="Latin 1C"),
        pytest.param("user_id", FIELD, id="an identifier"),
        pytest.param("report_final.docx", REPORT, id="a file"),
        pytest.param("report final", REPORT, id="parts of a file's name"),
        pytest.param("зеленая елка", TREE, id="е for ё"),
        pytest.param("ЗЕЛЁНЫЕ ЁЛКИ", TREE, id="capitals and another form"),
        pytest.param("вебсервер", WEB, id="written as one word"),
        pytest.param("веб сервер", WEB, id="without a hyphen"),
        pytest.param("Жypнал", JOURNAL, id="Latin letters among Cyrillic ones"),
    ],
)
async def test_words_are_found_as_people_type_them(stores: Stores, question: str, first: str | None) -> None:
    base = await open_filled(stores, *TEXTS)
    found = await retrieval(stores.search).find(base, question)
    assert [each.passage.text for each in found[:1]] == ([first] if first else [])


async def test_a_form_that_is_counted_as_another_word_is_found(stores: Stores) -> None:
    spoken, boat = "Спросите Анну о корме для котов", "Каюта у правого борта"
    base = await open_filled(stores, spoken, boat)
    found = await retrieval(stores.search).find(base, "корм для котов")
    assert [(each.passage.text, each.certain) for each in found] == [(spoken, True)]


async def test_a_form_of_another_word_is_no_matter_where_the_word_itself_stands(stores: Stores) -> None:
    said, boat = "Купили корм", "Лодка стояла у кормы"
    base = await open_filled(stores, said, boat)
    found = await retrieval(stores.search).find(base, "корм")
    assert [each.passage.text for each in found] == [said]


async def test_a_file_of_a_like_name_comes_behind(stores: Stores) -> None:
    base = await open_filled(stores, "Смета report_draft.docx", "Смета report_final.docx")
    found = await retrieval(stores.search).find(base, "report_final.docx")
    assert [each.passage.text for each in found] == ["Смета report_final.docx", "Смета report_draft.docx"]


ENGLISH = "The deposit is refunded within ten days after the keys are returned."


@pytest.mark.parametrize(
    ("question", "vectors", "found"),
    [
        pytest.param("когда вернут залог", True, True, id="by its meaning, where a model knows it"),
        pytest.param(
            "возврат залога deposit refund", False, True, id="by its rare words in both, as plans are asked to"
        ),
        pytest.param("когда вернут залог", False, False, id="not by words of the other language"),
    ],
)
async def test_a_question_may_be_in_another_language_than_the_document(
    stores: Stores, question: str, *, vectors: bool, found: bool
) -> None:
    base = await open_base(stores)
    for text, vector in ((ENGLISH, NORTH), *((text, EAST) for text in TEXTS)):
        held = await claim_new(stores, base, text)
        terms = ANALYZER.terms(text)
        chunk = replace(indexed(0, text, vector=vector), terms=Counter(terms), length=len(terms))
        await stores.work.add_chunks(held, chunks=[chunk])
        await stores.work.publish(held, chunks=1)
    searching = retrieval(
        stores.search, vector_weight=1.5 if vectors else 0.0, embedder=FixedEmbedder(model=MODEL, vector=NORTH)
    )
    best = (await searching.find(base, question))[:1]
    assert [each.passage.text for each in best] == ([ENGLISH] if found else [])


async def test_a_filter_reaches_the_database(stores: Stores) -> None:
    base = await open_filled(stores, *TEXTS)
    nobody = SearchFilter(author="Никто")
    assert await retrieval(stores.search).find(base, "журнал", only=nobody) == ()


async def test_a_question_costs_one_call_of_the_database_and_so_does_its_repetition(transport: Transport) -> None:
    counted = CountedCalls(transport)
    base = await open_filled(Stores(transport), *TEXTS)
    searching = retrieval(SearchStore(counted), vector_weight=1.5)
    first = await searching.find(base, "где хранится журнал?")
    assert counted.calls == ["search"]
    assert await searching.find(base, "где хранится журнал?") == first
    assert counted.calls == ["search", "search"]
