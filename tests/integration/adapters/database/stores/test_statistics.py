"""Figures of a base and of everybody, over both transports: `StatisticsStore`."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from adapters.database.stores import Stores
from adapters.database.stores.library import StatisticsStore
from domain.documents import Medium
from domain.ids import ChatId, MessageId, UserId
from domain.statistics import ActionFigures, DayFigures, QueueState, StepFigures, TurnsOfDay
from ingestion.records import Failure
from rag.metering import StepCounts, TurnMetrics, Usage
from tests.integration.adapters.database.stores.material import (
    ANNA,
    TURN,
    claim_new,
    enqueue,
    open_base,
    parsed,
    publish,
)

BORIS = UserId(102)


@pytest.fixture
def statistics(stores: Stores) -> StatisticsStore:
    """Over the same database."""
    return stores.statistics


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    """For what no function does: moving a row into the past."""
    with psycopg.connect(database_url, autocommit=True) as opened:
        yield opened


async def test_an_empty_base_has_figures_too(stores: Stores, statistics: StatisticsStore) -> None:
    held = await statistics.of_base(await open_base(stores), days=30)
    assert (held.documents, held.passages, held.days) == (0, 0, ())
    assert (held.figures.median_s, held.figures.p95_s, held.figures.tokens) == (None, None, 0)


async def test_a_base_counts_what_it_holds(stores: Stores, statistics: StatisticsStore) -> None:
    base = await open_base(stores)
    await publish(stores, base, "раз", "два", name="первая")
    await stores.work.fail(await claim_new(stores, base, "битая"), failure=Failure(code="file-damaged"))
    recording = replace(parsed("слова"), medium=Medium.AUDIO, duration_s=61.5, pages=None)
    held = await claim_new(stores, base, "запись")
    await stores.work.store_blocks(held, parsed=recording, chunks=0)
    await stores.work.publish(held, chunks=0)
    seen = await statistics.of_base(base, days=30)
    assert (seen.documents, seen.passages, seen.pages, seen.recorded_s) == (2, 2, 3, 61.5)


@pytest.mark.over_rest
async def test_turns_are_counted_by_day_and_kind_and_timed(stores: Stores, statistics: StatisticsStore) -> None:
    base = await open_base(stores)
    for seconds in (1.0, 2.0, 9.0):
        await stores.library.save_turn(ANNA, base, replace(TURN, seconds=seconds))
    await stores.library.save_turn(ANNA, base, replace(TURN, kind="nothing", seconds=2.0, usage=Usage()))
    seen = await statistics.of_base(base, days=30)
    today = datetime.now(UTC).date()
    assert seen.days == (
        TurnsOfDay(day=today, kind="from_base", turns=3),
        TurnsOfDay(day=today, kind="nothing", turns=1),
    )
    assert seen.figures.median_s == 2.0
    assert 2.0 < (seen.figures.p95_s or 0) < 9.0
    assert seen.figures.tokens == 12_600
    assert seen.figures.cost == pytest.approx(0.003)


async def test_days_are_those_of_the_persons_clock(
    stores: Stores, statistics: StatisticsStore, connection: psycopg.Connection
) -> None:
    base = await open_base(stores)
    await stores.library.save_turn(ANNA, base, TURN)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    evening = datetime(yesterday.year, yesterday.month, yesterday.day, 22, 30, tzinfo=UTC)
    connection.execute("update turn_metrics set created_at = %s", [evening])
    days = [
        (await statistics.of_base(base, days=30, offset_minutes=minutes)).days[0].day for minutes in (-600, 0, 89, 90)
    ]
    assert days == [yesterday, yesterday, yesterday, yesterday + timedelta(days=1)]


@pytest.mark.over_rest
async def test_what_was_before_those_days_does_not_count(
    stores: Stores, statistics: StatisticsStore, connection: psycopg.Connection
) -> None:
    base = await open_base(stores)
    await stores.library.save_turn(ANNA, base, TURN)
    await stores.library.save_feedback(ANNA, base, ChatId(ANNA), MessageId(1), rating=1)
    connection.execute("update turn_metrics set created_at = now() - interval '31 days'")
    connection.execute("update answer_feedback set created_at = now() - interval '31 days'")
    seen = await statistics.of_base(base, days=30)
    assert (seen.days, seen.figures.median_s, seen.figures.thumbs_up) == ((), None, 0)
    assert (await statistics.of_all(days=30)).turns == 0


async def test_a_turn_keeps_its_steps_its_waiting_and_its_facts(stores: Stores, connection: psycopg.Connection) -> None:
    await stores.library.save_turn(ANNA, await open_base(stores), TURN)
    kept = connection.execute(
        "select facts, facts_used, passages, steps_planned, steps_run, adapted, searching_s, models_s from turn_metrics"
    ).fetchone()
    assert kept == (9, 4, 3, 3, 2, 1, 0.25, 0.75)
    relevance = connection.execute("select used_rank, checked ->> 'outcome', checked -> 'failed' from turn_metrics")
    assert relevance.fetchone() == (2.5, "checked", 1)


async def test_a_turn_is_kept_with_and_without_a_model(stores: Stores, connection: psycopg.Connection) -> None:
    base = await open_base(stores)
    for model in ("gpt", None):
        await stores.library.save_turn(ANNA, base, replace(TURN, model=model))
    kept = connection.execute("select kind, model from turn_metrics order by id").fetchall()
    assert kept == [("from_base", "gpt"), ("from_base", None)]


async def test_a_turn_keeps_what_each_step_took(stores: Stores, connection: psycopg.Connection) -> None:
    await stores.library.save_turn(ANNA, await open_base(stores), TURN)
    kept = connection.execute("select each_step from turn_metrics").fetchone()
    assert kept == ([asdict(step) for step in TURN.each_step],)


async def test_the_last_thumb_under_an_answer_counts(stores: Stores, statistics: StatisticsStore) -> None:
    base = await open_base(stores)
    for message, ratings in ((1, (1, -1)), (2, (1,)), (3, (1, 1))):
        for rating in ratings:
            await stores.library.save_feedback(ANNA, base, ChatId(ANNA), MessageId(message), rating=rating)
    figures = (await statistics.of_base(base, days=30)).figures
    assert (figures.thumbs_up, figures.thumbs_down) == (2, 1)


async def test_nobodys_figures_are_in_anothers(stores: Stores, statistics: StatisticsStore) -> None:
    mine, theirs = await open_base(stores), await open_base(stores, BORIS)
    await publish(stores, theirs, "слова")
    await stores.library.save_turn(BORIS, theirs, TURN)
    await stores.library.save_feedback(BORIS, theirs, ChatId(BORIS), MessageId(1), rating=1)
    seen = await statistics.of_base(mine, days=30)
    assert (seen.documents, seen.days, seen.figures.thumbs_up, seen.figures.tokens) == (0, (), 0, 0)


async def test_the_queue_says_how_long_the_first_has_waited(
    stores: Stores, statistics: StatisticsStore, connection: psycopg.Connection
) -> None:
    assert await statistics.queue() == QueueState()
    base = await open_base(stores)
    await enqueue(stores, base, "раз", "два", "три")
    await stores.work.claim(worker="w", lease_s=60)
    connection.execute("update documents set created_at = now() - interval '90 seconds'")
    queue = await statistics.queue()
    assert (queue.waiting, queue.working) == (2, 1)
    assert 89 < queue.oldest_s < 120


@pytest.mark.over_rest
async def test_everybody_is_counted_without_a_name(stores: Stores, statistics: StatisticsStore) -> None:
    for person in (ANNA, BORIS):
        base = await open_base(stores, person)
        await stores.people.state(person, base=base, language="ru")
    await stores.library.save_turn(BORIS, base, replace(TURN, kind="general", seconds=4.0))
    await stores.library.save_turn(BORIS, base, replace(TURN, kind="quotes"))
    await publish(stores, base, "слова")
    for name in ("раз", "два"):
        await stores.work.fail(await claim_new(stores, base, name), failure=Failure(code="file-damaged"))
    seen = await statistics.of_all(days=30)
    assert (seen.people, seen.active, seen.bases, seen.turns) == (2, 1, 2, 2)
    assert (seen.general, seen.quoted, seen.unanswered, seen.model_calls) == (1, 1, 0, 4)
    assert (seen.slowest_s, seen.figures.tokens) == (4.0, 8_400)
    assert (dict(seen.documents), dict(seen.failures)) == ({"failed": 2, "ready": 1}, {"file-damaged": 2})
    assert seen.slowest_document_s is not None


SIMPLE = replace(TURN, steps=StepCounts(), each_step=(), seconds=1.0)
LONG: TurnMetrics = replace(TURN, seconds=40.0, each_step=(*TURN.each_step, replace(TURN.each_step[0], state="failed")))


async def test_steps_are_counted_of_the_turns_that_had_some(stores: Stores, statistics: StatisticsStore) -> None:
    base = await open_base(stores)
    for turn in (SIMPLE, replace(TURN, seconds=20.0), LONG):
        await stores.library.save_turn(ANNA, base, turn)
    several = StepFigures(turns=2, planned=6, run=4, adapted=2, median_s=30.0)
    assert (await statistics.of_base(base, days=30)).figures.steps == several
    seen = await statistics.of_all(days=30)
    assert seen.figures.steps == several
    assert seen.actions == (ActionFigures(action="analyze", steps=3, failed=1, median_s=0.5, tokens=2_700),)


async def test_waiting_and_facts_are_added_up_for_admins(stores: Stores, statistics: StatisticsStore) -> None:
    base = await open_base(stores)
    for turn in (SIMPLE, LONG):
        await stores.library.save_turn(ANNA, base, turn)
    seen = await statistics.of_all(days=30)
    assert (seen.total_s, seen.searching_s, seen.models_s, seen.facts, seen.facts_used) == (41.0, 0.5, 1.5, 18, 8)


async def test_a_day_of_everybody_has_turns_thumbs_and_documents(
    stores: Stores, statistics: StatisticsStore, connection: psycopg.Connection
) -> None:
    base = await open_base(stores)
    for person, seconds in ((ANNA, 1.0), (ANNA, 3.0), (BORIS, 2.0)):
        await stores.library.save_turn(person, base, replace(TURN, seconds=seconds, usage=Usage(prompt_tokens=5)))
    await stores.library.save_feedback(ANNA, base, ChatId(ANNA), MessageId(1), rating=-1)
    await publish(stores, base, "слова")
    await stores.work.fail(await claim_new(stores, base, "битая"), failure=Failure(code="file-damaged"))
    (day,) = (await statistics.of_all(days=30)).days
    assert day.p95_s == pytest.approx(2.9)
    today = datetime.now(UTC).date()
    assert replace(day, p95_s=None) == DayFigures(
        day=today, turns=3, people=2, tokens=15, median_s=2.0, thumbs_down=1, read=1, failed=1
    )


async def test_days_on_which_only_documents_came_are_there_and_older_ones_not(
    stores: Stores, statistics: StatisticsStore, connection: psycopg.Connection
) -> None:
    base = await open_base(stores)
    earlier, _ = [await publish(stores, base, f"слова {name}", name=name) for name in ("раз", "два")]
    await stores.library.save_turn(ANNA, base, TURN)
    connection.execute("update turn_metrics set created_at = now() - interval '31 days'")
    connection.execute("update documents set finished_at = now() - interval '3 days' where id = %s", [earlier])
    seen = (await statistics.of_all(days=30)).days
    assert [(day.turns, day.read) for day in seen] == [(0, 1), (0, 1)]
    assert seen[0].day == seen[1].day - timedelta(days=3)
