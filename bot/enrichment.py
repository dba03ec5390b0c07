"""Chooses what reads entities from documents: rules always, the model where there is one, else a finder of names.

In: settings, stores. Out: an `Enricher`, alive while the context is open. Part of the composition root (`bot.app`),
apart for its length.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from adapters.database.stores.entities import EntityStore
from adapters.database.stores.text import TextStore
from adapters.entities.finder import NatashaFinder, is_installed
from adapters.entities.names import NameForms
from bot.entity_reading import ModelFactReader
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
    settings: Settings, entities: EntityStore, text: TextStore, reading: Reading
) -> AsyncIterator[Enricher]:
    """Its process for names begins with the first document that needs it."""
    model = reading.model if settings.worker.entity_model else None
    async with AsyncExitStack() as stack:
        readers = Readers(
            names=reading.names,
            finder=await stack.enter_async_context(NatashaFinder()) if is_installed() and model is None else None,
            facts=ModelFactReader(model, load_prompts(), reading.names) if model else None,
        )
        yield Enricher(entities, text, entities, readers, poll_s=settings.worker.poll_s)
