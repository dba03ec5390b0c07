"""Rows of SQL functions as records, where they are not as this version knows them."""

import pytest

from adapters.database.stores.intake import NoticeStore
from adapters.database.transport import Row
from domain.locator import JsonValue

NOTICE: Row = {
    "batch_id": "batch",
    "chat_id": 7,
    "thread_id": None,
    "reply_to": 1,
    "message_id": None,
    "language": "ru",
    "revision": 3,
    "removed": 0,
    "elsewhere": None,
    "documents": [],
}


class OneCall:
    """Answers every call with these rows."""

    def __init__(self, *rows: Row) -> None:
        self._rows = rows

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: object) -> list[Row]:
        return [*self._rows]


@pytest.mark.parametrize("documents", [[{"user_id": 7}], [{"id": 5}], [{"user_id": 7, "id": 5}], "none"])
async def test_a_notice_whose_documents_cannot_be_read_does_not_hold_up_the_others(documents: JsonValue) -> None:
    store = NoticeStore(OneCall({**NOTICE, "batch_id": "newer", "documents": documents}, NOTICE))
    assert [notice.batch_id for notice in await store.due(limit=9, hold_s=1)] == ["batch"]
