"""Questions over a whole base, right in every cell: twenty questions over 24 documents of known truth.

In: the configured model (`LLM_BASE_URL=… PLANNER_MODEL=… python -m benchmarks.corpus_questions`; any variable of Baza's
settings counts). The documents of `tests/material/whole_base` go through the real pipeline into a database of their
own; each question is asked of `collect_rows` with the arguments of a careful planner, so that the model only extracts
rows. Out: for each question what is wrong with the numbers and with the file, compared cell by cell: values, their
types, the document that each cites, disagreements, replaced values. Columns asked before are cached: the twenty
questions take some 10 calls of a model in all. With --whole each question goes through planner and writer as well, some
70 calls; then the numbers in the answer are compared, and of the file the values of every column that the planner
wanted, in whatever column they stand, and the documents that say them.
"""

import argparse
import asyncio
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import structlog
from python_calamine import load_workbook

from adapters.spreadsheet import spreadsheet
from bot.app import Parts, open_parts
from bot.cli.content import add_sources
from bot.replies.citations import sourced_table
from bot.settings import Settings
from bot.texts import Words, load_texts
from domain.documents import DocumentCard, DocumentStatus
from domain.ids import BaseId, SessionId, UserId
from prompts.loader import load_prompts
from prompts.wordings import load_wordings
from rag.answering.plain import listed_items
from rag.execution.rows_tool import CollectRows
from rag.execution.tables import RowsArguments
from rag.execution.tools import Run, ToolContext
from rag.metering import begin_metering
from rag.numbers import known_numbers, numbers
from rag.records import Answered, FactTable, Question
from rag.values import day
from rag.words import plain
from tests.material.whole_base import FOLDER, TrueRow, WholeBaseQuestion, read_questions

USER = UserId(0)
SOURCE = "Источник"
"""The column of the file that names documents; their names hold days and numbers, too."""

Read = Sequence[Sequence[object]]
"""The rows of a file, the header first."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a question came to."""

    question: WholeBaseQuestion
    faults: tuple[str, ...]
    calls: int
    tokens: int


class CorpusQuestions:
    """Asks the questions of one base."""

    def __init__(self, parts: Parts, base: BaseId) -> None:
        self._parts = parts
        self._base = base
        self._words = load_texts().for_language("ru")

    async def ask(self, question: WholeBaseQuestion) -> Outcome:
        """By the tool alone."""
        context = ToolContext(
            base_id=self._base,
            user_id=USER,
            question=question.text,
            today=datetime.now(UTC).date(),
            run=Run(usage=begin_metering()),
        )
        payload = await self._tool().run(RowsArguments.model_validate(question.arguments), context)
        faults = list(_unsaid(question.says, [fact.text for fact in payload.facts]))
        faults += compare_file(question, _file(payload.table, self._words) if payload.table else ())
        usage = context.run.usage
        return Outcome(question=question, faults=tuple(faults), calls=usage.calls, tokens=usage.tokens)

    async def ask_whole(self, question: WholeBaseQuestion) -> Outcome:
        """Through planner and writer."""
        asked = Question(text=question.text, user_id=USER, session_id=SessionId(str(uuid4())), base_id=self._base)
        async for event in self._parts.conversation().answer(asked):
            if isinstance(event, Answered):
                answer = event.answer
        print(f"\n{answer.text}\n")
        said = {*known_numbers(answer.text), Decimal(listed_items(answer.text))}  # nine rows of a table are "nine"
        missing = frozenset[object]().union(*map(numbers, question.says[:1])) - said
        faults = [f"{number} is not said" for number in sorted(map(str, missing))]
        faults += compare_values(question, _file(answer.table, self._words) if answer.table else ())
        return Outcome(
            question=question, faults=tuple(faults), calls=answer.turn.usage.calls, tokens=answer.turn.usage.tokens
        )

    def _tool(self) -> CollectRows:
        parts = self._parts
        if parts.reading_model is None:
            raise SystemExit("no model is configured: set LLM_BASE_URL (or a provider's key) and PLANNER_MODEL")
        return CollectRows(
            parts.stores.library,
            parts.stores.search,
            parts.retrieval(),
            parts.reading_model,
            load_prompts(),
            load_wordings(),
            prompt_tokens=parts.settings.answer.prompt_tokens,
            memory=parts.stores.kept_readings,
        )


