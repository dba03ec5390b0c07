"""Reading every document of a real base, with a model behind HTTP: counts, sums, disagreements, facts."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from adapters.database.stores import Stores
from adapters.database.stores.search import SearchStore
from adapters.database.transport import Transport
from adapters.llm.fallback import open_chat_model
from domain.ids import BaseId
from rag.execution.facts import FactKind
from rag.execution.iterative_tool import ReadAllArguments, ReadDocuments
from rag.execution.rows_tool import CollectRows
from rag.execution.tables import RowsArguments
from rag.execution.tools import ToolContext
from rag.execution.wire import Certainty, IterationReply, IterationRequest, NewFact, RowsRequest
from rag.ports import ChatModel
from rag.records import DocumentsRead
from rag.retrieval.search import Retrieval
from tests.fakes.clerk import read_contract
from tests.fakes.rag import FixedEmbedder, LowerWords
from tests.fakes.reading import PROMPTS, WORDINGS, turn
from tests.integration.adapters.database.stores.material import open_base, publish
from tests.material.contracts import DISPUTED, MADE, TRUTH, documents
from tests.servers.llm import MODEL, ChatRequest, LlmServer, serve_llm

Reply = Callable[[ChatRequest], str]
PROMPT_TOKENS = 12_000


async def keep(transport: Transport, *names: str) -> BaseId:
    """The made documents of these names, or all 30."""
    stores = Stores(transport)
    base = await open_base(stores)
    for name, text in documents().items():
        if not names or name in names:
            await publish(stores, base, *text.strip().split("\n\n"), name=name)
    return base


@asynccontextmanager
async def model_that(reply: Reply) -> AsyncIterator[tuple[ChatModel, LlmServer]]:
    async with (
        serve_llm(reply=reply) as server,
        open_chat_model(
            base_url=server.url, api_key=None, models=(MODEL,), temperature=0.3, max_tokens=1000, timeout_s=60
        ) as model,
    ):
        yield model, server


def retrieval(transport: Transport) -> Retrieval:
    """By words alone."""
    return Retrieval(
        Stores(transport).search,
        FixedEmbedder(),
        LowerWords(),
        None,
        candidates=20,
        passages=8,
        lexical_weight=1.0,
        vector_weight=0.0,
    )


def rows_tool(transport: Transport, model: ChatModel) -> CollectRows:
    library, reading = Stores(transport).library, SearchStore(transport)
    return CollectRows(library, reading, retrieval(transport), model, PROMPTS, WORDINGS, prompt_tokens=PROMPT_TOKENS)


def reading_tool(transport: Transport, model: ChatModel) -> ReadDocuments:
    library, reading = Stores(transport).library, SearchStore(transport)
    return ReadDocuments(library, reading, retrieval(transport), model, PROMPTS, WORDINGS, prompt_tokens=PROMPT_TOKENS)


def asked_in(base: BaseId) -> ToolContext:
    return replace(turn(), base_id=base)


def clerk(request: ChatRequest) -> str:
    return read_contract(RowsRequest.model_validate_json(request.last)).model_dump_json()


def copies(request: ChatRequest) -> str:
    """What says something of a fine is a fact."""
    context = IterationRequest.model_validate_json(request.last).document_context
    found = [chunk for chunk in context if "пеня" in chunk.chunk_text]
    facts = tuple(NewFact(fact=each.chunk_text, certainty=Certainty.HIGH, reasoning=each.chunk_id) for each in found)
    reply = IterationReply(
        answer="Есть пеня" if facts else "", reasoning="", new_facts=facts, updated_facts=(), can_answer=bool(facts)
    )
    return reply.model_dump_json()


async def test_contracts_of_a_base_are_counted_added_up_and_compared(transport: Transport) -> None:
    base = await keep(transport)
    priced = RowsArguments(what="договор", columns=("номер", "цена"), aggregate="sum", of="цена")
    paid = RowsArguments(what="договор", columns=("номер", "срок оплаты"))
    async with model_that(clerk) as (model, _):
        summed = await rows_tool(transport, model).run(priced, asked_in(base))
        compared = await rows_tool(transport, model).run(paid, asked_in(base))
    total = f"{TRUTH.total:,}".replace(",", "\u00a0")
    counted = f"Всего (договор): {TRUTH.contracts}"
    assert [fact.text for fact in summed.facts[:2]] == [counted, f"Сумма (цена): {total}\u00a0₽"]
    assert summed.documents == DocumentsRead(read=30, total=30, without_data=2)
    assert [conflict.about for conflict in compared.conflicts] == [f"№ {MADE[DISPUTED - 1].name}, срок оплаты"]
    assert [claim.value for claim in compared.conflicts[0].claims] == ["60 дней", "60 дней", "30 дней"]


async def test_one_group_of_named_documents_is_read_in_turn(transport: Transport) -> None:
    names = ["Договор 1-2024", "Договор 5-2025"]
    base = await keep(transport, *(f"{name}.txt" for name in names), "Протокол совещания.txt")
    arguments = ReadAllArguments(question="Какая пеня?", documents=(names[0], names[1]))
    async with model_that(copies) as (model, server):
        payload = await reading_tool(transport, model).run(arguments, asked_in(base))
    assert payload.documents == DocumentsRead(read=2, total=2)
    first, second = (IterationRequest.model_validate_json(request.last) for request in server.requests)
    assert (len(first.previous_facts), [fact.id for fact in second.previous_facts]) == (0, ["f1"])
    cited = [fact for fact in payload.facts if fact.kind is FactKind.STATEMENT]
    assert all(fact.passage and fact.text == fact.passage.passage.text for fact in cited)
    assert {fact.title for fact in cited} == {f"{name}.txt" for name in names}


async def test_only_documents_that_a_search_names_are_read(transport: Transport) -> None:
    base = await keep(transport, "Договор 1-2024.txt", "Протокол совещания.txt")
    arguments = ReadAllArguments(question="совещания")
    async with model_that(copies) as (model, server):
        payload = await reading_tool(transport, model).run(arguments, asked_in(base))
    assert len(server.requests) == 1
    assert payload.documents == DocumentsRead(read=1, total=1, without_data=1, chosen_from=2)
    assert not payload.found
