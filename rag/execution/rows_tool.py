"""`collect_rows`: extracts rows from documents, then filters, counts, sums, sorts and compares them.

In: what a row is, its columns, conditions, what to compute. Out: a table with a source for each value, numbers that
code has computed, and where documents disagree. A model extracts the rows; `rag.execution` does the rest.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from prompts.wordings import Wordings, language_of
from rag.execution.computing import Aggregate, Condition, Operator, Order, Period
from rag.execution.documents import MAX_NAMED, DocumentName, WholeDocumentsTool, choose
from rag.execution.facts import FactsPayload
from rag.execution.merging import compare, merge_rows
from rag.execution.row_reading import Extraction, ExtractionTask, RowExtractor
from rag.execution.table_facts import TableRequest, changes_payload, rows_payload
from rag.execution.tools import Allowance, ReplyCache, StepFailed, StepProgress, ToolContext, wording
from rag.execution.wire import RowsReply
from rag.planning.tool import ToolArguments
from rag.words import digest, plain

MAX_COLUMNS = 6
MAX_CONDITIONS = 8  # «between» makes two
BETWEEN = "between"  # of conditions: two of them
_ENDS = (Operator.AT_LEAST.value, Operator.AT_MOST.value)
_RANGE = re.compile(r"\s*\.\.\s*|\s+[–—-]\s+")
REPLY_TOKENS = 1_500  # expected size of a reply, for the allowance; the meter counts the real size

ColumnName = Annotated[str, Field(min_length=1, max_length=60)]


class WantedRows(ToolArguments):
    """A condition on a column."""

    column: ColumnName
    op: Operator
    value: Annotated[str, BeforeValidator(str), Field(min_length=1, max_length=200)]


class RowsArguments(ToolArguments):
    """What a row is, and what is worked out of the rows."""

    what: str = Field(min_length=1, max_length=200)
    columns: tuple[ColumnName, ...] = Field(min_length=1, max_length=MAX_COLUMNS)
    documents: tuple[DocumentName, ...] | None = Field(None, max_length=MAX_NAMED)
    where: tuple[WantedRows, ...] | None = Field(None, max_length=MAX_CONDITIONS)
    key: tuple[ColumnName, ...] | None = Field(None, max_length=MAX_COLUMNS)
    current: bool = False
    aggregate: Aggregate = Aggregate.NONE
    of: ColumnName | None = None
    group_by: ColumnName | None = None
    period: Period | None = None
    sort_by: ColumnName | None = None
    order: Order = Order.ASC
    changes: bool = False

    @field_validator("where", mode="before")
    @classmethod
    def _without_between(cls, value: object) -> object:
        """«between» with two values as a condition for each end, both included."""
        conditions = value if isinstance(value, list | tuple) else [value]
        return None if value is None else [end for each in conditions for end in _ends(each)]

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.aggregate not in (Aggregate.NONE, Aggregate.COUNT) and self.of is None:
            raise ValueError(f"of: name the column that {self.aggregate} is worked out of")
        if self.changes and self.documents is not None and len(self.documents) != 2:
            raise ValueError("changes: name exactly two documents, the earlier one first")
        return self

    @cached_property
    def all_columns(self) -> tuple[str, ...]:
        """`columns`, and those that are named elsewhere only."""
        named = (*(each.column for each in self.where or ()), *(self.key or ()), self.of, self.group_by, self.sort_by)
        columns: dict[str, str] = {}
        for name in (*self.columns, *filter(None, named)):
            columns.setdefault(plain(name), name)
        return tuple(columns.values())

    def place(self, name: str) -> int:
        """Index of a column."""
        return [plain(column) for column in self.all_columns].index(plain(name))


class CollectRows(WholeDocumentsTool[RowsArguments]):
    """slow: takes a row out of documents for every thing of a kind; the program merges, filters, counts, sums, sorts.
    For «сколько …», «перечисли все …», «на какую сумму», «у кого больше», «сравни», «что изменилось»; not for one
    value, not to count documents. what: one row, in the singular; columns: 1-6, the first names the thing.
    Optional: documents (else all); where: conditions {column, op: = != < > <= >= contains between, value: 500 000
    ₽, 2025-12-31, 2025, да, 2025-01..2025-03}; key: columns that tell rows apart (payments); current: true for what
    holds now; aggregate: sum, min, max, avg of column `of`; group_by, period: year, month; sort_by, order: asc,
    desc; changes: true with two documents, the earlier first.
    """

    name = "collect_rows"
    arguments = RowsArguments

    async def run(self, arguments: RowsArguments, context: ToolContext) -> FactsPayload:
        """Raises DatabaseAway, and StepFailed: the model failed at every document, or there are not two to compare."""
        chosen = await choose(
            self.catalogue,
            self.finder,
            context.base_id,
            " ".join((arguments.what, *arguments.all_columns)),
            names=arguments.documents,
            exhaustive=True,
            one_each=arguments.changes,
        )
        if arguments.changes and len(chosen.cards) != 2:
            raise StepFailed(f"changes are told of two documents, and {len(chosen.cards)} go by these names")
        reader = (RowsReply.__name__, self.model.name, digest(self.prompts.rows))
        order = ExtractionTask(
            base_id=context.base_id,
            row=arguments.what,
            columns=arguments.all_columns,
            cards=chosen.cards,
            cache=await ReplyCache.open(self.memory, context.base_id, *reader, *_request(arguments)),
        )
        language = language_of(context.question)
        asked = _Asked(arguments=arguments, table=_table_request(arguments, self.wordings[language], language))
        extraction = await RowExtractor(
            order=order,
            model=self.model,
            passages=self.passages,
            rules=self.prompts.rows,
            prompt_tokens=self.prompt_tokens,
            allowance=Allowance(run=context.run, reply_tokens=REPLY_TOKENS),
            watch=lambda read: _keep(read, asked, context),
        ).extract()
        if chosen.cards and extraction.problems == len(chosen.cards):
            raise StepFailed("the model failed at every document")
        return asked.payload(extraction)


def _ends(condition: object) -> list[object]:
    if not isinstance(condition, dict) or condition.get("op") != BETWEEN:
        return [condition]
    value = condition.get("value")
    ends = _RANGE.split(value, maxsplit=1) if isinstance(value, str) else value
    if not isinstance(ends, list | tuple) or len(ends) != len(_ENDS):
        raise ValueError(f"{BETWEEN}: give the first and the last value, «2025-01-01..2025-03-31»")
    return [{**condition, "op": op, "value": end} for op, end in zip(_ENDS, ends, strict=True)]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The arguments, and what is worked out of the rows."""

    arguments: RowsArguments
    table: TableRequest

    def payload(self, extraction: Extraction) -> FactsPayload:
        """Of the rows so far."""
        arguments, cards = self.arguments, extraction.order.cards
        came = {card.id: card.created_at for card in cards}
        key = tuple(map(arguments.place, arguments.key)) if arguments.key else (0,)
        documents, dropped = extraction.documents, extraction.dropped
        if not arguments.changes:
            things = merge_rows(extraction.in_order, row=arguments.what, key=key, came=came)
            return rows_payload(things, self.table, documents, came=came, dropped=dropped)
        before, after = (
            merge_rows(extraction.rows.get(card.id, ()), row=arguments.what, key=key, came=came) for card in cards
        )
        found = compare(before, after, row=arguments.what, key=key)
        names = (cards[0].name, cards[1].name)
        return changes_payload(found, names, self.table, documents, dropped=dropped)


