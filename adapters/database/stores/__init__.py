"""Every store of the database, over one transport: ports of `ingestion`, `rag` and `bot` over SQL.

In: a transport. Out: one record of them. The composition root decides who gets which store.
"""

from adapters.database.segments import SegmentMirror
from adapters.database.stores.dialogue import DialogueStore, KeptReadingStore
from adapters.database.stores.entities import EntityStore
from adapters.database.stores.intake import InboxStore, IntakeStore, NoticeStore, WebhookStore
from adapters.database.stores.library import KeptFileStore, LibraryStore, StatisticsStore
from adapters.database.stores.people import BaseStore, PeopleStore, TokenStore
from adapters.database.stores.search import NextVectorStore, SearchStore
from adapters.database.stores.work import TextStore, WorkStore
from adapters.database.transport import Transport


class Stores:
    """Every store, over one transport."""

    def __init__(
        self,
        transport: Transport,
        copies: SegmentMirror | None = None,
        *,
        base_passages: int | None = None,
        most_waiting: int | None = None,
        kept_bytes: int | None = None,
    ) -> None:
        """A search in a large base asks `copies` for candidates. `base_passages` is how many passages a base
        of a person or group may hold, `most_waiting` how many documents one person may have waiting, `kept_bytes` how
        much of files is kept for a base; None: any number."""
        self.people = PeopleStore(transport)
        self.bases = BaseStore(transport, base_passages=base_passages, kept_bytes=kept_bytes)
        self.intake = IntakeStore(transport, most_waiting=most_waiting)
        self.work = WorkStore(transport, base_passages=base_passages)
        self.text = TextStore(transport)
        self.library = LibraryStore(transport)
        self.notices = NoticeStore(transport)
        self.search = SearchStore(transport, copies)
        self.dialogue = DialogueStore(transport)
        self.inbox = InboxStore(transport)
        self.kept_readings = KeptReadingStore(transport)
        self.entities = EntityStore(transport)
        self.statistics = StatisticsStore(transport)
        self.next_vectors = NextVectorStore(transport)
        self.tokens = TokenStore(transport)
        self.kept_files = KeptFileStore(transport)
        self.webhooks = WebhookStore(transport)
