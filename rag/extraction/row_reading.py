"""Asks a model for the rows of one part of a document, and once more when some seem to be missing.

In: a request, the passages in it. Out: rows checked against the text, or None when the turn's limits forbid the call.
Reasons to ask again: rows that the text does not support, a number of rows other than the model's own `total_seen`, and
unread lines of a list. After that the better of the two replies is final.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

import structlog

from domain.documents import DocumentCard
from domain.ids import BaseId, DocumentId
from rag.errors import ModelError
from rag.extraction.calls import Allowance, ReplyCache, ask, digest, size_of
from rag.extraction.documents import card_name, overlapping, pages_of, parts_of
from rag.extraction.evidence import chunk_name, stands_in
from rag.extraction.rows import Checked, Row, check
from rag.extraction.wire import NamedChunk, RowsReply, RowsRequest
from rag.ports import ChatModel, DocumentPassages
from rag.records import ChatMessage, DocumentsRead, Passage
from rag.tokens import estimate_tokens
from rag.watching import end

LINES_SHOWN = 20
LINE_CHARS = 200
_DROPPED = (
    "Dropped, because their `quote` or their first cell does not stand in a chunk_text word for word: {count} of your "
    "rows. Give each row a quote copied from its chunk_text; leave out those that this part does not state."
)
_DIFFERS = "You said that this part states {seen} such rows (total_seen), and gave {given}. Count once more."
_UNREAD = (
    "These lines stand among lines that you took as rows, and you gave no row of them. Add those that are rows too and "
    "fit the condition:\n{lines}"
)
_AGAIN = "Return all rows of this part once more, with total_seen. Answer with the JSON object alone."

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Said:
    """A model's reply for a part, and the result of its check against the text."""

    reply: RowsReply
    checked: Checked

    @classmethod
    def of(cls, reply: RowsReply, request: RowsRequest, part: Sequence[Passage]) -> Self:
        """The reply, checked against the part."""
        return cls(reply=reply, checked=check(reply, part, columns=len(request.columns)))


class RowAsker:
    """One object serves any number of concurrent calls."""

    def __init__(self, model: ChatModel, rules: str, *, prompt_tokens: int) -> None:
        """`rules`: the system prompt. `prompt_tokens`: limit for the prompt of one call."""
        self._model = model
        self._rules = rules
        self._prompt_tokens = prompt_tokens

    async def rows(self, request: RowsRequest, allowance: Allowance) -> RowsReply | None:
        """None when the limits forbid the call. Raises ModelError."""
        return await self._ask(self._messages(request), allowance)

    async def once_more(
        self, request: RowsRequest, said: Said, part: Sequence[Passage], allowance: Allowance
    ) -> Said | None:
        """Shows the model remarks on what it `said`, and returns the better of the two replies. None when the limits
        forbid the call or the model fails: the first reply is then final."""
        asked = self._messages(request)
        remark = ChatMessage(role="user", content=remarks(said.checked))
        shown = ChatMessage(role="assistant", content=said.reply.model_dump_json())
        messages = next(
            (each for each in ((*asked, shown, remark), (*asked, remark)) if size_of(each) <= self._prompt_tokens), None
        )
        try:
            again = await self._ask(messages, allowance) if messages else None
        except ModelError as error:
            log.warning("rows.not_repaired", reason=type(error).__name__)
            return None
        return better(said, Said.of(again, request, part)) if again else None

    def _messages(self, request: RowsRequest) -> tuple[ChatMessage, ...]:
        return (
            ChatMessage(role="system", content=self._rules),
            ChatMessage(role="user", content=request.model_dump_json()),
        )

    async def _ask(self, messages: Sequence[ChatMessage], allowance: Allowance) -> RowsReply | None:
        return await ask(self._model, messages, RowsReply, allowance)


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


def better(first: Said, second: Said) -> Said:
    """The reply with more supported rows; of equals the one with fewer missing, then fewer dropped; then the second."""

    def worth(said: Said) -> tuple[int, int, int]:
        return (len(said.checked.rows), -said.checked.missing, -said.checked.dropped)

    return max(second, first, key=worth)


SIDE_BY_SIDE = 4
PASSAGE_TOKENS = 400  # of an average passage with its name; used only to batch short documents
QUESTION_TOKENS = 1_500  # question, row, condition and columns at their longest, and the field names
NAME_CHARS = 80  # of a document's name, given with each passage
NAME_TOKENS = 40
OVERLAP_TOKENS = 300  # of a part that the next one repeats: the longest row that survives a cut
OVERLAP_SHARE = 6  # the overlap is at most one sixth of a small prompt

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class RowsOrder:
    """What to extract, and from which documents."""

    base_id: BaseId
    row: str
    columns: tuple[str, ...]
    condition: str
    question: str
    cards: tuple[DocumentCard, ...]
    cache: ReplyCache