async def fill(parts: Parts, base: BaseId) -> None:
    """The documents, by the worker that `baza add` runs. Raises RuntimeError when one is not ready."""
    paths = [str(path) for path in sorted(FOLDER.iterdir())]
    async with parts.open_worker() as worker:
        async for name, card in add_sources(parts, worker, base, paths):
            if not isinstance(card, DocumentCard) or card.status is not DocumentStatus.READY:
                raise RuntimeError(f"{name} was not read: {card}")


def compare_file(question: WholeBaseQuestion, read: Read) -> Iterator[str]:
    """What is wrong with a file."""
    if not read:
        yield "there is no file"
        return
    header, *rows = [list(row) for row in read]
    if [plain(str(name)) for name in header[: len(question.columns)]] != [plain(name) for name in question.columns]:
        yield f"columns {header}, not {question.columns}"
        return
    left = list(rows)
    for place, wanted in enumerate(question.rows):
        found = rows[place] if question.is_ordered and place < len(rows) else _nearest(wanted, left)
        if found is None:
            yield f"no row of {wanted.cells[0]}"
            continue
        left = [row for row in left if row is not found]
        yield from _wrong_cells(wanted, dict(zip(header, found, strict=True)), question.columns)
    yield from (f"a row that does not belong there: {row}" for row in left)


def compare_values(question: WholeBaseQuestion, read: Read) -> Iterator[str]:
    """What is wrong with a file whose columns a planner has named. A column that it did not want has its values in
    fewer than half of the rows, and is left out."""
    header, *rows = [list(row) for row in read] or [[]]
    if len(rows) != len(question.rows):
        yield f"{len(rows)} rows in the file, not {len(question.rows)}"
    pairs = [(wanted, _nearest(wanted, rows)) for wanted in question.rows]
    yield from (f"no row of {wanted.cells[0]}" for wanted, found in pairs if found is None)
    both = [(wanted, found) for wanted, found in pairs if found is not None]
    cited = header.index(SOURCE) if SOURCE in header else len(header)
    for place, column in enumerate(question.columns):
        told = [(wanted, found) for wanted, found in both if wanted.cells[place] != ""]
        wrong = [(wanted, found) for wanted, found in told if not _holds(found[:cited], wanted.cells[place])]
        if len(wrong) * 2 > len(told):
            continue
        yield from (
            f"{wanted.cells[0]}, {column}: {wanted.cells[place]!r} is not in {found}" for wanted, found in wrong
        )
        for wanted, found in told:
            if wanted.documents[place] not in str(dict(zip(header, found, strict=True)).get(SOURCE, "")):
                yield f"{wanted.cells[0]}, {column}: {wanted.documents[place]} is not cited"


def _holds(row: Sequence[object], cell: object) -> bool:
    return any(_is_right(value, cell) for value in row)


def _nearest(wanted: TrueRow, rows: Sequence[list[object]]) -> list[object] | None:
    """The row of the same thing; of several the one with most right cells."""
    same = [row for row in rows if _is_right(row[0], wanted.cells[0])]
    return max(same, key=lambda row: sum(map(_is_right, row, wanted.cells)), default=None)


def _wrong_cells(wanted: TrueRow, found: dict[object, object], columns: Sequence[str]) -> Iterator[str]:
    name = wanted.cells[0]
    values = list(found.values())
    sources = _by_column(str(found.get(SOURCE, "")), columns)
    disputed, formerly = str(found.get("Расхождения", "")), str(found.get("Прежние значения", ""))
    for place, (column, cell) in enumerate(zip(columns, wanted.cells, strict=True)):
        if not _is_right(values[place], cell):
            yield f"{name}, {column}: {values[place]!r}, not {cell!r}"
        if cell != "" and not sources[column].startswith(wanted.documents[place]):
            yield f"{name}, {column} cites {sources[column]!r}, not {wanted.documents[place]!r}"
        if (column in wanted.disputed) is not _names(column, disputed):
            yield f"{name}, {column}: disagreements are {disputed!r}"
        if (column in wanted.formerly) is not _names(column, formerly):
            yield f"{name}, {column}: former values are {formerly!r}"
    said = [part for pair in wanted.disputed.values() for part in pair]
    yield from (f"{name}: {part} is no disagreement" for part in said if plain(part) not in plain(disputed))
    former = [value for values in wanted.formerly.values() for value in values]
    yield from (f"{name}: {value} is no former value" for value in former if plain(value) not in plain(formerly))


