"""Reads entities from documents with a chat model, and says who pays for what reading costs.

In: a part of a document; the work on documents. Out: an `Extract`; rows of `reading_costs`. The model is not trusted: a
fact is a quotation that must stand there, and so must each name that is not known already. Models copy words faithfully
but change punctuation («» to "", — to -, ё to е), rejoin words hyphenated at a line end, and put inflected names into
the nominative; no other difference is tolerated. It lives in `bot`, which alone may combine a model of `rag`, a prompt
and a port of `ingestion`.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import Annotated, Any

import structlog
from pydantic import BaseModel, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from domain.errors import DatabaseAway
from domain.ids import BaseId, DocumentId
from domain.names import NameWord, Relation
from ingestion.entities.records import EntityName, EntityType, Extract, Mention, NameReader, Statement
from ingestion.errors import FailureCode, ServiceError
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind
from prompts.loader import Prompts
from rag.metering import Usage, ask_leave, metering_step, needing
from rag.ports import ChatModel, ModelError
from rag.records import ChatMessage
from rag.words import fence

_QUOTES, _DASHES, _YO = "\"«»„“”‘’`'", "-‐‑‒–—−", "её"
_ALIKE = {sign: f"[{signs}]" for signs in (_QUOTES, _DASHES, _YO) for sign in signs}
_PARTED = re.compile(r"(?<=[^\W\d_])-\s*(?=[^\W\d_])|\u00ad")  # "lever- age", as PDFs hyphenate it
_EDGES = f" {_QUOTES}{_DASHES}*#|.…•"  # what models add to the ends of a quotation, or drop

MOST_ENTITIES = 30  # per part, as the prompt says; their JSON fits into READING_MAX_TOKENS
MOST_FACTS = 40
SHORTEST_QUOTE = 3  # characters
LONGEST_QUOTE = 400
CERTAINTY = 0.9  # below facts from the document's structure (1.0)

log = structlog.get_logger()

Text = Annotated[str, Field(max_length=1000)]


class ReadableText:
    """A text that is searched for quotations and names."""

    def __init__(self, text: str, names: NameReader) -> None:
        self._text = text
        self._names = names

    def quotation(self, words: str) -> tuple[int, str] | None:
        """Where the quotation begins, and the text's own words on one line."""
        for wanted in filter(None, (words.strip(), words.strip(_EDGES))):
            if found := re.search(_pattern(wanted), self._text, re.IGNORECASE):
                return found.start(), " ".join(found.group().split())
        return None

    def name(self, name: str) -> int | None:
        wanted = _pattern(name.strip())
        if found := wanted and re.search(rf"(?<!\w){wanted}(?!\w)", self._text, re.IGNORECASE):
            return found.start()
        words = self._names.words(name)
        runs = (self._words[start : start + len(words)] for start in range(len(self._words) - len(words) + 1))
        keys = [set(word.keys) for word in words]
        run = next(
            (run for run in runs if words and all(any(key & set(each.keys) for each in run) for key in keys)), ()
        )
        for forms in (run, run[:1]) if run else ():
            pattern = r"\W+".join(re.escape(word.form) for word in forms)
            if found := re.search(rf"(?<!\w){pattern}(?!\w)", self._text):
                return found.start()
        return None

    @cached_property
    def _words(self) -> Sequence[NameWord]:
        return self._names.words(self._text)


def _pattern(words: str) -> str:
    """Finds the words with the differences that are tolerated."""
    signs, pattern = re.sub(r"\s+", " ", _PARTED.sub("", words)), ""
    for sign, after in zip(signs, f"{signs[1:]} ", strict=False):
        pattern += r"\s+" if sign == " " else _ALIKE.get(sign.lower(), re.escape(sign))
        pattern += r"(?:-\s*|\u00ad)?" if sign.isalpha() and after.isalpha() else ""
    return pattern


class ReadEntity(BaseModel, frozen=True, extra="forbid"):
    """An entity as the model names it."""

    name: Text
    type: EntityType
    aliases: list[Text] = []


class ReadFact(BaseModel, frozen=True, extra="forbid"):
    """A fact as the model found it."""

    entity: Text
    relation: Relation
    object: Text | None = None
    quote: Text


