"""Documents of a base: adding a file, a text or a link, how far it is, what was read out of it, and removal.

In: a caller and a source. Out: documents with their progress; the worker reads them as it reads what people send to the
bot. A file that comes this way is kept, since no Telegram keeps it.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from itertools import chain
from typing import Annotated, Any, BinaryIO, Self
from urllib.parse import quote

from fastapi import APIRouter, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field, ValidationError, model_validator
from starlette.datastructures import FormData, UploadFile

from api.access import ApiServices, Language, Reader, Services, Writer, spent
from api.bases import LARGEST, DocumentUuid, Strict
from api.problems import Problem
from domain.documents import Choice, DocumentCard, DocumentStatus, Lane, Once, Refusal, SourceType
from domain.ids import BaseId, DocumentId
from domain.people import Caller
from ingestion.errors import SourceError, TooManyWaiting
from ingestion.fetch.urls import normalise_url
from ingestion.intake import link_of, note_title, one_line
from ingestion.records import Batch, Source

MOST_DOCUMENTS = 200
TEXT_CHARACTERS = 60_000  # of Cyrillic letters, twice as many bytes, which have to fit into a request
TITLE_CHARACTERS = 200
MULTIPART = "multipart/form-data"
FIELD_BYTES = 4000
MOST_FIELDS = 9
FORM_BYTES = 256 * 1024  # of a form beside its file
NAME_CHARACTERS = 255
WAITING_S = 60  # until some of the caller's documents have been read, when too many wait

router = APIRouter(prefix="/rags/{base}/documents", tags=["documents"])

IdempotencyKey = Annotated[str | None, Header(min_length=1, max_length=200)]
"""The same key with the same content within a day gives the same answer, and adds nothing; with another, 409."""

_REFUSED = {
    Refusal.OTHER_CONTENT: (HTTPStatus.CONFLICT, "other-content"),
    Refusal.BEING_READ: (HTTPStatus.CONFLICT, "being-read"),
    Refusal.MISSING: (HTTPStatus.NOT_FOUND, None),
}


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


FILE_FORM = {
    "type": "object",
    "required": ["file"],
    "additionalProperties": False,
    "properties": {
        "file": {"type": "string", "format": "binary"},
        "title": {"type": "string", "maxLength": TITLE_CHARACTERS},
    },
}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": NewDocument.model_json_schema()},
            MULTIPART: {"schema": FILE_FORM},
        },
    }
}
BYTES: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}}}


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
    size_bytes: int | None  # of the original
    has_original: bool  # `GET …/original` gives it
    duplicate_of: str | None  # the document that held the same content before, where this one is a `duplicate`
    namesake: str | None  # the document of the same name with other content, where this one is `choosing`
    error: str | None  # why it could not be read, and what to do


class Content(BaseModel):
    """What was read out of a document."""

    id: str
    title: str
    text: str


class Choosing(Strict):
    """What happens to two files of one name."""

    choice: Choice


@router.post("", status_code=HTTPStatus.ACCEPTED, openapi_extra=BODY)
async def add_document(
    request: Request, caller: Writer, services: Services, language: Language, idempotency_key: IdempotencyKey = None
) -> Document:
    """Adds a file, a text or a page; ask for it by its id until its status is `ready`. Where the base has a file of
    this name with other content it becomes `choosing`: `POST …/choice` decides."""
    card = await _received(request, services, caller, language, idempotency_key)
    return _shown(services, card, language)


@router.put("/{document}", status_code=HTTPStatus.ACCEPTED, openapi_extra=BODY)
async def replace_document(
    document: DocumentUuid,
    request: Request,
    caller: Writer,
    services: Services,
    language: Language,
    idempotency_key: IdempotencyKey = None,
) -> Document:
    """A new version, with an id of its own: it takes the place of the document once it is read, under either id."""
    card = await _received(request, services, caller, language, idempotency_key, replaces=document)
    return _shown(services, card, language)


@router.get("")
async def list_documents(
    caller: Reader,
    services: Services,
    language: Language,
    limit: Annotated[int, Query(ge=1, le=MOST_DOCUMENTS)] = 50,
    offset: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
) -> list[Document]:
    """The newest first."""
    cards = await services.stores.library.documents(caller.base, limit=limit, offset=offset)
    return [_shown(services, card, language) for card in cards]


@router.get("/{document}")
async def show_document(document: DocumentUuid, caller: Reader, services: Services, language: Language) -> Document:
    """One document, in any state."""
    return _shown(services, await _card(services, caller.base, document), language)


@router.get("/{document}/content")
async def show_content(document: DocumentUuid, caller: Reader, services: Services) -> Content:
    """Its text as it was read; empty while it is not."""
    card = await _card(services, caller.base, document)
    blocks = await services.stores.text.blocks(caller.base, document)
    return Content(id=document, title=card.title, text="\n\n".join(block.text for block in blocks))


@router.get("/{document}/original", response_class=StreamingResponse, responses=BYTES)
async def show_original(document: DocumentUuid, caller: Reader, services: Services) -> StreamingResponse:
    """The file as it came over HTTP; other documents have none here. It is never shown as a page of this site."""
    card = await _card(services, caller.base, document)
    if card.kept_file is None:
        raise Problem(HTTPStatus.NOT_FOUND, reason="no-original")
    pieces = services.storage.read(caller.base, card.kept_file)
    try:
        first = await anext(pieces, b"")
    except SourceError as error:
        raise Problem(HTTPStatus.NOT_FOUND, reason="no-original") from error
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(card.source_identifier, safe='')}",
        "Content-Length": str(card.size_bytes),
        "X-Content-Type-Options": "nosniff",
    }

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    return StreamingResponse(whole(), media_type="application/octet-stream", headers=headers)


@router.post("/{document}/choice", status_code=HTTPStatus.NO_CONTENT)
async def choose(document: DocumentUuid, asked: Choosing, caller: Writer, services: Services) -> None:
    """Decides about a document that is `choosing`: it replaces the other one, stays beside it, or is skipped."""
    if not await services.stores.library.choose(caller.base, document, asked.choice):
        raise Problem(HTTPStatus.NOT_FOUND)
    services.wake()


@router.delete("/{document}", status_code=HTTPStatus.NO_CONTENT)
async def delete_document(document: DocumentUuid, caller: Writer, services: Services) -> None:
    """Removes it with all that is stored of it."""
    if not await services.stores.library.delete(caller.base, document):
        raise Problem(HTTPStatus.NOT_FOUND)


async def added(
    services: ApiServices,
    caller: Caller,
    source: Source,
    language: str,
    *,
    replaces: DocumentId | None = None,
    once: Once | None = None,
) -> DocumentCard:
    """The document that a worker will read. Raises Problem 404, 409, or 429 when too many of the caller's wait, or the
    token has used up its day."""
    if until := await services.token_spent_until(caller):  # what runs at that moment still ends
        raise spent(until)
    batch = Batch(base_id=caller.base, user_id=caller.token, language=language, sources=(source,))
    try:
        found = await services.stores.intake.add(batch, token=caller.token, replaces=replaces, once=once)
    except TooManyWaiting as error:
        raise Problem(HTTPStatus.TOO_MANY_REQUESTS, retry_s=WAITING_S) from error
    if isinstance(found, Refusal):
        status, reason = _REFUSED[found]
        raise Problem(status, reason=reason)
    services.wake()
    return found


async def _received(
    request: Request,
    services: ApiServices,
    caller: Caller,
    language: str,
    key: str | None,
    *,
    replaces: DocumentId | None = None,
) -> DocumentCard:
    """The document of a request: a form with a file, or JSON. A form is never whole in memory, and its file is gone
    with the request unless it was kept."""
    place = f"{request.method} {replaces or ''}"
    if not request.headers.get("content-type", "").lower().startswith(MULTIPART):
        body = await request.body()
        try:
            sent = NewDocument.model_validate_json(body)
            source = sent.source()
        except ValidationError as error:
            wrong = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
            raise RequestValidationError(wrong) from error
        once = _once(key, place, sent.model_dump_json())  # however the client orders the fields of the same document
        return await added(services, caller, source, language, replaces=replaces, once=once)
    declared = int(request.headers.get("content-length", "0"))  # HTTP/1.1: a number, or there is none
    if declared > services.file_bytes + FORM_BYTES:
        raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    await _count_bytes(services, caller, declared)  # before any of it is read
    async with request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=FIELD_BYTES) as form:
        upload = await _uploaded(form, most_bytes=services.file_bytes)
        await _count_bytes(services, caller, 0 if declared else upload.size_bytes)
        once = _once(key, place, upload.sha256, upload.name, *chain(*sorted(upload.fields.items())))
        source = await _stored(services, caller, upload)
        return await added(services, caller, source, language, replaces=replaces, once=once)


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file of a request, whatever it is."""

    content: BinaryIO
    name: str
    media_type: str | None  # as the sender claims
    size_bytes: int
    sha256: str  # hex
    fields: Mapping[str, str]  # the text fields beside it


