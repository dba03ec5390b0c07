"""All stores in memory, over one set of tables: doubles that pass the same contract suite as the database.

In: nothing. Out: `MemoryStores`; its `tables` are there for tests to look into.
"""

from dataclasses import dataclass, field

from tests.fakes.stores.answer_tables import MemoryAnswerTables
from tests.fakes.stores.intake import MemoryIntake
from tests.fakes.stores.kept_readings import MemoryKeptReadings
from tests.fakes.stores.library import MemoryLibrary, MemoryNotices
from tests.fakes.stores.people import MemoryDialogue, MemoryPeople
from tests.fakes.stores.queue import MemoryText, MemoryWork
from tests.fakes.stores.search import MemorySearch
from tests.fakes.stores.tables import Tables

__all__ = [
    "MemoryAnswerTables",
    "MemoryDialogue",
    "MemoryIntake",
    "MemoryKeptReadings",
    "MemoryLibrary",
    "MemoryNotices",
    "MemoryPeople",
    "MemorySearch",
    "MemoryStores",
    "MemoryText",
    "MemoryWork",
    "Tables",
]


@dataclass(frozen=True)
class MemoryStores:
    """Every store, over the same tables."""

    tables: Tables = field(default_factory=Tables)
    base_passages: int | None = None  # how many a base may hold

    @property
    def people(self) -> MemoryPeople:
        return MemoryPeople(self.tables)

    @property
    def intake(self) -> MemoryIntake:
        return MemoryIntake(self.tables)

    @property
    def work(self) -> MemoryWork:
        return MemoryWork(self.tables, self.base_passages)

    @property
    def text(self) -> MemoryText:
        return MemoryText(self.tables)

    @property
    def library(self) -> MemoryLibrary:
        return MemoryLibrary(self.tables)

    @property
    def notices(self) -> MemoryNotices:
        return MemoryNotices(self.tables)

    @property
    def search(self) -> MemorySearch:
        return MemorySearch(self.tables)

    @property
    def dialogue(self) -> MemoryDialogue:
        return MemoryDialogue(self.tables)

    @property
    def answer_tables(self) -> MemoryAnswerTables:
        return MemoryAnswerTables(self.tables)

    @property
    def kept_readings(self) -> MemoryKeptReadings:
        return MemoryKeptReadings(self.tables)
