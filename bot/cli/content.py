"""The commands that fill and read a base: add, ask, docs, show.

In: settings and arguments. Out: lines or JSON on stdout, and the exit code. What is added, files, folders and
addresses, this process reads itself, so no running worker is needed, and a document survives kill -9 like any other.
"""

import asyncio
import os
import sys
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import partial
from glob import glob, has_magic
from itertools import groupby
from math import inf
from pathlib import Path

from bot.app import Parts, open_parts
from bot.cli.output import (
    Bar,
    CommandError,
    added_json,
    answer_json,
    card_json,
    document_json,
    no_such_base,
    not_added_json,
    print_json,
    print_line,
    print_problem,
)
from bot.replies.answers import finished_answer, in_words
from bot.replies.names import failure_sentence
from bot.replies.readings import unread_values
from bot.replies.rich import Kind, RichText, Run, Style
from bot.settings import Settings
from bot.texts import Words, load_texts
from domain.documents import DocumentCard, DocumentStatus, SourceType
from domain.ids import BaseId, DocumentId, SessionId, UserId
from domain.locator import JsonValue
from ingestion.intake import section_of
from ingestion.records import Batch, Source
from ingestion.worker import Worker
from rag.conversation import Conversation
from rag.records import Answer, Answered, Question
from rag.words import normalise

