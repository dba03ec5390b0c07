"""Reads entities from documents: always by the rules, and with a chat model if there is one, else a name finder.

In: settings, stores; a part of a document. Out: an `Enricher`, alive while the context is open; an `Extract`. The model
is not trusted: a fact is a quotation that must stand in the part, and so must each name that is not known already.
Models copy words faithfully but change punctuation («» to "", — to -, ё to е), rejoin words hyphenated at a line end,
and put inflected names into the nominative; no other difference is tolerated. The module lives in `bot`, the only
package that may combine a model of `rag`, a prompt and a port of `ingestion`.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from adapters.database.stores.entities import EntityStore
from adapters.database.stores.work import TextStore
from adapters.name_finder import NatashaFinder
from adapters.names import NameForms
from bot.reading_costs import Purse, charged
from bot.settings import Settings
from domain.names import NameWord, Relation
from ingestion.entities.enricher import Enricher, Readers
from ingestion.entities.records import EntityName, EntityType, Extract, Mention, NameReader, Statement
from ingestion.errors import FailureCode, ServiceError
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind
from prompts.loader import Prompts, load_prompts
from rag.metering import ask_leave
from rag.ports import ChatModel, ModelError
from rag.records import ChatMessage
from rag.words import fence

_SIGNS = str.maketrans({**dict.fromkeys("«»„“”‘’`'", '"'), **dict.fromkeys("‐‑‒–—−", "-"), "ё": "е", "\u00ad": None})
_PARTED = re.compile(r"(?<=[^\W\d_])-\s*(?=[^\W\d_])")  # "lever- age", as PDFs hyphenate it
_PIECE = re.compile(r"\s+|\S")
_EDGES = ' "*#|.…-•'  # what models add to the ends of a quotation, or drop

MOST_ENTITIES = 30  # per part, as the prompt says; their JSON fits into READING_MAX_TOKENS
MOST_FACTS = 40
SHORTEST_QUOTE = 3  # characters
LONGEST_QUOTE = 400
CERTAINTY = 0.9  # below facts from the document's structure (1.0)
SERVICE = "model"

Text = Annotated[str, Field(max_length=1000)]


class ReadableText:
    """A text prepared for many searches."""

    def __init__(self, text: str, names: NameReader) -> None:
        self._text = text
        self._names = names
        self._plain, self._places = _plain(text)

    def quotation(self, words: str) -> tuple[int, str] | None:
        """Where the quotation begins, and the text's own words on one line."""
        whole = _plain(words)[0].strip()
        for wanted in filter(None, (whole, whole.strip(_EDGES))):
            if (start := self._plain.find(wanted)) >= 0:
                return self._original(start, wanted)
        return None

    def _original(self, start: int, wanted: str) -> tuple[int, str]:
        at, end = self._places[start], self._places[start + len(wanted) - 1] + 1
        return at, " ".join(self._text[at:end].split())

    def name(self, name: str) -> int | None:
        """Where the name first occurs, as given, or inflected or in another order («Галимова Рашида»)."""
        wanted = _plain(name)[0].strip()
        found = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", self._plain) if wanted else None
        return self._places[found.start()] if found else self._inflected(self._names.words(name))

    def _inflected(self, words: Sequence[NameWord]) -> int | None:
        for start in range(len(self._words) - len(words) + 1 if words else 0):
            run = self._words[start : start + len(words)]
            if all(any(set(word.keys) & set(other.keys) for other in run) for word in words):
                return self._place_of(run)
        return None

    def _place_of(self, run: Sequence[NameWord]) -> int | None:
        """Where these words stand in sequence; if dropped ones («ООО») are between them, where the first stands."""
        for forms in (run, run[:1]):
            pattern = r"\W+".join(re.escape(word.form) for word in forms)
            if found := re.search(rf"(?<!\w){pattern}(?!\w)", self._text):
                return found.start()
        return None

    @cached_property
    def _words(self) -> tuple[NameWord, ...]:
        return self._names.words(self._text)


def _plain(text: str) -> tuple[str, list[int]]:
    """The text in lower case with uniform punctuation and single blanks, and the source offset of each character."""
    parted = {place for match in _PARTED.finditer(text) for place in range(match.start(), match.end())}
    characters: list[str] = []
    places: list[int] = []
    for match in _PIECE.finditer(text):
        if match.start() in parted:
            continue
        letters = " " if match.group().isspace() else match.group().lower().translate(_SIGNS)
        characters.append(letters)
        places.extend([match.start()] * len(letters))
    return "".join(characters), places


