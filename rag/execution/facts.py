"""The results of tools: seed 4's FactsPayload (section 7.3) as frozen records.

In: nothing. Out: `Fact`s with the passage or document that each comes from, groups of them, and how much of the
question they cover. `to_json` gives the seed's own shape, for logs and `baza ask --json`. Merging is in `merging`.
"""

from dataclasses import dataclass
from enum import StrEnum

from domain.ids import DocumentId
from domain.locator import JsonValue
from rag.records import Conflict, DocumentsRead, FactTable, RankedPassage


class FactKind(StrEnum):
    """What a fact is; the renderer and the prompt word it by this."""

    PASSAGE = "passage"  # a piece of a document, word for word
    STATEMENT = "statement"  # something known about an entity, from the graph
    DOCUMENT = "document"  # a document of the base: its name, kind, date
    VALUE = "value"  # a row or number that code has computed
    DISAGREEMENT = "disagreement"  # one side of what documents disagree about


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing found. `passage` is what a citation shows; without one the fact has no source block."""

    kind: FactKind
    text: str
    title: str = ""  # what the fact is about: an entity's or a document's name; facts are grouped by it
    aspect: str = ""  # what the text says about it, where the text alone is unclear («Python»: a technology it uses)
    passage: RankedPassage | None = None
    document: DocumentId | None = None
    fields: tuple[tuple[str, str], ...] = ()  # column -> value, where facts of one kind make rows of a table
    item: str = ""  # key shared by facts that are one item: a change between two documents, the sides of a disagreement

    @property
    def is_item(self) -> bool:
        """False for a number about rows («Всего (договор): 24») and for a disagreement: limits do not count them."""
        is_number = self.kind is FactKind.VALUE and self.passage is None and not self.fields
        return not is_number and self.kind is not FactKind.DISAGREEMENT


@dataclass(frozen=True, kw_only=True)
class FactGroup:
    """Facts under one heading."""

    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What an analysis of the facts suggests to do next (seed 3, "Адаптация плана")."""

    enough: bool = False  # the question can be answered from the facts
    queries: tuple[str, ...] = ()  # otherwise: what to search for
    missing: tuple[str, ...] = ()  # what the facts do not say, in a few words each


@dataclass(frozen=True, kw_only=True)
class FactsPayload:
    """The result of one tool, or of all of them together."""

    facts: tuple[Fact, ...] = ()
    coverage: float = 0.0  # 0 to 1: how much of the question the facts answer, as far as code can tell
    left_out: int = 0  # items found beyond the limits
    documents: DocumentsRead | None = None  # when documents were read one by one
    table: FactTable | None = None
    conflicts: tuple[Conflict, ...] = ()
    advice: Advice | None = None  # what to do next, from an analysis step
    remarks: tuple[str, ...] = ()  # for the model that answers: what was looked for otherwise than asked, or not at all

    @property
    def found(self) -> bool:
        """Whether there is anything to answer from."""
        return bool(self.facts)

    @property
    def groups(self) -> tuple[FactGroup, ...]:
        """Facts grouped by title, in order of first appearance."""
        titles = dict.fromkeys(fact.title for fact in self.facts)
        return tuple(
            FactGroup(title=title, facts=tuple(fact for fact in self.facts if fact.title == title)) for title in titles
        )

    def to_json(self) -> dict[str, JsonValue]:
        """Seed 4, section 7.3."""
        items: list[JsonValue] = [_item(fact) for fact in self.facts]
        labels = {str(fact.document): fact.title for fact in self.facts if fact.document is not None}
        sources: list[JsonValue] = [{"id": key, "label": label} for key, label in labels.items()]
        groups: list[JsonValue] = [
            {"title": group.title, "items": [_item(fact) for fact in group.facts]} for group in self.groups
        ]
        return {
            "found": self.found,
            "items": items,
            "groups": groups,
            "meta": {"coverage": self.coverage, "left_out": self.left_out},
            "sources": sources,
        }


def _item(fact: Fact) -> dict[str, JsonValue]:
    item: dict[str, JsonValue] = {"type": fact.kind.value, "text": fact.text, "title": fact.title}
    if fact.document is not None:
        item["source"] = {"id": str(fact.document), "title": fact.title}
    return item
