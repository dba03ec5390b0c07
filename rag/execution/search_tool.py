"""`rag_db_query`: search in the base, by words and by meaning.

In: a query, and filters when the question has any. Out: the best passages as facts, and how much of the query they
cover. The search itself is in `rag.retrieval`, the reading of filters in `filters`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Literal

from pydantic import Field

from domain.documents import Medium, SourceType
from domain.ids import DocumentId
from rag.execution.facts import MOST, Fact, FactsPayload, passage_fact
from rag.execution.filters import Since, Until, documents_named, is_asker, is_by, is_sent_by
from rag.execution.tools import Tool, ToolArguments, ToolContext
from rag.extraction.documents import ready_documents
from rag.planning.plan import SEARCH
from rag.ports import DocumentCatalogue
from rag.records import RankedPassage, SearchFilter
from rag.retrieval.search import Retrieval
from rag.words import covered, stems

TITLES = 10  # of an author's latest documents, where the question names nothing but the author
MOST_NAMED = 12  # documents that one search is limited to by name

SourceKind = Literal["note", "file", "link", "image", "audio", "video"]
_TYPES: dict[SourceKind | None, tuple[SourceType, ...]] = {
    "note": (SourceType.NOTE,),
    "file": (SourceType.FILE, SourceType.PATH),
    "link": (SourceType.LINK, SourceType.SITE),
}
_MEDIA: dict[SourceKind | None, tuple[Medium, ...]] = {
    "image": (Medium.IMAGE,),
    "audio": (Medium.AUDIO,),
    "video": (Medium.VIDEO,),
}


class SearchArguments(ToolArguments):
    """What to look for, and where; what is left open narrows nothing."""

    query: str = Field(min_length=1)
    documents: tuple[str, ...] = Field((), max_length=MOST_NAMED)
    source: SourceKind | None = None
    author: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    sender: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    since: Since | None = None
    until: Until | None = None
    top_k: int | None = Field(None, ge=1, le=MOST)


class SearchBase(Tool[SearchArguments]):
    """the passages that fit best, word for word; the way to any content. query: rare words that the document itself
    would use, names and numbers included, and the rarest also in the documents' other language («обеспечительный платёж
    security deposit»). Optional: documents; source: note, file, link, image, audio, video; author: who wrote it, a part
    of the name in its first case; sender: who sent it, or "asker" («что я присылал»); since, until: days; top_k.
    """

    name = SEARCH
    arguments = SearchArguments

    def __init__(self, retrieval: Retrieval, catalogue: DocumentCatalogue) -> None:
        self._retrieval = retrieval
        self._catalogue = catalogue

    async def run(self, arguments: SearchArguments, context: ToolContext) -> FactsPayload:
        """Raises DatabaseAway."""
        named = await documents_named(self._catalogue, context.base_id, arguments.documents)
        only = self._filter(arguments, named.documents, context)
        query = await self._titles(arguments, context) if _is_name_alone(arguments) else ""
        found = await self._retrieval.find(context.base_id, query or arguments.query, only=only)
        if not found and not query and (titles := await self._titles(arguments, context)):
            found = await self._retrieval.find(context.base_id, titles, only=only)
        payload = passages_payload(found[: arguments.top_k], asked=query or arguments.query)
        return replace(payload, remarks=named.remarks)

    async def begin(self, arguments: SearchArguments, context: ToolContext) -> Callable[[], FactsPayload]:
        """A plain search leaves the ranking to the returned function, for when it is wanted. Raises DatabaseAway."""
        if arguments.model_fields_set != {"query"}:
            return await super().begin(arguments, context)
        ordered = await self._retrieval.begin(context.base_id, arguments.query)
        return lambda: passages_payload(ordered(), asked=arguments.query)

    async def _titles(self, arguments: SearchArguments, context: ToolContext) -> str:
        """Titles of the latest documents of an author or a sender, as a query: the documents may contain neither the
        name nor the question's words («про цены»)."""
        author, sender = arguments.author, arguments.sender
        if not (author or sender):
            return ""
        cards = await ready_documents(self._catalogue, context.base_id)
        theirs = [each for each in cards if is_by(each, author) and is_sent_by(each, sender, asker=context.user_id)]
        return "\n".join(card.title for card in theirs[:TITLES])

    def _filter(
        self, arguments: SearchArguments, documents: tuple[DocumentId, ...], context: ToolContext
    ) -> SearchFilter | None:
        """None when there is no filter."""
        sender = arguments.sender
        is_own = sender is not None and is_asker(sender)
        only = SearchFilter(
            documents=documents,
            types=_TYPES.get(arguments.source, ()),
            media=_MEDIA.get(arguments.source, ()),
            sender=None if is_own else sender,
            sent_by=context.user_id if is_own else None,
            author=arguments.author,
            since=_midnight(arguments.since) if arguments.since else None,
            before=_midnight(arguments.until + timedelta(days=1)) if arguments.until else None,
        )
        return None if only == SearchFilter() else only


def _is_name_alone(arguments: SearchArguments) -> bool:
    """Whether the query has no words beside the author's or sender's name: «Что пишет Анна?»"""
    asked = stems(arguments.query)
    return bool(asked) and asked <= stems(f"{arguments.author or ''} {arguments.sender or ''}")


def _midnight(day: date) -> datetime:
    """Midnight in UTC: the people's time zones are not known."""
    return datetime.combine(day, time.min, tzinfo=UTC)


def passages_payload(found: Sequence[RankedPassage], *, asked: str) -> FactsPayload:
    """Passages as facts. The coverage is the share of the query's words that the passages of one document hold, its
    title included: a head that names the party and clauses of other contracts answer nothing together."""
    facts = tuple(map(passage_fact, found))
    return FactsPayload(facts=facts, coverage=max(coverage_by_document(facts, asked).values(), default=0.0))


def coverage_by_document(facts: Sequence[Fact], asked: str) -> Mapping[DocumentId | None, float]:
    """For each document the share of the words of `asked` that its passages hold; the best document's passage first."""
    wanted = stems(asked)
    texts: dict[DocumentId | None, list[str]] = {}
    for fact in facts:
        texts.setdefault(fact.document, []).append(searched_text(fact))
    return {document: covered(wanted, said) for document, said in texts.items()}


def searched_text(fact: Fact) -> str:
    """The words by which a fact is found: its own and its document's names."""
    name = fact.passage.passage.name if fact.passage else ""
    return f"{fact.title}\n{name}\n{fact.text}"