async def _uploaded(form: FormData, *, most_bytes: int) -> Upload:
    """Raises Problem: 422 for a body without one file or that is no form, 413 for a larger file."""
    file = next((value for value in form.values() if isinstance(value, UploadFile)), None)
    name = one_line((file.filename or "").replace("\\", "/").rpartition("/")[2]) if file else ""
    if file is None or not name:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY)
    size_bytes = file.size or 0
    if size_bytes > most_bytes:
        raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    content: Any = file.file  # typed as BinaryIO, which does not tell of `readinto`
    digest = await asyncio.to_thread(hashlib.file_digest, content, "sha256")
    await file.seek(0)
    return Upload(
        content=content,
        name=name[:NAME_CHARACTERS],
        media_type=(file.content_type or "").partition(";")[0].strip() or None,
        size_bytes=size_bytes,
        sha256=digest.hexdigest(),
        fields={name: value for name, value in form.items() if isinstance(value, str)},
    )


async def _count_bytes(services: ApiServices, caller: Caller, size_bytes: int) -> None:
    """Raises Problem 429 once the token has sent too much today."""
    kept, per_day = services.stores.kept_files, services.bytes_per_day
    wait_s = await kept.count_bytes(caller.base, caller.token, size_bytes, per_day=per_day)
    if wait_s is not None:
        raise Problem(HTTPStatus.TOO_MANY_REQUESTS, reason="too-many-bytes", retry_s=max(1, wait_s))


