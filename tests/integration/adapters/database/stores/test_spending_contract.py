"""What a person has asked of models in a day, over memory and both transports, and how cheaply PostgreSQL knows."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from adapters.database.stores.statistics import StatisticsStore
from domain.ids import ChatId, ThreadId, UserId
from ingestion.records import Failure
from rag.metering import TurnMetrics, Usage
from tests.integration.adapters.database.stores.conftest import DatabaseStores
from tests.integration.adapters.database.stores.material import ANNA, TURN, Stores, claim, claim_new, enqueue, open_base

BORIS = UserId(102)
GROUP = UserId(-7)
DAY = timedelta(hours=24)
SOON = timedelta(minutes=10)
WITHOUT_MODEL = replace(TURN, kind="quotes", model=None, plan="default", usage=Usage())


def costing(dollars: float) -> Usage:
    """One call at this price."""
    return Usage(calls=1, cost=dollars)


@pytest.mark.over_rest
async def test_who_has_asked_nothing_has_spent_nothing(stores: Stores) -> None:
    spent = await stores.library.spent_in_a_day(ANNA, questions=1, cost=0.1)
    assert (spent.questions, spent.cost, spent.until) == (0, 0.0, None)


@pytest.mark.over_rest
async def test_questions_that_no_model_was_asked_do_not_count(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.library.save_turn(ANNA, base, TURN)
    await stores.library.save_turn(ANNA, base, WITHOUT_MODEL)
    spent = await stores.library.spent_in_a_day(ANNA, questions=2)
    assert (spent.questions, spent.cost, spent.until) == (1, TURN.usage.cost, None)


@pytest.mark.parametrize("turn", [replace(WITHOUT_MODEL, model="gpt"), replace(WITHOUT_MODEL, plan="model")])
async def test_questions_count_also_where_the_server_tells_of_no_calls(stores: Stores, turn: TurnMetrics) -> None:
    await stores.library.save_turn(ANNA, await open_base(stores), turn)
    assert (await stores.library.spent_in_a_day(ANNA)).questions == 1


@pytest.mark.parametrize("bounds", [{"questions": 2}, {"cost": 0.5}, {"questions": 9, "cost": 0.5}])
async def test_a_bound_that_is_reached_says_until_when(stores: Stores, bounds: dict[str, int]) -> None:
    base = await open_base(stores)
    for dollars in (0.25, 0.25):
        await stores.library.save_turn(ANNA, base, replace(TURN, usage=costing(dollars)))
    spent = await stores.library.spent_in_a_day(ANNA, **bounds)
    assert (spent.questions, spent.cost) == (2, 0.5)
    assert spent.until
    assert abs(spent.until - (datetime.now(UTC) + DAY)) < SOON


async def test_without_a_bound_nothing_is_reached(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.library.save_turn(ANNA, base, TURN)
    spent = await stores.library.spent_in_a_day(ANNA)
    assert (spent.questions, spent.until) == (1, None)


async def test_one_person_counts_wherever_they_ask_and_nobody_else_does(stores: Stores) -> None:
    private = await open_base(stores)
    room = await stores.people.open_base(ChatId(GROUP), thread=ThreadId(0), member=ANNA)
    await stores.library.save_turn(ANNA, private, TURN, asker=ANNA)
    await stores.library.save_turn(GROUP, room, TURN, asker=ANNA)
    await stores.library.save_turn(GROUP, room, TURN, asker=BORIS)
    counts = [(await stores.library.spent_in_a_day(who)).questions for who in (ANNA, BORIS, GROUP)]
    assert counts == [2, 1, 0]


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    """For what no function does: moving a row into the past."""
    with psycopg.connect(database_url, autocommit=True) as opened:
        yield opened


@pytest.fixture
def kept(request: pytest.FixtureRequest) -> DatabaseStores:
    """Over PostgreSQL alone."""
    return DatabaseStores(request.getfixturevalue("postgres_transport"))


async def test_what_is_a_day_old_counts_no_longer(kept: DatabaseStores, connection: psycopg.Connection) -> None:
    base = await open_base(kept)
    for hours in (25, 23, 1):
        await kept.library.save_turn(ANNA, base, replace(TURN, usage=costing(0.25)))
        connection.execute(
            "update turn_metrics set created_at = now() - make_interval(hours => %s) where id = "
            "(select max(id) from turn_metrics)",
            [hours],
        )
    spent = await kept.library.spent_in_a_day(ANNA, questions=2)
    assert (spent.questions, spent.cost) == (2, 0.5)
    assert spent.until
    assert (
        abs(spent.until - (datetime.now(UTC) + timedelta(hours=1))) < SOON
    )  # then the one of 23 hours ago is left behind
    tighter = await kept.library.spent_in_a_day(ANNA, questions=1)
    assert tighter.until
    assert abs(tighter.until - (datetime.now(UTC) + timedelta(hours=23))) < SOON


async def test_the_count_reads_the_persons_own_day_from_the_index(
    kept: DatabaseStores, connection: psycopg.Connection
) -> None:
    base = await open_base(kept)
    connection.execute(
        "insert into turn_metrics (user_id, asker, base_id, kind, seconds, calls, cost, created_at) "
        "select 1000 + n %% 500, 1000 + n %% 500, %s, 'from_base', 1, 2, 0.001, now() - make_interval(mins => n / 20) "
        "from generate_series(1, 50000) n",
        [base],
    )
    connection.execute("vacuum analyze turn_metrics")
    body = connection.execute("select prosrc from pg_proc where proname = 'spent_in_a_day'").fetchone()
    assert body
    query = (
        str(body[0])
        .replace("p_user", "1001")
        .replace("p_questions", "20")
        .replace("p_cost", "0.5")
        .replace("p_token", "null")
    )
    plan = "\n".join(str(line[0]) for line in connection.execute(f"explain (analyze, buffers) {query}".encode()))
    assert "turn_metrics_asker" in plan
    assert "Seq Scan" not in plan


@pytest.mark.over_rest
async def test_reading_what_one_has_sent_counts_in_the_day(stores: DatabaseStores) -> None:
    base = await open_base(stores)
    (document,) = await enqueue(stores, base, "заметка")
    await StatisticsStore(stores.transport).save_reading_cost(base, document, 0.3)
    await stores.library.save_turn(ANNA, base, replace(TURN, usage=costing(0.3)))
    spent = await stores.library.spent_in_a_day(ANNA, questions=2, cost=0.5)
    assert (spent.questions, round(spent.cost, 6), spent.until is not None) == (1, 0.6, True)
    assert (await stores.library.spent_in_a_day(ANNA, questions=2)).until is None


@pytest.mark.over_rest
async def test_who_has_spent_the_day_reads_nothing_more_that_costs(stores: DatabaseStores) -> None:
    base = await open_base(stores)
    (document,) = await enqueue(stores, base, "заметка")
    figures = StatisticsStore(stores.transport)
    assert await figures.sender_spent_until(base, document, cost=0.5, exempt=()) is None
    await figures.save_reading_cost(base, document, 0.6)
    until = await figures.sender_spent_until(base, document, cost=0.5, exempt=())
    assert until == (await stores.library.spent_in_a_day(ANNA, cost=0.5)).until
    assert await figures.sender_spent_until(base, document, cost=0.5, exempt={ANNA}) is None


async def test_waiting_for_the_next_day_is_no_attempt(stores: DatabaseStores) -> None:
    held = await claim_new(stores, await open_base(stores))
    spent = Failure(code="day-spent", params={"until": "2026-11-24T06:00:00+00:00"})
    await stores.work.postpone(held, failure=spent, delay_s=0)
    assert (await claim(stores, held.id)).attempt == 1
