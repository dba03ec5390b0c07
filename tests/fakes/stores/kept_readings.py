"""What models have read out of documents, in memory.

In and out: what `rag.ports.ReadingMemory` says. Removing a document forgets what holds its words (`Tables.remove`).
"""

from domain.ids import BaseId
from rag.records import KeptReading
from tests.fakes.stores.tables import Tables


class MemoryKeptReadings:
    """Meets `rag.ports.ReadingMemory`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def recall(self, base: BaseId, request: str) -> list[KeptReading]:
        kept = self._tables.kept_readings
        return [reading for (owner, asked, _), reading in kept.items() if (owner, asked) == (base, request)]

    async def keep(self, base: BaseId, request: str, reading: KeptReading) -> None:
        held = {row.id for row in self._tables.documents.values() if row.batch.base_id == base}
        if held.issuperset(reading.documents):
            self._tables.kept_readings.pop((base, request, reading.key), None)
            self._tables.kept_readings[base, request, reading.key] = reading
