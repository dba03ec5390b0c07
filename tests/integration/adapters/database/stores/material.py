"""What the contract tests send through the stores, and the short ways to do it.

In: words. Out: batches, chunks, published documents. Vectors have four numbers; the store pads them.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence

import psycopg

from adapters.database.stores import Stores
from domain.documents import DocumentCard, Lane, SourceType
from domain.ids import BaseId, ChatId, ChunkId, DocumentId, MessageId, SessionId, UserId
from domain.locator import Locator
from domain.names import Relation
from ingestion.entities.records import EntityType, NewAlias, NewEntities, NewEntity, NewFact
from ingestion.records import (
    Batch,
    Block,
    BlockKind,
    Chunk,
    ClaimedDocument,
    Document,
    IndexedChunk,
    Source,
    Span,
)
from rag.metering import CheckCounts, Pace, StepCounts, StepMetrics, TurnMetrics, Usage, Waiting
from rag.ports import DialogueStore
from rag.records import Candidate, Exchange, SearchFilter, SearchQuery, Spelling

ANNA = UserId(101)
SENDER = "Пётр Иванов"
MODEL = "four-numbers"
LEASE_S = 60
TURN = TurnMetrics(
    kind="from_base",
    model="gpt",
    plan="model",
    seconds=1.5,
    pace=Pace(planned_s=0.5, found_s=0.1, first_s=1.0),
    facts=9,
    facts_used=4,
    used_rank=2.5,
    check=CheckCounts(outcome="checked", statements=5, failed=1, tokens=900, seconds=0.5),
    passages=3,
    steps=StepCounts(planned=3, run=2, adapted=1),
    each_step=(
        StepMetrics(
            action="analyze",
            state="done",
            seconds=0.5,
            facts=2,
            calls=1,
            tokens=900,
            cost=0.0005,
            searching_s=0.0,
            models_s=0.5,
        ),
    ),
    usage=Usage(
        calls=2,
        prompt_tokens=4_000,
        answer_tokens=200,
        cost=0.001,
        searching=Waiting(seconds=0.25),
        models=Waiting(seconds=0.75),
    ),
)
NORTH = [1.0, 0.0, 0.0, 0.0]
EAST = [0.0, 1.0, 0.0, 0.0]

COUNTED = "select b.passages, b.terms from bases b order by b.id"
RECOUNTED = """
select count(c.id), coalesce(sum(c.length), 0)
from bases b left join documents d on d.base_id = b.id and d.visible
  left join documents_chunks c on c.document_id = d.id
group by b.id order by b.id
"""
ORPHANS = """
select count(*) from baza_internal.chunk_terms t left join documents_chunks c on c.id = t.chunk_id where c.id is null
"""
UNLIKE_SUMS = """
select count(*) from baza_internal.chunk_terms t
join documents_chunks c on c.id = t.chunk_id join (
  select a.chunk_id, left(a.term, 5) as beginning, min(a.term) as first, sum(a.frequency::int) as frequency,
    sum(a.titled::int) as titled
  from baza_internal.chunk_terms a group by 1, 2
) alike on alike.chunk_id = t.chunk_id and alike.beginning = left(t.term, 5)
where (t.around::int, t.around_titled::int, t.spread) is distinct from (
  case when t.term = alike.first then alike.frequency else 0 end,
  case when t.term = alike.first then alike.titled else 0 end,
  case when c.ordinal > 0 then 0 else (
    select count(*) from baza_internal.chunk_terms o join documents_chunks p on p.id = o.chunk_id
    where p.document_id = c.document_id and o.term = t.term) end)
"""


async def open_base(stores: Stores, user: UserId = ANNA) -> BaseId:
    """The person's own base."""
    return await stores.people.open_base(ChatId(user), thread=None, member=user)


def note(name: str, *, title: str | None = None) -> Source:
    """A note of this name."""
    return Source(type=SourceType.NOTE, identifier=name, title=title, text=f"Слова заметки «{name}»")


def batch_of(base: BaseId, *sources: Source, message: int | None = None, album: str | None = None) -> Batch:
    """What came in one message of Anna's; without `message`, from the command line."""
    chat = None if message is None else ChatId(ANNA)
    number = None if message is None else MessageId(message)
    return Batch(
        base_id=base,
        user_id=ANNA,
        sender=SENDER,
        chat_id=chat,
        message_id=number,
        media_group=album,
        sources=sources,
    )


async def enqueue(stores: Stores, base: BaseId, *names: str, hold_s: int = 0) -> list[DocumentId]:
    """Notes in the queue."""
    batch = batch_of(base, *(note(name) for name in names))
    return [document.id for document in await stores.intake.enqueue(batch, hold_s=hold_s)]


async def claim(stores: Stores, only: DocumentId | None = None, *, lease_s: int = LEASE_S) -> ClaimedDocument:
    """The document whose turn it is; there must be one."""
    claimed = await stores.work.claim(worker="a worker", lease_s=lease_s, only=[only] if only else ())
    return claimed[0]


async def claim_new(stores: Stores, base: BaseId, name: str = "заметка", *, lease_s: int = LEASE_S) -> ClaimedDocument:
    """A note that a worker holds."""
    (document,) = await enqueue(stores, base, name)
    return await claim(stores, document, lease_s=lease_s)


