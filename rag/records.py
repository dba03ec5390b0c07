"""The records that go from stage to stage of a turn.

In: nothing. Out: frozen, keyword-only records, which hold data; `RankedPassage.fit` is computed when first read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum, StrEnum
from functools import cached_property

from domain.documents import DocumentStatus, Medium, SourceType, known_as
from domain.ids import BaseId, ChunkId, DocumentId, SessionId, UserId
from domain.locator import JsonValue, Locator
from rag.metering import CheckCounts, TurnMetrics
from rag.progress import StepShown
from rag.words import AskedWords, Span


@dataclass(frozen=True, kw_only=True)
class Question:
    """What was asked, by whom, of which base, in which dialogue."""

    text: str
    user_id: UserId  # whose dialogue it is: a person's, or a group's
    session_id: SessionId
    base_id: BaseId
    language: str = "ru"  # of the interface; the answer's language is a setting
    asker: UserId | None = None  # who of the group asks; None where that is `user_id`
    only: tuple[DocumentId, ...] = ()  # the documents that it is asked of; none: all of the base
    dialogue: "tuple[Exchange, ...] | None" = None  # of a program that keeps it itself: then nothing is stored
    chosen: str = ""  # the label of the one document in `only`, which the person has chosen of several that fit


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A question of the dialogue and its answer. What it stands on is stored; of the last one it may be known."""

    question: str
    answer: str
    sources: tuple[dict[str, JsonValue], ...] = ()  # that the answer names (`Citation.to_json`)
    context_used: tuple[dict[str, JsonValue], ...] = ()  # what it was made from (`Fact.reference`)


@dataclass(frozen=True, kw_only=True)
class PastSession:
    """A dialogue that the person can resume."""

    id: SessionId
    title: str = ""  # its first question
    exchanges: int


@dataclass(frozen=True, kw_only=True)
class SaidMessage:
    """A message of a dialogue as it was stored."""

    id: int  # ascending within a dialogue
    role: str  # user or assistant
    content: str
    sources: tuple[JsonValue, ...]  # of an answer, as in `Exchange`
    context_used: tuple[JsonValue, ...]
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A piece of the person's own material."""

    chunk_id: ChunkId
    document_id: DocumentId
    ordinal: int
    title: str
    source_type: SourceType
    source_identifier: str
    text: str
    locator: Locator
    published_at: datetime | None = None
    url: str | None = None  # where the original can be seen
    author: str | None = None
    sender: str | None = None  # who sent it to the group
    document_status: DocumentStatus = DocumentStatus.READY  # another one: the document is still being read
    searchable: int = 0  # passages of its document that can be found now
    progress_total: int = 0  # passages that its document will have
    opening: str = ""  # how its document begins, in one line; empty in the first passage itself
    pieces: tuple[tuple[ChunkId, int], ...] = ()  # of one merged from neighbours: each, and where its text begins

    @property
    def name(self) -> str:
        """What the person calls its document."""
        return known_as(self.source_type, self.title, self.source_identifier)

    @property
    def with_names(self) -> str:
        """With how its document begins and is called: people ask for a file by name, for a clause by its contract."""
        return f"{self.title}\n{self.name}\n{self.opening}\n{self.text}"

    @property
    def under_title(self) -> str:
        """The text below its title and its document's opening, as a reranker reads it."""
        return "\n".join(filter(None, (self.title, self.opening, self.text)))


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A passage that the database found. The score of a leg (vector or lexical) that did not find it is None."""

    passage: Passage
    similarity: float | None  # cosine, -1 to 1
    bm25: float | None  # > 0
    rarities: tuple[float, ...] = ()  # weight (IDF) of each query term in this base; the same in all candidates
    inherited: tuple[float, ...] = ()  # 0 to 1 for each query term: the part of its weight that the document gives


@dataclass(frozen=True, kw_only=True)
class DocumentMatch:
    """A document that the words of a text choose."""

    id: DocumentId
    title: str
    file_name: str  # the name that the person knows it by, see `domain.documents.known_as`
    source_type: SourceType
    published_at: datetime | None = None
    pages: int | None = None  # of files that have pages
    passages: int = 0  # that can be found now
    score: float = 0.0  # comparable within one result: equal scores mean that the words fit equally
    opening: str = ""  # how it begins; in one line, but for `documents_saying_first`

    @property
    def name(self) -> str:
        """What the person calls it."""
        return known_as(self.source_type, self.title, self.file_name)


@dataclass(frozen=True, kw_only=True)
class DocumentChoice:
    """A document that a question may mean, under words that tell it from the others."""

    id: DocumentId
    label: str


class Fit(IntEnum):
    """How well a passage fits a question, in ascending order (`rag.retrieval.ranking`)."""

    CHANCE = 0  # it shares some words
    RELATED = 1  # it may be about that
    CERTAIN = 2  # it can be quoted without a model's judgement


@dataclass(frozen=True, kw_only=True)
class RankedPassage:
    """A passage with the score by which it is ordered (fusion's or the reranker's; higher is better)."""

    passage: Passage
    score: float
    judge: Callable[[], Fit] = field(default=lambda: Fit.CERTAIN, compare=False, repr=False)
    asked: AskedWords = field(default_factory=AskedWords, compare=False, repr=False)

    @cached_property
    def fit(self) -> Fit:
        """Computed on first access: it takes longer than finding the passage, and a model's answer needs none."""
        return self.judge()

    @property
    def certain(self) -> bool:
        """Close enough to the question to be quoted without a model's judgement."""
        return self.fit is Fit.CERTAIN


