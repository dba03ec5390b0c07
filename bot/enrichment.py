"""Chooses what reads entities from documents: always the rules, and the model if there is one, else a name finder.

In: settings, stores. Out: an `Enricher`, alive while the context is open. Part of the composition root (`bot.app`),
split off for length.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from adapters.database.stores.entities import EntityStore
from adapters.database.stores.work import TextStore
from adapters.entities.finder import NatashaFinder, is_installed
from adapters.entities.names import NameForms
from bot.entity_reading import ModelFactReader
from bot.reading_costs import Purse, charged
from bot.settings import Settings
from ingestion.entities.enricher import Enricher, Readers
from prompts.loader import load_prompts
from rag.ports import ChatModel


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What documents are read with."""

    names: NameForms
    model: ChatModel | None


@asynccontextmanager
async def open_enricher(
    settings: Settings, entities: EntityStore, text: TextStore, reading: Reading, purse: Purse
) -> AsyncIterator[Enricher]:
    """The process that finds names starts with the first document that needs it."""
    model = reading.model if settings.worker.entity_model else None
    async with AsyncExitStack() as stack:
        readers = Readers(
            names=reading.names,
            finder=await stack.enter_async_context(NatashaFinder()) if is_installed() and model is None else None,
            facts=ModelFactReader(model, load_prompts(), reading.names) if model else None,
        )
        yield Enricher(
            entities,
            text,
            entities,
            readers,
            poll_s=settings.worker.poll_s,
            charged=lambda claimed: charged(purse, claimed.base_id, [claimed.document]),
        )