def _without_cut_off(items: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """Drops the last item if it is invalid: JSON repaired after the token limit cut it ends in half an item."""
    try:
        return validate(items)
    except ValidationError:
        return validate(items[:-1] if isinstance(items, list) else items)


class ReadPart(BaseModel, frozen=True, extra="forbid"):
    """The model's whole answer."""

    entities: Annotated[list[ReadEntity], WrapValidator(_without_cut_off)] = []
    facts: Annotated[list[ReadFact], WrapValidator(_without_cut_off)] = []


class ModelFactReader:
    """Implements `ingestion.entities.records.FactReader`."""

    def __init__(self, model: ChatModel, prompts: Prompts, names: NameReader) -> None:
        self._model = model
        self._names = names
        self._rules = ChatMessage(role="system", content=prompts.entities)
        self._part = prompts.entities_part

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    async def read(self, blocks: Sequence[tuple[Block, int]], *, title: str, known: Sequence[str]) -> Extract:
        """One call of the model. Raises ServiceError."""
        text, start = BLOCK_SEPARATOR.join(block.text for block, _ in blocks), blocks[0][1]
        shown = BLOCK_SEPARATOR.join(
            f"{'#' * (block.level or 1)} {block.text}" if block.kind is BlockKind.HEADING else block.text
            for block, _ in blocks
        )
        filled = self._part.fill(known="; ".join(known) or "none", title=title, fence=fence("part", shown), part=shown)
        await ask_leave()
        try:
            answer = await self._model.structured((self._rules, ChatMessage(role="user", content=filled)), ReadPart)
        except ModelError as exc:
            raise ServiceError(FailureCode.SERVICE_AWAY, service="model", detail=type(exc).__name__) from exc
        readable = ReadableText(text, self._names)
        return await asyncio.to_thread(checked, answer, readable, start=start, known=known)


def checked(answer: ReadPart, text: ReadableText, *, start: int, known: Sequence[str]) -> Extract:
    """The part of the answer that occurs in `text`, which begins at character `start` of the document. A `known` entity
    need not be named there."""
    named = {each.name: each for each in answer.entities[:MOST_ENTITIES]}
    met = {name: map(text.name, (name, *each.aliases)) for name, each in named.items()}
    places = {name: min((at for at in each if at is not None), default=None) for name, each in met.items()}
    entities = {
        name: EntityName(type=each.type, name=name)
        for name, each in named.items()
        if name.strip() and (places[name] is not None or name in known)
    }
    mentions = tuple(
        Mention(
            of=entity,
            at=start + (places[name] or 0),
            confidence=CERTAINTY,
            forms=tuple(alias for alias in named[name].aliases if text.name(alias) is not None),
        )
        for name, entity in entities.items()
    )
    statements = []
    for fact in answer.facts[:MOST_FACTS]:
        fits = SHORTEST_QUOTE <= len(fact.quote.strip()) <= LONGEST_QUOTE
        if (subject := entities.get(fact.entity)) and fits and (found := text.quotation(fact.quote)):
            statement = Statement(
                subject=subject,
                relation=fact.relation,
                text=found[1],
                at=start + found[0],
                object=entities.get(fact.object) if fact.object else None,
                confidence=CERTAINTY,
            )
            statements.append(statement)
    return Extract(mentions=mentions, statements=tuple(statements))


@asynccontextmanager
async def charged(
    base: BaseId,
    documents: Sequence[DocumentId],
    *,
    keep: Callable[[BaseId, DocumentId, float], Awaitable[None]],
    spent_until: Callable[[BaseId, DocumentId], Awaitable[datetime | None]] | None = None,
) -> AsyncIterator[None]:
    """See `ingestion.ports.Charged`: what reading costs, as far as the servers of the models tell, counts in the day of
    the person who sent the document (PERSON_DAILY_COST). What a call has cost is kept before the next one is made, so a
    large document stops within its day, and a worker that is killed forgets one call.

    The documents share the cost, also when the block fails. What would cost raises ServiceError DAY_SPENT when the day
    of a sender is spent (`spent_until`; None: no bound); documents of several senders are then tried alone.
    """
    usage, kept = Usage(), 0.0

    async def settle() -> None:
        nonlocal kept
        due, kept = usage.cost - kept, usage.cost
        try:
            for document in documents if due > 0 else ():
                await keep(base, document, due / len(documents))
        except DatabaseAway as error:
            log.warning("reading_cost.lost", reason=str(error))

    async def leave() -> None:
        if spent_until:
            await settle()
        for document in documents:
            if spent_until and (until := await spent_until(base, document)):
                seconds = (until - datetime.now(UTC)).total_seconds()
                raise ServiceError(FailureCode.DAY_SPENT, retry_after_s=max(1.0, seconds), until=until.isoformat())

    try:
        with metering_step(usage), needing(leave):
            yield
    finally:
        await settle()
