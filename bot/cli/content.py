"""The commands that fill and read a base: add, ask, docs, show.

In: settings and arguments. Out: lines or JSON on stdout, and the exit code.
"""

import asyncio
import sys
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import partial
from itertools import groupby

from bot.app import Parts, open_parts
from bot.cli.adding import COMMAND_LINE_USER, SourceMissing, add_sources
from bot.cli.errors import CommandError, no_such_base
from bot.cli.output import (
    Bar,
    added_json,
    answer_json,
    card_json,
    document_json,
    not_added_json,
    print_json,
    print_line,
    print_problem,
)
from bot.replies.answers import finished_answer, in_words
from bot.replies.failures import failure_sentence
from bot.replies.names import name_of
from bot.replies.readings import unread_values
from bot.replies.rich import Kind, RichText, Run, Style
from bot.settings import Settings
from bot.texts import Words, load_texts
from domain.documents import DocumentCard, DocumentStatus
from domain.ids import BaseId, DocumentId, SessionId
from domain.locator import JsonValue
from rag.conversation import Conversation
from rag.records import Answer, Answered, Question
from rag.words import normalise

QUOTE_MARK = "│ "
_QUOTES = frozenset({Kind.QUOTE, Kind.FOLDED_QUOTE})
DEFAULT_BASE = "default"  # always counts as existing
PAGE = 200  # documents per call


def to_terminal(text: RichText) -> str:
    """The same text without formatting."""
    return "".join(_passage(runs, quoted=quoted) for quoted, runs in groupby(text.runs, key=_is_quoted))


def _is_quoted(run: Run) -> bool:
    return bool(run.kinds & _QUOTES)


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
            words.plain("cli-document", id=card.id, title=name_of(card), status=card.status.value, passages=card.chunks)
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
    print_line(name_of(card))
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
        print_line(words.plain("cli-duplicate", title=name_of(outcome)))
        return
    seconds = round(outcome.seconds or 0.0, 1)
    print_line(words.plain("cli-added", title=name_of(outcome), passages=outcome.chunks, seconds=seconds))
    if outcome.unread:
        print_line("  " + words.plain("receipt-unread", **unread_values(outcome, words)))
