"""`list_documents`: which documents the base holds.

In: part of a name, a kind, what they are called, a sender, dates. Out: a fact for each document, with its columns, and
the total number. It reads names, dates and beginnings, never texts.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from domain.documents import DocumentCard, Medium, title_beside
from domain.ids import BaseId, DocumentId, UserId
from prompts.wordings import Wordings, language_of
from rag.execution.documents import Since, Until, is_sent_by, ready_documents
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.tools import Tool, ToolContext
from rag.planning.tool import ToolArguments
from rag.ports import DocumentCatalogue
from rag.retrieval.search import DocumentSearch
from rag.words import person_name

_KINDS = {"text", "image", "audio", "video"}


class ListArguments(ToolArguments):
    """What to list; nothing given lists everything, newest first."""

    name_contains: str | None = Field(None, max_length=200)
    about: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    kind: Literal["text", "image", "audio", "video", "link", "note"] | None = None
    sender: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    since: Since | None = None
    until: Until | None = None


class ListDocuments(Tool[ListArguments]):
    """which documents there are, how many, of what kind, when they came; not what they say. Optional: name_contains,
    about (what they are: «договоры поставки»; counts those that are called so or begin so), kind (text, image, audio,
    video, link, note), sender, since, until.
    """

    name = "list_documents"
    arguments = ListArguments

    def __init__(
        self, catalogue: DocumentCatalogue, wordings: Mapping[str, Wordings], finder: DocumentSearch | None = None
    ) -> None:
        """`finder` serves `about`; without it no document is of a kind."""
        self._catalogue = catalogue
        self._finder = finder
        self._wordings = wordings

    async def run(self, arguments: ListArguments, context: ToolContext) -> FactsPayload:
        """A fact for each document. Raises DatabaseAway."""
        named = arguments.name_contains or None
        cards = await ready_documents(self._catalogue, context.base_id, name_contains=named, only=context.only)
        called = await self._called(context.base_id, arguments.about)
        ready = [
            card
            for card in cards
            if (called is None or card.id in called) and _fits(card, arguments, asker=context.user_id)
        ]
        words = self._wordings[language_of(context.question)]
        count = _count(len(ready), arguments, words)
        listed = tuple(_fact(card, words) for card in ready)
        return FactsPayload(facts=(count, *listed) if listed else (), coverage=1.0 if listed else 0.0)

    async def _called(self, base: BaseId, about: str | None) -> frozenset[DocumentId] | None:
        """None where it does not matter what the documents are."""
        if about is None:
            return None
        return await self._finder.called(base, about) if self._finder else frozenset()


def _count(documents: int, wanted: ListArguments, words: Wordings) -> Fact:
    """The total, and that of a kind, are worded for people, who read them where no model answers; a count by other
    filters is worded for the model."""
    limits = _limits(wanted)
    if limits and wanted != ListArguments(about=wanted.about):
        return Fact(kind=FactKind.VALUE, text=f"Documents that fit{limits}: {documents}.", title="")
    worded = words.documents_called if wanted.about else words.documents
    said = worded.format(count=documents, about=wanted.about)
    return Fact(kind=FactKind.VALUE, text=said, title=said)


def _limits(arguments: ListArguments) -> str:
    """The filters in words, «(sender: Анна)»: they distinguish two lists of one plan."""
    limits = ", ".join(f"{name}: {value}" for name, value in arguments.model_dump().items() if value)
    return f" ({limits})" if limits else ""


def _fits(card: DocumentCard, wanted: ListArguments, *, asker: UserId) -> bool:
    came = card.created_at.date()
    return (
        _is_of(card, wanted.kind)
        and is_sent_by(card, wanted.sender, asker=asker)
        and (wanted.since is None or came >= wanted.since)
        and (wanted.until is None or came <= wanted.until)
    )


def _is_of(card: DocumentCard, kind: str | None) -> bool:
    if kind is None:
        return True
    return (card.medium.value if kind in _KINDS else card.source_type.value) == kind


def _kind(card: DocumentCard) -> str:
    return card.medium.value if card.source_type.value in ("file", "path") else card.source_type.value


def _fact(card: DocumentCard, words: Wordings) -> Fact:
    """Worded in the language of the question: where no model answers, people read it as it is."""
    name, kind = card.name, _kind(card)
    told = {
        words.entry_title: title_beside(name, card.title),
        words.entry_pages: str(card.pages or ""),
        words.entry_length: str(timedelta(seconds=round(card.duration_s))) if card.duration_s else "",  # 0:00:12
        words.entry_author: person_name(card.author),
        words.entry_dated: card.published_at.strftime(words.day) if card.published_at else "",
        words.entry_sender: person_name(card.sender),
        words.entry_added: card.created_at.strftime(words.day),
    }
    known = {label: value for label, value in told.items() if value}
    named_kind = getattr(words, f"kind_{kind}")
    columns = {words.entry_name: name, words.entry_kind: named_kind, **known}
    said = () if kind == Medium.TEXT.value else (named_kind,)
    return Fact(
        kind=FactKind.DOCUMENT,
        text=", ".join((name, *said, *(f"{label} {value}" for label, value in known.items()))),
        title=name,
        document=card.id,
        fields=tuple((label.capitalize(), value) for label, value in columns.items()),
    )
