"""Chooses what reads entities from documents: rules always, the model where there is one, else a finder of names.

In: settings, stores. Out: an `Enricher`, alive while the context is open. Part of the composition root (`bot.app`),
apart for its length.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from adapters.database.stores.entities import EntityStore
from adapters.database.stores.text import TextStore
from adapters.entities.names import NameForms
from bot.settings import Settings
from ingestion.entities.enricher import Enricher, Readers
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
    readers = Readers(names=reading.names)
    yield Enricher(entities, text, entities, readers, poll_s=settings.worker.poll_s)
