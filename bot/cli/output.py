"""What commands print: JSON for scripts, lines for people; and which errors of theirs are expected.

In: records, exceptions. Out: text on stdout; an expected error as one sentence on stderr: what happened and what to do
next. Any other exception is a bug and keeps its traceback. The JSON keys are a contract (DESIGN, section 5).
"""

import errno
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Self

from adapters.database.embedded import EmbeddedDatabaseError
from adapters.database.migrate import MigrationError
from adapters.database.transport import DatabaseAway, DatabaseError
from adapters.local.layout import LocalModelError
from bot.settings import SettingsError
from domain.documents import DocumentCard
from domain.locator import JsonValue
from ingestion.records import Block
from rag.addresses import defanged
from rag.records import Answer

if TYPE_CHECKING:
    from rich.progress import Progress


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
        self.is_drawn = sys.stderr.isatty()
        self._total, self._label, self._done = total, label, 0
        self._percent = -1
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        if self.is_drawn:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            # Lines that are printed meanwhile go above it, unless they are kept in a file.
            shares = sys.stdout.isatty()
            console = Console(stderr=True)
            self._progress = Progress(*columns, console=console, transient=True, redirect_stdout=shares)
            self._progress.start()
            self._progress.add_task(self._label, total=self._total)
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress:
            self._progress.stop()

    def grows(self, done: int, total: int) -> bool:
        """Whether a further percent is done, for whoever prints a line for each."""
        percent = 100 * done // max(total, 1)
        grown, self._percent = percent > self._percent, max(percent, self._percent)
        return grown

    def advance(self) -> None:
        """One further."""
        self.reach(self._done + 1, self._total)

    def reach(self, done: int, total: int) -> None:
        """`done` of `total`, which may be known only now."""
        self._done, self._total = done, total
        if self._progress:
            self._progress.update(self._progress.task_ids[0], completed=done, total=total)


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
        "status": card.status.value,
        "document_id": str(original) if card.status == "duplicate" and original else card.id,
        "title": card.title,
        "chunks": card.chunks,
        "pages": card.pages,
        "medium": card.medium.value,
        "duration_s": card.duration_s,
        "parts": card.parts,
        "unread": [part.name for part in card.unread],
        "version": card.version,
        "seconds": card.seconds,
        "error": error,
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
        "document_id": card.id,
        "title": card.title,
        "type": card.source_type.value,
        "identifier": card.source_identifier,
        "status": card.status.value,
        "chunks": card.chunks,
        "pages": card.pages,
        "medium": card.medium.value,
        "duration_s": card.duration_s,
        "version": card.version,
        "language": card.language,
        "created_at": card.created_at.isoformat(),
        "expires_at": card.expires_at.isoformat() if card.expires_at else None,
        "error": card.error_code,
    }


def document_json(card: DocumentCard, blocks: Sequence[Block]) -> dict[str, JsonValue]:
    """The object of `baza show`."""
    return {
        "document_id": card.id,
        "title": card.title,
        "blocks": [
            {"kind": block.kind.value, "level": block.level, "text": block.text, "locator": block.locator.to_json()}
            for block in blocks
        ],
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
