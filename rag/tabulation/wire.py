"""What a model is asked and answers when rows are read out of documents.

In: nothing. Out: pydantic records of the request and the reply; `prompts/rows.md` explains the fields to the model.
"""

from rag.iterative.wire import WirePart


class NamedChunk(WirePart):
    """A piece of a document, which is named: a batch may hold several short documents."""

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
    """What comes back."""

    rows: tuple[ReadRow, ...]
