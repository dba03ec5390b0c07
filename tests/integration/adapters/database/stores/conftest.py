"""The stores under test. Out: `stores`, the same ports over both transports."""

from dataclasses import dataclass

import pytest

from adapters.database.stores.dialogue import DialogueStore, KeptReadingStore, TableStore
from adapters.database.stores.entities import EntityStore
from adapters.database.stores.intake import IntakeStore, NoticeStore
from adapters.database.stores.library import LibraryStore
from adapters.database.stores.people import BaseStore, PeopleStore, TokenStore
from adapters.database.stores.search import SearchStore
from adapters.database.stores.work import TextStore, WorkStore
from adapters.database.transport import Transport
from tests.integration.adapters.database.stores.material import Stores


@dataclass(frozen=True)
class DatabaseStores:
    """Every store, over one transport."""

    transport: Transport

    @property
    def people(self) -> PeopleStore:
        return PeopleStore(self.transport)

    @property
    def bases(self) -> BaseStore:
        return BaseStore(self.transport)

    @property
    def entities(self) -> EntityStore:
        return EntityStore(self.transport)

    @property
    def intake(self) -> IntakeStore:
        return IntakeStore(self.transport)

    @property
    def work(self) -> WorkStore:
        return WorkStore(self.transport)

    @property
    def text(self) -> TextStore:
        return TextStore(self.transport)

    @property
    def library(self) -> LibraryStore:
        return LibraryStore(self.transport)

    @property
    def notices(self) -> NoticeStore:
        return NoticeStore(self.transport)

    @property
    def search(self) -> SearchStore:
        return SearchStore(self.transport)

    @property
    def dialogue(self) -> DialogueStore:
        return DialogueStore(self.transport)

    @property
    def answer_tables(self) -> TableStore:
        return TableStore(self.transport)

    @property
    def kept_readings(self) -> KeptReadingStore:
        return KeptReadingStore(self.transport)

    @property
    def tokens(self) -> TokenStore:
        return TokenStore(self.transport)


@pytest.fixture
def stores(transport: Transport) -> Stores:
    """All stores, empty."""
    return DatabaseStores(transport)
