"""What an answer says of its own lists."""

import time
from decimal import Decimal

import pytest

from rag.answering.counts import own_counts, said_to_be_left, without_remainder

LIST = "Требования:\n\n- допуск\n- страховка\n- журнал\n\n"


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("ещё 10 (по запросу могу вывести)", 10),
        ("и ещё 10 из 13.", 10),
        ("10 more of 13 (I can list them on request)", 10),
    ],
)
def test_the_remainder_line_is_understood(line: str, left: int) -> None:
    assert said_to_be_left(LIST + line) == {left}
    assert line not in without_remainder(LIST + line)


@pytest.mark.parametrize(
    "line", ["Ещё 5 руб. за 2 дня", "Есть ещё 5 договоров аренды, и каждый из них продлён.", "ещё"]
)
def test_other_lines_with_more_in_them_are_no_remainder(line: str) -> None:
    assert without_remainder(LIST + line) == LIST + line


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (LIST, 3),
        (LIST + "ещё 10 (по запросу могу вывести)", 13),
        ("| Договор | Срок |\n|---|---|\n| Аренда | год |\n| Поставка | месяц |", 2),
        ("В базе есть договоры: аренды, поставки, подряда и займа.", 4),
        ("**Первый**\n- а\n\n**Второй**\n- б", 2),
    ],
)
def test_what_is_listed_is_counted(text: str, count: int) -> None:
    assert Decimal(count) in own_counts(text)


def test_empty_lines_without_end_take_linear_time() -> None:
    begun = time.process_time()
    own_counts("\n" * 50_000)  # quadratic cost would take a minute
    assert time.process_time() - begun < 1
