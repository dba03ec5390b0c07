"""A double of the model that reads rows out: it reads the made contracts by their fixed wording.

It is as good as a model can be; what the program makes of the rows is what is tested.
"""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from rag.execution.wire import NamedChunk, ReadRow, RowsReply, RowsRequest, Standing
from rag.metering import note_usage
from rag.ports import Schema
from rag.records import ChatMessage
from rag.words import estimate_tokens

_PATTERNS = {
    "номер": re.compile(r"(?:[Дд]оговор\w*) (№ \d+/\d+)"),
    "контрагент": re.compile(r"Стороны\. (.+?) \(Исполнитель\)"),
    "цена": re.compile(r"по договору составляет (.+?), НДС|на сумму (.+?)\. "),
    "срок оплаты": re.compile(r"в течение (\d+ дней)|срок оплаты.*? (\d+ дней)"),
    "дата": re.compile(r"Москва, (.+)"),
}
"""How tests.material.contracts writes each column."""

Reads = Callable[[RowsRequest], RowsReply]


def read_contract(request: RowsRequest) -> RowsReply:
    """A row for each document of which a part is read; its quotation is its first value."""
    rows = []
    for name in dict.fromkeys(chunk.document for chunk in request.document_context):
        chunks = [chunk for chunk in request.document_context if chunk.document == name]
        found = [_find(column, chunks) for column in request.columns]
        if found[0] and (any(found[1:]) or len(found) == 1):
            chunk = next(chunk for chunk in chunks if found[0] in chunk.chunk_text)
            standing = Standing.OWN if name.startswith("Договор") else Standing.MENTIONS
            rows.append(ReadRow(chunk_id=chunk.chunk_id, cells=tuple(found), quote=found[0], standing=standing))
    return listed(*rows)


def listed(*rows: ReadRow, seen: int | None = None) -> RowsReply:
    """A reply that gives all rows it saw, unless `seen` says otherwise."""
    return RowsReply(total_seen=len(rows) if seen is None else seen, rows=rows)


def _find(column: str, chunks: Sequence[NamedChunk]) -> str:
    for chunk in chunks:
        if match := _PATTERNS[column].search(chunk.chunk_text):
            return next(part for part in match.groups() if part)
    return ""


@dataclass
class ClerkModel:
    """A ChatModel that only reads rows; `reply` may raise a ModelError."""

    reply: Reads = read_contract
    name: str = "clerk"
    requests: list[RowsRequest] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # of the prompts, in tokens
    remarks: list[str] = field(default_factory=list)  # on what it said before

    async def structured(
        self, messages: Sequence[ChatMessage], schema: type[Schema], *, corrected: bool = True
    ) -> Schema:
        tokens = sum(estimate_tokens(message.content) for message in messages)
        self.sizes.append(tokens)
        note_usage(prompt_tokens=tokens, answer_tokens=10)
        self.remarks += [message.content for message in messages[2:] if message.role == "user"]
        self.requests.append(RowsRequest.model_validate_json(messages[1].content))
        return schema.model_validate_json(self.reply(self.requests[-1]).model_dump_json())

    async def complete(self, messages: Sequence[ChatMessage]) -> str:
        raise NotImplementedError

    def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        raise NotImplementedError