@dataclass(frozen=True, kw_only=True)
class SearchFilter:
    """Which documents are searched; a field that is not set restricts nothing."""

    documents: tuple[DocumentId, ...] = ()
    types: tuple[SourceType, ...] = ()
    media: tuple[Medium, ...] = ()
    sender: str | None = None  # part of the name of the person who sent them; case and ё/е do not matter
    sent_by: UserId | None = None  # exactly this sender
    author: str | None = None  # likewise part of the author's name, or of the sender's where no author is known
    since: datetime | None = None  # one of the document's two dates (its own, its arrival) is at or after this
    before: datetime | None = None  # and the same date is earlier than this


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """Another spelling of a term, for a base that does not hold the term: a typo, or the other alphabet."""

    term: str
    beginnings: tuple[str, ...]  # possible prefixes of the other spelling, sorted; none is a prefix of another
    pattern: str  # regular expression for the other spelling; PostgreSQL and Python read it alike


@dataclass(frozen=True, kw_only=True)
class SearchQuery:
    """A query for the database. A leg without a vector or without terms is skipped."""

    base_id: BaseId
    vector: list[float] | None
    model: str | None  # the one that made the vector; only chunks of the same model are compared
    terms: tuple[str, ...]
    limit: int  # candidates of each leg
    spellings: tuple[Spelling, ...] = ()
    only: SearchFilter | None = None


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A source that the answer really used."""

    document_id: DocumentId
    chunk_id: ChunkId
    title: str
    source_type: SourceType
    source_identifier: str
    locator: Locator
    quote: str  # the passage's own words that carry the answer, or else the closest to it
    shown: ChunkId | None = None  # of a passage that was merged, the stored one with the first of these words
    carrying: tuple[Span, ...] = ()  # where these words stand in its text, if they are known

    @property
    def name(self) -> str:
        """What the person calls the document."""
        return known_as(self.source_type, self.title, self.source_identifier)

    def to_json(self) -> dict[str, JsonValue]:
        """A source as `baza ask --json`, the HTTP API and stored answers show it."""
        return {
            "document_id": self.document_id,
            "title": self.title,
            "type": self.source_type.value,
            "identifier": self.source_identifier,
            "locator": self.locator.to_json(),
            "quote": self.quote,
        }


@dataclass(frozen=True, kw_only=True)
class StillRead:
    """A document that an answer used while the rest of it was still being read."""

    name: str  # what the person calls it
    percent: int  # 0 to 99: its share of passages that can be found


@dataclass(frozen=True, kw_only=True)
class DocumentsRead:
    """How much of the base was read for an answer, counted by code (issue 6: «Прочитано 17 из 17 документов»)."""

    read: int
    total: int  # documents that might have held an answer
    without_data: int = 0  # of those read: nothing in them answers
    problems: int = 0  # of those not read: a model failed at them
    missing_rows: int = 0  # rows that a model saw in them but did not copy out, even when asked again
    uncompared: int = 0  # statements that were not compared with those of all other documents
    remembered: int = 0  # of those read: taken from an earlier reading for the same request, without a model
    chosen_from: int = 0  # documents of the base, where a search has chosen `total` of them; else 0


@dataclass(frozen=True, kw_only=True)
class KeptReading:
    """What a model has read out of a part of a document, as the base caches it."""

    key: str  # a hash of everything that decided the result
    documents: tuple[DocumentId, ...]  # all whose words may be in it, in reading order
    content: str  # the reply as JSON, validated


@dataclass(frozen=True, kw_only=True)
class OtherValue:
    """Another value of a cell: what documents that disagree say, or what an amendment or newer version has replaced."""

    value: str
    source: Passage
    is_replaced: bool  # otherwise the documents disagree
    is_in_force: bool = True  # not where only a draft says so and another document something else


@dataclass(frozen=True, kw_only=True)
class TableRow:
    """A row of a table, and where each of its values stands; sources and others are by column."""

    cells: tuple[str, ...]
    sources: tuple[Passage, ...]  # of an empty cell it means nothing
    others: tuple[tuple[OtherValue, ...], ...] = ()
    is_outdated: bool = False  # only an earlier version of a list has it
    is_new: bool = True  # no earlier version has it

    def disputed(self, place: int) -> tuple[OtherValue, ...]:
        """What documents that disagree say in a column."""
        return tuple(each for each in self.others[place] if not each.is_replaced)

    def formerly(self, place: int) -> tuple[OtherValue, ...]:
        """What stood in a column before."""
        return tuple(each for each in self.others[place] if each.is_replaced)

    def otherwise(self) -> "TableRow":
        """The same with the first other value in force wherever documents disagree."""
        others = ((each.value for each in self.disputed(place) if each.is_in_force) for place in range(len(self.cells)))
        cells = (next(said, cell) for said, cell in zip(others, self.cells, strict=True))
        return replace(self, cells=tuple(cells))


@dataclass(frozen=True, kw_only=True)
class FactTable:
    """Rows that were extracted from documents one by one; people can get them as a file."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What one document says."""

    value: str
    passage: Passage
    dated: datetime | None  # of the document, where it is known


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Documents that disagree, the newest first."""

    about: str
    claims: tuple[Claim, ...]
    told: str = ""  # both sides with sources and days, in the language of the question


class AnswerKind(StrEnum):
    """What the answer stands on."""

    FROM_BASE = "from_base"
    GENERAL = "general"  # the model's own knowledge; labelled, without sources
    CONVERSATION = "conversation"  # a greeting, thanks, a question back: no sources needed
    QUOTES = "quotes"  # no model: the best passages themselves
    NOTHING = "nothing"  # nothing found and general knowledge is off, or there is no model


class SmallTalk(StrEnum):
    """A message that asks nothing of the base. The bot has the replies; of several kinds the first here counts."""

    ABOUT = "about"  # who Baza is, what it can do
    MORE = "more"  # «подробнее», «ещё»: of the last answer, as far as there is more
    LEANING = "leaning"  # «а когда?»: only the dialogue could tell what about
    THANKS = "thanks"
    FAREWELL = "farewell"
    GREETING = "greeting"
    ASSENT = "assent"  # «ок», «👍»


@dataclass(frozen=True, kw_only=True)
class AnswerText:
    """What an answer says, finished or not."""

    kind: AnswerKind
    text: str  # Markdown, marks stripped, without the label and the source block (the bot adds them)
    citations: tuple[Citation, ...] = ()
    model: str | None = None
    cut: bool = False  # the model failed in mid-answer
    passages: str = ""  # Markdown, below an answer that was cut: they may hold the rest
    small_talk: SmallTalk | None = None  # then `text` is empty, and the bot adds its own words
    stopped: bool = False  # by the person, in mid-answer
    is_weak: bool = False  # quotes that may be about something else
    instead: str = ""  # what code did where a model would write: outline, comparison or rows
    in_other_language: bool = False  # than ANSWER_LANGUAGE's; shown because the alternative would be worse
    check: CheckCounts = field(default_factory=CheckCounts)  # of its statements


@dataclass(frozen=True, kw_only=True)
class Answer(AnswerText):
    """The finished turn."""

    turn: TurnMetrics  # its figures, as they are stored; they hold no texts
    choices: tuple[str, ...] = ()  # suggested replies when the bot asks back
    alike: tuple[DocumentChoice, ...] = ()  # documents that fit as well: one may be chosen (`Question.only`)
    still_read: tuple[StillRead, ...] = ()  # documents that may hold more of the answer in a while
    by_words: str = ""  # the words that were searched for, where these are of another language than the documents
    misses_meaning: bool = False  # nothing surely fits, and passages were compared by their words alone
    unread: int = 0  # documents that are still to be read for entities: the list may become longer
    left_out: int = 0  # items found beyond the plan's limits
    trace: Mapping[str, JsonValue] | None = None  # plan, facts and checks, for `baza ask --json`
    searched: bool = True  # False: the plan called no tool
    addresses: frozenset[str] = frozenset()  # keys (`rag.addresses`) of those that may be links
    documents: DocumentsRead | None = None  # when documents were read one by one
    table: FactTable | None = None  # people can get it as a file
    steps: tuple[StepShown, ...] = ()  # of a plan of several steps
    spent: str | None = None  # the limit that ended the work early: Spent

    @property
    def asks_which(self) -> bool:
        """Whether it asks which of the `alike` documents is meant; otherwise these are offered below it."""
        return bool(self.alike) and self.kind is AnswerKind.CONVERSATION


@dataclass(frozen=True, kw_only=True)
class KnownEntity:
    """A person, project, organisation or thing of a base, as a question was resolved to it (seed 4, section 5.1)."""

    id: str  # canonical: "project:alor-broker"; never shown to people
    type: str
    name: str
    aliases: tuple[str, ...] = ()
    confidence: float = 1.0  # 0 to 1, that the question means it


@dataclass(frozen=True, kw_only=True)
class StepsChanged:
    """The state of a plan's steps has changed."""

    steps: tuple[StepShown, ...]


@dataclass(frozen=True, kw_only=True)
class TextGrew:
    """The answer so far (whole, not the difference)."""

    kind: AnswerKind
    text: str
    addresses: frozenset[str] = frozenset()  # as in `Answer`


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The last event of a turn."""

    answer: Answer


TurnEvent = StepsChanged | TextGrew | Answered


@dataclass(frozen=True, kw_only=True)
class ChatMessage:
    """A message to or from a chat model."""

    role: str  # system, user or assistant
    content: str = ""
    picture: str = ""  # in place of words, as a `data:` address


def asking(rules: str, task: str) -> tuple[ChatMessage, ChatMessage]:
    """The messages of a call that needs no dialogue."""
    return ChatMessage(role="system", content=rules), ChatMessage(role="user", content=task)