@dataclass(kw_only=True)
class Extraction:
    """The state of an extraction; updated while documents are read."""

    order: RowsOrder
    rows: dict[DocumentId, list[Row]] = field(default_factory=dict)  # of documents that were read
    problems: int = 0
    dropped: int = 0
    emptied: int = 0
    missing: int = 0  # rows that the model saw but did not give
    remembered: int = 0  # documents taken from the cache without a model
    spare_calls: int = 0  # calls left for asking once more

    @property
    def documents(self) -> DocumentsRead:
        """For the stamp under the answer."""
        without = sum(not rows for rows in self.rows.values())
        return DocumentsRead(
            read=len(self.rows),
            total=len(self.order.cards),
            without_data=without,
            problems=self.problems,
            missing_rows=self.missing,
            remembered=self.remembered,
        )

    @property
    def in_order(self) -> list[Row]:
        """All rows, in the order of the requested documents."""
        return [row for card in self.order.cards for row in self.rows.get(card.id, ())]


Batch = tuple[DocumentCard, ...]
"""Documents that share a call, or several calls when they are long."""


@dataclass(frozen=True, kw_only=True)
class _Ongoing:
    """What all workers of one extraction share."""

    extraction: Extraction
    allowance: Allowance
    batches: deque[Batch]
    watch: Callable[[Extraction], None]


