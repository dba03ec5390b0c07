"""What transports make of the database's answers."""

import pytest

from adapters.database.transport import (
    ROWS_MAX,
    TOO_MANY_ROWS,
    DatabaseAway,
    DatabaseError,
    RolledBack,
    Row,
    refused,
    whole,
)


@pytest.mark.parametrize(
    "code",
    [
        "08006",  # connection failure
        "40P01",  # deadlock
        "53300",  # too many connections
        "57P01",  # the server is being stopped
        "57014",  # the statement took too long
        "PGRST000",  # PostgREST has no database
        "429",
        "503",
        "530",  # a proxy's own
    ],
)
def test_what_may_pass_is_away(code: str) -> None:
    assert isinstance(refused("f", code=code, message="m"), DatabaseAway)


@pytest.mark.parametrize(("code", "is_undone"), [("40001", True), ("40P01", True), ("40003", False), ("08006", False)])
def test_only_what_was_undone_may_be_made_again_at_once(code: str, is_undone: bool) -> None:
    assert isinstance(refused("f", code=code, message="m"), RolledBack) is is_undone


@pytest.mark.parametrize(
    "code",
    [
        "BZ001",  # a lease was lost
        "23505",  # a duplicate
        "42501",  # no right
        "401",  # a proxy's: an HTTP status is no SQLSTATE of class 40
        "404",
        "PGRST301",  # a wrong key
        "no code",
    ],
)
def test_what_will_not_pass_is_a_refusal_with_its_code(code: str) -> None:
    refusal = refused("f", code=code, message="m")
    assert isinstance(refusal, DatabaseError)
    assert refusal.code == code


def test_the_argument_in_a_data_error_is_left_out() -> None:
    refusal = refused("f", code="22P02", message='invalid input syntax for type uuid: "my secret: "a""')
    assert str(refusal) == "f: 22P02 invalid input syntax for type uuid"


def test_an_answer_below_the_limit_is_whole() -> None:
    rows: list[Row] = [{"v": number} for number in range(ROWS_MAX)]
    assert whole("f", rows) == rows


def test_an_answer_at_postgrests_limit_may_have_been_cut() -> None:
    with pytest.raises(DatabaseError) as caught:
        whole("f", [{"v": 1}] * (ROWS_MAX + 1))
    assert caught.value.code == TOO_MANY_ROWS
