"""`baza add`: adds local files and web addresses to a named base and waits until they are ready.

In: paths of files and folders, and URLs. Out: the final `DocumentCard` of each. This process reads the documents
itself, so no running worker is needed, and a document survives kill -9 like any other.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from glob import glob, has_magic
from math import inf
from pathlib import Path

from bot.app import Parts
from domain.documents import DocumentCard, SourceType
from domain.ids import BaseId, DocumentId, UserId
from ingestion.intake import section_of
from ingestion.records import Batch, Source
from ingestion.worker import Worker

COMMAND_LINE_USER = UserId(0)  # no Telegram user has this id
SMALL_BYTES = 128 * 1024  # of files that are read together (`Worker.run_together`)
TOGETHER = 8  # of them, so that all places have work until the end
HOLD_S = 3600  # for so long only this command may take its documents; then any worker may


class SourceMissing(Exception):
    """The path names neither a file that can be read nor a folder that holds one."""


async def add_sources(
    parts: Parts,
    worker: Worker,
    base: BaseId,
    sources: Sequence[str],
    *,
    with_sections: bool = False,
    counted: Callable[[int], None] = lambda _: None,
) -> AsyncGenerator[tuple[str, DocumentCard | SourceMissing], None]:
    """Each source with its outcome, in the order in which they end; as many at once as the settings allow.

    A folder means all files in it and below, but hidden ones, and a pattern («*.pdf», «**/*.md») what it matches; each
    is told by its own path. With `with_sections` an address means the page and the pages below it. `counted` is told
    how many sources there are. Closing the generator cancels the reading.
    """
    found: list[tuple[str, Source]] = []
    for named in sources:
        try:
            found += await asyncio.to_thread(_sources, named, with_sections=with_sections)
        except SourceMissing as error:
            yield named, error
    counted(len(found))
    found.sort(key=lambda each: _weight(each[1]), reverse=True)
    works = _begin(parts, worker, base, found)
    try:
        for finished in asyncio.as_completed(works):
            for each in await finished:
                yield each
    finally:  # one failed, or the generator was closed: documents that are held go back into the queue
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)


def _begin(
    parts: Parts, worker: Worker, base: BaseId, found: Sequence[tuple[str, Source]]
) -> "list[asyncio.Task[list[tuple[str, DocumentCard | SourceMissing]]]]":
    """A task for each group: `as_completed` starts bare coroutines in no defined order."""
    slots = asyncio.Semaphore(parts.settings.worker.concurrency)

    async def add(members: Sequence[tuple[str, Source]]) -> list[tuple[str, DocumentCard | SourceMissing]]:
        async with slots:
            batch = Batch(base_id=base, user_id=COMMAND_LINE_USER, sources=tuple(source for _, source in members))
            documents = [each.id for each in await parts.stores.intake.enqueue(batch, hold_s=HOLD_S)]
            await worker.run_together(documents)
            return [
                (named, await _card(parts, base, document))
                for (named, _), document in zip(members, documents, strict=True)
            ]

    return [asyncio.create_task(add(group)) for group in _grouped(found)]


def _grouped(found: Sequence[tuple[str, Source]]) -> Iterator[Sequence[tuple[str, Source]]]:
    """Each large source by itself, the small ones together."""
    large = [[each] for each in found if _weight(each[1]) > SMALL_BYTES]
    small = found[len(large) :]
    yield from large
    yield from (small[first : first + TOGETHER] for first in range(0, len(small), TOGETHER))


def _weight(source: Source) -> float:
    """Sort key: the longest work goes first, as a book that begins last would run on alone at the end. An address comes
    before all files: its duration is unknown, and waiting for its server costs nothing."""
    return inf if source.size_bytes is None else source.size_bytes


async def _card(parts: Parts, base: BaseId, document: DocumentId) -> DocumentCard | SourceMissing:
    card = await parts.stores.library.card(base, document)
    return SourceMissing("the document was deleted while it was being read") if card is None else card


def _sources(text: str, *, with_sections: bool) -> list[tuple[str, Source]]:
    """Each with the name it is told by."""
    if text.startswith(("http://", "https://")):
        return [(text, section_of(text) if with_sections else Source(type=SourceType.LINK, identifier=text))]
    path = Path(text).expanduser().absolute()
    sources = [(named, _file(file)) for named, file in _files_named(text, path) if file.is_file()]
    if not sources:
        raise SourceMissing(str(path))
    return sources


def _files_named(text: str, path: Path) -> list[tuple[str, Path]]:
    """A file has the name that it was given by, others their own paths. A file may be named like a pattern."""
    if path.is_dir():
        return [(str(file), file) for file in _files_below(path)]
    if path.exists() or not has_magic(text):
        return [(text, path)]
    matched = sorted(glob(str(path), recursive=True), key=len, reverse=True)
    once = {Path(file).resolve(): file for file in matched}  # links to folders may lead in a circle
    return [(file, Path(file)) for file in sorted(once.values())]


def _files_below(folder: Path) -> Iterator[Path]:
    """In the order of their names. Links to folders are not followed: they may lead in a circle."""
    for inside, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(inside, name) for name in sorted(names) if not name.startswith("."))


def _file(path: Path) -> Source:
    return Source(type=SourceType.PATH, identifier=str(path), title=path.name, size_bytes=path.stat().st_size)
