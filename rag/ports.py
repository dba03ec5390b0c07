"""The ports that a turn needs, as small Protocols, and what models raise; `adapters` implements them structurally.

In and out: records of `rag.records`. Errors of models are told apart by what is done about them (`rag.conversation`
turns them into a degraded answer); stores raise `domain.errors.DatabaseAway` when the database does not answer.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

from domain.documents import DocumentCard, Removed
from domain.ids import BaseId, DocumentId, SessionId, UserId
from rag.records import Candidate, ChatMessage, DocumentMatch, Exchange, KeptReading, Passage, SearchQuery


class ModelError(Exception):
    """A model service did not do its work."""


class ModelAway(ModelError):
    """It did not answer, or answered 429 or 5xx, also after the retries that the adapter makes."""


class ModelRefused(ModelError):
    """It refuses this key or account (401, 402, 403): a retry is useless until somebody pays or changes the key."""


class ModelNonsense(ModelError):
    """It answered, but not in the shape that was asked for, also after being asked again."""


class ModelMisfit(ModelNonsense):
    """An answer of the wrong shape; the caller may show it to the model and ask once more."""

    def __init__(self, message: str, *, answer: str, problems: str) -> None:
        """`problems`: what does not fit, one problem per line."""
        super().__init__(message)
        self.answer = answer
        self.problems = problems


Schema = TypeVar("Schema", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """The window, a summary of what has left it, and old exchanges that seem to have the same subject."""

    window: tuple[Exchange, ...] = ()  # oldest first
    summary: str = ""
    recalled: tuple[Exchange, ...] = ()  # oldest first

    def __bool__(self) -> bool:
        """False at the beginning of a dialogue."""
        return bool(self.summary or self.window or self.recalled)

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything said, for comparing an answer with it."""
        exchanges = (*self.recalled, *self.window)
        return (self.summary, *(text for each in exchanges for text in (each.question, each.answer)))


@dataclass(frozen=True, kw_only=True)
class Unsummarised:
    """What a dialogue's next summary is made of."""

    summary: str  # so far
    exchanges: tuple[Exchange, ...]  # those that `summary` does not cover, oldest first
    up_to: int  # the last message of those exchanges; 0 when there are none


class PassageSearch(Protocol):
    """Finds candidates in one base."""

    async def search(self, query: SearchQuery) -> list[Candidate]:
        """Up to `query.limit` candidates of each leg, each passage once, of one state of the base."""


class DocumentScores(Protocol):
    """Scores the documents of a base by words."""

    async def find_documents(self, query: SearchQuery) -> list[DocumentMatch]:
        """Up to `query.limit` documents, best first; vector and filter of the query are not looked at."""

    async def documents_saying_first(
        self, base: BaseId, terms: Sequence[str], *, limit: int, offset: int = 0
    ) -> list[DocumentMatch]:
        """The documents that have all of the terms (each given once) in their first passage or their names, by id; the
        `opening` of each keeps its lines."""


class DocumentCatalogue(Protocol):
    """What the base holds, document by document."""

    async def documents(
        self, base: BaseId, *, limit: int, offset: int = 0, name_contains: str | None = None
    ) -> list[DocumentCard]:
        """Newest first; duplicates, cancelled and superseded ones are left out."""

    async def count(self, base: BaseId, *, name_contains: str | None = None) -> Removed:
        """How many of them are ready, with their passages, how many are not, and how many failed."""


class DocumentPassages(Protocol):
    """Reads a document from its beginning on."""

    async def read(self, base: BaseId, document: DocumentId, *, after: int, limit: int) -> list[Passage]:
        """Up to `limit` passages with an ordinal over `after`, in order; none when the base does not hold it."""


class ReadingMemory(Protocol):
    """Caches what models have read out of documents, per base. A reading is deleted together with any document whose
    words are in it. The cache is bounded: the oldest readings are evicted first."""

    async def recall(self, base: BaseId, request: str) -> list[KeptReading]:
        """The readings stored for a request, in the order in which they were stored."""

    async def keep(self, base: BaseId, request: str, reading: KeptReading) -> None:
        """Store a reading for that request; skip it when it is too long, or one of its documents is gone meanwhile."""


class DialogueStore(Protocol):
    """Remembers what was said."""

    async def recollect(
        self, user: UserId, session: SessionId, *, pairs: int, terms: Sequence[str], recalled: int
    ) -> Dialogue:
        """The last `pairs` exchanges, the summary, and up to `recalled` archived exchanges most like `terms`."""

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
        """`insert_and_trim_pairs`: store the exchange, keep the last `keep` messages and move the others to the
        archive, in one transaction. Returns how many messages were moved."""

    async def unsummarised(self, user: UserId, session: SessionId, *, limit: int) -> Unsummarised:
        """The summary so far, and up to `limit` archived exchanges that it does not cover yet, oldest first."""

    async def save_summary(self, user: UserId, session: SessionId, *, summary: str, up_to: int) -> bool:
        """Store the summary; False when a later one is stored, or the dialogue was erased meanwhile."""


class QueryEmbedder(Protocol):
    """Turns a question into a vector that passages of the same model can be compared with."""

    @property
    def model(self) -> str:
        """The same name as the passages' embedder has."""

    async def embed_query(self, text: str) -> list[float]:
        """One L2-normalised vector. Raises ModelError."""


class TermAnalyzer(Protocol):
    """Turns text into the terms of the lexical index; documents are indexed by the same analyzer."""

    def terms(self, text: str) -> tuple[str, ...]:
        """Terms in order of appearance, repeated as often as they occur."""


class QuestionAnalyzer(TermAnalyzer, Protocol):
    """A TermAnalyzer that also tells unknown words, and words that may be indexed under other terms."""

    def unsure(self, text: str) -> frozenset[str]:
        """Terms of words that are in none of our dictionaries: names, foreign words, typos."""

    def other_lemmas(self, term: str) -> tuple[str, ...]:
        """Other terms that forms of the same word, and its relatives, may be indexed as."""

    def corrections(self, text: str) -> Mapping[str, tuple[str, ...]]:
        """By the term of a mistyped word: terms that may have been meant."""


class Reranker(Protocol):
    """Orders passages by how well they answer the question."""

    async def rerank(self, query: str, passages: Sequence[Passage], *, top_n: int) -> list[tuple[int, float]]:
        """(index into `passages`, relevance) of the best, best first. Raises ModelError."""


class ChatModel(Protocol):
    """A chat model behind any OpenAI-compatible server."""

    @property
    def name(self) -> str:
        """The model's name, for records and logs."""

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        """Pieces of the answer as they come. Raises ModelError, also in mid-stream."""

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        """The whole answer. Raises ModelError."""

    async def structured(
        self, messages: Sequence[ChatMessage], schema: type[Schema], *, corrected: bool = True
    ) -> Schema:
        """An answer that fits `schema`, by whatever means the server offers. When the first answer does not fit, the
        model is asked once more; with `corrected` False it is not, and ModelMisfit is raised. Raises ModelError."""
