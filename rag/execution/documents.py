"""Which documents a plan means, which are read for a question, and their texts in parts that a prompt can hold.

In: a question, perhaps names; a budget in tokens. Out: cards of documents that are ready: first those whose passages a
search finds, then the rest, newest first; and their passages in order, in parts. A passage that is too long for a part
is cut into pieces. Nothing is left out. It asks no model.

For a search, names and days as a plan gives them become the documents meant, with remarks where a name fits no document
letter for letter: it is then tried by likeness («J&J» for Johnson & Johnson, «АМЕРИКАНЭКСПРЕСС» for AMERICANEXPRESS),
and a name that fits nothing is said. In a group several people send and ask; the asker is matched by user id, because
names change and two people may have the same.
"""

import json
import re
from calendar import monthrange
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated
from uuid import UUID

import structlog
from pydantic import BeforeValidator, Field

from domain.documents import DocumentCard, DocumentStatus
from domain.ids import BaseId, DocumentId, UserId
from prompts.loader import Prompts
from prompts.wordings import Wordings
from rag.execution.tools import StepFailed, Tool
from rag.planning.tool import Arguments
from rag.ports import ChatModel, DocumentCatalogue, DocumentPassages, ReadingMemory
from rag.records import Passage, RankedPassage
from rag.retrieval.search import Retrieval
from rag.retrieval.spelling import other_spellings
from rag.words import estimate_tokens, folded, share, stems

PAGE = 900  # documents per call; both transports refuse 1000 rows
MAX_NAMED = 50  # documents that one question names
DocumentName = Annotated[str, Field(min_length=1, max_length=300)]
ENOUGH_OF_NAME = 0.5  # share of a given name's words that a document's name must have

