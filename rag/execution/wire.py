"""Requests and replies while documents are read: facts (seed 0's JSON, field for field) and rows.

In: nothing. Out: pydantic records; `prompts/iterative*.md` and `prompts/rows.md` explain the fields to the model.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Said = Annotated[str, Field(min_length=1)]


class Certainty(StrEnum):
    """How sure a document makes us of a fact, best first."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


CONTRADICTS = "contradicts"


class WirePart(BaseModel):
    """Frozen; an unknown field is an error that the model is shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Chunk(WirePart):
    """A piece of the document that is being read."""

    chunk_id: str
    chunk_text: str


class NumberedFact(WirePart):
    """A fact that is known by its id."""

    id: str
    fact: Said
    certainty: Certainty
    reasoning: str


class NewFact(WirePart):
    """A fact that this document adds."""

    fact: Said
    certainty: Certainty
    reasoning: str


class UpdatedFact(WirePart):
    """A known fact that this document words better, makes surer or less sure, or contradicts."""

    id: str
    fact: Said
    certainty: Literal[Certainty.HIGH, Certainty.MEDIUM, Certainty.LOW, "contradicts"]
    reasoning: str


class IterationRequest(WirePart):
    """What goes to the model with each part of a document."""

    task: str
    question: str
    document_context: tuple[Chunk, ...]
    previous_facts: tuple[NumberedFact, ...] = ()
    previous_answer: str = ""
    dialog_history: str = ""


class IterationReply(WirePart):
    """What comes back."""

    answer: str
    reasoning: str
    new_facts: tuple[NewFact, ...]
    updated_facts: tuple[UpdatedFact, ...]
    can_answer: bool


class SynthesisRequest(WirePart):
    """The request when all documents are read ("Финальная агрегация"). Facts that were contradicted within a group are
    no longer among the facts; `contradictions` tells them."""

    question: str
    previous_answer: str
    facts: tuple[NumberedFact, ...]
    contradictions: tuple[str, ...] = ()


class SynthesisReply(WirePart):
    """The whole answer, and the facts that are left of all. Groups that were read side by side know nothing of each
    other: what of the one contradicts the other is said here, as it is for a document (`updated_facts`)."""

    answer: str
    reasoning: str
    facts: tuple[NumberedFact, ...]
    updated_facts: tuple[UpdatedFact, ...] = ()


class NamedChunk(WirePart):
    """A piece of a document, with the document's name: several short documents share a call."""

    chunk_id: str
    document: str
    chunk_text: str


class RowsRequest(WirePart):
    """The request for the rows of a part. It holds neither the question nor a condition: the model extracts every row,
    and code filters."""

    row: str
    columns: tuple[str, ...]
    document_context: tuple[NamedChunk, ...]


class Standing(StrEnum):
    """How a document stands to the thing of a row; it decides whose value counts."""

    OWN = "own"  # the document is about this very thing
    AMENDS = "amends"  # it changes what another document says of the thing
    MENTIONS = "mentions"  # it only tells of the thing
    DRAFT = "draft"  # it is about this very thing, and says of itself that it is not in force


class ReadRow(WirePart):
    """A row as the model has read it out."""

    chunk_id: str
    cells: tuple[str, ...]
    quote: str
    standing: Standing = Standing.OWN


class RowsReply(WirePart):
    """What comes back. The number comes first: it is said before the rows are written, so that they can be held against
    it."""

    total_seen: int = Field(ge=0)
    rows: tuple[ReadRow, ...]
