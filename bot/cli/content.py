"""The commands that fill and read a base: add, ask, docs, show.

In: settings and arguments. Out: lines or JSON on stdout, and the exit code. What is added, files, folders and
addresses, this process reads itself, so no running worker is needed, and a document survives kill -9 like any other.
"""

import asyncio
import sys
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import partial
from glob import glob, has_magic
from itertools import groupby
from math import ceil, inf
from pathlib import Path

from bot.app import Parts, open_parts
from bot.cli.output import (
    Bar,
    CommandError,
    added_json,
    answer_json,
    card_json,
    no_such_base,
    print_json,
    print_line,
    print_problem,
)
from bot.replies.answers import finished_answer, in_words
from bot.replies.names import failure_sentence, unread_values
from bot.replies.rich import LINK, QUOTES, RichText, Run
from bot.settings import Settings
from bot.texts import Words, load_texts
from domain.documents import DocumentCard, DocumentStatus, SourceType
from domain.ids import BaseId, DocumentId, SessionId, UserId
from domain.locator import JsonValue
from ingestion.intake import section_of
from ingestion.records import Batch, Source
from ingestion.worker import Worker
from rag.records import Answered, Question
from rag.words import normalise

COMMAND_LINE_USER = UserId(0)  # no Telegram user has this id
SMALL_BYTES = 256 * 1024  # of files that are read together (`Worker.run_only`)
TOGETHER = 32  # of them at most; groups of one size, as a small one that begins last would run on alone at the end
ADDING_CONNECTIONS = 2  # to a database on this machine: each beyond costs it 40 ms and spares no waiting
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
    # In one thread: to change threads for each costs more than to look it up.
    listed = await asyncio.to_thread(lambda: [_sources(named, with_sections=with_sections) for named in sources])
    for named, own in zip(sources, listed, strict=True):
        if isinstance(own, SourceMissing):
            yield named, own
        else:
            found += own
    counted(len(found))
    # A task for each group: `as_completed` starts bare coroutines in no defined order.
    slots = asyncio.Semaphore(parts.settings.worker.concurrency)
    works = [asyncio.create_task(_add(parts, worker, base, group, slots)) for group in _grouped(found)]
    try:
        for finished in asyncio.as_completed(works):
            for each in await finished:
                yield each
    finally:  # one failed, or the generator was closed: documents that are held go back into the queue
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)


async def _add(
    parts: Parts, worker: Worker, base: BaseId, members: Sequence[tuple[str, Source]], slots: asyncio.Semaphore
) -> list[tuple[str, DocumentCard | SourceMissing]]:
    async with slots:
        batch = Batch(base_id=base, user_id=COMMAND_LINE_USER, sources=tuple(source for _, source in members))
        documents = [each.id for each in await parts.stores.intake.enqueue(batch, hold_s=HOLD_S)]
        await worker.run_only(documents)
        cards = await parts.stores.library.cards(base, documents)
    return [
        (named, cards.get(document) or SourceMissing("the document was deleted while it was being read"))
        for (named, _), document in zip(members, documents, strict=True)
    ]


def _grouped(found: Sequence[tuple[str, Source]]) -> Iterator[Sequence[tuple[str, Source]]]:
    """Each large source by itself, the small ones together. The longest work goes first, as a book that begins last
    would run on alone at the end; an address comes before all files, since waiting for its server costs nothing."""

    def size(each: tuple[str, Source]) -> float:
        return inf if each[1].size_bytes is None else each[1].size_bytes

    ordered = sorted(found, key=size, reverse=True)
    first_small = sum(size(each) > SMALL_BYTES for each in ordered)
    yield from ([each] for each in ordered[:first_small])
    small = ordered[first_small:]
    members = ceil(len(small) / max(ceil(len(small) / TOGETHER), 1))
    yield from (small[at : at + members] for at in range(0, len(small), max(members, 1)))


