"""How long the library waits for a large base."""

from adapters.database.rows import PATIENCE_S
from adapters.database.stores.library import LibraryStore
from adapters.database.transport import Argument, Row
from domain.ids import BaseId, DocumentId

BASE, DOCUMENT = BaseId("base"), DocumentId("document")


class Patient:
    """A transport that notes how long it is given."""

    def __init__(self) -> None:
        self.patience: list[float | None] = []

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        self.patience.append(timeout_s)
        return [] if function == "remove_expired" else [{"documents": 1, "chunks": 1, "waiting": 0, "failed": 0}]


async def test_what_removes_much_is_not_cut_short_and_begun_anew() -> None:
    """In thirty seconds a base of half a million passages was never emptied, however often somebody asked."""
    transport = Patient()
    library = LibraryStore(transport)
    await library.clean_base(BASE)
    await library.delete(BASE, DOCUMENT)
    await library.remove_expired()
    assert transport.patience == [PATIENCE_S["clean_base"]] * 3
    assert PATIENCE_S["clean_base"] >= 30 * 60
