"""The most and the least of an answer."""

import time

import pytest

from rag.answering.postcheck import Evidence, remarks_on


def remarks(said: str, answer: str) -> tuple[str, ...]:
    return remarks_on(answer, Evidence(question="?", facts=(said,)), from_base=True)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Не более 10 дней.", "Ждать не менее 10 дней."),
        ("Не менее 10 %.", "Скидка — не больше **10** %."),
        ("At least 5 files.", "Send at most 5 files."),
        ("Минимум 1 000 ₽.", "Максимум 1000 ₽."),
        ("Скорость не выше 10 км/ч, возврат за 10 минут.", "Скорость не ниже 10 км/ч."),
        ("Не более 10 дней, с 10 мая.", "Ждать не менее 10 дней."),
        ("Не моложе 16 лет.", "Дают тем, кто не старше 16 лет."),
    ],
)
def test_a_bound_turned_round_is_told(said: str, answer: str) -> None:
    (remark,) = remarks(said, answer)
    assert "the other way round" in remark


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Не более 10 дней.", "Не больше 10 дней."),
        ("Не более 10 дней.", "До 10 дней."),
        ("Предупредить не позднее чем за 10 дней.", "Предупредить не менее чем за 10 дней."),
        ("От 10 дней.", "Не менее 10 дней."),
        ("Не более 10 дней. Или 10 рабочих дней.", "Не менее 10 дней."),
        ("Не менее 5 и не более 10 дней, аванс не менее 10 %.", "Не более 10 дней."),
        ("Не более десяти дней.", "Не менее 10 дней."),
        ("Не более 10 дней. Дней: не менее 10.", "Не менее 10 дней."),
        ("Не более 10 %, срок 10 дней.", "Не менее 10 дней."),
    ],
)
def test_what_may_be_the_same_bound_passes(said: str, answer: str) -> None:
    assert remarks(said, answer) == ()


def test_bounds_without_end_take_linear_time() -> None:
    text = "Не более 10 дней. " * 5_000
    start = time.process_time()
    assert remarks(text, "Не более 10 дней. " * 500) == ()
    assert time.process_time() - start < 5
