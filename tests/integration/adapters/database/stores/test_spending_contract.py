"""What a person has asked of models in a day, over memory and both transports, and how cheaply PostgreSQL knows."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from adapters.database.stores import Stores
from adapters.database.stores.library import KeptFileStore
from adapters.database.transport import Transport
from domain.documents import DocumentCard
from domain.ids import ChatId, ThreadId, UserId
from domain.people import token_hash
from ingestion.records import Failure
from rag.metering import TurnMetrics, Usage
from rag.reservations import DayBounds, Refused, Reservation
from tests.integration.adapters.database.stores.material import (
    ANNA,
    TURN,
    batch_of,
    claim,
    claim_new,
    enqueue,
    note,
    open_base,
)

BORIS = UserId(102)
GROUP = UserId(-7)
DAY = timedelta(hours=24)
SOON = timedelta(minutes=10)
WITHOUT_MODEL = replace(TURN, kind="quotes", model=None, plan="default", usage=Usage())


def costing(dollars: float) -> Usage:
    """One call at this price."""
    return Usage(calls=1, cost=dollars)


async def test_who_has_asked_nothing_has_spent_nothing(stores: Stores) -> None:
    spent = await stores.library.spent_in_a_day(ANNA, questions=1, cost=0.1)
    assert (spent.questions, spent.cost, spent.until) == (0, 0.0, None)


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


@pytest.mark.parametrize(("questions", "cost"), [(2, None), (None, 0.5), (9, 0.5)])
async def test_a_bound_that_is_reached_says_until_when(
    stores: Stores, questions: int | None, cost: float | None
) -> None:
    base = await open_base(stores)
    for dollars in (0.25, 0.25):
        await stores.library.save_turn(ANNA, base, replace(TURN, usage=costing(dollars)))
    spent = await stores.library.spent_in_a_day(ANNA, questions=questions, cost=cost)
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
def kept(request: pytest.FixtureRequest) -> Stores:
    """Over PostgreSQL alone."""
    return Stores(request.getfixturevalue("postgres_transport"))


async def test_what_is_a_day_old_counts_no_longer(kept: Stores, connection: psycopg.Connection) -> None:
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


async def test_the_count_reads_the_persons_own_day_from_the_index(kept: Stores, connection: psycopg.Connection) -> None:
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


async def test_reading_what_one_has_sent_counts_in_the_day(stores: Stores) -> None:
    base = await open_base(stores)
    (document,) = await enqueue(stores, base, "заметка")
    await stores.statistics.save_reading_cost(base, document, 0.3)
    await stores.library.save_turn(ANNA, base, replace(TURN, usage=costing(0.3)))
    spent = await stores.library.spent_in_a_day(ANNA, questions=2, cost=0.5)
    assert (spent.questions, round(spent.cost, 6), spent.until is not None) == (1, 0.6, True)
    assert (await stores.library.spent_in_a_day(ANNA, questions=2)).until is None


async def test_who_has_spent_the_day_reads_nothing_more_that_costs(stores: Stores) -> None:
    base = await open_base(stores)
    (document,) = await enqueue(stores, base, "заметка")
    figures = stores.statistics
    assert await figures.sender_spent_until(base, document, cost=0.5, exempt=()) is None
    await figures.save_reading_cost(base, document, 0.6)
    until = await figures.sender_spent_until(base, document, cost=0.5, exempt=())
    assert until == (await stores.library.spent_in_a_day(ANNA, cost=0.5)).until
    assert await figures.sender_spent_until(base, document, cost=0.5, exempt={ANNA}) is None


@pytest.mark.over_rest
async def test_a_token_that_has_spent_its_day_reads_nothing_more_that_costs(stores: Stores) -> None:
    base = await open_base(stores)
    token = await stores.tokens.add(base, token_hash("sends"), is_read_only=False, days=1)
    figures, batch = stores.statistics, batch_of(base, note("заметка"), message=7)
    found = await stores.intake.add(replace(batch, user_id=token), token=token)
    assert isinstance(found, DocumentCard)
    await figures.save_reading_cost(base, found.id, 0.6)
    of_token = await figures.sender_spent_until(base, found.id, cost=None, token_cost=0.5, exempt=())
    assert of_token is not None
    assert await figures.sender_spent_until(base, found.id, cost=None, token_cost=0.7, exempt=()) is None
    (other,) = await enqueue(stores, base, "другая заметка")
    assert await figures.sender_spent_until(base, other, cost=None, token_cost=0.5, exempt=()) is None


async def reserve(stores: Stores, bounds: DayBounds, user: UserId = ANNA, *, lease_s: float = 60) -> Reservation:
    """For one question in Anna's day."""
    return await stores.library.reserve_question(user, ANNA, bounds=bounds, lease_s=lease_s)


