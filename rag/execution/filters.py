"""What a plan narrows a search by: documents by name, senders, authors, dates.

In: names and days as a plan gives them, and who asks. Out: a `SearchFilter`, and remarks where a name fits no document
letter for letter: it is then tried by likeness («J&J» for Johnson & Johnson, «АМЕРИКАНЭКСПРЕСС» for AMERICANEXPRESS),
and a name that fits nothing is said. In a group several people send and ask; the asker is matched by user id, because
names change and two people may have the same.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, Field

from domain.documents import DocumentCard, known_as
from domain.ids import BaseId, DocumentId, UserId
from rag.extraction.documents import named, ready_documents
from rag.ports import DocumentCatalogue
from rag.retrieval.spelling import other_spellings
from rag.words import folded

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
            called = ", ".join(f"«{_name(card)}»" for card in cards)
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


def _name(card: DocumentCard) -> str:
    return known_as(card.source_type, card.title, card.source_identifier)


def _like(name: str, cards: Sequence[DocumentCard]) -> list[DocumentCard]:
    """By words, then by initials and by sound; a few of them at most."""
    by_words = named([name], cards)
    return list(by_words or (card for card in cards if is_like(name, f"{_name(card)} {card.title}")))[:MOST_LIKE]


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
