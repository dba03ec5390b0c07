"""Every store of the database, over one transport: ports of `ingestion`, `rag` and `bot` over SQL.

In: a transport. Out: one frozen record. The composition root decides who gets which store.
"""

from dataclasses import dataclass

from adapters.database.stores.dialogue import DialogueStore, KeptReadingStore, TableStore
from adapters.database.stores.entities import EntityStore
from adapters.database.stores.intake import InboxStore, IntakeStore, NoticeStore, WebhookStore
from adapters.database.stores.library import KeptFileStore, LibraryStore
from adapters.database.stores.people import BaseStore, PeopleStore, TokenStore
from adapters.database.stores.search import NextVectorStore, Proposals, ReadingStore, SearchStore
from adapters.database.stores.statistics import StatisticsStore
from adapters.database.stores.work import TextStore, WorkStore
from adapters.database.transport import Transport


@dataclass(frozen=True, kw_only=True)
class Stores:
    """Every store, over one transport."""

    people: PeopleStore
    bases: BaseStore
    intake: IntakeStore
    work: WorkStore
    text: TextStore
    library: LibraryStore
    notices: NoticeStore
    search: SearchStore
    dialogue: DialogueStore
    inbox: InboxStore
    reading: ReadingStore
    answer_tables: TableStore
    kept_readings: KeptReadingStore
    entities: EntityStore
    statistics: StatisticsStore
    next_vectors: NextVectorStore
    tokens: TokenStore
    kept_files: KeptFileStore
    webhooks: WebhookStore

    @classmethod
    def over(
        cls,
        transport: Transport,
        proposals: Proposals | None = None,
        *,
        base_passages: int | None = None,
        most_waiting: int | None = None,
        kept_bytes: int | None = None,
    ) -> "Stores":
        """All stores over `transport`. A search in a large base asks `proposals` for candidates first. `base_passages`
        is how many passages a base of a person or group may hold, `most_waiting` how many documents one person may have
        waiting, `kept_bytes` how much of files is kept for a base; None: any number."""
        return cls(
            people=PeopleStore(transport),
            bases=BaseStore(transport, base_passages=base_passages, kept_bytes=kept_bytes),
            intake=IntakeStore(transport, most_waiting=most_waiting),
            work=WorkStore(transport, base_passages=base_passages),
            text=TextStore(transport),
            library=LibraryStore(transport),
            notices=NoticeStore(transport),
            search=SearchStore(transport, proposals),
            dialogue=DialogueStore(transport),
            inbox=InboxStore(transport),
            reading=ReadingStore(transport),
            answer_tables=TableStore(transport),
            kept_readings=KeptReadingStore(transport),
            entities=EntityStore(transport),
            statistics=StatisticsStore(transport),
            next_vectors=NextVectorStore(transport),
            tokens=TokenStore(transport),
            kept_files=KeptFileStore(transport),
            webhooks=WebhookStore(transport),
        )
