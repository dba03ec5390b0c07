"""Requests and replies for the extraction of rows from documents.

In: nothing. Out: pydantic records of the request and the reply; `prompts/rows.md` explains the fields to the model.
"""

from pydantic import Field

from rag.iterative.wire import WirePart


class NamedChunk(WirePart):
    """A piece of a document, with the document's name: a batch may hold several short documents."""

    chunk_id: str
    document: str
    chunk_text: str


class RowsRequest(WirePart):
    """What goes to the model."""

    row: str
    columns: tuple[str, ...]
    condition: str
    question: str
    document_context: tuple[NamedChunk, ...]


class ReadRow(WirePart):
    """A row as the model has read it out."""

    chunk_id: str
    cells: tuple[str, ...]
    quote: str


class RowsReply(WirePart):
    """What comes back. The number comes first: it is said before the rows are written, so that they can be held against
    it."""

    total_seen: int = Field(ge=0)
    rows: tuple[ReadRow, ...]
