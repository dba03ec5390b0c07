"""The graph of a real base, asked by the real tool and judged by the real executor."""

from dataclasses import replace

import pytest

from adapters.database.stores import Stores
from adapters.database.transport import Transport
from rag.execution.executor import Executor
from rag.execution.facts import FactKind
from rag.execution.graph_tool import GraphQuery
from rag.execution.search_tool import SearchBase
from rag.planning.plan import QueryPlan, ToolCall
from tests.fakes.reading import turn
from tests.fakes.turns import by_words_alone
from tests.integration.adapters.database.stores.material import named_entities, open_base, publish

CONTACTS = QueryPlan(
    question="Телефон alor",
    intents=("CONTACTS",),
    tool_calls=(ToolCall(tool="graph_query_tool", args={"intent": "CONTACTS", "entity_id": "project:alor"}),),
)


async def enrich(stores: Stores) -> None:
    """One more document is read for entities."""
    claimed = await stores.entities.claim(lease_s=60, attempts=3)
    assert claimed
    (span,) = await stores.entities.spans(claimed)
    await stores.entities.store(claimed, found=named_entities(span.chunk, "alor", key="alor"), reader="a test")


@pytest.mark.parametrize(("read", "kinds"), [(2, {FactKind.STATEMENT}), (1, set(FactKind)), (0, {FactKind.PASSAGE})])
async def test_until_every_document_is_read_for_entities_a_search_joins_and_it_is_counted(
    transport: Transport, read: int, kinds: set[FactKind]
) -> None:
    stores = Stores(transport)
    base = await open_base(stores)
    for name in ("Телефон: 12 alor", "Телефон alor тоже 34"):
        await publish(stores, base, name, name=name)
    for _ in range(read):
        await enrich(stores)
    search = SearchBase(by_words_alone(stores.search), stores.library)
    executor = Executor([GraphQuery(stores.entities), search], max_calls=4)
    done = await executor.execute(CONTACTS, replace(turn(), base_id=base))
    found = {fact.kind for fact in done.payload.facts}
    assert found == kinds & {FactKind.STATEMENT, FactKind.PASSAGE}
    assert done.payload.unread == 2 - read
