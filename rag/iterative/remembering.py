"""The cache of a request: replies of models to parts of a base's documents (seed 3, caching of step results).

In: a `ReadingMemory`, the request, the text of a part. Out: the cached reply to exactly the same input, and which
documents were read together. A key is a hash of all that decides a reply: the model, the rules, the request and the
texts; if any of it differs, the part is read again. A failure to write to the cache never fails the reading.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self, TypeVar

import structlog
from pydantic import BaseModel, ValidationError

from domain.errors import DatabaseTrouble
from domain.ids import BaseId, DocumentId
from rag.ports import ReadingMemory
from rag.records import KeptReading
from rag.words import folded

_ENDS = " \t\n.?!…"

log = structlog.get_logger()

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Recollection:
    """The cache of one request in one base."""

    base: BaseId
    request: str
    memory: ReadingMemory | None = None
    kept: dict[str, KeptReading] = field(default_factory=dict)  # by key, in order

    @classmethod
    async def of(cls, memory: ReadingMemory | None, base: BaseId, *request: str) -> Self:
        """`request`: the model, the rules, and what was asked for (`wording` normalises a person's or the planner's
        words). Without a memory nothing is cached. Raises DatabaseAway."""
        name = digest(*request)
        kept = await memory.recall(base, name) if memory else []
        return cls(base=base, request=name, memory=memory, kept={each.key: each for each in kept})

    def reply(self, key: str, shape: type[Reply]) -> Reply | None:
        """The cached reply; None when there is none, or it no longer fits `shape`."""
        reading = self.kept.get(key)
        try:
            return shape.model_validate_json(reading.content) if reading else None
        except ValidationError:
            return None

    async def keep(self, key: str, reply: BaseModel, documents: Sequence[DocumentId]) -> None:
        """`documents`: all whose words may be in the reply, in reading order."""
        if self.memory is None:
            return
        reading = KeptReading(key=key, documents=tuple(dict.fromkeys(documents)), content=reply.model_dump_json())
        try:
            await self.memory.keep(self.base, self.request, reading)
        except DatabaseTrouble as trouble:
            log.warning("reading.not_kept", documents=len(reading.documents), reason=trouble.reason)

    def together(self, known: Sequence[DocumentId], *, most: int | None = None) -> list[tuple[DocumentId, ...]]:
        """Sequences of documents that were read together before and are all `known`: the `most` longest, disjoint,
        sorted by their first document. Reading a sequence again in this order hits the cache, whatever documents were
        added since."""
        places, used = {document: place for place, document in enumerate(known)}, set[DocumentId]()
        found: list[tuple[DocumentId, ...]] = []
        for reading in sorted(self.kept.values(), key=lambda each: -len(each.documents)):
            held = reading.documents
            if places.keys() >= set(held) and used.isdisjoint(held):
                found.append(held)
                used.update(held)
        return sorted(found[:most], key=lambda held: places[held[0]])


def wording(text: str) -> str:
    """A request normalised for comparison: case, ё, blanks and the final sign do not matter."""
    return " ".join(folded(text).split()).strip(_ENDS)


def digest(*parts: str) -> str:
    """A hash of the parts, joined with a separator."""
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()
