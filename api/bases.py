"""A base: what it holds, and search in it.

In: a caller and perhaps a query. Out: counts, or passages with their scores. The passages are data of the person's
own documents; nothing in them is followed.
"""

import uuid
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from api.access import AnyCaller, Reader, Services
from api.services import ApiServices
from domain.documents import SourceType
from domain.ids import DocumentId
from domain.tokens import Caller
from rag.records import RankedPassage, SearchFilter

MOST_PASSAGES = 50
QUERY_CHARACTERS = 4000

router = APIRouter(prefix="/rags", tags=["bases"])

Text = Annotated[str, Field(min_length=1, max_length=QUERY_CHARACTERS, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
"""Words; PostgreSQL stores no zero character."""
LARGEST = 2**31 - 1


class Strict(BaseModel):
    """A request body: unknown fields are refused, so that a mistyped one is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Base(BaseModel):
    """A base with its counts."""

    id: str
    name: str | None  # None: the base of a chat
    documents: int
    passages: int
    read_only: bool  # with this token


class Filter(Strict):
    """Which documents are searched; what is left out restricts nothing."""

    documents: list[uuid.UUID] = []
    types: list[SourceType] = []
    author: Annotated[str | None, Field(pattern=r"^[^\x00]*$")] = None
    since: datetime | None = None
    before: datetime | None = None

    def to_search(self) -> SearchFilter:
        """The same for the search."""
        return SearchFilter(
            documents=tuple(DocumentId(str(each)) for each in self.documents),
            types=tuple(self.types),
            author=self.author,
            since=self.since,
            before=self.before,
        )


class Search(Strict):
    """A search."""

    query: Text
    limit: int = Field(10, ge=1, le=MOST_PASSAGES)
    filter: Filter | None = None


class FoundPassage(BaseModel):
    """A passage, the best first."""

    document_id: str
    chunk_id: int
    title: str
    type: SourceType
    locator: dict[str, JsonValue]
    text: str
    url: str | None
    score: float  # comparable within one result


@router.get("")
async def list_bases(caller: AnyCaller, services: Services) -> list[Base]:
    """The bases that the token opens: its one base."""
    return [await _base(caller, services)]


@router.get("/{base}")
async def show_base(caller: Reader, services: Services) -> Base:
    """One base with its counts."""
    return await _base(caller, services)


@router.post("/{base}/search")
async def search(asked: Search, caller: Reader, services: Services) -> list[FoundPassage]:
    """Passages that may answer; at most as many as SEARCH_PASSAGES, and `limit` of them."""
    only = asked.filter.to_search() if asked.filter else None
    found = await services.passages.find(caller.base, asked.query, only=only)
    return [_passage(each) for each in found[: asked.limit]]


async def _base(caller: Caller, services: ApiServices) -> Base:
    held = await services.library.count(caller.base)
    return Base(
        id=caller.base,
        name=caller.base_name,
        documents=held.documents,
        passages=held.chunks,
        read_only=caller.is_read_only,
    )


def _passage(ranked: RankedPassage) -> FoundPassage:
    passage = ranked.passage
    return FoundPassage(
        document_id=passage.document_id,
        chunk_id=passage.chunk_id,
        title=passage.title,
        type=passage.source_type,
        locator=passage.locator.to_json(),
        text=passage.text,
        url=passage.locator.url or passage.url,
        score=ranked.score,
    )
