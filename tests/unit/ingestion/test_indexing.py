"""The names by which passages are found, and how long they count."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import aclosing

import pytest

from adapters.lexical import RussianEnglishAnalyzer
from ingestion.indexing import SHORT_CHARS, compute, length_of, one_ahead, spelled_out


@pytest.mark.parametrize(
    ("name", "opening", "full"),
    [
        ("AMERICANEXPRESS_2022_10K", "American Express Company, New York", ["american express"]),
        ("BESTBUY_2024Q2_10Q", "BEST BUY CO., INC. Best Buy", ["best buy"]),
        ("Договор ТРИКОТАЖСЕРВИС", "ООО «Трикотаж-Сервис»", ["трикотаж сервис"]),
        ("BOEING_2022", "The Boeing Company", []),
        ("scan 0117", "", []),
    ],
)
def test_a_joined_name_is_spelled_out_as_the_text_has_it(name: str, opening: str, full: list[str]) -> None:
    assert spelled_out(name, opening) == full


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("выручка 2022 года", 3),
        ("| Выручка | 1 577 | (34,229) | 12.5 % | $8.30 |\n| --- | --- | --- | --- | --- |", 1),
        ("| Счёт 117 | 5 шт. | — |", 4),
    ],
)
def test_numbers_of_a_table_do_not_make_a_passage_longer(text: str, length: int) -> None:
    analyzer = RussianEnglishAnalyzer()
    assert length_of(analyzer, text, analyzer.terms(text)) == length


class Works:
    """Numbers, each made when its turn is let come; says which were begun."""

    def __init__(self, count: int, *, broken: int | None = None) -> None:
        self.begun: list[int] = []
        self.cancelled: list[int] = []
        self._count = count
        self._broken = broken

    def all(self) -> Iterator[Coroutine[None, None, int]]:
        return map(self._make, range(self._count))

    async def _make(self, number: int) -> int:
        self.begun.append(number)
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled.append(number)
            raise
        if number == self._broken:
            raise ValueError(number)
        return number


async def test_what_is_short_stays_in_the_event_loop() -> None:
    assert await compute(threading.current_thread, characters=SHORT_CHARS) is threading.current_thread()


async def test_what_is_long_does_not_hold_the_event_loop_up() -> None:
    assert await compute(threading.current_thread, characters=SHORT_CHARS + 1) is not threading.current_thread()


@pytest.mark.parametrize("count", [0, 1, 5])
async def test_results_come_in_order(count: int) -> None:
    assert [made async for made in one_ahead(Works(count).all())] == list(range(count))


async def test_one_work_and_no_more_is_begun_ahead_of_the_one_in_use() -> None:
    works = Works(5)
    async for made in one_ahead(works.all()):
        for _ in range(10):
            await asyncio.sleep(0)
        assert works.begun == list(range(min(made + 2, 5)))


async def test_a_work_that_fails_is_told_in_its_turn() -> None:
    made = one_ahead(Works(4, broken=2).all())
    assert [await anext(made), await anext(made)] == [0, 1]
    with pytest.raises(ValueError, match="2"):
        await anext(made)


async def test_what_was_begun_is_cancelled_when_nobody_goes_on() -> None:
    works = Works(3)
    async with aclosing(one_ahead(works.all())) as made:
        assert await anext(made) == 0
        await asyncio.sleep(0)
    assert works.cancelled == [1]
