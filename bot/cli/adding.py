"""`baza add`: files of this machine and web addresses into a named base, waiting until they are ready.

In: paths and URLs. Out: a `DocumentCard` each, as it ended. The work is the worker's own (`Worker.run_one`), here in
this process, so that it needs no running worker and survives kill -9 like any other document.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from bot.app import Parts
from domain.documents import DocumentCard, SourceType
from domain.ids import BaseId, DocumentId, UserId
from ingestion.intake import section_of
from ingestion.records import Batch, Source
from ingestion.worker import Worker

COMMAND_LINE_USER = UserId(0)  # no Telegram user has this id
HOLD_S = 3600  # only this command works on its documents for so long; then any worker may


class SourceMissing(Exception):
    """The path does not name a file that can be read."""


async def add_sources(
    parts: Parts, worker: Worker, base: BaseId, sources: Sequence[str], *, with_sections: bool = False
) -> AsyncIterator[tuple[str, DocumentCard | SourceMissing]]:
    """Each source with what became of it, in the order in which they end; as many at once as the settings allow.

    With `with_sections` an address stands for the page and the pages below it.
    """
    slots = asyncio.Semaphore(parts.settings.worker.concurrency)

    async def add(source: str) -> tuple[str, DocumentCard | SourceMissing]:
        async with slots:
            try:
                return source, await _add_one(parts, worker, base, _source(source, with_sections=with_sections))
            except SourceMissing as error:
                return source, error

    for finished in asyncio.as_completed([add(source) for source in sources]):
        yield await finished


async def _add_one(parts: Parts, worker: Worker, base: BaseId, source: Source) -> DocumentCard:
    batch = Batch(base_id=base, user_id=COMMAND_LINE_USER, sources=(source,))
    (enqueued,) = await parts.stores.intake.enqueue(batch, hold_s=HOLD_S)
    await worker.run_one(enqueued.id)
    return await _card(parts, base, enqueued.id)


async def _card(parts: Parts, base: BaseId, document: DocumentId) -> DocumentCard:
    card = await parts.stores.library.card(base, document)
    if card is None:
        raise SourceMissing("the document was deleted while it was being read")
    return card


def _source(text: str, *, with_sections: bool) -> Source:
    if text.startswith(("http://", "https://")):
        return section_of(text) if with_sections else Source(type=SourceType.LINK, identifier=text)
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise SourceMissing(str(path))
    return Source(type=SourceType.PATH, identifier=str(path), title=path.name, size_bytes=path.stat().st_size)