@asynccontextmanager
async def open_enricher(
    settings: Settings,
    entities: EntityStore,
    text: TextStore,
    *,
    names: NameForms,
    model: ChatModel | None,
    purse: Purse,
) -> AsyncIterator[Enricher]:
    """The process that finds names starts with the first document that needs it."""
    model = model if settings.worker.entity_model else None
    async with AsyncExitStack() as stack:
        readers = Readers(
            names=names,
            finder=await stack.enter_async_context(NatashaFinder()) if model is None else None,
            facts=ModelFactReader(model, load_prompts(), names) if model else None,
        )
        yield Enricher(
            entities,
            text,
            readers,
            poll_s=settings.worker.poll_s,
            charged=lambda claimed: charged(purse, claimed.base_id, [claimed.document]),
        )


class ReadEntity(BaseModel):
    """An entity as the model names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Text
    type: EntityType
    aliases: list[Text] = []


class ReadFact(BaseModel):
    """A fact as the model found it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entity: Text
    relation: Relation
    object: Text | None = None
    quote: Text


def _without_cut_off(of: type[BaseModel]) -> BeforeValidator:
    """Drops the last item if it is invalid: JSON repaired after the token limit cut it ends in half an item."""

    def drop_last_misfit(items: object) -> object:
        if not isinstance(items, list) or not items:
            return items
        try:
            of.model_validate(items[-1])
        except ValidationError:
            return items[:-1]
        return items

    return BeforeValidator(drop_last_misfit)


class ReadPart(BaseModel):
    """The model's whole answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entities: Annotated[list[ReadEntity], _without_cut_off(ReadEntity)] = []
    facts: Annotated[list[ReadFact], _without_cut_off(ReadFact)] = []


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
        shown = BLOCK_SEPARATOR.join(_shown(block) for block, _ in blocks)
        filled = self._part.fill(known="; ".join(known) or "none", title=title, fence=fence("part", shown), part=shown)
        await ask_leave()
        try:
            answer = await self._model.structured((self._rules, ChatMessage(role="user", content=filled)), ReadPart)
        except ModelError as exc:
            raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=type(exc).__name__) from exc
        readable = await asyncio.to_thread(ReadableText, text, self._names)
        return await asyncio.to_thread(checked, answer, readable, start=start, known=known)


def checked(answer: ReadPart, text: ReadableText, *, start: int, known: Sequence[str]) -> Extract:
    """The part of the answer that occurs in `text`, which begins at character `start` of the document. A `known` entity
    need not be named there."""
    named = {each.name: each for each in answer.entities[:MOST_ENTITIES]}
    places = {name: _first_place([name, *each.aliases], text) for name, each in named.items()}
    entities = {
        name: EntityName(type=each.type, name=name)
        for name, each in named.items()
        if name.strip() and (places[name] is not None or name in known)
    }
    statements = tuple(_statements(answer.facts[:MOST_FACTS], entities, text, start))
    mentions = tuple(
        Mention(
            of=entity,
            at=start + (places[name] or 0),
            confidence=CERTAINTY,
            forms=tuple(alias for alias in named[name].aliases if text.name(alias) is not None),
        )
        for name, entity in entities.items()
    )
    return Extract(mentions=mentions, statements=statements)


def _statements(
    facts: Sequence[ReadFact], entities: Mapping[str, EntityName], text: ReadableText, start: int
) -> Iterator[Statement]:
    for fact in facts:
        fits = SHORTEST_QUOTE <= len(fact.quote.strip()) <= LONGEST_QUOTE
        subject, found = entities.get(fact.entity), text.quotation(fact.quote) if fits else None
        if subject is None or found is None:
            continue
        place, quote = found
        yield Statement(
            subject=subject,
            relation=fact.relation,
            text=quote,
            at=start + place,
            object=entities.get(fact.object) if fact.object else None,
            confidence=CERTAINTY,
        )


def _first_place(names: Sequence[str], text: ReadableText) -> int | None:
    places = [place for name in names if (place := text.name(name)) is not None]
    return min(places, default=None)


def _shown(block: Block) -> str:
    """The block's text; headings get `#` marks so that the model sees the structure."""
    return f"{'#' * (block.level or 1)} {block.text}" if block.kind is BlockKind.HEADING else block.text
