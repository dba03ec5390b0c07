"""Extracts rows from documents: short ones share a call, long ones take several, and calls run concurrently.

In: what a row is, its columns, documents. Out: rows by document, checked against the text, and how much was read. When
rows seem to be missing, the model is asked once more, as long as calls are left for the other documents; rows that it
saw but did not give are counted. Reasons to ask again: rows that the text does not support, a number of rows other than
the model's own `total_seen`, and unread lines of a list. After that the better of the two replies is final. The turn's
limits are checked before every call. When the model fails at a call, only the documents of that call are lost; when it
cannot write all rows of several documents at once, they are read in two halves.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

import structlog

from domain.documents import DocumentCard
from domain.ending import together
from domain.ids import BaseId, DocumentId
from rag.execution.documents import overlapping, pages_of, parts_of, tokens_of
from rag.execution.evidence import Checked, Row, check, chunk_name, source_of, stands_in
from rag.execution.tools import Allowance, ReplyCache, ask, size_of
from rag.execution.wire import NamedChunk, RowsReply, RowsRequest
from rag.ports import ChatModel, DocumentPassages, ModelError, ModelMisfit
from rag.records import ChatMessage, DocumentsRead, Passage, asking
from rag.words import digest, estimate_tokens

SIDE_BY_SIDE = 4
MOST_TOGETHER = 12  # documents of one call: their rows have to fit into its reply
COLUMNS_TOKENS = 900  # row and columns at their longest, and the field names
NAME_CHARS = 80  # of a document's name, given with each passage
NAME_TOKENS = 40
OVERLAP_TOKENS = 300  # of a part that the next one repeats: the longest row that survives a cut
OVERLAP_SHARE = 6  # the overlap is at most one sixth of a small prompt
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


@dataclass(frozen=True, kw_only=True)
class DocumentText:
    """A document and all its passages."""

    card: DocumentCard
    passages: tuple[Passage, ...]


Batch = tuple[DocumentText, ...]
"""Documents that share a call; a long one is alone and takes several."""


@dataclass(frozen=True, kw_only=True)
class ExtractionTask:
    """What to extract, and from which documents."""

    base_id: BaseId
    row: str
    columns: tuple[str, ...]
    cards: tuple[DocumentCard, ...]
    cache: ReplyCache


@dataclass(kw_only=True)
class Extraction:
    """The state of an extraction; updated while documents are read."""

    order: ExtractionTask
    rows: dict[DocumentId, list[Row]] = field(default_factory=dict)  # of documents that were read
    problems: int = 0
    dropped: int = 0
    missing: int = 0  # rows that the model saw but did not give
    remembered: int = 0  # documents taken from the cache without a model

    @property
    def documents(self) -> DocumentsRead:
        """For the stamp under the answer."""
        return DocumentsRead(
            read=len(self.rows),
            total=len(self.order.cards),
            without_data=sum(not rows for rows in self.rows.values()),
            problems=self.problems,
            missing_rows=self.missing,
            remembered=self.remembered,
        )

    @property
    def in_order(self) -> list[Row]:
        """All rows, in the order of the requested documents."""
        return [row for card in self.order.cards for row in self.rows.get(card.id, ())]

    def add(self, cards: Sequence[DocumentCard], checked: Sequence[Checked], *, is_remembered: bool) -> None:
        """Documents have been read in these parts."""
        self.rows.update({card.id: [] for card in cards})
        for row in (row for each in checked for row in each.rows):
            self.rows[row.document].append(row)
        self.dropped += sum(each.dropped for each in checked)
        self.missing += sum(each.missing for each in checked)
        self.remembered += len(cards) if is_remembered else 0


@dataclass(frozen=True, kw_only=True)
class CheckedReply:
    """A model's reply for a part, and the result of its check against the text."""

    reply: RowsReply
    checked: Checked

    @classmethod
    def of(cls, reply: RowsReply, request: RowsRequest, part: Sequence[Passage]) -> Self:
        """The reply, checked against the part."""
        return cls(reply=reply, checked=check(reply, part, columns=len(request.columns)))


