"""The enricher: rules always, more where something more is at hand, trouble never lost."""

import asyncio
from collections.abc import Sequence
from math import inf

from adapters.names import NameForms
from domain.ids import BaseId, ChunkId, DocumentId, LeaseId
from ingestion.entities.enricher import ATTEMPTS, Enricher
from ingestion.entities.records import (
    ClaimedEnrichment,
    EntityName,
    EntityType,
    Extract,
    FactReader,
    Mention,
    NameFinder,
    NewEntities,
    PassageSpan,
    RegisteredEntity,
)
from ingestion.errors import FailureCode, LeaseLost, ServiceError
from ingestion.parsers.markdown import parse_markdown
from ingestion.records import Block

BASE = BaseId("base")
TEXT = "# АЛОР Брокер\n\nСтек: Python, RAG\n\n## Достижения\n\n- Ускорил ответы\n"
SERGEY = EntityName(type=EntityType.PERSON, name="Сергей Королёв")


class Queue:
    """Documents that wait, and what became of them."""

    def __init__(self, *attempts: int) -> None:
        self._waiting = list(attempts)
        self.stored: list[tuple[NewEntities, str]] = []
        self.postponed: list[float] = []
        self.given_up: list[str] = []
        self.lost = False
        self.again: list[str] = []

    async def claim(self, *, lease_s: int, attempts: int, only: BaseId | None = None) -> ClaimedEnrichment | None:
        if not self._waiting:
            return None
        return ClaimedEnrichment(
            document=DocumentId("d"),
            base_id=BASE,
            lease=LeaseId("l"),
            attempt=self._waiting.pop(0),
            title="АЛОР Брокер",
            language="ru",
        )

    async def read_again(self, *, reader: str) -> int:
        self.again.append(reader)
        return 0

    async def renew(self, claimed: ClaimedEnrichment, *, lease_s: int) -> None:
        if self.lost:
            raise LeaseLost(claimed.document)

    async def spans(self, claimed: ClaimedEnrichment) -> list[PassageSpan]:
        return [PassageSpan(chunk=ChunkId(1), start=0, end=1000)]

    async def store(self, claimed: ClaimedEnrichment, *, found: NewEntities, reader: str) -> None:
        self.stored.append((found, reader))

    async def postpone(self, claimed: ClaimedEnrichment, *, delay_s: float, problem: str, is_final: bool) -> None:
        if is_final:
            self.given_up.append(problem)
        else:
            self.postponed.append(delay_s)

    async def known(self, base: BaseId, keys: Sequence[str]) -> list[RegisteredEntity]:
        return []

    async def blocks(self, base: BaseId, document: DocumentId, *, most_chars: float = inf) -> list[Block]:
        return list(parse_markdown(TEXT, name="файл.md").blocks)


class Finder:
    """Finds one name everywhere."""

    async def find(self, text: str) -> list[Mention]:
        return [Mention(of=SERGEY, at=0, confidence=0.7)]


class Model:
    """Reads one name, or is away."""

    name = "a model"

    def __init__(self, *, is_away: bool = False) -> None:
        self._is_away = is_away

    async def read(self, blocks: Sequence[tuple[Block, int]], *, title: str, known: Sequence[str]) -> Extract:
        if self._is_away:
            raise ServiceError(FailureCode.SERVICE_AWAY, service="model")
        return Extract(mentions=tuple(await Finder().find("")))


def enricher_of(queue: Queue, *, finder: NameFinder | None = None, facts: FactReader | None = None) -> Enricher:
    return Enricher(queue=queue, text=queue, names=NameForms(), finder=finder, facts=facts, poll_s=0.01)


async def drain(queue: Queue, *, finder: NameFinder | None = None, facts: FactReader | None = None) -> Queue:
    await enricher_of(queue, finder=finder, facts=facts).drain(BASE)
    return queue


def names_of(queue: Queue) -> set[str]:
    (stored,) = queue.stored
    return {entity.canonical for entity in stored[0].entities}


async def test_rules_alone_read_entities_and_facts() -> None:
    queue = await drain(Queue(1))
    assert names_of(queue) == {"project:alor-broker", "technology:python", "technology:rag"}
    assert [fact.text for fact in queue.stored[0][0].facts] == ["Python", "RAG", "Ускорил ответы"]


async def test_names_of_the_finder_come_along() -> None:
    assert "person:sergej-korolev" in names_of(await drain(Queue(1), finder=Finder()))


async def test_a_model_takes_the_finders_place_and_is_noted() -> None:
    queue = await drain(Queue(1), finder=Finder(), facts=Model())
    assert queue.stored[0][1] == "a model"


async def test_a_model_that_is_away_is_asked_again_later() -> None:
    queue = await drain(Queue(1, 2), facts=Model(is_away=True))
    assert queue.stored == []
    assert queue.postponed[1] == 2 * queue.postponed[0]


async def test_at_the_last_attempt_rules_have_to_do() -> None:
    queue = await drain(Queue(ATTEMPTS), facts=Model(is_away=True))
    assert queue.stored[0][1] == "rules"


class Broken:
    """Cannot read what it is given."""

    async def find(self, text: str) -> list[Mention]:
        raise ValueError(text)


async def test_a_document_that_breaks_the_reader_is_given_up_in_the_end() -> None:
    queue = await drain(Queue(ATTEMPTS - 1, ATTEMPTS), finder=Broken())
    assert (len(queue.postponed), queue.given_up) == (1, ["ValueError"])


class Slow:
    """Says when it was begun, and when it was cancelled."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()

    async def find(self, text: str) -> list[Mention]:
        self.begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            self.ended.set()
        return []


async def test_cancelled_it_leaves_no_work_behind() -> None:
    queue, slow = Queue(1), Slow()
    running = asyncio.create_task(enricher_of(queue, finder=slow).run(asyncio.Event()))
    await slow.begun.wait()
    running.cancel()
    await asyncio.wait({running})
    assert slow.ended.is_set()


async def test_a_lost_lease_leaves_no_trace() -> None:
    queue = Queue(1)
    queue.lost = True
    await drain(queue, facts=Model())
    assert (queue.stored, queue.postponed) == ([], [])


async def run_until_stored(enricher: Enricher, queue: Queue) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(enricher.run(stop))
    while not queue.stored:
        await asyncio.sleep(0.01)
    stop.set()
    await asyncio.wait_for(running, 60)


async def test_it_stops_when_it_is_told_to() -> None:
    queue = Queue(1)
    await run_until_stored(enricher_of(queue), queue)


async def test_with_a_model_what_was_read_without_one_waits_once_more() -> None:
    queue = Queue(1, 1, 1)
    await run_until_stored(enricher_of(queue, facts=Model()), queue)
    assert queue.again == ["rules"]


async def test_without_a_model_nothing_is_read_again() -> None:
    queue = Queue(1)
    await run_until_stored(enricher_of(queue, finder=Finder()), queue)
    assert queue.again == []


async def test_adding_documents_does_not_wait_for_old_ones_to_be_read_again() -> None:
    assert (await drain(Queue(1), facts=Model())).again == []


class Cancelled(Queue):
    """Its first call is cancelled from within, as some libraries do."""

    cancelled = False

    async def claim(self, *, lease_s: int, attempts: int, only: BaseId | None = None) -> ClaimedEnrichment | None:
        if not self.cancelled:
            self.cancelled = True
            raise asyncio.CancelledError
        return await super().claim(lease_s=lease_s, attempts=attempts, only=only)


async def test_a_cancellation_from_within_does_not_end_it() -> None:
    queue = Cancelled(1)
    await run_until_stored(enricher_of(queue), queue)
    assert queue.cancelled
