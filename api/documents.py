"""Documents of a base: adding a text or a link, how far it is, what was read out of it, and removal.

In: a caller and a text or an address. Out: documents with their progress; the worker reads them as it reads what people
send to the bot. Files are not taken: nothing would keep them.
"""

import uuid
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, model_validator

from api.access import Language, Reader, Services, Writer
from api.bases import Strict
from api.problems import Problem
from api.services import ApiServices
from domain.documents import DocumentCard, DocumentStatus, SourceType
from domain.ids import BaseId, DocumentId
from domain.tokens import Caller
from ingestion.errors import TooManyWaiting
from ingestion.fetch.urls import normalise_url
from ingestion.intake import link_of, note_title, one_line
from ingestion.records import Batch, Source

MOST_DOCUMENTS = 200
TEXT_CHARACTERS = 60_000  # of Cyrillic letters, twice as many bytes, which have to fit into a request
TITLE_CHARACTERS = 200
WAITING_S = 60  # until some of the caller's documents have been read, when too many wait

router = APIRouter(prefix="/rags/{base}/documents", tags=["documents"])


class NewDocument(Strict):
    """A text, with a title if wanted, or an address."""

    text: str | None = Field(None, min_length=1, max_length=TEXT_CHARACTERS, pattern=r"\w")
    title: str | None = Field(None, max_length=TITLE_CHARACTERS)
    url: str | None = Field(None, max_length=2000)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.text is None) == (self.url is None):
            raise ValueError("give either text or url")
        if self.url is not None and normalise_url(self.url) is None:
            raise ValueError("url is no web address")
        return self

    def source(self) -> Source:
        """What is read."""
        if self.url is not None:
            return link_of(normalise_url(self.url) or self.url)
        text = self.text or ""
        title = one_line(self.title) or note_title(text)
        return Source(type=SourceType.NOTE, identifier=title, title=title, text=text)


class Document(BaseModel):
    """A document and how far it is."""

    id: str
    title: str
    type: SourceType
    identifier: str
    status: DocumentStatus
    progress_done: int  # units of the stage: pages, seconds, passages
    progress_total: int  # 0 while unknown
    passages: int
    version: int
    created_at: datetime
    duplicate_of: str | None  # the document that held the same content before, where this one is a `duplicate`
    error: str | None  # why it could not be read, and what to do


class Content(BaseModel):
    """What was read out of a document."""

    id: str
    title: str
    text: str


@router.post("", status_code=HTTPStatus.ACCEPTED)
async def add_document(asked: NewDocument, caller: Writer, services: Services, language: Language) -> Document:
    """Adds a document; ask for it by its id until its status is `ready`."""
    document = await enqueued(services, caller, asked.source(), language)
    return await _document(services, caller.base, document, language)


@router.get("")
async def list_documents(
    caller: Reader,
    services: Services,
    language: Language,
    limit: Annotated[int, Query(ge=1, le=MOST_DOCUMENTS)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> list[Document]:
    """The newest first."""
    cards = await services.library.documents(caller.base, limit=limit, offset=offset)
    return [_shown(services, card, language) for card in cards]


@router.get("/{document}")
async def show_document(document: uuid.UUID, caller: Reader, services: Services, language: Language) -> Document:
    """One document, in any state."""
    return await _document(services, caller.base, DocumentId(str(document)), language)


@router.get("/{document}/content")
async def show_content(document: uuid.UUID, caller: Reader, services: Services) -> Content:
    """Its text as it was read; empty while it is not."""
    return await content_of(services, caller.base, DocumentId(str(document)))


@router.delete("/{document}", status_code=HTTPStatus.NO_CONTENT)
async def delete_document(document: uuid.UUID, caller: Writer, services: Services) -> None:
    """Removes it with all that is stored of it."""
    if not await services.library.delete(caller.base, DocumentId(str(document))):
        raise Problem(HTTPStatus.NOT_FOUND)


async def enqueued(services: ApiServices, caller: Caller, source: Source, language: str) -> DocumentId:
    """The id of the document that a worker will read. Raises Problem 429 when too many of the caller's wait."""
    batch = Batch(base_id=caller.base, user_id=caller.token, language=language, sources=(source,))
    try:
        (document,) = await services.intake.enqueue(batch)
    except TooManyWaiting as error:
        raise Problem(HTTPStatus.TOO_MANY_REQUESTS, retry_s=WAITING_S) from error
    services.wake()
    return document.id


async def content_of(services: ApiServices, base: BaseId, document: DocumentId) -> Content:
    """Raises Problem 404 when the base holds no such document."""
    card = await services.library.card(base, document)
    if card is None:
        raise Problem(HTTPStatus.NOT_FOUND)
    blocks = await services.text.blocks(base, document)
    return Content(id=document, title=card.title, text="\n\n".join(block.text for block in blocks))


async def _document(services: ApiServices, base: BaseId, document: DocumentId, language: str) -> Document:
    card = await services.library.card(base, document)
    if card is None:
        raise Problem(HTTPStatus.NOT_FOUND)
    return _shown(services, card, language)


def _shown(services: ApiServices, card: DocumentCard, language: str) -> Document:
    return Document(
        id=card.id,
        title=card.title,
        type=card.source_type,
        identifier=card.source_identifier,
        status=card.status,
        progress_done=card.progress_done,
        progress_total=card.progress_total,
        passages=card.chunks,
        version=card.version,
        created_at=card.created_at,
        duplicate_of=_original(card) if card.status is DocumentStatus.DUPLICATE else None,
        error=services.failure(card, language) if card.status is DocumentStatus.FAILED else None,
    )


def _original(card: DocumentCard) -> str | None:
    original = card.error_params.get("document_id")
    return str(original) if original else None
