"""Rows of SQL functions as records, where they are not as this version knows them."""

import pytest

from adapters.database import rows
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


@pytest.mark.parametrize(
    ("documents", "problem"),
    [
        ([{"user_id": 7}], "id: Field required"),
        ([{"id": 5}], "KeyError: 'user_id'"),
        ([{"user_id": 7, "id": 5}], "id: Input should be a valid string"),
        ("none", "documents: Input should be a valid list"),
    ],
)
def test_a_notice_whose_documents_cannot_be_read_says_so(documents: JsonValue, problem: str) -> None:
    notice = rows.notice({**NOTICE, "documents": documents})
    assert (notice.batch_id, notice.revision, notice.documents) == ("batch", 3, ())
    assert notice.problem is not None
    assert notice.problem.startswith(problem)


def test_a_notice_that_can_be_read_has_no_problem() -> None:
    assert rows.notice(NOTICE).problem is None
