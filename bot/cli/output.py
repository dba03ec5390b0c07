"""What commands print: JSON for scripts, lines for people; and which errors of theirs are expected.

In: records, exceptions. Out: text on stdout; an expected error as one sentence on stderr: what happened and what to do
next. Any other exception is a bug and keeps its traceback. The JSON keys are a contract (DESIGN, section 5).
"""

import errno
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Self

from adapters.database.embedded import EmbeddedDatabaseError
from adapters.database.migrate import MigrationError
from adapters.database.transport import DatabaseAway, DatabaseError
from adapters.local.layout import LocalModelError
from bot.settings import SettingsError
from domain.documents import DocumentCard
from domain.locator import JsonValue
from rag.addresses import defanged
from rag.records import Answer


def print_json(value: Mapping[str, JsonValue] | Sequence[Mapping[str, JsonValue]]) -> None:
    """One line of JSON, with Cyrillic unescaped."""
    print_line(json.dumps(value, ensure_ascii=False))


def print_line(text: str) -> None:
    """A line on stdout, flushed at once: scripts read while the command runs."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Bar:
    """How far something is, drawn on stderr for whoever watches a terminal; elsewhere nothing is drawn."""

    def __init__(self, total: int, label: str) -> None:
        from rich.console import Console  # a tenth of a second, which commands without a bar spare
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._is_drawn = sys.stderr.isatty()
        self._percent = -1
        self._progress = Progress(
            *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=sys.stdout.isatty(),  # lines printed meanwhile go above it, unless they are kept in a file
            disable=not self._is_drawn,
        )
        self._task = self._progress.add_task(label, total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self) -> None:
        """One further."""
        self._progress.advance(self._task)

    def reach(self, done: int, total: int, line: Callable[[], str] | None = None) -> None:
        """`done` of `total`, which may be known only now. Where nothing is drawn, a `line` for each further percent."""
        self._progress.update(self._task, completed=done, total=total)
        percent = 100 * done // max(total, 1)
        if line and not self._is_drawn and percent > self._percent:
            self._percent = percent
            print_line(line())


def print_problem(text: str) -> None:
    """A sentence on stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def added_json(source: str, card: DocumentCard | None, error: str | None) -> dict[str, JsonValue]:
    """The line of `baza add`, without a card for a source that never became a document. A duplicate names the document
    that was there first."""
    if card is None:
        nothing = dict.fromkeys(("document_id", "title", "pages", "seconds"))
        return {"source": source, "status": "failed", "chunks": 0, "error": error, **nothing}
    original = card.error_params.get("document_id")
    return {
        "source": source,
        **_told(card),
        "document_id": str(original) if card.status == "duplicate" and original else card.id,
        "parts": card.parts,
        "unread": [part.name for part in card.unread],
        "seconds": card.seconds,
        "error": error,
    }


def _told(card: DocumentCard) -> dict[str, JsonValue]:
    return {
        "document_id": card.id,
        "title": card.title,
        "status": card.status.value,
        "chunks": card.chunks,
        "pages": card.pages,
        "medium": card.medium.value,
        "duration_s": card.duration_s,
        "version": card.version,
    }


def answer_json(answer: Answer) -> dict[str, JsonValue]:
    """The object of `baza ask`; the plan is seed 4's QueryPlan, the facts its FactsPayload."""
    return {
        "answer": defanged(answer.text, answer.addresses),
        "sources": [citation.to_json() for citation in answer.citations],
        **(answer.trace or {}),
        "kind": answer.kind.value,
        "choices": [*(each.label for each in answer.alike), *answer.choices],
        "cut": answer.cut,
        "passages": defanged(answer.passages, answer.addresses),
        "in_other_language": answer.in_other_language,
        "model": answer.model,
        "model_calls": answer.turn.usage.calls,
        "tokens": {"prompt": answer.turn.usage.prompt_tokens, "answer": answer.turn.usage.answer_tokens},
        "cost": answer.turn.usage.cost,
        "pace": asdict(answer.turn.pace),
        "seconds": round(answer.turn.seconds, 3),
    }


def card_json(card: DocumentCard) -> dict[str, JsonValue]:
    """An element of `baza docs`."""
    return {
        **_told(card),
        "type": card.source_type.value,
        "identifier": card.source_identifier,
        "language": card.language,
        "created_at": card.created_at.isoformat(),
        "expires_at": card.expires_at.isoformat() if card.expires_at else None,
        "error": card.error_code,
    }


class CommandError(Exception):
    """A command cannot do its work; the message is the sentence to print."""


def no_such_base(name: str, filled: Sequence[str]) -> str:
    """The sentence for a base name without documents; `filled` are names of some bases that have documents."""
    there = ", ".join(map(repr, filled)) or "none yet"
    return f"There is no base {name!r}. Bases with documents: {there}."


EXPECTED: tuple[type[Exception], ...] = (
    CommandError,
    DatabaseAway,
    DatabaseError,
    EmbeddedDatabaseError,
    LocalModelError,
    MigrationError,
    SettingsError,
)


def sentence(trouble: Exception) -> str:
    """One sentence for a person at a terminal."""
    if isinstance(trouble, DatabaseAway):
        return f"The database does not answer ({trouble}). Check DATABASE_URL or SUPABASE_URL, and that it is running."
    return str(trouble)


@contextmanager
def port_named(port: int, setting: str) -> Iterator[None]:
    """Raises CommandError, a sentence for the engineer, when another program uses the port."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise CommandError(
            f"Port {port} of this machine is taken. Is Baza running already? Else set {setting} to another."
        ) from error