def parsed(*texts: str, title: str = "Заголовок") -> Document:
    """A document of paragraphs."""
    blocks = tuple(Block(kind=BlockKind.PARAGRAPH, text=text, locator=Locator(page=1)) for text in texts)
    return Document(title=title, blocks=blocks, pages=3, pages_without_text=(2,), language="ru")


def indexed(ordinal: int, text: str, *, vector: Sequence[float] = NORTH, model: str = MODEL) -> IndexedChunk:
    """A chunk whose terms are its words."""
    words = text.lower().split()
    return IndexedChunk(
        chunk=Chunk(ordinal=ordinal, text=text, span=Span(start=0, end=len(text)), locator=Locator(page=1)),
        terms=Counter(words),
        length=len(words),
        vector=list(vector),
        model=model,
    )


def file(name: str, *, lane: Lane = Lane.QUICK, caption: str | None = None) -> Source:
    """A file sent to the bot."""
    return Source(type=SourceType.FILE, identifier=name, file_id=f"file of {name}", lane=lane, text=caption)


async def claim_source(stores: Stores, base: BaseId, source: Source) -> ClaimedDocument:
    """A new document of this source that a worker holds."""
    (document,) = await stores.intake.enqueue(batch_of(base, source))
    return await claim(stores, document.id)


async def read_source(
    stores: Stores, base: BaseId, source: Source, *texts: str
) -> tuple[DocumentId, DocumentId | None]:
    """A document that was worked to its end, and what that was."""
    held = await claim_source(stores, base, source)
    return held.id, await read(stores, held, *texts)


async def card_of(stores: Stores, base: BaseId, document: DocumentId) -> DocumentCard:
    """The document's card; there must be one."""
    card = await stores.library.card(base, document)
    assert card is not None
    return card


async def publish(stores: Stores, base: BaseId, *texts: str, name: str = "заметка") -> DocumentId:
    """A ready document with a chunk for each text."""
    held = await claim_new(stores, base, name)
    assert (await read(stores, held, *texts)) is None
    return held.id


async def read(stores: Stores, held: ClaimedDocument, *texts: str) -> DocumentId | None:
    """All that a worker does with a document, from its hash to its publication."""
    stopped = await stores.work.record_content(held, content_hash=hash_of(*texts))
    if stopped is not None:
        return stopped
    await stores.work.store_blocks(held, parsed=parsed(*texts, title=held.source.identifier), chunks=len(texts))
    await stores.work.add_chunks(held, chunks=[indexed(ordinal, text) for ordinal, text in enumerate(texts)])
    return await stores.work.publish(held, chunks=len(texts))


def named_entities(chunk: ChunkId, name: str, *, key: str, text: str = "Телефон: 12") -> NewEntities:
    """One project of this name and id, with one fact."""
    canonical = f"project:{name}"
    return NewEntities(
        entities=(
            NewEntity(canonical=canonical, type=EntityType.PROJECT, name=name, count=1, chunk=chunk, confidence=1.0),
        ),
        aliases=(NewAlias(canonical=canonical, key=key, form=name, weight=1.0, as_name=False),),
        facts=(
            NewFact(
                canonical=canonical,
                relation=Relation.CONTACTS,
                text=f"{text} {name}",
                object=None,
                chunk=chunk,
                position=0,
                confidence=1.0,
            ),
        ),
    )


def hash_of(*texts: str) -> str:
    """The hash of a content."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


async def find(
    stores: Stores,
    base: BaseId,
    words: str = "",
    *,
    vector: list[float] | None = None,
    model: str = MODEL,
    limit: int = 30,
    spellings: tuple[Spelling, ...] = (),
    only: SearchFilter | None = None,
) -> dict[str, Candidate]:
    """Text -> candidate."""
    query = SearchQuery(
        base_id=base,
        vector=vector,
        model=model if vector else None,
        terms=tuple(words.lower().split()),
        limit=limit,
        spellings=spellings,
        only=only,
    )
    candidates = await stores.search.search(query)
    found = {candidate.passage.text: candidate for candidate in candidates}
    assert len(found) == len(candidates), "a passage came twice"
    return found


def ask(url: str, query: str) -> list[tuple[object, ...]]:
    """What the database itself answers to its owner."""
    with psycopg.connect(url, autocommit=True) as connection:
        return list(connection.execute(query.encode()))


async def keep_exchange(
    dialogue: DialogueStore, user: UserId, session: SessionId, base: BaseId, exchange: Exchange, *, keep: int = 30
) -> int:
    """Its terms are its words. How many messages left the window."""
    return await dialogue.append(
        user,
        session,
        base=base,
        exchange=exchange,
        question_terms=exchange.question.casefold().split(),
        answer_terms=exchange.answer.casefold().split(),
        keep=keep,
    )


async def window_of(dialogue: DialogueStore, user: UserId, session: SessionId, *, pairs: int = 15) -> list[Exchange]:
    """The last exchanges."""
    return list((await dialogue.recollect(user, session, pairs=pairs, terms=(), recalled=2)).window)
