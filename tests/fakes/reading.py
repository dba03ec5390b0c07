"""Doubles for reading documents one by one: a shelf of documents, and a model that answers by a function.

They keep what they were asked. The model notes what it took of the turn, as an adapter does.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from pydantic import BaseModel

from domain.documents import DocumentCard, Removed
from domain.errors import DatabaseTrouble
from domain.ids import BaseId, ChunkId, DocumentId
from prompts.loader import load_prompts
from prompts.wordings import load_wordings
from rag.execution.tools import Run, ToolContext
from rag.execution.wire import (
    IterationReply,
    IterationRequest,
    SynthesisReply,
    SynthesisRequest,
)
from rag.metering import begin_metering, note_usage
from rag.ports import Schema
from rag.records import ChatMessage, KeptReading, Passage, RankedPassage, SearchFilter
from rag.retrieval.search import Retrieval
from rag.words import estimate_tokens
from tests.fakes.cards import ready
from tests.fakes.rag import BASE, USER, make_passage

PROMPTS = load_prompts()
WORDINGS = load_wordings()
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
CHUNKS_EACH = 1000  # chunk ids of a document begin at a thousand of its own


class Shelf(Retrieval):
    """A DocumentCatalogue, a DocumentPassages and a Retrieval of documents by name, newest last in the mapping."""

    def __init__(self, texts: Mapping[str, Sequence[str]], found: Sequence[str] = ()) -> None:
        """`found`: names that a search finds, best first."""
        self.texts, self.found = texts, found
        self.read_parts: list[str] = []
        self.searched: list[str] = []

    @property
    def cards(self) -> list[DocumentCard]:
        """Newest first."""
        made = [
            ready(
                id=DocumentId(name),
                title=name,
                source_identifier=name,
                chunks=len(texts),
                created_at=FIRST_DAY + timedelta(days=place),
            )
            for place, (name, texts) in enumerate(self.texts.items())
        ]
        return made[::-1]

    def passages_of(self, name: str) -> list[Passage]:
        """All of one document."""
        first = list(self.texts).index(name) * CHUNKS_EACH
        return [
            replace(make_passage(text, number=place + 1, document=name, title=name), chunk_id=ChunkId(first + place))
            for place, text in enumerate(self.texts[name])
        ]

    async def documents(
        self, base: BaseId, *, limit: int, offset: int = 0, name_contains: str | None = None
    ) -> list[DocumentCard]:
        assert base == BASE
        return self.cards[offset : offset + limit]

    async def count(self, base: BaseId, *, name_contains: str | None = None) -> Removed:
        return Removed(documents=len(self.texts))

    async def read(self, base: BaseId, document: DocumentId, *, after: int, limit: int) -> list[Passage]:
        assert base == BASE
        self.read_parts.append(document)
        return [passage for passage in self.passages_of(document) if passage.ordinal > after][:limit]

    async def find(self, base: BaseId, question: str, *, only: SearchFilter | None = None) -> tuple[RankedPassage, ...]:
        assert base == BASE
        self.searched.append(question)
        return tuple(RankedPassage(passage=self.passages_of(name)[0], score=1.0) for name in self.found)


@dataclass
class Memory:
    """A ReadingMemory of any number of bases."""

    kept: dict[tuple[BaseId, str], dict[str, KeptReading]] = field(default_factory=dict)
    error: DatabaseTrouble | None = None  # when something is to be kept

    async def recall(self, base: BaseId, request: str) -> list[KeptReading]:
        return list(self.kept.get((base, request), {}).values())

    async def keep(self, base: BaseId, request: str, reading: KeptReading) -> None:
        if self.error:
            raise self.error
        self.kept.setdefault((base, request), {})[reading.key] = reading


Reads = Callable[[IterationRequest], IterationReply]


@dataclass
class ReadingModel:
    """A ChatModel that only answers in shapes; `reply` may raise a ModelError."""

    reply: Reads
    synthesis: Callable[[SynthesisRequest], SynthesisReply] | None = None
    name: str = "reading"
    requests: list[IterationRequest] = field(default_factory=list)
    syntheses: list[SynthesisRequest] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # of the prompts, in tokens

    async def structured(
        self, messages: Sequence[ChatMessage], schema: type[Schema], *, corrected: bool = True
    ) -> Schema:
        tokens = sum(estimate_tokens(message.content) for message in messages)
        self.sizes.append(tokens)
        note_usage(prompt_tokens=tokens, answer_tokens=10)
        answer: BaseModel
        if schema is IterationReply:
            self.requests.append(IterationRequest.model_validate_json(messages[-1].content))
            answer = self.reply(self.requests[-1])
        else:
            self.syntheses.append(SynthesisRequest.model_validate_json(messages[-1].content))
            answer = (self.synthesis or repeat)(self.syntheses[-1])
        return schema.model_validate_json(answer.model_dump_json())

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        raise NotImplementedError

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        raise NotImplementedError


def repeat(request: SynthesisRequest) -> SynthesisReply:
    """All facts as they are."""
    return SynthesisReply(answer=request.previous_answer, reasoning="", facts=request.facts)


def turn(question: str = "Сколько это стоит?", run: Run | None = None) -> ToolContext:
    """A turn whose meter runs."""
    own = run or Run()
    own.usage = begin_metering()
    return ToolContext(
        base_id=BASE, user_id=USER, question=question, today=date(2026, 5, 12), step_id="read", dialogue="", run=own
    )