def _names(column: str, notes: str) -> bool:
    return any(line.startswith(f"{column}: ") for line in notes.splitlines())


def _is_right(found: object, wanted: object) -> bool:
    """A number has to be a number; a date a date, or words that begin with one («до 31.12.2025»)."""
    if isinstance(wanted, date):
        return found == wanted or (isinstance(found, datetime) and found.date() == wanted) or day(str(found)) == wanted
    if isinstance(wanted, int):
        return isinstance(found, int | float) and found == wanted
    one, other = plain(str(found).removesuffix(".0")), plain(str(wanted))
    return one == other or (bool(one) and (f" {other} " in f" {one} "))


def _by_column(sources: str, columns: Sequence[str]) -> dict[str, str]:
    """The document of each column, as the last column of the file tells them."""
    lines = sources.splitlines()
    if len(lines) == 1:
        return dict.fromkeys(columns, lines[0])
    told = dict.fromkeys(columns, "")
    for line in lines:
        names, _, document = line.partition(": ")
        told.update(dict.fromkeys(names.split(", "), document))
    return told


def _unsaid(wanted: Sequence[str], facts: Sequence[str]) -> Iterator[str]:
    said = " ".join(facts).replace("\u00a0", " ")
    return (f"not said: {each}" for each in wanted if each not in said)


def _file(table: FactTable, words: Words) -> Read:
    return load_workbook(BytesIO(spreadsheet(sourced_table(table, words)))).get_sheet_by_index(0).to_python()


async def run(settings: Settings, chosen: Callable[[int, WholeBaseQuestion], bool], *, whole: bool) -> None:
    """Print what each question came to."""
    questions = [each for number, each in enumerate(read_questions(), start=1) if chosen(number, each)]
    async with open_parts(settings) as parts:
        base = await parts.stores.people.open_named_base("corpus questions")
        await fill(parts, base)
        asker = CorpusQuestions(parts, base)
        outcomes = []
        for question in questions:
            outcomes.append(await (asker.ask_whole if whole else asker.ask)(question))
            print("\n  ".join((_line(outcomes[-1]), *outcomes[-1].faults)), flush=True)
    for name, half in (("seen", False), ("unseen", True)):
        of_half = [each for each in outcomes if each.question.is_unseen is half]
        print(f"{name}: {sum(not each.faults for each in of_half)} of {len(of_half)} right in every cell")
    print(f"{sum(each.calls for each in outcomes)} calls, {sum(each.tokens for each in outcomes)} tokens")


def _line(outcome: Outcome) -> str:
    verdict = f"{len(outcome.faults)} faults" if outcome.faults else "right"
    return f"{verdict}: {outcome.question.text} ({outcome.calls} calls, {outcome.tokens} tokens)"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("seen", "unseen"), help="only this half of the questions")
    parser.add_argument("--questions", type=int, nargs="*", help="only these, by number from 1")
    parser.add_argument("--whole", action="store_true", help="through planner and writer")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))

    def is_chosen(number: int, question: WholeBaseQuestion) -> bool:
        is_half = options.half is None or question.is_unseen is (options.half == "unseen")
        return is_half and (not options.questions or number in options.questions)

    with tempfile.TemporaryDirectory(prefix="baza-corpus-") as folder:
        Path(folder).chmod(0o711)
        variables = {**os.environ, "BAZA_HOME": str(Path(folder) / "home")}
        asyncio.run(run(Settings.read(variables), is_chosen, whole=options.whole))
