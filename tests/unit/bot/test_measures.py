"""What a scraper reads."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from bot.measures import Measures
from bot.settings import Settings
from domain.documents import DocumentStatus
from domain.statistics import QueueState
from ingestion.ports import Outcome
from rag.metering import CheckCounts, ModelCall, Pace, StepCounts, StepMetrics, TurnMetrics, Usage, Waiting


def step(action: str, state: str, seconds: float, *, tokens: int = 0) -> StepMetrics:
    return StepMetrics(
        action=action,
        state=state,
        seconds=seconds,
        facts=2,
        calls=1,
        tokens=tokens,
        cost=0.0,
        searching_s=0.0,
        models_s=0.0,
    )


TURN = TurnMetrics(
    kind="from_base",
    model="gpt",
    plan="model",
    seconds=1.5,
    pace=Pace(planned_s=0.5, found_s=0.1, first_s=None),
    facts=9,
    facts_used=4,
    used_rank=2.5,
    check=CheckCounts(outcome="checked", statements=5, failed=2, withdrawn=1, tokens=900, seconds=0.5),
    passages=3,
    usage=Usage(searching=Waiting(seconds=0.25), models=Waiting(seconds=0.75)),
    steps=StepCounts(planned=3, run=2, adapted=1),
    each_step=(step("rag_db_query", "done", 0.2), step("analyze", "failed", 0.7, tokens=900)),
)


def values(measures: Measures) -> dict[str, float]:
    """`name{value,value}` -> number; values of labels by the labels' names."""
    families = text_string_to_metric_families(measures.page().decode())
    return {
        f"{sample.name}{{{','.join(value for _, value in sorted(sample.labels.items()))}}}": sample.value
        for family in families
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_created"))
    }


def test_a_turn_is_counted_by_its_kind_and_timed_by_its_parts() -> None:
    measures = Measures()
    measures.turn_ended(TURN)
    measures.turn_ended(TURN)
    seen = values(measures)
    assert seen["baza_turns_total{from_base}"] == 2
    parts = ("", "planning_", "finding_", "searching_", "models_")
    assert [seen[f"baza_turn_{part}seconds_sum{{}}"] for part in parts] == [3, 1, 0.2, 0.5, 1.5]
    assert seen["baza_turn_first_text_seconds_count{}"] == 0
    assert (seen["baza_facts_found_total{}"], seen["baza_facts_used_total{}"]) == (18, 8)
    assert seen["baza_facts_used_rank_sum{}"] == 5


@pytest.mark.parametrize(("outcome", "timed"), [("checked", 1), ("away", 1), ("unneeded", 0), ("", 0)])
def test_a_check_is_counted_by_its_outcome_and_its_statements(outcome: str, timed: int) -> None:
    measures = Measures()
    measures.turn_ended(replace(TURN, check=replace(TURN.check, outcome=outcome)))
    seen = values(measures)
    assert seen.get(f"baza_answer_checks_total{{{outcome}}}", 0) == bool(outcome)
    assert seen.get("baza_answer_statements_total{failed}", 0) == 2 * bool(outcome)
    assert (seen["baza_answer_check_tokens_count{}"], seen["baza_answer_check_tokens_sum{}"]) == (timed, 900 * timed)


def test_steps_are_counted_by_what_they_did_and_how_they_ended() -> None:
    measures = Measures()
    measures.turn_ended(TURN)
    seen = values(measures)
    assert (seen["baza_steps_planned_total{}"], seen["baza_steps_adapted_total{}"]) == (3, 1)
    assert (seen["baza_steps_total{rag_db_query,done}"], seen["baza_steps_total{analyze,failed}"]) == (1, 1)
    assert (seen["baza_step_seconds_sum{analyze}"], seen["baza_step_tokens_total{analyze}"]) == (0.7, 900)


def test_each_press_of_a_thumb_is_counted() -> None:
    measures = Measures()
    for rating in (1, 1, -1):
        measures.answer_rated(rating)
    seen = values(measures)
    assert (seen["baza_answer_ratings_total{up}"], seen["baza_answer_ratings_total{down}"]) == (2, 1)