@dataclass(kw_only=True)
class RowExtractor:
    """One extraction; its workers share its state."""

    order: ExtractionTask
    model: ChatModel
    passages: DocumentPassages
    rules: str  # the system prompt
    prompt_tokens: int  # limit for the prompt of one call
    allowance: Allowance
    watch: Callable[[Extraction], None]  # is called whenever documents have been read
    _halves: deque[Batch] = field(default_factory=deque)  # of a batch whose rows did not fit into one reply
    _packing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        """The room for documents, and all of them waiting."""
        whole = self.prompt_tokens - estimate_tokens(self.rules) - COLUMNS_TOKENS
        self._overlap_tokens = max(min(OVERLAP_TOKENS, whole // OVERLAP_SHARE), 0)
        self._part_tokens = whole - self._overlap_tokens
        self._extraction, self._waiting = Extraction(order=self.order), deque(self.order.cards)

    async def extract(self) -> Extraction:
        """Raises DatabaseAway."""
        await together(*(self._work() for _ in range(SIDE_BY_SIDE)))
        extraction = self._extraction
        log.info(
            "rows.read",
            documents=len(extraction.rows),
            of=len(self.order.cards),
            remembered=extraction.remembered,
            rows=sum(map(len, extraction.rows.values())),
            dropped=extraction.dropped,
            missing=extraction.missing,
            problems=extraction.problems,
        )
        return extraction

    async def _work(self) -> None:
        while True:
            async with self._packing:
                batch = await self._next()
            if not batch:
                return
            try:
                whole = await self._read(batch)
            except ModelError as error:
                whole = True
                if isinstance(error, ModelMisfit) and len(batch) > 1:
                    half = len(batch) // 2
                    self._halves.extend((batch[:half], batch[half:]))
                    continue
                self._extraction.problems += len(batch)
                log.warning("rows.batch_failed", documents=len(batch), reason=type(error).__name__)
            if not whole:
                return
            self.watch(self._extraction)

    async def _next(self) -> Batch:
        """The next documents with their texts: as many as fit into one prompt, or one that is longer. Those that are
        cached are done with on the way. Nothing when all are begun, or the limits forbid any further call."""
        if self._halves:
            return () if self.allowance.is_over() else self._halves.popleft()
        batch: list[DocumentText] = []
        left, remembered = self._part_tokens, self._extraction.remembered
        while self._waiting and len(batch) < MOST_TOGETHER:
            document = await self._text(self._waiting[0])
            if not _take_cached(document, self._extraction):
                left -= sum(tokens_of(passage) + NAME_TOKENS for passage in document.passages)
                if (batch and left < 0) or (not batch and self.allowance.is_over()):
                    break
                batch.append(document)
            self._waiting.popleft()
        if self._extraction.remembered > remembered:
            self.watch(self._extraction)
        return tuple(batch)

    async def _text(self, card: DocumentCard) -> DocumentText:
        pages = pages_of(self.passages, self.order.base_id, card.id)
        return DocumentText(card=card, passages=tuple([passage async for page in pages for passage in page]))

    async def _read(self, batch: Batch) -> bool:
        """False when the limits ended it; then none of the batch's documents counts as read."""
        cards = [document.card for document in batch]
        asked, replies = 0, list[tuple[tuple[Passage, ...], Checked]]()
        passages = [passage for document in batch for passage in document.passages]
        parts = parts_of(passages, tokens=self._part_tokens, each=NAME_TOKENS)
        for part in overlapping(parts, tokens=self._overlap_tokens, each=NAME_TOKENS):
            request = _request(part, cards, self.order)
            said = _recalled(request, part, self.order)
            asked += said is None
            said = said or await self._ask(request, part, cards)
            if said is None:
                return False
            replies.append((part, said.checked))
        self._extraction.add(cards, [checked for _, checked in replies], is_remembered=not asked)
        self._extraction.missing -= sum(recovered(short, after) for short, (_, after) in pairwise(replies))
        return True

    async def _ask(
        self, request: RowsRequest, part: Sequence[Passage], cards: Sequence[DocumentCard]
    ) -> CheckedReply | None:
        """None when the limits forbid the call. A complete reply, or the better of two, is cached. Any other reply is
        not: another time may give a better one. Raises ModelError."""
        reply = await ask(self.model, self._messages(request), RowsReply, self.allowance)
        if reply is None:
            return None
        first = CheckedReply.of(reply, request, part)
        last = first if first.checked.is_whole else await self._ask_again(request, first, part)
        if last:
            await _cache(last.reply, part, cards, self.order)
        return last or first

    async def _ask_again(
        self, request: RowsRequest, first: CheckedReply, part: Sequence[Passage]
    ) -> CheckedReply | None:
        """Shows the model remarks on what it said, and returns the better of the two replies. None when every call that
        is left is needed for other documents, the limits forbid it, or the model fails: the first reply is then final.
        """
        not_begun = len(self._halves) + -(-len(self._waiting) // MOST_TOGETHER)  # calls that these need, at a guess
        if self.allowance.calls_left <= not_begun:
            return None
        asked = self._messages(request)
        remark = ChatMessage(role="user", content=remarks(first.checked))
        shown = ChatMessage(role="assistant", content=first.reply.model_dump_json())
        fitting = (each for each in ((*asked, shown, remark), (*asked, remark)) if size_of(each) <= self.prompt_tokens)
        try:
            messages = next(fitting, None)
            again = await ask(self.model, messages, RowsReply, self.allowance) if messages else None
        except ModelError as error:
            log.warning("rows.not_repaired", reason=type(error).__name__)
            return None
        return better(first, CheckedReply.of(again, request, part)) if again else None

    def _messages(self, request: RowsRequest) -> tuple[ChatMessage, ...]:
        return asking(self.rules, request.model_dump_json())


def remarks(checked: Checked) -> str:
    """Remarks for the model: why the rows may be incomplete."""
    given = len(checked.rows) + checked.dropped
    lines = "\n".join(line[:LINE_CHARS] for line in checked.unread[:LINES_SHOWN])
    said = (
        _DROPPED.format(count=checked.dropped) if checked.dropped else "",
        _DIFFERS.format(seen=checked.seen, given=given) if checked.seen != given else "",
        _UNREAD.format(lines=lines) if lines else "",
        _AGAIN,
    )
    return "\n".join(filter(None, said))


def better(first: CheckedReply, second: CheckedReply) -> CheckedReply:
    """The reply with more supported rows; of equals the one with fewer missing, then fewer dropped; then the second."""

    def worth(said: CheckedReply) -> tuple[int, int, int]:
        return (len(said.checked.rows), -said.checked.missing, -said.checked.dropped)

    return max(second, first, key=worth)


def recovered(short: tuple[Sequence[Passage], Checked], after: Checked) -> int:
    """How many of the rows missing in a part are given in the next one, which repeats the end of the part."""
    part, checked = short
    texts = {passage.chunk_id: passage.text for passage in part}
    given = {row.cells for row in checked.rows}
    late = [
        row
        for row in after.rows
        if row.cells not in given and stands_in(row.cells[0], texts.get(row.passage.chunk_id, ""))
    ]
    return min(len(late), checked.missing)


def _take_cached(document: DocumentText, extraction: Extraction) -> bool:
    """Whether the rows of a document are cached, as far as it was read in one part; they are taken then."""
    request = _request(document.passages, [document.card], extraction.order)
    said = _recalled(request, document.passages, extraction.order)
    if said:
        extraction.add([document.card], [said.checked], is_remembered=True)
    return said is not None


def _recalled(request: RowsRequest, part: Sequence[Passage], order: ExtractionTask) -> CheckedReply | None:
    reply = order.cache.get(_key(request), RowsReply)
    return CheckedReply.of(reply, request, part) if reply else None


async def _cache(
    reply: RowsReply, part: Sequence[Passage], cards: Sequence[DocumentCard], order: ExtractionTask
) -> None:
    """The rows of each document by themselves, so that one that changes does not make the others be read again. Of rows
    that the model saw but did not give nobody knows the document: the last one is said to have them."""
    sources = [(row, source_of(row, part)) for row in reply.rows]
    for card in cards:
        own = tuple(passage for passage in part if passage.document_id == card.id)
        rows = tuple(row for row, source in sources if source and source.document_id == card.id)
        unseen = max(reply.total_seen - len(reply.rows), 0) if card is cards[-1] else 0
        kept = RowsReply(total_seen=len(rows) + unseen, rows=rows)
        if own:
            await order.cache.keep(_key(_request(own, [card], order)), kept, [card.id])


def _key(request: RowsRequest) -> str:
    """Cache key: a hash of the texts and names. The request itself is part of the cache's own key."""
    return digest(*(chunk.model_dump_json() for chunk in request.document_context))


def _request(part: Sequence[Passage], batch: Sequence[DocumentCard], order: ExtractionTask) -> RowsRequest:
    names = {card.id: card.name[:NAME_CHARS] for card in batch}
    chunks = (
        NamedChunk(chunk_id=chunk_name(each), document=names[each.document_id], chunk_text=each.text) for each in part
    )
    return RowsRequest(row=order.row, columns=order.columns, document_context=tuple(chunks))
