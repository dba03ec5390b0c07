"""What comes over HTTP to be added, and how that can end.

In: nothing. Out: the key under which a request counts once, why a document is not added, who is told of its end.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.documents import DocumentCard


class Refusal(StrEnum):
    """Why nothing was added."""

    OTHER_CONTENT = "other_content"  # the Idempotency-Key came with other content before
    MISSING = "missing"  # the base has no document that could be replaced
    BEING_READ = "being_read"  # a version of it is, and which is the newer one would be chance


@dataclass(frozen=True, kw_only=True)
class Once:
    """A request that may be repeated: within a day the same key gives the same answer."""

    key: str  # Idempotency-Key
    digest: str  # SHA-256 (hex) of all that was sent with it


Added = DocumentCard | Refusal


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """An address that is told when a document ends."""

    id: str
    url: str
    created_at: datetime
    problem: str | None  # why the last try failed; None: it did not
