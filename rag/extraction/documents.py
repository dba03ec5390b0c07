"""Which documents are read for a question, in which order, and their texts in parts that a prompt can hold.

In: a question, perhaps names; a budget in tokens. Out: cards of documents that are ready: first those whose passages a
search finds, then the rest, newest first; and their passages in order, in parts. A passage that is too long for a part
is cut into pieces. Nothing is left out. It asks no model.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import structlog

from domain.documents import DocumentCard, DocumentStatus, known_as
from domain.ids import BaseId, DocumentId
from rag.execution.tools import StepFailed
from rag.extraction.evidence import chunk_name
from rag.extraction.wire import Chunk
from rag.ports import DocumentCatalogue, DocumentPassages
from rag.records import Passage, RankedPassage, SearchFilter
from rag.words import estimate_tokens, share, stems

PAGE = 900  # documents per call; both transports refuse 1000 rows
ENOUGH_OF_NAME = 0.5  # share of a given name's words that a document's name must have

log = structlog.get_logger()
PASSAGES_PAGE = 400  # passages per call; both transports refuse 1000 rows
FEWEST_TOKENS = 50  # minimum budget of a part: smaller pieces cannot be understood
FRAME_TOKENS = 12  # for a chunk's id (up to ten digits) and punctuation


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
    catalogue: DocumentCatalogue, base: BaseId, *, name_contains: str | None = None, only: Sequence[DocumentId] = ()
) -> list[DocumentCard]:
    """All READY documents of a base (of `only`, where it is given), or those with that part in their name, newest
    first. Raises DatabaseAway."""
    cards: list[DocumentCard] = []
    while True:
        page = await catalogue.documents(base, limit=PAGE, offset=len(cards), name_contains=name_contains)
        cards += page
        if len(page) < PAGE:
            ready = (card for card in cards if card.status is DocumentStatus.READY)
            return [card for card in ready if not only or card.id in only]


def named(names: Sequence[str], cards: Sequence[DocumentCard], *, one_each: bool = False) -> tuple[DocumentCard, ...]:
    """For each name or id: the documents that match it exactly, else those with all of its words, else the newest of
    those with most of them; each once. `one_each`: of several for a name, the one with the fewest other words."""
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
    called = name.casefold()
    if exact := [card for card in cards if called in (card.id, card_name(card).casefold(), card.title.casefold())]:
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


async def pages_of(
    passages: DocumentPassages, base: BaseId, document: DocumentId
) -> AsyncIterator[tuple[Passage, ...]]:
    """Raises DatabaseAway."""
    after = -1
    while page := await passages.read(base, document, after=after, limit=PASSAGES_PAGE):
        yield tuple(page)
        if len(page) < PASSAGES_PAGE:
            return
        after = page[-1].ordinal


def chunk_of(passage: Passage) -> Chunk:
    """The passage as it goes into a prompt."""
    return Chunk(chunk_id=chunk_name(passage), chunk_text=passage.text)


def tokens_of(passage: Passage) -> int:
    """Tokens of the passage in a prompt, as a JSON string."""
    return estimate_tokens(json.dumps(passage.text, ensure_ascii=False)) + FRAME_TOKENS


def parts_of(passages: Sequence[Passage], *, tokens: int, each: int = 0) -> Iterator[tuple[Passage, ...]]:
    """Parts of at most `tokens`, filled greedily; `each` is the extra cost of a passage in the prompt."""
    part: list[Passage] = []
    left = allowed = max(tokens, FEWEST_TOKENS + each)
    for piece in (piece for passage in passages for piece in _pieces(passage, allowed - each)):
        size = tokens_of(piece) + each
        if part and size > left:
            yield tuple(part)
            part, left = [], allowed
        part.append(piece)
        left -= size
    if part:
        yield tuple(part)


def overlapping(parts: Iterable[tuple[Passage, ...]], *, tokens: int, each: int = 0) -> Iterator[tuple[Passage, ...]]:
    """Each part, preceded by up to `tokens` of the end of the part before if that is of the same document: whatever the
    cut goes through is then whole in one of the two. Pieces of one passage are joined again."""
    before: tuple[Passage, ...] = ()
    for part in parts:
        is_cut = bool(before) and before[-1].document_id == part[0].document_id
        end = _end_of(before, part[0].document_id, tokens, each) if is_cut else ()
        if end and end[-1].chunk_id == part[0].chunk_id:
            whole = replace(part[0], text=end[-1].text + part[0].text)
            yield (*end[:-1], whole, *part[1:])
        else:
            yield (*end, *part)
        before = part


def _end_of(part: Sequence[Passage], document: DocumentId, tokens: int, each: int) -> tuple[Passage, ...]:
    end: list[Passage] = []
    for passage in reversed(part):
        left = tokens - sum(tokens_of(kept) + each for kept in end) - each
        if passage.document_id != document or left <= FRAME_TOKENS:
            break
        if tokens_of(passage) <= left:
            end.append(passage)
            continue
        if tail := _tail(passage, left):
            end.append(replace(passage, text=tail))
        break
    return tuple(reversed(end))


def _tail(passage: Passage, tokens: int) -> str:
    """The end of the text that fits, from the beginning of a word if possible."""
    text = passage.text
    while text and (size := tokens_of(replace(passage, text=text))) > tokens:
        text = text[max(len(text) - len(text) * tokens // size, 1) :]
    between = text.find(" ") + 1
    return text[between:] if 0 < between < len(text) // 2 else text


def _pieces(passage: Passage, tokens: int) -> Iterator[Passage]:
    """The passage, or pieces of its text that fit, cut between words if possible."""
    text = passage.text
    while text and tokens_of(piece := replace(passage, text=text)) > tokens:
        shorter = _cut(piece, tokens)
        yield replace(passage, text=shorter)
        text = text[len(shorter) :]
    if text or not passage.text:
        yield replace(passage, text=text)


def _cut(passage: Passage, tokens: int) -> str:
    """The beginning of the text that fits, at least one character."""
    text = passage.text
    while len(text) > 1 and (size := tokens_of(replace(passage, text=text))) > tokens:
        text = text[: min(max(len(text) * tokens // size, 1), len(text) - 1)]
    between = text.rfind(" ") + 1
    return text[:between] if between > len(text) // 2 else text
