"""Calls of a model for one step: within the turn's limits, retried once when the reply has the wrong shape, and cached.

In: the turn's `Run`, messages, the schema of the reply, a `ReadingMemory`. Out: the reply as a record, or None where
the limits forbid the call. The meter counts a call when it has ended; the `Run` also counts those under way, so that
concurrent calls do not overshoot. A cache key is a hash of all that decides a reply; if any of it differs, the part is
read again. A failure to write to the cache never fails the reading.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self, TypeVar

import structlog
from pydantic import BaseModel, ValidationError

from domain.errors import DatabaseTrouble
from domain.ids import BaseId, DocumentId
from rag.errors import ModelMisfit
from rag.execution.tools import Run, Spent
from rag.ports import ChatModel, ReadingMemory, Schema
from rag.records import ChatMessage, KeptReading
from rag.words import estimate_tokens, folded

_MISFIT = "That answer does not fit the JSON Schema:\n{problems}\nAnswer again with the corrected JSON object alone."
log = structlog.get_logger()
_ENDS = " \t\n.?!…"
Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(kw_only=True)
class Allowance:
    """The allowance of one step. `reply_tokens` is what a reply may take, in addition to the prompt."""

    run: Run
    reply_tokens: int
    spared_calls: int = 0  # reserved for later stages

    @property
    def spent(self) -> Spent | None:
        """The limit that forbids any further call; None while one is allowed, its size not considered."""
        if spent := self.run.spent:
            return spent
        return None if self.calls_left > 0 else Spent.MODEL_CALLS

    @property
    def calls_left(self) -> int:
        """Besides those under way."""
        run = self.run
        return run.limits.model_calls - run.usage.calls - run.calls_under_way - self.spared_calls

    def is_over(self) -> bool:
        """Whether a limit is reached. Call it only where work is left: the limit is recorded, and people are told."""
        return self._told(self.spent)

    def allows(self, tokens: int) -> bool:
        """Whether a prompt of that size and its reply fit into what is left. If not, the limit is recorded, and people
        are told."""
        return not self._told(self.refusal(tokens))

    def refusal(self, tokens: int) -> Spent | None:
        """The limit that such a call would exceed; its cost is estimated from the average price per token so far."""
        usage, limits = self.run.usage, self.run.limits
        asked = self.run.tokens_under_way + tokens + self.reply_tokens
        price = usage.cost / usage.tokens if usage.tokens else 0.0
        if spent := self.spent:
            return spent
        if usage.tokens + asked > limits.tokens:
            return Spent.TOKENS
        return Spent.COST if usage.cost + price * asked > limits.cost else None

    def _told(self, limit: Spent | None) -> bool:
        self.run.refused = self.run.refused or limit
        return limit is not None

    @contextmanager
    def calling(self, tokens: int) -> Iterator[None]:
        """A call is under way while this is open."""
        run, taken = self.run, tokens + self.reply_tokens
        run.calls_under_way += 1
        run.tokens_under_way += taken
        try:
            yield
        finally:
            run.calls_under_way -= 1
            run.tokens_under_way -= taken


def size_of(messages: Sequence[ChatMessage]) -> int:
    """Tokens of all messages."""
    return sum(estimate_tokens(message.content) for message in messages)


async def ask(
    model: ChatModel, messages: Sequence[ChatMessage], schema: type[Schema], allowance: Allowance
) -> Schema | None:
    """None when the limits forbid the call. Raises ModelError; ModelMisfit when the reply does not fit, and the retry
    does not fit either or is forbidden."""
    tokens = size_of(messages)
    if not allowance.allows(tokens):
        return None
    try:
        with allowance.calling(tokens):
            return await model.structured(messages, schema, corrected=False)
    except ModelMisfit as misfit:
        again = corrected(messages, misfit)
        if not allowance.allows(size_of(again)):
            log.info("reply.not_corrected", schema=schema.__name__)
            raise
    with allowance.calling(size_of(again)):
        return await model.structured(again, schema, corrected=False)


def corrected(messages: Sequence[ChatMessage], misfit: ModelMisfit) -> tuple[ChatMessage, ...]:
    """The messages, the model's reply, and what is wrong with it."""
    said = ChatMessage(role="assistant", content=misfit.answer)
    return (*messages, said, ChatMessage(role="user", content=_MISFIT.format(problems=misfit.problems)))


@dataclass(frozen=True, kw_only=True)
class ReplyCache:
    """The cache of one request in one base."""

    base: BaseId
    request: str
    memory: ReadingMemory | None = None
    kept: dict[str, KeptReading] = field(default_factory=dict)  # by key, in order

    @classmethod
    async def open(cls, memory: ReadingMemory | None, base: BaseId, *request: str) -> Self:
        """`request`: the model, the rules, and what was asked for (`wording` normalises a person's or the planner's
        words). Without a memory nothing is cached. Raises DatabaseAway."""
        name = digest(*request)
        kept = await memory.recall(base, name) if memory else []
        return cls(base=base, request=name, memory=memory, kept={each.key: each for each in kept})

    def get(self, key: str, shape: type[Reply]) -> Reply | None:
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

    def read_together(self, known: Sequence[DocumentId], *, most: int | None = None) -> list[tuple[DocumentId, ...]]:
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