def _sources(text: str, *, with_sections: bool) -> list[tuple[str, Source]] | SourceMissing:
    """Each with the name it is told by."""
    if text.startswith(("http://", "https://")):
        return [(text, section_of(text) if with_sections else Source(type=SourceType.LINK, identifier=text))]
    path = Path(text).expanduser().absolute()
    sources = [
        (named, Source(type=SourceType.PATH, identifier=str(file), title=file.name, size_bytes=file.stat().st_size))
        for named, file in _files_named(text, path)
        if file.is_file()
    ]
    return sources or SourceMissing(str(path))


def _files_named(text: str, path: Path) -> list[tuple[str, Path]]:
    """A file has the name that it was given by, others their own paths. A file may be named like a pattern."""
    if path.is_dir():  # links to folders are not followed
        below = (file for file in sorted(path.rglob("*")) if "/." not in f"/{file.relative_to(path)}")
        return [(str(file), file) for file in below]
    if path.exists() or not has_magic(text):
        return [(text, path)]
    matched = sorted(glob(str(path), recursive=True), key=len, reverse=True)
    once = {Path(file).resolve(): file for file in matched}  # links to folders may lead in a circle
    return [(file, Path(file)) for file in sorted(once.values())]


def for_adding(settings: Settings) -> Settings:
    """The settings with as many connections as adding needs; to a server far away they all save time."""
    database = settings.database
    if database.url or database.supabase_url:
        return settings
    fewer = database.model_copy(update={"pool_size": min(database.pool_size, ADDING_CONNECTIONS)})
    return settings.model_copy(update={"database": fewer})


QUOTE_MARK = "│ "
DEFAULT_BASE = "default"  # always counts as existing
PAGE = 200  # documents per call


def to_terminal(text: RichText) -> str:
    """The same text without formatting: quotes behind a mark, addresses after their labels."""

    def quoted_and_link(run: Run) -> tuple[bool, str]:
        links = (style.value for style in run.styles if style.tag == LINK)
        return bool(run.tags & QUOTES), next(links, "")

    shown = ""
    was_quoted = False
    for (is_quoted, address), runs in groupby(text.runs, key=quoted_and_link):
        label = "".join(run.text for run in runs)
        piece = f"{label} ({address})" if address not in ("", label) else label
        begun = QUOTE_MARK if is_quoted and not was_quoted else ""
        shown += begun + (piece.replace("\n", f"\n{QUOTE_MARK}") if is_quoted else piece)
        was_quoted = is_quoted
    return shown


async def add_to_base(
    settings: Settings, sources: Sequence[str], *, base_name: str, as_json: bool, with_sections: bool = False
) -> int:
    """`baza add`: 1 when a source could not be added."""
    words = words_of(settings)
    failed = False
    with Bar(len(sources), words.plain("cli-adding")) as shown:
        counted = partial(shown.reach, 0)
        async with (
            _open_base(for_adding(settings), base_name) as (parts, base),
            parts.open_worker() as worker,
            aclosing(add_sources(parts, worker, base, sources, with_sections=with_sections, counted=counted)) as ended,
        ):
            async for source, outcome in ended:
                failed = not _tell(source, outcome, words, as_json=as_json) or failed
                shown.advance()
            async with parts.open_enricher() as enricher:  # here, as no worker may be running that would do it later
                await enricher.drain(base)
    return int(failed)


async def ask_base(settings: Settings, question: str | None, *, base_name: str, as_json: bool) -> int:
    """`baza ask`; without a question a dialogue, a line a question, until the input ends. Raises CommandError for an
    empty question, before any model is called."""
    if question is not None and not normalise(question):
        raise CommandError('The question is empty. Put it in quotes: baza ask "When is the rent due?"')
    words = words_of(settings)
    async with _open_base(settings, base_name, filled=True) as (parts, base):
        conversation = parts.conversation()
        session = SessionId(str(uuid.uuid4()))  # each command is a dialogue of its own
        async for text in _questions(question, words):
            asked = Question(
                text=text,
                user_id=COMMAND_LINE_USER,
                session_id=session,
                base_id=base,
                language=settings.answer.interface_language,
            )
            answers = [event.answer async for event in conversation.answer(asked) if isinstance(event, Answered)]
            if not answers:
                raise CommandError("The answer broke off; the log says why.")
            answer = in_words(answers[-1], words)
            if as_json:
                print_json(answer_json(answer))
            else:
                print_line(to_terminal(finished_answer(answer, words)))
    return 0


