"""Matches a document's sender or author with what a question says: a name, or the asker.

In: the sender or author in a plan, and who asks. Out: whether a document is theirs. In a group several people send and
ask; the asker is matched by user id, because names change and two people may have the same.
"""

from domain.documents import DocumentCard
from domain.ids import UserId

ASKER = "asker"  # what the tools' texts tell the planner to write; it may write the others nevertheless
_SELF = frozenset({ASKER, "me", "myself", "i", "я", "мной"})


def is_asker(sender: str) -> bool:
    """Whether the asker is meant."""
    return sender.strip().casefold() in _SELF


def is_sent_by(card: DocumentCard, sender: str | None, *, asker: UserId) -> bool:
    """True for every document if `sender` is None. Part of a name is enough; case and ё/е do not matter."""
    if sender is None:
        return True
    if is_asker(sender):
        return card.sent_by == asker
    return _folded(sender) in _folded(card.sender or "")


def is_by(card: DocumentCard, author: str | None) -> bool:
    """True for every document if `author` is None. A document without an author counts as its sender's."""
    return author is None or _folded(author) in _folded(card.author or card.sender or "")


def _folded(name: str) -> str:
    return name.lower().replace("ё", "е")
