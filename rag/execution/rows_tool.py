"""`collect_rows`: extracts rows from documents, then filters, counts, sums, sorts and compares them.

In: what a row is, its columns, conditions, what to compute. Out: a table with a source for each value, numbers that
code has computed, and where documents disagree. A model extracts the rows: short documents share a call, long ones
take several. What it gives is checked against the text; when rows seem to be missing, it is asked once more, and the
better of the two replies is final. When it fails at a call, only its documents are lost.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from domain.documents import DocumentCard
from domain.ending import together
from domain.ids import DocumentId
from prompts.wordings import language_of
from rag.execution.documents import WholeDocumentsTool, WholeReading, pages_of, parts_of, tokens_of
from rag.execution.evidence import Checked, Row, check, chunk_name, source_of
from rag.execution.facts import FactsPayload
from rag.execution.merging import merge_rows
from rag.execution.tables import RowsArguments, TableWriter
from rag.execution.tools import ReplyCache, StepFailed, ToolContext, ask, size_of, wording
from rag.execution.wire import NamedChunk, RowsReply, RowsRequest
from rag.ports import ModelError, ModelMisfit
from rag.records import ChatMessage, Passage, asking
from rag.words import digest, estimate_tokens

REPLY_TOKENS = 1_500  # expected size of a reply, for the allowance; the meter counts the real size
AT_ONCE = 4  # calls
MOST_TOGETHER = 12  # documents of one call: their rows have to fit into its reply
COLUMNS_TOKENS = 900  # row and columns at their longest, and the field names
NAME_CHARS = 80  # of a document's name, given with each passage
NAME_TOKENS = 40
LINES_SHOWN = 20
LINE_CHARS = 200
_DROPPED = (
    "Dropped, because their `quote` or their first cell does not stand in a chunk_text word for word: {count} of your "
    "rows. Give each row a quote copied from its chunk_text; leave out those that this part does not state."
)
_DIFFERS = "You said that this part states {seen} such rows (total_seen), and gave {given}. Count once more."
_UNREAD = (
    "These lines stand among lines that you took as rows, and you gave no row of them. Add those that are rows "
    "too:\n{lines}"
)
_AGAIN = "Return all rows of this part once more, with total_seen. Answer with the JSON object alone."

log = structlog.get_logger()


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
        about, names = " ".join((arguments.what, *arguments.all_columns)), arguments.documents
        base, is_pair = context.base_id, arguments.changes
        cards, documents = await self.choose(base, about, names=names, exhaustive=True, one_each=is_pair)
        if is_pair and len(cards) != 2:
            raise StepFailed(f"changes are told of two documents, and {len(cards)} go by these names")
        # Conditions are no part of the cache's key, so that a count of what was listed before finds the same rows.
        asked = map(wording, (arguments.what, *arguments.all_columns))
        reader = (RowsReply.__name__, self.model.name, digest(self.prompts.rows))
        cache = await ReplyCache.open(self.memory, base, *reader, *asked)
        reading = _Extraction(
            tool=self, asked=arguments, context=context, cards=cards, documents=documents, cache=cache
        )
        await reading.read()
        return reading.payload()


Batch = Sequence[tuple[DocumentCard, Sequence[Passage]]]  # that share a call; a long one is alone and takes several


@dataclass(kw_only=True)
class _Extraction(WholeReading):
    tool: CollectRows
    asked: RowsArguments
    rows: dict[DocumentId, list[Row]] = field(default_factory=dict)  # of documents that were read
    dropped: int = 0

    def __post_init__(self) -> None:

        self._part_tokens = self.tool.prompt_tokens - estimate_tokens(self.tool.prompts.rows) - COLUMNS_TOKENS
        self._waiting = deque(self.cards)

    async def read(self) -> None:
        """Raises DatabaseAway, StepFailed."""

        async def work() -> None:
            while True:
                async with packing:
                    batch = await self._next()
                if not batch or not await self._attempt(batch):
                    return

        packing = asyncio.Lock()
        await together(*(work() for _ in range(AT_ONCE)))
        self.end("rows.read", rows=sum(map(len, self.rows.values())), dropped=self.dropped)

    def payload(self) -> FactsPayload:
        """Of the rows so far."""
        asked, language = self.asked, language_of(self.context.question)
        words, documents = self.tool.wordings[language], self.documents
        writer = TableWriter(asked=asked, words=words, language=language, documents=documents, dropped=self.dropped)
        came = {card.id: card.created_at for card in self.cards}
        rows = [row for card in self.cards for row in self.rows.get(card.id, [])]
        earlier = self.cards[0].id if asked.changes else None
        key = tuple(map(asked.place, asked.key or asked.columns[:1]))  # the columns that tell things apart
        things = merge_rows(rows, row=asked.what, key=key, came=came, earlier=earlier)
        if not asked.changes:
            return writer.rows(things, came=came)
        return writer.changes(things, (self.cards[0].name, self.cards[1].name))

    def _tell(self) -> None:
        """A partial comparison is not kept: it would report false differences."""
        self.tell(None if self.asked.changes else self.payload())

    def _add(self, cards: Sequence[DocumentCard], checked: Sequence[Checked], *, is_remembered: bool) -> None:

        self.rows.update({card.id: [] for card in cards})
        for row in (row for each in checked for row in each.rows):
            self.rows[row.document].append(row)
        self.dropped += sum(each.dropped for each in checked)
        self.count(
            read=len(cards),
            without_data=sum(not self.rows[card.id] for card in cards),
            missing_rows=sum(each.missing for each in checked),
            remembered=len(cards) * is_remembered,
        )

    async def _attempt(self, batch: Batch) -> bool:
        """False when the limits ended it. Where the rows of several documents do not fit into one reply, each half is
        read by itself."""
        try:
            if not await self._read(batch):
                return False
        except ModelError as error:
            if isinstance(error, ModelMisfit) and len(batch) > 1:
                half = len(batch) // 2
                return await self._attempt(batch[:half]) and await self._attempt(batch[half:])
            self.count(problems=len(batch))
            log.warning("rows.batch_failed", documents=len(batch), reason=type(error).__name__)
        self._tell()
        return True

    async def _next(self) -> Batch:
        """As many documents as fit into one prompt, or one that is longer. Those that are cached, as far as they were
        read in one part, are done with on the way. Nothing when all are begun, or the limits forbid another call."""
        batch: list[tuple[DocumentCard, Sequence[Passage]]] = []
        left, remembered = self._part_tokens, self.documents.remembered
        while self._waiting and len(batch) < MOST_TOGETHER:
            card = self._waiting[0]
            pages = pages_of(self.tool.passages, self.context.base_id, card.id)
            passages = tuple([passage async for page in pages for passage in page])
            if said := self._recalled(self._request(passages, [card]), passages):
                self._add([card], [said], is_remembered=True)
            else:
                left -= sum(tokens_of(passage) + NAME_TOKENS for passage in passages)
                if (batch and left < 0) or (not batch and self.context.run.is_over()):
                    break
                batch.append((card, passages))
            self._waiting.popleft()
        if self.documents.remembered > remembered:
            self._tell()
        return batch

    async def _read(self, batch: Batch) -> bool:
        """False when the limits ended it; then none of the batch's documents counts as read."""
        cards, passages = [card for card, _ in batch], [passage for _, own in batch for passage in own]
        asked, checked = 0, list[Checked]()
        for part in parts_of(passages, tokens=self._part_tokens, each=NAME_TOKENS):
            request = self._request(part, cards)
            said = self._recalled(request, part)
            asked += said is None
            said = said or await self._ask(request, part, cards)
            if said is None:
                return False
            checked.append(said)
        self._add(cards, checked, is_remembered=not asked)
        return True

    async def _ask(
        self, request: RowsRequest, part: Sequence[Passage], cards: Sequence[DocumentCard]
    ) -> Checked | None:
        """None when the limits forbid the call. A complete reply, or the better of two, is cached. Any other reply is
        not: another time may give a better one. Raises ModelError."""
        messages = asking(self.tool.prompts.rows, request.model_dump_json())
        reply = await ask(self.tool.model, messages, RowsReply, self.context.run, reply_tokens=REPLY_TOKENS)
        if reply is None:
            return None
        columns = len(self.asked.all_columns)
        first = check(reply, part, columns=columns)
        is_whole = not first.dropped and not first.unread and reply.total_seen == len(first.rows)
        last = reply if is_whole else await self._ask_again(messages, first)
        if last is None:
            return first
        second = check(last, part, columns=columns)
        better = max(second, first, key=lambda said: (len(said.rows), -said.missing, -said.dropped))
        await self._keep(better.reply, part, cards)
        return better

    async def _ask_again(self, asked: Sequence[ChatMessage], first: Checked) -> RowsReply | None:
        """Shows the model remarks on what it said. None when every call that is left is needed for other documents, the
        limits forbid it, or the model fails: the first reply is then final."""
        not_begun = -(-len(self._waiting) // MOST_TOGETHER)  # calls that these need, at a guess
        if self.context.run.calls_left() <= not_begun:
            return None
        given, seen = len(first.rows) + first.dropped, first.reply.total_seen
        lines = "\n".join(line[:LINE_CHARS] for line in first.unread[:LINES_SHOWN])
        said = (
            _DROPPED.format(count=first.dropped) if first.dropped else "",
            _DIFFERS.format(seen=seen, given=given) if seen != given else "",
            _UNREAD.format(lines=lines) if lines else "",
            _AGAIN,
        )
        remark = ChatMessage(role="user", content="\n".join(filter(None, said)))
        shown = ChatMessage(role="assistant", content=first.reply.model_dump_json())
        most = self.tool.prompt_tokens
        messages = next((each for each in ((*asked, shown, remark), (*asked, remark)) if size_of(each) <= most), None)
        try:
            if messages is None:
                return None
            return await ask(self.tool.model, messages, RowsReply, self.context.run, reply_tokens=REPLY_TOKENS)
        except ModelError as error:
            log.warning("rows.not_repaired", reason=type(error).__name__)
            return None

    def _recalled(self, request: RowsRequest, part: Sequence[Passage]) -> Checked | None:
        reply = self.cache.get(_key(request), RowsReply)
        return check(reply, part, columns=len(self.asked.all_columns)) if reply else None

    async def _keep(self, reply: RowsReply, part: Sequence[Passage], cards: Sequence[DocumentCard]) -> None:
        """The rows of each document by themselves, so that one that changes does not make the others be read again. Of
        rows that the model saw but did not give nobody knows the document: the last one is said to have them."""
        sources = [(row, source_of(row, part)) for row in reply.rows]
        for card in cards:
            own = [passage for passage in part if passage.document_id == card.id]
            rows = tuple(row for row, source in sources if source and source.document_id == card.id)
            unseen = max(reply.total_seen - len(reply.rows), 0) if card is cards[-1] else 0
            kept = RowsReply(total_seen=len(rows) + unseen, rows=rows)
            if own:
                await self.cache.keep(_key(self._request(own, [card])), kept, [card.id])

    def _request(self, part: Sequence[Passage], cards: Sequence[DocumentCard]) -> RowsRequest:
        names = {card.id: card.name[:NAME_CHARS] for card in cards}
        named = [(each, names[each.document_id]) for each in part]
        chunks = [NamedChunk(chunk_id=chunk_name(each), document=name, chunk_text=each.text) for each, name in named]
        return RowsRequest(row=self.asked.what, columns=self.asked.all_columns, document_context=tuple(chunks))


def _key(request: RowsRequest) -> str:
    """Cache key: a hash of the texts and names. The request itself is part of the cache's own key."""
    return digest(*(chunk.model_dump_json() for chunk in request.document_context))
