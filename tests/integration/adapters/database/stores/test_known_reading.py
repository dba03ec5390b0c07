"""What was read in a file that is known, when that goes while it is taken over; over both transports."""

import psycopg
import pytest

from adapters.database.stores import Stores
from adapters.database.stores.work import WorkStore
from adapters.database.transport import Argument, Row, Transport
from domain.ids import BaseId, DocumentId
from tests.integration.adapters.database.stores.material import claim, claim_source, file, open_base, read_source


class DeletedMeanwhile:
    """A way to the database on which a document is deleted when its blocks are about to be read."""

    def __init__(self, transport: Transport, *, base: BaseId, document: DocumentId) -> None:
        self._transport = transport
        self._base, self._document = base, document

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        if function == "read_blocks":
            assert await Stores(self._transport).library.delete(self._base, self._document)
        return await self._transport.call(function, timeout_s=timeout_s, **arguments)


async def test_what_is_deleted_while_it_is_taken_over_is_read_anew(transport: Transport) -> None:
    stores = Stores(transport)
    base = await open_base(stores)
    twin, _ = await read_source(stores, base, file("Договор.pdf"), "пункт")
    again, _ = await read_source(stores, base, file("копия.pdf", caption="Дача"), "пункт")
    held = await claim(stores, again)
    assert await stores.work.known_reading(held) is not None
    cut_short = WorkStore(DeletedMeanwhile(transport, base=base, document=twin))
    assert await cut_short.known_reading(held) is None


@pytest.mark.over_rest
async def test_another_base_s_reading_is_never_taken_over(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    theirs, base = await open_base(stores), await stores.people.open_named_base("другая")
    twin, _ = await read_source(stores, theirs, file("Договор.pdf"), "пункт")
    held = await claim_source(stores, base, file("копия.pdf", caption="Дача"))
    with psycopg.connect(database_url, autocommit=True) as connection:  # as no function leaves it
        connection.execute(
            "update documents d set lineage = x.lineage, content_hash = x.content_hash, chosen = true "
            "from documents x where x.id = %s and d.id = %s",
            (twin, held.id),
        )
    assert await stores.work.known_reading(held) is None
