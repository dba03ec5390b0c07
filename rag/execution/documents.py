"""Which documents a plan means, which are read for a question, and their texts in parts that a prompt can hold.

In: a question, perhaps names; a budget in tokens. Out: cards of documents that are ready: first those whose passages a
search finds, then the rest, newest first; and their passages in order, in parts, of which nothing is left out. For a
search, names as a plan gives them become the documents meant. It asks no model.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from typing import Annotated

import structlog
from pydantic import BeforeValidator, Field

from domain.documents import DocumentCard, DocumentStatus
from domain.ids import BaseId, DocumentId, UserId
from prompts.loader import Prompts
from prompts.wordings import Wordings
from rag.execution.facts import FactsPayload
from rag.execution.tools import ReplyCache, StepFailed, Tool, ToolContext
from rag.planning.tool import Arguments
from rag.ports import ChatModel, DocumentCatalogue, DocumentPassages, ReadingMemory
from rag.records import DocumentsRead, Passage, RankedPassage
from rag.retrieval.search import Retrieval
from rag.retrieval.spelling import other_spellings
from rag.values import period
from rag.words import estimate_tokens, folded, share, stems

PAGE = 900  # documents per call; both transports refuse 1000 rows
MAX_NAMED = 50  # documents that one question names
DocumentName = Annotated[str, Field(min_length=1, max_length=300)]
ENOUGH_OF_NAME = 0.5  # share of a given name's words that a document's name must have

log = structlog.get_logger()
PASSAGES_PAGE = 400  # passages per call; both transports refuse 1000 rows
FEWEST_TOKENS = 50  # minimum budget of a part: smaller pieces cannot be understood
FRAME_TOKENS = 12  # for a chunk's id (up to ten digits) and punctuation


@dataclass(eq=False)
class WholeDocumentsTool(Tool[Arguments]):
    """A tool that reads whole documents with a model."""

    is_slow = True

    catalogue: DocumentCatalogue
    passages: DocumentPassages
    finder: Retrieval
    model: ChatModel
    prompts: Prompts
    wordings: Mapping[str, Wordings]
    prompt_tokens: int = field(kw_only=True)  # limit for the prompt of one call
    memory: ReadingMemory | None = field(default=None, kw_only=True)  # replies for the same request at another time

    async def choose(
        self, base: BaseId, question: str, *, names: Sequence[str] | None, exhaustive: bool, one_each: bool = False
    ) -> tuple[tuple[DocumentCard, ...], DocumentsRead]:
        """The documents in the order in which they are read, and what to count them by. With `names` only those
        (`one_each`: one document per name). Without: all of the base if `exhaustive`, else those that a search finds.
        Raises DatabaseAway, and StepFailed when no document is named so."""
        cards = await ready_documents(self.catalogue, base)
        if names:
            if known := named(names, cards, one_each=one_each):
                return known, DocumentsRead(read=0, total=len(known))
            raise StepFailed("no document goes by these names")
        found = await self.finder.find(base, question)
        named_by_search = {each.passage.document_id for each in found}
        wanted = in_order_of_worth([card for card in cards if exhaustive or card.id in named_by_search], found)
        chosen_from = len(cards) if len(wanted) < len(cards) else 0
        return wanted, DocumentsRead(read=0, total=len(wanted), chosen_from=chosen_from)


@dataclass(kw_only=True)
class WholeReading:
    """Documents that are being read by several workers, which share its state."""

    context: ToolContext
    cards: tuple[DocumentCard, ...]
    documents: DocumentsRead  # so far, for the stamp under the answer
    cache: ReplyCache

    def count(self, **more: int) -> None:
        """`more` of each number of `documents`."""
        known = self.documents
        self.documents = replace(known, **{name: getattr(known, name) + number for name, number in more.items()})

    def tell(self, so_far: FactsPayload | None) -> None:
        """Reports progress to the person, and keeps the result so far in case the step is cut short."""
        run, step = self.context.run, self.context.step_id
        run.report(step, self.documents.read + self.documents.problems, len(self.cards))
        if so_far is not None:
            run.kept[step] = so_far

    def end(self, event: str, **counted: int) -> None:
        """Raises StepFailed when the model failed at every document."""
        log.info(event, **asdict(self.documents), **counted)
        if self.cards and self.documents.problems == len(self.cards):
            raise StepFailed("the model failed at every document")


def in_order_of_worth(cards: Sequence[DocumentCard], found: Sequence[RankedPassage]) -> tuple[DocumentCard, ...]:
    """First the documents of the passages that a search has `found`, best first; then the rest in their order."""
    order = list(dict.fromkeys(each.passage.document_id for each in found))
    return tuple(sorted(cards, key=lambda card: order.index(card.id) if card.id in order else len(order)))


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
    words = {card.id: stems(f"{card.name} {card.title} {card.source_identifier}") for card in cards}
    found: dict[DocumentId, DocumentCard] = {}
    for name in names:
        called, asked = name.casefold(), stems(name)
        best = [card for card in cards if called in (card.id, card.name.casefold(), card.title.casefold())]
        if not best:
            shares = {card.id: share(asked, words[card.id]) for card in cards}
            most = max(shares.values(), default=0.0)
            best = [card for card in cards if shares[card.id] == most] if most >= ENOUGH_OF_NAME else []
            best = best if most == 1.0 else best[:1]
        if not best:
            log.info("selection.no_such_document", known=len(cards))
        best = sorted(best, key=lambda card: len(words[card.id]))[:1] if one_each else best
        found.update({card.id: card for card in best})
    return tuple(found.values())


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


def tokens_of(passage: Passage) -> int:
    """Tokens of the passage in a prompt, as a JSON string."""
    return estimate_tokens(json.dumps(passage.text, ensure_ascii=False)) + FRAME_TOKENS


def parts_of(passages: Sequence[Passage], *, tokens: int, each: int = 0) -> Iterator[tuple[Passage, ...]]:
    """Parts of at most `tokens`, filled greedily; `each` is the extra cost of a passage in the prompt. A passage that
    is too long for a part is cut into pieces."""
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


def _pieces(passage: Passage, tokens: int) -> Iterator[Passage]:
    """The passage, or pieces of its text that fit, at least a character each; cut between words if possible."""
    text = passage.text
    while tokens_of(replace(passage, text=text)) > tokens and len(text) > 1:
        piece = text
        while len(piece) > 1 and (size := tokens_of(replace(passage, text=piece))) > tokens:
            piece = piece[: min(max(len(piece) * tokens // size, 1), len(piece) - 1)]
        between = piece.rfind(" ") + 1
        piece = piece[:between] if between > len(piece) // 2 else piece
        yield replace(passage, text=piece)
        text = text[len(piece) :]
    yield replace(passage, text=text)


SCANNED = 900  # documents with a matching name that one search is limited to
MOST_LIKE = 5  # documents that are taken for a name by likeness
LONGEST_NAME = 4  # words that may be written as one
ASKER = "asker"  # what the tools' texts tell the planner to write; it may write the others nevertheless

_SELF = frozenset({ASKER, "me", "myself", "i", "я", "мной"})
_WORD = re.compile(r"[^\W_]+")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _whole(value: object, *, is_end: bool) -> object:
    if not isinstance(value, str):
        return value
    if (span := period(value.partition("T")[0])) is None:
        raise ValueError("no day, month or year")
    return span[is_end]


Since = Annotated[date, BeforeValidator(lambda value: _whole(value, is_end=False))]
Until = Annotated[date, Field(lt=date.max), BeforeValidator(lambda value: _whole(value, is_end=True))]
"""Days; the day after `Until` must exist. «2025-05» is the whole month."""


async def documents_named(
    catalogue: DocumentCatalogue, base: BaseId, names: Sequence[str]
) -> tuple[tuple[DocumentId, ...], tuple[str, ...]]:
    """Each name as an id, else as a part of a name, else by likeness, a few of them at most («J&J» for Johnson &
    Johnson, «АМЕРИКАНЭКСПРЕСС» for AMERICANEXPRESS); and remarks for the model that answers. Raises DatabaseAway."""
    found: dict[DocumentId, None] = {}
    remarks: list[str] = []
    for name in names:
        if _ID.fullmatch(name):
            found[DocumentId(name)] = None
            continue
        cards = await catalogue.documents(base, limit=SCANNED, name_contains=name)
        if not cards:
            ready = await ready_documents(catalogue, base)
            alike = named([name], ready) or [card for card in ready if is_like(name, f"{card.name} {card.title}")]
            cards = list(alike[:MOST_LIKE])
            called = ", ".join(f"«{card.name}»" for card in cards)
            taken = f"those like it were searched: {called}" if cards else "this limit was left out"
            remarks.append(f"No document is called «{name}»; {taken}.")
        found.update(dict.fromkeys(card.id for card in cards))
    return tuple(found), tuple(remarks)


def is_asker(sender: str) -> bool:
    """Whether the asker is meant."""
    return sender.strip().casefold() in _SELF


def is_sent_by(card: DocumentCard, sender: str | None, *, asker: UserId) -> bool:
    """True for every document if `sender` is None. Part of a name is enough; case and ё/е do not matter. The asker is
    matched by user id: names change, and two people of a group may have the same."""
    if sender is None:
        return True
    return card.sent_by == asker if is_asker(sender) else folded(sender) in folded(card.sender or "")


def is_by(card: DocumentCard, author: str | None) -> bool:
    """True for every document if `author` is None. A document without an author counts as its sender's."""
    return author is None or folded(author) in folded(card.author or card.sender or "")


def is_like(name: str, full: str) -> bool:
    """Whether the name is made of the initials of neighbouring words, or sounds like such words written as one."""
    sought, words = "".join(_WORD.findall(folded(name))), _WORD.findall(folded(full))
    if not sought:
        return False
    patterns = [re.compile(each.pattern) for each in other_spellings([sought], {sought})]
    runs = [words[at : at + length] for at in range(len(words)) for length in range(1, LONGEST_NAME + 1)]
    return any(
        sought == (together := "".join(run))
        or (len(run) > 1 and sought == "".join(word[0] for word in run))
        or any(pattern.search(together) for pattern in patterns)
        for run in runs
    )
