"""`rag_db_query`: search in the base, by words and by meaning.

In: a query, and filters when the question has any. Out: the best passages as facts, and how much of the query they
cover. The search itself is in `rag.retrieval`.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Literal

from pydantic import Field

from domain.documents import Medium, SourceType
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.senders import is_asker, is_by, is_sent_by
from rag.execution.tools import Tool, ToolArguments, ToolContext
from rag.extraction.documents import ready_documents
from rag.planning.planner import SEARCH_TOOL
from rag.ports import DocumentCatalogue
from rag.records import RankedPassage, SearchFilter
from rag.retrieval.search import Retrieval
from rag.words import covered, stems

SCANNED = 900  # documents with a matching name that one search is limited to
TITLES = 10  # of an author's latest documents, where the question names nothing but the author

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
    document: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    source: SourceKind | None = None
    author: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    sender: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    since: date | None = None
    until: Annotated[date, Field(lt=date.max)] | None = None  # the day after it must exist


class SearchBase(Tool[SearchArguments]):
    """Searches the person's base, all documents at once, and returns the passages that fit best, word for word with
    their documents. It is the way to any content of the base.

    - query: what the passage must be about, worded as the document would word it. Name the document in it when the
      person names one («договор аренды срок оплаты»). With author or sender, and no subject («что пишет Анна?»): the
      name alone.
    - document, source, author, sender, since, until: only when the person limits the search so, otherwise null.
      document: a part of the name that stands in it letter for letter; source: "note", "file", "link", "image" (also
      scans), "audio" (voice messages, recordings) or "video"; author: a part of the name, in its first case, of who
      wrote it or whose post was forwarded («что пишет Анна»); sender: of the name of who sent it to this group, or
      "asker" where the person means what they sent themselves («что я присылал»); since and until: days (YYYY-MM-DD)
      between which the document appeared or came.
    """

    name = SEARCH_TOOL
    arguments = SearchArguments

    def __init__(self, retrieval: Retrieval, catalogue: DocumentCatalogue) -> None:
        self._retrieval = retrieval
        self._catalogue = catalogue

    async def run(self, arguments: SearchArguments, context: ToolContext) -> FactsPayload:
        """Raises DatabaseAway."""
        only = await self._filter(arguments, context)
        query = await self._titles(arguments, context) if _is_name_alone(arguments) else ""
        found = await self._retrieval.find(context.base_id, query or arguments.query, only=only)
        if not found and not query and (titles := await self._titles(arguments, context)):
            found = await self._retrieval.find(context.base_id, titles, only=only)
        return passages_payload(found, asked=query or arguments.query)

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

    async def _filter(self, arguments: SearchArguments, context: ToolContext) -> SearchFilter | None:
        """None when there is no filter. A name that no document has is ignored: the model may have guessed it."""
        named, sender = arguments.document, arguments.sender
        is_own = sender is not None and is_asker(sender)
        cards = await self._catalogue.documents(context.base_id, limit=SCANNED, name_contains=named) if named else []
        only = SearchFilter(
            documents=tuple(card.id for card in cards),
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
    """Passages as facts. The coverage is the share of the query's words that they hold, titles included."""
    facts = tuple(
        Fact(
            kind=FactKind.PASSAGE,
            text=each.passage.text,
            title=each.passage.name,
            passage=each,
            document=each.passage.document_id,
        )
        for each in found
    )
    wanted = stems(asked)
    return FactsPayload(
        facts=facts,
        coverage=covered(wanted, (f"{each.passage.title}\n{each.passage.name}\n{each.passage.text}" for each in found)),
    )