async def _questions(given: str | None, words: Words) -> AsyncIterator[str]:
    """The one that was given; or what is typed, line by line."""
    if given is not None:
        yield given
        return
    if sys.stdin.isatty():
        print_problem(words.plain("cli-dialogue"))
    while True:
        if sys.stdin.isatty():
            sys.stderr.write("\n> ")
            sys.stderr.flush()
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line:  # the end of the input
            return
        if normalise(line):
            yield line


async def list_base(settings: Settings, *, base_name: str, as_json: bool) -> int:
    """`baza docs`."""
    words = words_of(settings)
    async with _open_base(settings, base_name, filled=True) as (parts, base):
        cards: list[DocumentCard] = []
        while found := await parts.stores.library.documents(base, limit=PAGE, offset=len(cards)):
            cards += found
    if as_json:
        print_json([card_json(card) for card in cards])
        return 0
    for card in cards:
        print_line(
            words.plain("cli-document", id=card.id, title=card.name, status=card.status.value, passages=card.chunks)
        )
    return 0


async def show_document(settings: Settings, document: str, *, base_name: str, as_json: bool) -> int:
    """`baza show`. Raises CommandError when the base holds no such document."""
    try:
        wanted = DocumentId(str(uuid.UUID(document)))
    except ValueError:
        raise CommandError(f"{document!r} is not the id of a document. `baza docs` lists the ids.") from None
    async with _open_base(settings, base_name, filled=True) as (parts, base):
        card = await parts.stores.library.card(base, wanted)
        if card is None:
            raise CommandError(f"The base {base_name!r} holds no document {document}. `baza docs` lists what it holds.")
        blocks = await parts.stores.text.blocks(base, card.id)
    if as_json:
        told: list[JsonValue] = [
            {"kind": block.kind.value, "level": block.level, "text": block.text, "locator": block.locator.to_json()}
            for block in blocks
        ]
        print_json({"document_id": card.id, "title": card.title, "blocks": told})
        return 0
    print_line(card.name)
    for block in blocks:
        print_line("\n" + block.text)
    return 0


def words_of(settings: Settings) -> Words:
    """The texts of the command line, in the language of the installation."""
    return load_texts().for_language(settings.answer.interface_language)


@asynccontextmanager
async def _open_base(settings: Settings, name: str, *, filled: bool = False) -> AsyncIterator[tuple[Parts, BaseId]]:
    """Open the base of this name. With `filled`, a name without documents (mistyped, perhaps) is reported on stderr but
    is no error: scripts may ask an empty base."""
    async with open_parts(settings) as parts:
        if filled and name != DEFAULT_BASE and name not in (there := await parts.stores.people.named_bases(name)):
            print_problem(no_such_base(name, there))
        yield parts, await parts.stores.people.open_named_base(name)


def _tell(source: str, outcome: DocumentCard | SourceMissing, words: Words, *, as_json: bool) -> bool:
    """Print how a source ended; whether it was added."""
    card = None if isinstance(outcome, SourceMissing) else outcome
    error = None
    if card is None:
        error = words.plain("cli-no-such-file", path=str(outcome))
    elif card.status not in (DocumentStatus.READY, DocumentStatus.DUPLICATE):
        error = failure_sentence(card, words, plain=True)
    if as_json:
        print_json(added_json(source, card, error))
    elif card is None or error is not None:
        print_problem(f"{source}: {error}")
    elif card.status is DocumentStatus.DUPLICATE:
        print_line(words.plain("cli-duplicate", title=card.name))
    else:
        seconds = round(card.seconds or 0.0, 1)
        print_line(words.plain("cli-added", title=card.name, passages=card.chunks, seconds=seconds))
        if card.unread:
            print_line("  " + words.plain("receipt-unread", **unread_values(card, words)))
    return error is None