@pytest.mark.over_rest
@pytest.mark.parametrize(
    ("bounds", "may"),
    [
        (DayBounds(cost=1.1), 4),
        (DayBounds(questions=5), 4),
        (DayBounds(token_cost=1.1), 4),
        (DayBounds(cost=9.0), 30),
    ],
)
async def test_of_many_questions_at_one_moment_only_those_are_asked_that_a_bound_has_room_for(
    stores: Stores, bounds: DayBounds, may: int
) -> None:
    base = await open_base(stores)
    await stores.library.save_turn(ANNA, base, replace(TURN, usage=costing(0.2)))
    asked = await asyncio.gather(*(reserve(stores, bounds) for _ in range(30)))
    assert Counter(each.refused for each in asked) == Counter({None: may, Refused.BUSY: 30 - may})
    assert {each.cost for each in asked if each.id} == {0.2}  # as much as the dearest lately


async def test_what_was_held_for_a_question_is_free_with_its_cost(stores: Stores) -> None:
    base = await open_base(stores)
    bounds = DayBounds(cost=0.5)
    first, other = await reserve(stores, bounds), await reserve(stores, bounds)
    assert (first.cost, other.refused) == (0.0, Refused.BUSY)  # nobody knows what one costs
    await stores.library.save_turn(ANNA, base, replace(TURN, usage=costing(0.2)), reservation=first.id)
    second, third = await reserve(stores, bounds), await reserve(stores, bounds)
    assert (second.cost, third.refused) == (0.2, Refused.BUSY)
    await stores.library.save_turn(ANNA, base, replace(TURN, usage=costing(0.3)), reservation=second.id)
    spent = await reserve(stores, bounds)
    assert (spent.refused, spent.until) == (Refused.SPENT, (await stores.library.spent_in_a_day(ANNA, cost=0.5)).until)
    assert (await reserve(stores, DayBounds(token_cost=0.5))).refused is Refused.TOKEN_SPENT


async def test_what_a_killed_process_held_is_free_again_unless_it_was_renewed(stores: Stores) -> None:
    await open_base(stores)
    killed = await reserve(stores, DayBounds(questions=1), lease_s=0.3)
    assert (await reserve(stores, DayBounds(questions=1))).refused is Refused.BUSY
    await asyncio.sleep(0.4)
    alive = await reserve(stores, DayBounds(questions=1), lease_s=0.3)
    assert killed.id
    assert alive.id
    await stores.library.renew_reservation(alive.id, lease_s=60)
    await asyncio.sleep(0.4)
    assert (await reserve(stores, DayBounds(questions=1))).refused is Refused.BUSY


async def test_a_token_holds_what_is_its_own_and_everybody_what_is_theirs(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.library.save_turn(ANNA, base, replace(TURN, usage=costing(0.2)), asker=BORIS)
    one, other = UserId(2**52 + 1), UserId(2**52 + 2)
    held = [await reserve(stores, DayBounds(token_cost=0.3), token) for token in (one, one, other)]
    assert [each.refused for each in held] == [None, Refused.BUSY, None]
    of_boris = await stores.library.reserve_question(BORIS, BORIS, bounds=DayBounds(cost=0.3), lease_s=60)
    assert of_boris.refused is None


@pytest.mark.over_rest
async def test_of_many_uploads_at_one_moment_only_those_count_that_the_day_has_room_for(
    transport: Transport,
) -> None:
    stores = Stores(transport)
    base = await open_base(stores)
    token = await stores.tokens.add(base, token_hash("sends"), is_read_only=False, days=1)
    files = KeptFileStore(transport)
    waits = await asyncio.gather(*(files.count_bytes(base, token, 100, per_day=1000) for _ in range(30)))
    assert waits.count(None) == 10


@pytest.mark.over_rest
async def test_of_many_requests_at_one_moment_only_so_many_are_let_through(transport: Transport) -> None:
    stores = Stores(transport)
    await stores.tokens.add(await open_base(stores), token_hash("asks"), is_read_only=False, days=1)
    found = await asyncio.gather(*(stores.tokens.use(token_hash("asks"), per_minute=7) for _ in range(30)))
    assert [each.wait_s for each in found if each].count(None) in {7, 14}  # a minute may end among them


async def test_waiting_for_the_next_day_is_no_attempt(stores: Stores) -> None:
    held = await claim_new(stores, await open_base(stores))
    spent = Failure(code="day-spent", params={"until": "2026-11-24T06:00:00+00:00"})
    await stores.work.postpone(held, failure=spent, delay_s=0)
    assert (await claim(stores, held.id)).attempt == 1
