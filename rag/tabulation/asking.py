"""Asks a model for the rows of one part of a document, and once more when some seem to be missing.

In: a request, the passages in it. Out: rows checked against the text, or None when the turn's limits forbid the call.
Reasons to ask again: rows that the text does not support, a number of rows other than the model's own `total_seen`, and
unread lines of a list. After that the better of the two replies is final.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import structlog

from rag.errors import ModelError
from rag.iterative.allowance import Allowance
from rag.iterative.asking import ask
from rag.iterative.request import size_of
from rag.ports import ChatModel
from rag.records import ChatMessage, Passage
from rag.tabulation.checking import Checked, check
from rag.tabulation.wire import RowsReply, RowsRequest

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
