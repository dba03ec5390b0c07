"""Bases that each carry a word of their own, the canary: in every name, title, passage, question, fact and table.

In: what the bases are to hold, as words. Out: a `Canary` for each, with all by which a stranger might ask for it.
"""

import itertools
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from adapters.database.stores import Stores
from adapters.database.transport import ActingTransport, Transport
from domain.bases import Role
from domain.documents import SourcedTable
from domain.ids import BaseId, BatchId, ChatId, DocumentId, FileId, MessageId, SessionId, ThreadId, UserId
from domain.people import acting_for, token_hash
from rag.records import Exchange, KeptReading
from rag.reservations import DayBounds
from tests.integration.adapters.database.stores.material import (
    MODEL,
    NORTH,
    TURN,
    batch_of,
    card_of,
    file,
    find,
    hash_of,
    named_entities,
    note,
    publish,
    read_source,
)

MESSAGE = 7  # everybody's note came in a message with this number
SESSION = SessionId(str(uuid.UUID(int=1)))  # everybody's dialogue has this id
MEMBERS = 5_000_000_000  # from here on: no person's number, and no count, is mistaken for one
NEXT_MODEL = f"after {MODEL}"  # that every base is being moved to
WORDS = ("слово", "дело", "тело")  # in all bases, so that their postings lie side by side

Rows = Sequence[object]
Content = list[list[list[str]]]
"""A base: documents of passages of words."""

CARELESS = """
create function title_of(p_base text, p_document text) returns table (title text) language sql stable
  as 'select d.title from documents d where d.id = p_document::uuid';
create function forget(p_base text, p_document text) returns table (id uuid) language sql
  as 'delete from documents d where d.id = p_document::uuid returning gen_random_uuid()';
create function said(p_user bigint, p_session text) returns table (text text) language sql stable
  as 'select m.content from chat_messages m where m.session_id = p_session::uuid';
"""
"""Functions that a later migration might bring."""

some_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
some_content = st.lists(st.lists(some_words, min_size=1, max_size=3), min_size=1, max_size=3)
some_bases = st.lists(some_content, min_size=2, max_size=2)
people = itertools.count(1001)


@dataclass(frozen=True, kw_only=True)
class Canary:
    """What a base holds, and no other may see."""

    base: BaseId
    person: UserId  # whose base and dialogue it is
    word: str
    documents: tuple[DocumentId, ...]
    batch: BatchId
    chunk: int
    table: int
    archived: int  # the last message that has left the window of the dialogue
    content_hash: str
    token: UserId
    file: FileId | None
    webhook: str
    invitation: int
    reservation: str | None  # of a question that is being answered
    member: UserId

    def is_told_by(self, rows: Rows) -> bool:
        """Whether anything of it is in the rows."""
        told = json.dumps(rows, default=str, ensure_ascii=False)
        return any(
            str(secret) in told
            for secret in (self.base, self.word, self.chunk, self.token, self.member, self.file, *self.documents)
        )


async def hide_canary(transport: Transport, contents: Content, owner: UserId | None = None) -> Canary:
    """A base with these documents, a question about a file, notes that wait in the queue, a dialogue and a thumb; of a
    person of its own, or in a new topic of the owner's chat.

    It is being moved to another model, too.
    """
    stores, number = Stores(transport), next(people)
    person, word = owner or UserId(number), f"канарейка{number}"
    topic = ThreadId(number) if owner else None
    base = await stores.people.open_base(ChatId(person), thread=topic, member=person, topic=word)
    numbers = itertools.count()
    texts = [[f"{word} {next(numbers)} {' '.join(passage)}" for passage in document] for document in contents]
    ready = [await publish(stores, base, *document, name=word) for document in texts]
    named = [await read_source(stores, base, file(word), f"{word} {version}") for version in ("раз", "два")]
    held = [batch_of(base, note(word), message=message) for message in (MESSAGE, MESSAGE - 1)]
    waiting = [document.id for batch in held for document in await stores.intake.enqueue(batch, hold_s=3600)]
    await stores.library.save_feedback(person, base, ChatId(person), MessageId(MESSAGE), rating=1)
    await stores.library.save_turn(person, base, TURN)
    table = SourcedTable(title=word, columns=(word,), rows=((word,),))
    await _keep_entities(stores, base, word)
    reading = KeptReading(key=word, documents=(ready[0],), content=word)
    await stores.kept_readings.keep(base, word, reading)
    webhook = await stores.webhooks.add(base, url=f"https://{word}.example", secret=word, most=1)
    chunk = (await find(stores, base, word))[texts[0][0]].passage.chunk_id
    await stores.next_vectors.store(base, NEXT_MODEL, [(chunk, NORTH)])
    return Canary(
        base=base,
        person=person,
        word=word,
        documents=(ready[0], *(document for document, _ in named), *waiting),
        batch=await _batch_id_of(stores, base, waiting[0]),
        chunk=chunk,
        table=await stores.library.save_table(person, base, table),
        archived=await _talk(stores, person, base, word),
        content_hash=hash_of(*texts[0]),
        file=await stores.kept_files.keep(base, sha256=hash_of(*texts[0]), size_bytes=1, most_bytes=1),
        webhook=webhook.id if webhook else "",
        token=await _token(transport, person, base, word),
        invitation=(await stores.bases.invite(base, token_hash(word), role=Role.READER, once=False, days=None)).id,
        reservation=(
            await stores.library.reserve_question(person, person, bounds=DayBounds(questions=99), lease_s=3600)
        ).id,
        member=await _join(stores, UserId(MEMBERS + number), word),
    )


async def _token(transport: Transport, person: UserId, base: BaseId, word: str) -> UserId:
    """One that the person has made."""
    with acting_for(person):
        own = Stores(ActingTransport(transport))
        return await own.tokens.add(base, token_hash(word), is_read_only=False, days=None)


async def _join(stores: Stores, member: UserId, word: str) -> UserId:
    """By the base's link."""
    await stores.bases.accept(member, token_hash(word), name="кто-то")
    return member


async def hide(transport: Transport, bases: list[Content], owner: UserId | None = None) -> list[Canary]:
    """A canary for each, and segments where they are due."""
    canaries = [await hide_canary(transport, base, owner) for base in bases]
    await Stores(transport).search.ensure_index()
    return canaries


async def _talk(stores: Stores, person: UserId, base: BaseId, word: str) -> int:
    """Two exchanges, of which the first leaves the window; its last message."""
    await stores.people.state(person, base=base, language="ru")
    said = Exchange(question=word, answer=word)
    for _ in range(2):
        await stores.dialogue.append(
            person, SESSION, base=base, exchange=said, question_terms=[word], answer_terms=[word], keep=2
        )
    return (await stores.dialogue.unsummarised(person, SESSION, limit=9)).up_to


async def _keep_entities(stores: Stores, base: BaseId, word: str) -> None:
    """One entity of the canary's name, of which a document of the base says the canary's word."""
    claimed = await stores.entities.claim(lease_s=60, attempts=3, only=base)
    assert claimed is not None
    (span, *_) = await stores.entities.spans(claimed)
    await stores.entities.store(claimed, found=named_entities(span.chunk, word, key=word), reader="a test")


async def _batch_id_of(stores: Stores, base: BaseId, document: DocumentId) -> BatchId:
    batch = (await card_of(stores, base, document)).batch_id
    assert batch is not None
    return batch
