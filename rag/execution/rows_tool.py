"""`collect_rows`: extracts rows from documents, counts, sums, sorts and compares them.

In: what a row is, its columns, what to compute. Out: a table with a source for each row, numbers that code has
computed, and where documents disagree. A model extracts the rows; `rag.extraction` does the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Self

from pydantic import Field, model_validator

from domain.documents import DocumentCard
from prompts.loader import Prompts
from prompts.wordings import Wordings, language_of
from rag.execution.facts import FactsPayload
from rag.execution.run import Progress
from rag.execution.tools import StepFailed, Tool, ToolArguments, ToolContext
from rag.extraction.calls import Allowance, ReplyCache, digest, wording
from rag.extraction.computing import Aggregate, Order, sort
from rag.extraction.documents import PassageFinder, Selection, card_name
from rag.extraction.evidence import plain
from rag.extraction.merging import compare, tabulate
from rag.extraction.row_reading import Extraction, RowExtractor, RowsOrder
from rag.extraction.table_facts import Telling, changes_payload, rows_payload
from rag.extraction.wire import RowsReply
from rag.ports import ChatModel, DocumentCatalogue, DocumentPassages, ReadingMemory

MAX_COLUMNS = 6
MAX_NAMED = 50  # documents that one question names
MAX_QUESTION_CHARS = 1000  # of the person's own question, for the model that extracts rows
REPLY_TOKENS = 1_500  # expected size of a reply, for the allowance; the meter counts the real size

ColumnName = Annotated[str, Field(min_length=1, max_length=60)]
DocumentName = Annotated[str, Field(min_length=1, max_length=300)]


class RowsArguments(ToolArguments):
    """What a row is, and what is worked out of the rows."""

    what: str = Field(min_length=1, max_length=200)
    columns: tuple[ColumnName, ...] = Field(min_length=1, max_length=MAX_COLUMNS)
    documents: tuple[DocumentName, ...] | None = Field(None, max_length=MAX_NAMED)
    where: str | None = Field(None, max_length=500)
    group_by: ColumnName | None = None
    sort_by: ColumnName | None = None
    order: Order = Order.ASC
    aggregate: Aggregate = Aggregate.NONE
    of: ColumnName | None = None
    changes: bool = False

    @model_validator(mode="after")
    def _columns_exist(self) -> Self:
        for name in filter(None, (self.group_by, self.sort_by, self.of)):
            self.place(name)
        if self.aggregate not in (Aggregate.NONE, Aggregate.COUNT) and self.of is None:
            raise ValueError(f"of: name the column that {self.aggregate} is worked out of")
        if self.changes and self.documents is not None and len(self.documents) != 2:
            raise ValueError("changes: name exactly two documents, the earlier one first")
        return self

    def place(self, name: str) -> int:
        """Index of a column. Raises ValueError when there is none of that name."""
        names = [plain(column) for column in self.columns]
        if plain(name) not in names:
            raise ValueError(f"{name} is none of the columns {', '.join(self.columns)}")
        return names.index(plain(name))


class CollectRows(Tool[RowsArguments]):
    """slow: takes a row out of documents for every thing of a kind; the program counts, sums, sorts, compares. For
    «сколько …», «перечисли все …», «на какую сумму», «у кого больше», «сравни», «что изменилось между»; not for one
    value, not to count documents. what: one row, in the singular; columns: 1-6, the first names the thing, the others
    what the question needs, its condition's value too. Optional: documents (else all); where: rows wanted, in words;
    aggregate: sum, min, max, avg of column `of`; group_by; sort_by, order: asc, desc; changes: true with exactly two
    documents, the earlier first.
    """

    name = "collect_rows"
    is_slow = True
    arguments = RowsArguments

    def __init__(
        self,
        catalogue: DocumentCatalogue,
        passages: DocumentPassages,
        finder: PassageFinder,
        model: ChatModel,
        prompts: Prompts,
        wordings: Mapping[str, Wordings],
        *,
        prompt_tokens: int,
        memory: ReadingMemory | None = None,
    ) -> None:
        """`prompt_tokens`: limit for the prompt of one call. `memory`: a cache of rows for the same request at another
        time."""
        self._selection = Selection(catalogue, finder)
        self._extractor = RowExtractor(model, passages, prompts.rows, prompt_tokens=prompt_tokens)
        self._wordings = wordings
        self._memory = memory
        self._reader = (RowsReply.__name__, model.name, digest(prompts.rows))

    async def run(self, arguments: RowsArguments, context: ToolContext) -> FactsPayload:
        """Raises DatabaseAway, and StepFailed: the model failed at every document, or there are not two to compare."""
        chosen = await self._selection.choose(
            context.base_id,
            " ".join((arguments.what, *arguments.columns, arguments.where or "")),
            names=arguments.documents,
            exhaustive=True,
            one_each=arguments.changes,
        )
        cards = chosen.cards
        if arguments.changes and len(cards) != 2:
            raise StepFailed(f"changes are told of two documents, and {len(cards)} go by these names")
        telling = self._telling(arguments, context.question)
        allowance = Allowance(run=context.run, reply_tokens=REPLY_TOKENS)
        cache = await ReplyCache.open(self._memory, context.base_id, *self._reader, *_request(arguments))
        extraction = await self._extractor.extract(
            _order(arguments, cards, context, cache),
            allowance,
            lambda read: _keep(read, arguments, telling, context),
        )
        if cards and extraction.problems == len(cards):
            raise StepFailed("the model failed at every document")
        return _payload(extraction, arguments, telling)

    def _telling(self, arguments: RowsArguments, question: str) -> Telling:
        language = language_of(question)
        reckons = arguments.aggregate not in (Aggregate.NONE, Aggregate.COUNT)
        return Telling(
            row=arguments.what,
            columns=arguments.columns,
            words=self._wordings[language],
            language=language,
            aggregate=arguments.aggregate,
            of=arguments.place(arguments.of) if arguments.of and reckons else None,
            group_by=arguments.place(arguments.group_by) if arguments.group_by else None,
        )


def _request(arguments: RowsArguments) -> tuple[str, ...]:
    """The cache key: the arguments that decide which rows there are. The person's question is left out, so that a count
    of what was listed before finds the same rows."""
    return tuple(map(wording, (arguments.what, arguments.where or "", *arguments.columns)))


def _order(
    arguments: RowsArguments, cards: Sequence[DocumentCard], context: ToolContext, cache: ReplyCache
) -> RowsOrder:
    return RowsOrder(
        base_id=context.base_id,
        row=arguments.what,
        columns=arguments.columns,
        condition=arguments.where or "",
        question=context.question[:MAX_QUESTION_CHARS],
        cards=tuple(cards),
        cache=cache,
    )


def _payload(extraction: Extraction, arguments: RowsArguments, telling: Telling) -> FactsPayload:
    cards = extraction.order.cards
    came = {card.id: card.created_at for card in cards}
    if arguments.changes:
        before, after = (
            tabulate(extraction.rows.get(card.id, ()), row=arguments.what, columns=arguments.columns, came=came).rows
            for card in cards
        )
        names = (card_name(cards[0]), card_name(cards[1]))
        found = compare(before, after, row=arguments.what)
        return changes_payload(found, names, telling, extraction.documents, dropped=extraction.dropped)
    table = tabulate(extraction.in_order, row=arguments.what, columns=arguments.columns, came=came)
    if arguments.sort_by:
        table = replace(table, rows=sort(table.rows, arguments.place(arguments.sort_by), arguments.order))
    return rows_payload(table, telling, extraction.documents, dropped=extraction.dropped)


def _keep(extraction: Extraction, arguments: RowsArguments, telling: Telling, context: ToolContext) -> None:
    """Reports progress to the person, and keeps the rows so far in case the step is cut short. A partial comparison is
    not kept: it would report false differences."""
    read = extraction.documents
    context.run.report(Progress(step_id=context.step_id, done=read.read + read.problems, total=read.total))
    if not arguments.changes:
        context.run.kept[context.step_id] = _payload(extraction, arguments, telling)
