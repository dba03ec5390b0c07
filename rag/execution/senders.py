"""Who sent or wrote a document, as a question says it: a name, or the one who asks.

In: what a plan says of the sender or author, and whose question it is. Out: whether a document is theirs. In a group
several people send and ask; a person is known by their number, for names change and two people may have the same.
"""

from domain.documents import DocumentCard
from domain.ids import UserId

ASKER = "asker"  # what tools tell the planner to write; the others it may write all the same
_SELF = frozenset({ASKER, "me", "myself", "i", "я", "мной"})


def is_asker(sender: str) -> bool:
    """Whether the one who asks is meant."""
    return sender.strip().casefold() in _SELF


def is_sent_by(card: DocumentCard, sender: str | None, *, asker: UserId) -> bool:
    """By anybody, if nobody is named; a name may be a part of one, in any case, with ё or е."""
    if sender is None:
        return True
    if is_asker(sender):
        return card.sent_by == asker
    return _folded(sender) in _folded(card.sender or "")


def is_by(card: DocumentCard, author: str | None) -> bool:
    """By anybody, if nobody is named; what bears no author is its sender's."""
    return author is None or _folded(author) in _folded(card.author or card.sender or "")


def _folded(name: str) -> str:
    return name.lower().replace("ё", "е")