KEY_METRICS = {
    "baza_steps_planned",  # "Количество шагов в плане"
    "baza_steps",  # "Количество выполненных шагов", and "Успешность выполнения плана"
    "baza_steps_adapted",  # "Количество адаптаций плана"
    "baza_step_tokens",  # "Токены на шаг"
    "baza_model_tokens",  # "Общее использование токенов"
    "baza_facts_found",  # "Эффективность использования RAG контекста", and "Релевантность RAG контекста"
    "baza_facts_used",
    "baza_step_seconds",  # "Время на шаг"
    "baza_turn_seconds",  # "Общее время выполнения"
    "baza_turn_searching_seconds",  # "Время ожидания Ingestor"
    "baza_answer_ratings",  # "Удовлетворенность пользователя"
}
"""Seed 3, "Ключевые метрики"."""
DOCS = Path(__file__).parents[3] / "docs" / "metrics.md"


def families() -> list[Metric]:
    """Without the client's own times of when each counter began."""
    found = text_string_to_metric_families(Measures().page().decode())
    return [family for family in found if not family.name.endswith("_created")]


def test_every_metric_of_seed_3_is_there() -> None:
    assert {family.name for family in families()} >= KEY_METRICS


def test_times_are_histograms_in_seconds_and_gauges_never_counters() -> None:
    ours = [family for family in families() if family.name.startswith("baza_")]
    assert {family.type for family in ours} == {"counter", "gauge", "histogram"}
    assert all(
        family.name.endswith(("_seconds", "_check_tokens", "_rank")) for family in ours if family.type == "histogram"
    )
    assert not [family.name for family in ours if re.search(r"_(ms|s|minutes|count|total)$", family.name)]


def test_every_metric_is_told_of_in_the_docs_and_no_other() -> None:
    told = set(re.findall(r"`(baza_\w+)`", DOCS.read_text(encoding="utf-8")))
    ours = {f"{each.name}_total" if each.type == "counter" else each.name for each in families()}
    assert told == {name for name in ours if name.startswith("baza_")}


def test_models_are_counted_by_what_they_are_for_and_how_calls_ended() -> None:
    measures = Measures()
    measures.model_called("answer", ModelCall(model="gpt", seconds=2, prompt_tokens=100, answer_tokens=7, cost=0.5))
    measures.model_called("planner", ModelCall(model="gpt", problem="ModelAway"))
    seen = values(measures)
    assert seen["baza_model_calls_total{gpt,,answer}"] == 1
    assert seen["baza_model_calls_total{gpt,ModelAway,planner}"] == 1
    assert seen["baza_model_tokens_total{prompt,answer}"] == 100
    assert seen["baza_model_cost_dollars_total{answer}"] == 0.5
    assert "baza_model_call_seconds_count{planner}" not in seen


def test_whether_a_model_rests_is_asked_at_each_scrape() -> None:
    measures, rests = Measures(), {"gpt": False}
    measures.watch_models("answer", lambda: rests)
    assert values(measures)["baza_model_resting{gpt,answer}"] == 0
    rests["gpt"] = True
    assert values(measures)["baza_model_resting{gpt,answer}"] == 1


def test_documents_searches_the_queue_and_telegram_are_counted() -> None:
    measures = Measures()
    measures.document_ended(Outcome.READY)
    measures.document_ended(Outcome.FAILED, "file-damaged")
    measures.stage_ended(DocumentStatus.PARSING, 4.0)
    measures.search_ended(0.02)
    measures.bot_api_failed("sendMessage", "TelegramRetryAfter")
    measures.page(QueueState(waiting=3, working=1, oldest_s=42.0))
    seen = values(measures)
    assert seen["baza_documents_total{,ready}"] == 1
    assert seen["baza_documents_total{file-damaged,failed}"] == 1
    assert seen["baza_document_stage_seconds_sum{parsing}"] == 4
    assert seen["baza_search_seconds_count{}"] == 1
    assert seen["baza_bot_api_errors_total{TelegramRetryAfter,sendMessage}"] == 1
    assert (seen["baza_queue_documents{waiting}"], seen["baza_queue_oldest_seconds{}"]) == (3, 42)


def test_two_processes_in_one_keep_figures_apart() -> None:
    first, second = Measures(), Measures()
    first.turn_ended(TURN)
    assert "baza_turns_total{from_base}" not in values(second)


async def test_nothing_is_served_where_no_port_is_set() -> None:
    async def unasked() -> QueueState:
        raise AssertionError("nobody serves the queue")

    async with Measures().served(Settings.read({}).metrics, unasked):
        pass
