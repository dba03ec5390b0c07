"""Selects the documents that are read for a question, and their order.

In: a question, perhaps names, and whether all documents are wanted. Out: cards of documents that are ready: first those
whose passages a search finds, then the rest, newest first. It reads no texts and asks no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from domain.documents import DocumentCard, DocumentStatus, known_as
from domain.ids import BaseId, DocumentId
from rag.execution.tools import StepFailed
from rag.ports import DocumentCatalogue
from rag.records import RankedPassage, SearchFilter
from rag.words import share, stems

PAGE = 900  # documents per call; both transports refuse 1000 rows
ENOUGH_OF_NAME = 0.5  # share of a given name's words that a document's name must have

log = structlog.get_logger()


class PassageFinder(Protocol):
    """The part of `rag.retrieval.search.Retrieval` that is used here."""

    async def find(self, base: BaseId, question: str, *, only: SearchFilter | None = None) -> tuple[RankedPassage, ...]:
        """The best passages, best first."""
        ...


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Documents in the order in which they are read."""

    cards: tuple[DocumentCard, ...]
    chosen_from: int = 0  # number of documents in the base, where a search has left some out


class Selection:
    """Selects by the catalogue and the index of one base at a time."""

    def __init__(self, catalogue: DocumentCatalogue, finder: PassageFinder) -> None:
        self._catalogue = catalogue
        self._finder = finder

    async def choose(
        self, base: BaseId, question: str, *, names: Sequence[str] | None, exhaustive: bool, one_each: bool = False
    ) -> Chosen:
        """With `names` only those documents (`one_each`: one document per name). Without: all of the base if
        `exhaustive`, else those that a search finds. Raises DatabaseAway, and StepFailed when no document has such a
        name."""
        cards = await ready_documents(self._catalogue, base)
        if names:
            return Chosen(cards=_known(named(names, cards, one_each=one_each)))
        found = await self._finder.find(base, question)
        named_by_search = {each.passage.document_id for each in found}
        wanted = in_order_of_worth([card for card in cards if exhaustive or card.id in named_by_search], found)
        return Chosen(cards=wanted, chosen_from=len(cards) if len(wanted) < len(cards) else 0)


def in_order_of_worth(cards: Sequence[DocumentCard], found: Sequence[RankedPassage]) -> tuple[DocumentCard, ...]:
    """First the documents of the passages that a search has `found`, best first; then the rest in their order."""
    documents = dict.fromkeys(each.passage.document_id for each in found)
    order = {document: place for place, document in enumerate(documents)}
    return tuple(sorted(cards, key=lambda card: order.get(card.id, len(order))))


async def ready_documents(
    catalogue: DocumentCatalogue, base: BaseId, *, name_contains: str | None = None
) -> list[DocumentCard]:
    """All READY documents of a base, or those with that part in their name, newest first. Raises DatabaseAway."""
    cards: list[DocumentCard] = []
    while True:
        page = await catalogue.documents(base, limit=PAGE, offset=len(cards), name_contains=name_contains)
        cards += page
        if len(page) < PAGE:
            return [card for card in cards if card.status is DocumentStatus.READY]


def named(names: Sequence[str], cards: Sequence[DocumentCard], *, one_each: bool = False) -> tuple[DocumentCard, ...]:
    """For each name: the documents that match it exactly, else those with all of its words, else the newest of those
    with most of them; each document once. `one_each`: of several for a name, the one with the fewest other words."""
    found: dict[DocumentId, DocumentCard] = {}
    for name in names:
        best = _best(name, cards)
        best = sorted(best, key=lambda card: len(_words(card)))[:1] if one_each else best
        if not best:
            log.info("selection.no_such_document", known=len(cards))
        found.update({card.id: card for card in best})
    return tuple(found.values())


def card_name(card: DocumentCard) -> str:
    """The document's name as the person knows it."""
    return known_as(card.source_type, card.title, card.source_identifier)


def _best(name: str, cards: Sequence[DocumentCard]) -> list[DocumentCard]:
    if exact := [card for card in cards if name.casefold() in (card_name(card).casefold(), card.title.casefold())]:
        return exact
    asked = stems(name)
    shares = [share(asked, _words(card)) for card in cards]
    if not shares or max(shares) < ENOUGH_OF_NAME:
        return []
    if max(shares) == 1.0:
        return [card for card, held in zip(cards, shares, strict=True) if held == 1.0]
    return [cards[shares.index(max(shares))]]


def _words(card: DocumentCard) -> frozenset[str]:
    return stems(f"{card_name(card)} {card.title} {card.source_identifier}")


def _known(cards: tuple[DocumentCard, ...]) -> tuple[DocumentCard, ...]:
    if not cards:
        raise StepFailed("no document goes by these names")
    return cards