async def _stored(services: ApiServices, caller: Caller, upload: Upload) -> Source:
    """The upload as a source, its file kept. Raises Problem 413 or 422, ServiceError."""
    if upload.fields.keys() - {"title"} or upload.size_bytes == 0:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY)
    kept = await services.stores.kept_files.keep(
        caller.base, sha256=upload.sha256, size_bytes=upload.size_bytes, most_bytes=services.kept_bytes
    )
    if kept is None:
        raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason="no-room")
    await services.storage.put(caller.base, kept, upload.content)
    kind = (upload.media_type or "").partition("/")[0]
    return Source(
        type=SourceType.FILE,
        identifier=upload.name,
        title=one_line(upload.fields.get("title"))[:TITLE_CHARACTERS] or None,
        kept_file=kept,
        size_bytes=upload.size_bytes,
        media_type=upload.media_type,
        lane=Lane.LONG if kind in ("audio", "video") else Lane.QUICK,
    )


def _once(key: str | None, *sent: str) -> Once | None:
    return Once(key=key, digest=hashlib.sha256("\0".join(sent).encode()).hexdigest()) if key else None


async def _card(services: ApiServices, base: BaseId, document: DocumentId) -> DocumentCard:
    card = await services.stores.library.card(base, document)
    if card is None:
        raise Problem(HTTPStatus.NOT_FOUND)
    return card


def _shown(services: ApiServices, card: DocumentCard, language: str) -> Document:
    other = card.error_params.get("document_id")
    return Document.model_validate(
        {
            **vars(card),
            "type": card.source_type,
            "identifier": card.source_identifier,
            "passages": card.chunks,
            "has_original": card.kept_file is not None,
            "duplicate_of": other if card.status is DocumentStatus.DUPLICATE else None,
            "namesake": other if card.status is DocumentStatus.CHOOSING else None,
            "error": services.failure(card, language) if card.status is DocumentStatus.FAILED else None,
        }
    )
