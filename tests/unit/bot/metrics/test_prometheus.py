"""What a scraper reads."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.metrics.measures import Measures
from bot.metrics.opening import build_measures, serve_measures
from bot.metrics.prometheus import PrometheusMeasures
from bot.settings import Settings
from domain.documents import DocumentStatus
from domain.statistics import QueueState
from ingestion.metering import Outcome
from rag.metering import ModelCall, Pace, StepCounts, TurnMetrics, Usage

TURN = TurnMetrics(
    kind="from_base",
    model="gpt",
    plan="model",
    seconds=1.5,
    pace=Pace(planned_s=0.5, found_s=0.1, first_s=None),
    facts=9,
    facts_used=4,
    passages=3,
    usage=Usage(),
    steps=StepCounts(planned=3, run=2, adapted=1),
)


def values(measures: PrometheusMeasures) -> dict[str, float]:
    """`name{value,value}` -> number; values of labels by the labels' names."""
    families = text_string_to_metric_families(measures.page().decode())
    return {
        f"{sample.name}{{{','.join(value for _, value in sorted(sample.labels.items()))}}}": sample.value
        for family in families
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_created"))
    }


def test_a_turn_is_counted_by_its_kind_and_timed_by_its_parts() -> None:
    measures = PrometheusMeasures()
    measures.turn_ended(TURN)
    measures.turn_ended(TURN)
    seen = values(measures)
    assert seen["baza_turns_total{from_base}"] == 2
    assert seen["baza_turn_seconds_sum{whole}"] == 3
    assert "baza_turn_seconds_count{first_text}" not in seen
    assert (seen["baza_turn_facts_total{found}"], seen["baza_turn_facts_total{used}"]) == (18, 8)
    assert [seen[f"baza_turn_steps_total{{{of}}}"] for of in ("planned", "run", "adapted")] == [6, 4, 2]


def test_models_are_counted_by_what_they_are_for_and_how_calls_ended() -> None:
    measures = PrometheusMeasures()
    measures.model_called("answer", ModelCall(model="gpt", seconds=2, prompt_tokens=100, answer_tokens=7, cost=0.5))
    measures.model_called("planner", ModelCall(model="gpt", problem="ModelAway"))
    seen = values(measures)
    assert seen["baza_model_calls_total{gpt,,answer}"] == 1
    assert seen["baza_model_calls_total{gpt,ModelAway,planner}"] == 1
    assert seen["baza_model_tokens_total{prompt,answer}"] == 100
    assert seen["baza_model_cost_dollars_total{answer}"] == 0.5
    assert "baza_model_call_seconds_count{planner}" not in seen


def test_whether_a_model_rests_is_asked_at_each_scrape() -> None:
    measures, rests = PrometheusMeasures(), {"gpt": False}
    measures.watch_models("answer", lambda: rests)
    assert values(measures)["baza_model_resting{gpt,answer}"] == 0
    rests["gpt"] = True
    assert values(measures)["baza_model_resting{gpt,answer}"] == 1


def test_documents_searches_the_queue_and_telegram_are_counted() -> None:
    measures = PrometheusMeasures()
    measures.document_ended(Outcome.READY)
    measures.document_ended(Outcome.FAILED, "file-damaged")
    measures.stage_ended(DocumentStatus.PARSING, 4.0)
    measures.search_ended(0.02)
    measures.bot_api_failed("sendMessage", "TelegramRetryAfter")
    measures.queue_seen(QueueState(waiting=3, working=1, oldest_s=42.0))
    seen = values(measures)
    assert seen["baza_documents_total{,ready}"] == 1
    assert seen["baza_documents_total{file-damaged,failed}"] == 1
    assert seen["baza_document_stage_seconds_sum{parsing}"] == 4
    assert seen["baza_search_seconds_count{}"] == 1
    assert seen["baza_bot_api_errors_total{TelegramRetryAfter,sendMessage}"] == 1
    assert (seen["baza_queue_documents{waiting}"], seen["baza_queue_oldest_seconds{}"]) == (3, 42)


def test_two_processes_in_one_keep_figures_apart() -> None:
    first, second = PrometheusMeasures(), PrometheusMeasures()
    first.turn_ended(TURN)
    assert "baza_turns_total{from_base}" not in values(second)


async def test_nothing_is_kept_or_served_where_no_port_is_set() -> None:
    settings = Settings.read({}).metrics
    measures = build_measures(settings)

    async def unasked() -> QueueState:
        raise AssertionError("nobody serves the queue")

    assert type(measures) is Measures
    async with serve_measures(settings, measures, unasked):
        measures.turn_ended(TURN)


async def test_measures_for_other_settings_are_refused() -> None:
    async def unasked() -> QueueState:
        raise AssertionError("nobody serves the queue")

    with pytest.raises(TypeError):
        async with serve_measures(Settings.read({"METRICS_PORT": "9000"}).metrics, Measures(), unasked):
            pass