log = structlog.get_logger()
PASSAGES_PAGE = 400  # passages per call; both transports refuse 1000 rows
FEWEST_TOKENS = 50  # minimum budget of a part: smaller pieces cannot be understood
FRAME_TOKENS = 12  # for a chunk's id (up to ten digits) and punctuation


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Documents in the order in which they are read."""

    cards: tuple[DocumentCard, ...]
    chosen_from: int = 0  # number of documents in the base, where a search has left some out


async def choose(
    catalogue: DocumentCatalogue,
    finder: Retrieval,
    base: BaseId,
    question: str,
    *,
    names: Sequence[str] | None,
    exhaustive: bool,
    one_each: bool = False,
) -> Chosen:
    """With `names` only those documents (`one_each`: one document per name). Without: all of the base if
    `exhaustive`, else those that a search finds. Raises DatabaseAway, and StepFailed when no document has such a
    name."""
    cards = await ready_documents(catalogue, base)
    if names:
        if known := named(names, cards, one_each=one_each):
            return Chosen(cards=known)
        raise StepFailed("no document goes by these names")
    found = await finder.find(base, question)
    named_by_search = {each.passage.document_id for each in found}
    wanted = in_order_of_worth([card for card in cards if exhaustive or card.id in named_by_search], found)
    return Chosen(cards=wanted, chosen_from=len(cards) if len(wanted) < len(cards) else 0)


class WholeDocumentsTool(Tool[Arguments]):
    """A tool that reads whole documents with a model."""

    is_slow = True

    def __init__(
        self,
        catalogue: DocumentCatalogue,
        passages: DocumentPassages,
        finder: Retrieval,
        model: ChatModel,
        prompts: Prompts,
        wordings: Mapping[str, Wordings],
        *,
        prompt_tokens: int,
        memory: ReadingMemory | None = None,
    ) -> None:
        """`prompt_tokens`: limit for the prompt of one call. `memory`: a cache of replies for the same request at
        another time."""
        self.catalogue = catalogue
        self.finder = finder
        self.passages = passages
        self.model = model
        self.prompts = prompts
        self.wordings = wordings
        self.prompt_tokens = prompt_tokens
        self.memory = memory


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


def _best(name: str, cards: Sequence[DocumentCard]) -> list[DocumentCard]:
    called = name.casefold()
    if exact := [card for card in cards if called in (card.id, card.name.casefold(), card.title.casefold())]:
        return exact
    asked = stems(name)
    shares = [share(asked, _words(card)) for card in cards]
    if not shares or max(shares) < ENOUGH_OF_NAME:
        return []
    if max(shares) == 1.0:
        return [card for card, held in zip(cards, shares, strict=True) if held == 1.0]
    return [cards[shares.index(max(shares))]]


def _words(card: DocumentCard) -> frozenset[str]:
    return stems(f"{card.name} {card.title} {card.source_identifier}")


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


SCANNED = 900  # documents with a matching name that one search is limited to
MOST_LIKE = 5  # documents that are taken for a name by likeness
LONGEST_NAME = 4  # words that may be written as one
FEWEST_INITIALS = 2
ASKER = "asker"  # what the tools' texts tell the planner to write; it may write the others nevertheless

_SELF = frozenset({ASKER, "me", "myself", "i", "я", "мной"})
_WORD = re.compile(r"[^\W_]+")
_MONTH = re.compile(r"(\d{4})(?:-(\d{1,2}))?")


def _whole(value: object, *, is_end: bool) -> object:
    """The first or last day of a month or year that is given without a day."""
    part = _MONTH.fullmatch(value.strip()) if isinstance(value, str) else None
    if part is None:
        return value
    month = int(part[2] or (12 if is_end else 1))
    if not 1 <= month <= 12:
        return value
    return date(int(part[1]), month, monthrange(int(part[1]), month)[1] if is_end else 1)


Since = Annotated[date, BeforeValidator(lambda value: _whole(value, is_end=False))]
Until = Annotated[date, Field(lt=date.max), BeforeValidator(lambda value: _whole(value, is_end=True))]
"""Days; the day after `Until` must exist. «2025-05» is the whole month."""


@dataclass(frozen=True, kw_only=True)
class Named:
    """The documents behind names; none where no name fits."""

    documents: tuple[DocumentId, ...] = ()
    remarks: tuple[str, ...] = ()  # for the model that answers


async def documents_named(catalogue: DocumentCatalogue, base: BaseId, names: Sequence[str]) -> Named:
    """Each name as an id, else as a part of a name, else by likeness. Raises DatabaseAway."""
    found: dict[DocumentId, None] = {}
    remarks: list[str] = []
    for name in names:
        if _is_id(name):
            found[DocumentId(name)] = None
            continue
        cards = await catalogue.documents(base, limit=SCANNED, name_contains=name)
        if not cards:
            cards = _like(name, await ready_documents(catalogue, base))
            called = ", ".join(f"«{card.name}»" for card in cards)
            taken = f"those like it were searched: {called}" if cards else "this limit was left out"
            remarks.append(f"No document is called «{name}»; {taken}.")
        found.update(dict.fromkeys(card.id for card in cards))
    return Named(documents=tuple(found), remarks=tuple(remarks))


def is_asker(sender: str) -> bool:
    """Whether the asker is meant."""
    return sender.strip().casefold() in _SELF


def is_sent_by(card: DocumentCard, sender: str | None, *, asker: UserId) -> bool:
    """True for every document if `sender` is None. Part of a name is enough; case and ё/е do not matter."""
    if sender is None:
        return True
    if is_asker(sender):
        return card.sent_by == asker
    return folded(sender) in folded(card.sender or "")


def is_by(card: DocumentCard, author: str | None) -> bool:
    """True for every document if `author` is None. A document without an author counts as its sender's."""
    return author is None or folded(author) in folded(card.author or card.sender or "")


def _is_id(name: str) -> bool:
    try:
        UUID(name)
    except ValueError:
        return False
    return True


def _like(name: str, cards: Sequence[DocumentCard]) -> list[DocumentCard]:
    """By words, then by initials and by sound; a few of them at most."""
    by_words = named([name], cards)
    return list(by_words or (card for card in cards if is_like(name, f"{card.name} {card.title}")))[:MOST_LIKE]


def is_like(name: str, full: str) -> bool:
    """Whether the name is made of the initials of the full one's words, or sounds like words of it written as one."""
    sought = "".join(_WORD.findall(folded(name)))
    if not sought:
        return False
    patterns = [re.compile(each.pattern) for each in other_spellings([sought], {sought})]
    return any(
        sought in (together, initials) or any(pattern.search(together) for pattern in patterns)
        for together, initials in _runs(full)
    )


def _runs(full: str) -> Iterator[tuple[str, str]]:
    """Neighbouring words written together, and their initials where there are several."""
    words = _WORD.findall(folded(full))
    for start in range(len(words)):
        for length in range(1, min(LONGEST_NAME, len(words) - start) + 1):
            run = words[start : start + length]
            yield "".join(run), "".join(word[0] for word in run) if length >= FEWEST_INITIALS else ""