COMMAND_LINE_USER = UserId(0)  # no Telegram user has this id
SMALL_BYTES = 256 * 1024  # of files that are read together (`Worker.run_together`)
TOGETHER = 24  # of them: more share a process, fewer leave places without work at the end
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
            cards = await parts.stores.library.cards(base, documents)
            return [
                (named, cards.get(document) or SourceMissing("the document was deleted while it was being read"))
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


QUOTE_MARK = "│ "
_QUOTES = frozenset({Kind.QUOTE, Kind.FOLDED_QUOTE})
DEFAULT_BASE = "default"  # always counts as existing
PAGE = 200  # documents per call


def to_terminal(text: RichText) -> str:
    """The same text without formatting."""
    return "".join(
        _passage(runs, quoted=quoted) for quoted, runs in groupby(text.runs, key=lambda run: bool(run.kinds & _QUOTES))
    )


def _passage(runs: Iterable[Run], *, quoted: bool) -> str:
    shown = "".join(_linked(link, runs) for link, runs in groupby(runs, key=_link_of))
    return QUOTE_MARK + shown.replace("\n", f"\n{QUOTE_MARK}") if quoted else shown


def _link_of(run: Run) -> Style | None:
    return next((style for style in run.styles if style.kind is Kind.LINK), None)


def _linked(link: Style | None, runs: Iterable[Run]) -> str:
    label = "".join(run.text for run in runs)
    return f"{label} ({link.value})" if link and link.value != label else label


async def add_to_base(
    settings: Settings, sources: Sequence[str], *, base_name: str, as_json: bool, with_sections: bool = False
) -> int:
    """`baza add`: 1 when a source could not be added."""
    words = words_of(settings)
    failed = False
    with Bar(len(sources), words.plain("cli-adding")) as shown:
        counted = partial(shown.reach, 0)
        async with (
            _open_base(settings, base_name) as (parts, base),
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
            answer = in_words(await _last_answer(conversation, asked), words)
            if as_json:
                print_json(answer_json(answer))
            else:
                print_line(plain_answer(answer, words))
    return 0


async def _questions(given: str | None, words: Words) -> AsyncIterator[str]:
    """The one that was given; or what is typed, line by line."""
    if given is not None:
        yield given
        return
    if sys.stdin.isatty():
        print_problem(words.plain("cli-dialogue"))
    while line := await asyncio.to_thread(_read_line):
        if normalise(line):
            yield line


def _read_line() -> str:
    """Empty at the end of the input."""
    if sys.stdin.isatty():
        sys.stderr.write("\n> ")
        sys.stderr.flush()
    return sys.stdin.readline()


async def list_base(settings: Settings, *, base_name: str, as_json: bool) -> int:
    """`baza docs`."""
    words = words_of(settings)
    async with _open_base(settings, base_name, filled=True) as (parts, base):
        cards = [card async for card in _all_cards(parts, base)]
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
    async with _open_base(settings, base_name, filled=True) as (parts, base):
        card = await parts.stores.library.card(base, _document_id(document))
        if card is None:
            raise CommandError(f"The base {base_name!r} holds no document {document}. `baza docs` lists what it holds.")
        blocks = await parts.stores.text.blocks(base, card.id)
    if as_json:
        print_json(document_json(card, blocks))
        return 0
    print_line(card.name)
    for block in blocks:
        print_line("\n" + block.text)
    return 0


def words_of(settings: Settings) -> Words:
    """The texts of the command line, in the language of the installation."""
    return load_texts().for_language(settings.answer.interface_language)


def plain_answer(answer: Answer, words: Words) -> str:
    """The answer and its sources in the bot's own words, without formatting."""
    return to_terminal(finished_answer(answer, words))


@asynccontextmanager
async def _open_base(settings: Settings, name: str, *, filled: bool = False) -> AsyncIterator[tuple[Parts, BaseId]]:
    """Open the base of this name. With `filled`, a name without documents (mistyped, perhaps) is reported on stderr but
    is no error: scripts may ask an empty base."""
    async with open_parts(settings) as parts:
        if filled and name != DEFAULT_BASE and name not in (there := await parts.stores.people.named_bases(name)):
            print_problem(no_such_base(name, there))
        yield parts, await parts.stores.people.open_named_base(name)


async def _last_answer(conversation: Conversation, question: Question) -> Answer:
    async for event in conversation.answer(question):
        if isinstance(event, Answered):
            return event.answer
    raise CommandError("The answer broke off; the log says why.")


async def _all_cards(parts: Parts, base: BaseId) -> AsyncIterator[DocumentCard]:
    offset = 0
    while cards := await parts.stores.library.documents(base, limit=PAGE, offset=offset):
        for card in cards:
            yield card
        offset += len(cards)


def _document_id(text: str) -> DocumentId:
    try:
        return DocumentId(str(uuid.UUID(text)))
    except ValueError:
        raise CommandError(f"{text!r} is not the id of a document. `baza docs` lists the ids.") from None


def _tell(source: str, outcome: DocumentCard | SourceMissing, words: Words, *, as_json: bool) -> bool:
    """Print how a source ended; whether it was added."""
    error = _error(outcome, words)
    if as_json:
        print_json(_outcome_json(source, outcome, error))
    else:
        _print_outcome(source, outcome, error, words)
    return error is None


def _error(outcome: DocumentCard | SourceMissing, words: Words) -> str | None:
    if isinstance(outcome, SourceMissing):
        return words.plain("cli-no-such-file", path=str(outcome))
    if outcome.status in (DocumentStatus.READY, DocumentStatus.DUPLICATE):
        return None
    return failure_sentence(outcome, words, plain=True)


def _outcome_json(source: str, outcome: DocumentCard | SourceMissing, error: str | None) -> dict[str, JsonValue]:
    if isinstance(outcome, SourceMissing):
        return not_added_json(source, error or "")
    return added_json(source, outcome, error)


def _print_outcome(source: str, outcome: DocumentCard | SourceMissing, error: str | None, words: Words) -> None:
    if error is not None or isinstance(outcome, SourceMissing):
        print_problem(f"{source}: {error}")
        return
    if outcome.status is DocumentStatus.DUPLICATE:
        print_line(words.plain("cli-duplicate", title=outcome.name))
        return
    seconds = round(outcome.seconds or 0.0, 1)
    print_line(words.plain("cli-added", title=outcome.name, passages=outcome.chunks, seconds=seconds))
    if outcome.unread:
        print_line("  " + words.plain("receipt-unread", **unread_values(outcome, words)))