def _table_request(arguments: RowsArguments, words: Wordings, language: str) -> TableRequest:
    def place(name: str | None) -> int | None:
        return arguments.place(name) if name else None

    is_reckoned = arguments.aggregate not in (Aggregate.NONE, Aggregate.COUNT)
    return TableRequest(
        row=arguments.what,
        columns=arguments.all_columns,
        words=words,
        language=language,
        conditions=tuple(
            Condition(place=arguments.place(each.column), operator=each.op, value=each.value)
            for each in arguments.where or ()
        ),
        current=arguments.current,
        aggregate=arguments.aggregate,
        of=place(arguments.of) if is_reckoned else None,
        group_by=place(arguments.group_by),
        period=arguments.period,
        sort_by=place(arguments.sort_by),
        order=arguments.order,
    )


def _request(arguments: RowsArguments) -> tuple[str, ...]:
    """The cache key: the arguments that decide which rows there are. Conditions are left out, so that a count of what
    was listed before finds the same rows."""
    return tuple(map(wording, (arguments.what, *arguments.all_columns)))


def _keep(extraction: Extraction, asked: _Asked, context: ToolContext) -> None:
    """Reports progress to the person, and keeps the rows so far in case the step is cut short. A partial comparison is
    not kept: it would report false differences."""
    read = extraction.documents
    context.run.report(StepProgress(step_id=context.step_id, done=read.read + read.problems, total=read.total))
    if not asked.arguments.changes:
        context.run.kept[context.step_id] = asked.payload(extraction)