class RowExtractor:
    """One object serves any number of extractions concurrently."""

    def __init__(self, model: ChatModel, passages: DocumentPassages, rules: str, *, prompt_tokens: int) -> None:
        """`rules`: the system prompt. `prompt_tokens`: limit for the prompt of one call."""
        self._asker = RowAsker(model, rules, prompt_tokens=prompt_tokens)
        self._passages = passages
        whole = prompt_tokens - estimate_tokens(rules) - QUESTION_TOKENS
        self._overlap_tokens = max(min(OVERLAP_TOKENS, whole // OVERLAP_SHARE), 0)
        self._part_tokens = whole - self._overlap_tokens

    async def extract(self, order: RowsOrder, allowance: Allowance, watch: Callable[[Extraction], None]) -> Extraction:
        """`watch` is called after every finished batch. Raises DatabaseAway."""
        extraction = Extraction(order=order)
        calls = allowance.run.limits.model_calls - allowance.run.usage.calls - allowance.spared_calls
        begun, rest = self._batches(order, calls)
        extraction.spare_calls = calls - len(rest)
        ongoing = _Ongoing(extraction=extraction, allowance=allowance, batches=deque((*begun, *rest)), watch=watch)
        workers = [asyncio.create_task(self._work(ongoing)) for _ in range(SIDE_BY_SIDE)]
        try:
            await asyncio.gather(*workers)
        finally:
            await end(*workers)
        log.info(
            "rows.read",
            documents=len(extraction.rows),
            of=len(order.cards),
            remembered=extraction.remembered,
            rows=sum(map(len, extraction.rows.values())),
            dropped=extraction.dropped,
            emptied=extraction.emptied,
            missing=extraction.missing,
            problems=extraction.problems,
        )
        return extraction

    def _batches(self, order: RowsOrder, calls: int) -> tuple[list[Batch], list[Batch]]:
        """Batches that are cached for the same request, and batches of the rest."""
        known = {card.id: card for card in order.cards}
        begun = [tuple(known[each] for each in batch) for batch in order.cache.read_together(tuple(known))]
        done = {card.id for batch in begun for card in batch}
        rest = [card for card in order.cards if card.id not in done]
        return begun, batched(rest, calls=calls, passages=self._part_tokens // PASSAGE_TOKENS)

    async def _work(self, ongoing: _Ongoing) -> None:
        extraction = ongoing.extraction
        while ongoing.batches and not ongoing.allowance.is_over():
            batch = ongoing.batches.popleft()
            try:
                whole = await self._read(batch, ongoing)
            except ModelError as error:
                extraction.problems += len(batch)
                log.warning("rows.batch_failed", documents=len(batch), reason=type(error).__name__)
                whole = True
            if not whole:
                return
            ongoing.watch(extraction)

    async def _read(self, batch: Batch, ongoing: _Ongoing) -> bool:
        """False when the limits ended it; then none of the batch's documents counts as read."""
        extraction, is_remembered = ongoing.extraction, True
        found: dict[DocumentId, list[Row]] = {card.id: [] for card in batch}
        short: tuple[tuple[Passage, ...], Checked] | None = None  # the part before, if it has missing rows
        for part in await self._parts(batch, extraction.order):
            request = _request(part, batch, extraction.order)
            said = _recalled(request, part, extraction.order)
            is_remembered = is_remembered and said is not None
            said = said or await self._said(request, part, batch, ongoing)
            if said is None:
                return False
            checked = said.checked
            extraction.dropped += checked.dropped
            extraction.emptied += checked.emptied
            extraction.missing += checked.missing - (made_up_for(short, checked) if short else 0)
            short = (part, checked) if checked.missing else None
            for row in checked.rows:
                found[row.document].append(row)
        extraction.rows.update(found)
        extraction.remembered += len(batch) if is_remembered else 0
        return True

    async def _parts(self, batch: Batch, order: RowsOrder) -> list[tuple[Passage, ...]]:
        passages = [
            passage
            for card in batch
            async for page in pages_of(self._passages, order.base_id, card.id)
            for passage in page
        ]
        parts = parts_of(passages, tokens=self._part_tokens, each=NAME_TOKENS)
        return list(overlapping(parts, tokens=self._overlap_tokens, each=NAME_TOKENS))

    async def _said(
        self, request: RowsRequest, part: Sequence[Passage], batch: Batch, ongoing: _Ongoing
    ) -> Said | None:
        """None when the limits forbid the call. A complete reply, or the better of two, is cached. Any other reply is
        not: another time may give a better one."""
        reply = await self._asker.rows(request, ongoing.allowance)
        if reply is None:
            return None
        first = Said.of(reply, request, part)
        last = first if first.checked.is_whole else await self._said_again(request, first, part, ongoing)
        if last:
            order = ongoing.extraction.order
            await order.cache.keep(_key(request), last.reply, [card.id for card in batch])
        return last or first

    async def _said_again(
        self, request: RowsRequest, first: Said, part: Sequence[Passage], ongoing: _Ongoing
    ) -> Said | None:
        """None when there is no spare call, the limits forbid it, or the model fails."""
        if ongoing.extraction.spare_calls <= 0:
            return None
        ongoing.extraction.spare_calls -= 1
        return await self._asker.once_more(request, first, part, ongoing.allowance)


def _recalled(request: RowsRequest, part: Sequence[Passage], order: RowsOrder) -> Said | None:
    reply = order.cache.get(_key(request), RowsReply)
    return Said.of(reply, request, part) if reply else None


def _key(request: RowsRequest) -> str:
    """Cache key: a hash of the texts and names. The request itself is part of the cache's own key."""
    return digest(*(chunk.model_dump_json() for chunk in request.document_context))


def made_up_for(short: tuple[Sequence[Passage], Checked], after: Checked) -> int:
    """How many of the rows missing in a part are given in the next one, which repeats the end of the part."""
    part, checked = short
    texts = {passage.chunk_id: passage.text for passage in part}
    given = {row.cells for row in checked.rows}
    late = [
        row
        for row in after.rows
        if row.cells not in given and stands_in(row.cells[0], texts.get(row.sources[0].passage.chunk_id, ""))
    ]
    return min(len(late), checked.missing)


def batched(cards: Sequence[DocumentCard], *, calls: int, passages: int) -> list[Batch]:
    """One document per batch if there are enough calls. Otherwise short ones together, up to `passages` per batch; the
    limit is raised until the batches are few enough for `calls` (passages may be short)."""
    if len(cards) <= calls:
        return [(card,) for card in cards]
    passages = max(passages, 1)  # a small prompt may have no room for one: then a part is a passage or less
    packed = _packed(cards, passages)
    while len(packed) > max(calls, 1):
        passages = passages + passages // 2 + 1
        packed = _packed(cards, passages)
    return packed


def _packed(cards: Sequence[DocumentCard], passages: int) -> list[Batch]:
    """Neighbouring documents together, up to `passages`; a longer document alone."""
    batches: list[Batch] = []
    held = 0
    for card in cards:
        if batches and held + card.chunks <= passages:
            batches[-1] = (*batches[-1], card)
            held += card.chunks
        else:
            batches.append((card,))
            held = card.chunks
    return batches


def _request(part: Sequence[Passage], batch: Sequence[DocumentCard], order: RowsOrder) -> RowsRequest:
    names = {card.id: card_name(card)[:NAME_CHARS] for card in batch}
    chunks = (
        NamedChunk(chunk_id=chunk_name(each), document=names[each.document_id], chunk_text=each.text) for each in part
    )
    return RowsRequest(
        row=order.row,
        columns=order.columns,
        condition=order.condition,
        question=order.question,
        document_context=tuple(chunks),
    )
