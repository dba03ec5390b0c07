"""Doubles for the doors of a turn, typed by `rag.ports`: they keep what they were asked and answer by script."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from domain.documents import SourceType
from domain.ids import BaseId, ChunkId, DocumentId, SessionId, UserId
from domain.locator import Locator
from rag.ports import Dialogue, ModelAway, ModelError, Schema, Unsummarised
from rag.records import (
    Candidate,
    ChatMessage,
    Exchange,
    Passage,
    Question,
    RankedPassage,
    SearchQuery,
)

BASE = BaseId("base")
USER = UserId(7)
SESSION = SessionId("session")


def make_passage(text: str, *, number: int = 1, document: str = "doc", title: str = "Договор.pdf") -> Passage:
    """A passage of a file; `number` is its page and its chunk id. No two are neighbours."""
    return Passage(
        chunk_id=ChunkId(number),
        document_id=DocumentId(document),
        ordinal=2 * number,
        title=title,
        source_type=SourceType.FILE,
        source_identifier=title,
        text=text,
        locator=Locator(page=number),
    )


def make_candidate(
    text: str, *, number: int = 1, bm25: float | None = None, similarity: float | None = None, document: str = "doc"
) -> Candidate:
    return Candidate(passage=make_passage(text, number=number, document=document), similarity=similarity, bm25=bm25)


def rank(*passages: Passage) -> tuple[RankedPassage, ...]:
    """In this order, with falling scores."""
    return tuple(RankedPassage(passage=passage, score=1 / place) for place, passage in enumerate(passages, start=1))


def make_question(text: str) -> Question:
    return Question(text=text, user_id=USER, session_id=SESSION, base_id=BASE)


@dataclass
class FoundPassages:
    """A PassageSearch that finds what it was given."""

    candidates: Sequence[Candidate] = ()
    queries: list[SearchQuery] = field(default_factory=list)
    error: Exception | None = None

    async def search(self, query: SearchQuery) -> list[Candidate]:
        self.queries.append(query)
        if self.error:
            raise self.error
        return list(self.candidates)


@dataclass
class FixedEmbedder:
    """A QueryEmbedder with one vector for everything."""

    model: str = "test-1"
    vector: Sequence[float] = (1.0, 0.0)
    error: ModelError | None = None

    async def embed_query(self, text: str) -> list[float]:
        if self.error:
            raise self.error
        return list(self.vector)


class LowerWords:
    """A QuestionAnalyzer: words in lower case, all of them known."""

    def terms(self, text: str) -> tuple[str, ...]:
        return tuple(text.casefold().replace("?", " ").replace(".", " ").replace(",", " ").split())

    def unsure(self, text: str) -> frozenset[str]:
        return frozenset()

    def corrections(self, text: str) -> Mapping[str, tuple[str, ...]]:
        """None."""
        return {}

    def other_lemmas(self, term: str) -> tuple[str, ...]:
        return ()


@dataclass
class ReverseReranker:
    """A Reranker that likes the last best."""

    error: ModelError | None = None

    async def rerank(self, query: str, passages: Sequence[Passage], *, top_n: int) -> list[tuple[int, float]]:
        if self.error:
            raise self.error
        return [(index, float(index)) for index in reversed(range(len(passages)))][:top_n]


@dataclass
class RememberedDialogue:
    """A DialogueStore in memory, of one dialogue. What leaves the window after `keep` messages is archived."""

    exchanges: list[Exchange] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    archived: list[Exchange] = field(default_factory=list)
    summary: str = ""
    covered: int = 0  # archived exchanges that the summary covers
    append_error: Exception | None = None
    append_seconds: float = 0
    begun: int = 0  # exchanges that were to be stored
    window_error: Exception | None = None

    async def recollect(
        self, user: UserId, session: SessionId, *, pairs: int, terms: Sequence[str], recalled: int
    ) -> Dialogue:
        if self.window_error:
            raise self.window_error
        return Dialogue(window=tuple(self.exchanges[-pairs:]), summary=self.summary)

    async def append(
        self,
        user: UserId,
        session: SessionId,
        *,
        base: BaseId,
        exchange: Exchange,
        question_terms: Sequence[str],
        answer_terms: Sequence[str],
        keep: int,
    ) -> int:
        self.begun += 1
        await asyncio.sleep(self.append_seconds)
        if self.append_error:
            raise self.append_error
        self.exchanges.append(exchange)
        self.kept.append(keep)
        leaving = self.exchanges[: -keep // 2] if len(self.exchanges) > keep // 2 else []
        self.archived += leaving
        self.exchanges = self.exchanges[len(leaving) :]
        return 2 * len(leaving)

    async def unsummarised(self, user: UserId, session: SessionId, *, limit: int) -> Unsummarised:
        pending = self.archived[self.covered :][:limit]
        return Unsummarised(summary=self.summary, exchanges=tuple(pending), up_to=self.covered + len(pending))

    async def save_summary(self, user: UserId, session: SessionId, *, summary: str, up_to: int) -> bool:
        self.summary, self.covered = summary, up_to
        return True


@dataclass
class ScriptedModel:
    """A ChatModel that says `reply` in pieces of `piece` characters, then raises `error` if there is one. A whole
    answer is `again`, where that is set."""

    reply: str = ""
    again: str | None = None
    error: ModelError | None = None
    piece: int = 5
    name: str = "scripted"
    asked: list[tuple[ChatMessage, ...]] = field(default_factory=list)
    said: int = 0  # characters given out

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        self.asked.append(tuple(messages))
        for start in range(0, len(self.reply), self.piece):
            piece = self.reply[start : start + self.piece]
            self.said += len(piece)
            yield piece
        if self.error:
            raise self.error

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        said = "".join([piece async for piece in self.stream(messages)])
        return said if self.again is None else self.again

    async def structured(
        self, messages: Sequence[ChatMessage], schema: type[Schema], *, corrected: bool = True
    ) -> Schema:
        return _parsed(schema, await self.complete(messages))


def _parsed(schema: type[Schema], text: str) -> Schema:
    assert issubclass(schema, BaseModel)
    return schema.model_validate_json(text)


def away() -> ModelError:
    """What an adapter raises when nobody answers."""
    return ModelAway("no answer")
