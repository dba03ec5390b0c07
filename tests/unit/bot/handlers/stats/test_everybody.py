"""The picture of everybody: which rows it has, and what stands in them."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from PIL import Image

from bot.handlers.stats import (
    BLUE,
    BOTTOM,
    GAP,
    GREEN,
    ORANGE,
    PAINTS,
    PURPLE,
    RED,
    ROW,
    SERIES,
    TOP,
    WIDTH,
    everybody_chart,
    rows_of,
)
from domain.statistics import DayFigures
from tests.unit.bot.handlers.stats.pixels import colours_of, opened

LAST = date(2026, 5, 30)
BUSY = DayFigures(
    day=LAST,
    turns=8,
    people=4,
    tokens=40_000,
    cost=0.2,
    median_s=2.0,
    p95_s=6.0,
    thumbs_up=3,
    thumbs_down=1,
    read=6,
    failed=2,
)
TELEGRAM_SIDE = 1280  # pixels; larger photos are made smaller


def drawn(*days: DayFigures) -> Image.Image:
    return opened(everybody_chart(days, last_day=LAST, days=30))


def row_of(image: Image.Image, place: int) -> dict[str, int]:
    """Colour -> pixels of one row, without the numbers beside it."""
    top = TOP + place * ROW
    return colours_of(image.crop((200, top, WIDTH, top + ROW - GAP)))


@pytest.mark.parametrize(
    ("row", "signs", "parts"),
    [
        ("asked", (ORANGE, BLUE), (1, 3)),  # a half as high and as wide: a quarter of the bar
        ("documents", (GREEN, RED), (3, 1)),
        ("thumbs", (GREEN, RED), (3, 1)),
    ],
)
def test_a_bar_is_parted_as_its_figures_are(row: str, signs: tuple[str, str], parts: tuple[int, int]) -> None:
    seen = row_of(drawn(BUSY), list(SERIES).index(row))
    first, second = (seen[PAINTS[sign]] for sign in signs)
    assert first / second == pytest.approx(parts[0] / parts[1], rel=0.15)


def test_all_rows_fit_into_what_telegram_leaves_as_it_is() -> None:
    image = drawn(BUSY)
    assert rows_of([BUSY]) == tuple(SERIES)
    assert image.width <= TELEGRAM_SIDE
    assert image.height <= TELEGRAM_SIDE


def test_a_row_without_figures_is_left_out() -> None:
    quiet = DayFigures(day=LAST, turns=8, people=4, median_s=2.0, p95_s=6.0)
    assert rows_of([quiet]) == ("asked", "seconds")
    assert drawn(quiet).height == TOP + 2 * ROW - GAP + BOTTOM


def test_rows_follow_each_other_in_the_order_of_the_caption() -> None:
    seen = row_of(drawn(replace(BUSY, read=0, failed=0)), rows_of([replace(BUSY, read=0, failed=0)]).index("tokens"))
    assert PAINTS[PURPLE] in seen
    assert not {PAINTS[sign] for sign in (BLUE, ORANGE, GREEN, RED)} & set(seen)


def test_higher_days_have_higher_bars_and_days_outside_none() -> None:
    half = replace(BUSY, day=LAST - timedelta(days=3), tokens=20_000)
    alone, both = (row_of(drawn(*days), 2)[PAINTS[PURPLE]] for days in ([BUSY], [BUSY, half]))
    before = replace(BUSY, day=LAST - timedelta(days=30))
    assert both == pytest.approx(1.5 * alone, rel=0.05)
    assert row_of(drawn(BUSY, before), 2)[PAINTS[PURPLE]] == alone
