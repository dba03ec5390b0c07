"""The overall chart for the host: a row for each figure, over the same days.

In: the figures of each day. Out: the rows that are not empty, and a PNG of them, numbered.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from bot.charts.colours import BACKGROUND, BLUE, GREEN, INK, ORANGE, PAINTS, PURPLE, RED
from bot.charts.panel import BAR_SHARE, LEAST_STEP, Canvas, Panel, last_days, scale_to
from domain.statistics import DayFigures

LEFT, TOP, BOTTOM = 176, 28, 64  # pixels, as the next two lines
ROW, GAP = 205, 44  # six rows make 1280, the longest side that Telegram does not scale down
BADGE_X, BADGE_RADIUS = 40, 28
LINES = 3  # of a scale, at most
INNER_SHARE = 0.36  # width of a bar inside another one, as a share of a day's width
PERCENT = 100


class Row(StrEnum):
    """What a row shows; its key in the locales is `stats-chart-<value>`."""

    ASKED = "asked"
    DOCUMENTS = "documents"
    TOKENS = "tokens"
    COST = "cost"
    SECONDS = "seconds"
    THUMBS = "thumbs"


@dataclass(frozen=True, kw_only=True)
class Series:
    """One or two values per day. The second bar stands on the first, or inside it if it is a part of the first."""

    values: Callable[[DayFigures], tuple[float, ...]]
    signs: tuple[str, ...]
    inside: bool = False
    least: float = 1  # step of the scale


def _shares(day: DayFigures) -> tuple[float, float]:
    rated = day.thumbs_up + day.thumbs_down
    return (PERCENT * day.thumbs_up / rated, PERCENT * day.thumbs_down / rated) if rated else (0, 0)


SERIES: Mapping[Row, Series] = {
    Row.ASKED: Series(values=lambda day: (day.turns, day.people), signs=(BLUE, ORANGE), inside=True),
    Row.DOCUMENTS: Series(values=lambda day: (day.read, day.failed), signs=(GREEN, RED)),
    Row.TOKENS: Series(values=lambda day: (day.tokens,), signs=(PURPLE,)),
    Row.COST: Series(values=lambda day: (day.cost,), signs=(ORANGE,), least=LEAST_STEP),
    Row.SECONDS: Series(
        values=lambda day: (day.p95_s or 0, day.median_s or 0), signs=(ORANGE, BLUE), inside=True, least=LEAST_STEP
    ),
    Row.THUMBS: Series(values=_shares, signs=(GREEN, RED)),
}
"""The rows from top to bottom."""


def rows_of(days: Sequence[DayFigures]) -> tuple[Row, ...]:
    """The rows that have a value on at least one day."""
    return tuple(row for row, series in SERIES.items() if any(any(series.values(day)) for day in days))


def everybody_chart(done: Sequence[DayFigures], *, last_day: date, days: int) -> bytes:
    """The rows of `rows_of`, numbered from 1, over the `days` days that end with `last_day`."""
    shown, by_day = last_days(last_day, days), {each.day: each for each in done}
    columns = [by_day.get(day, DayFigures(day=day)) for day in shown]
    rows = rows_of(done)
    canvas = Canvas.blank(TOP + len(rows) * ROW - GAP + BOTTOM)
    for place, row in enumerate(rows):
        top = TOP + place * ROW
        panel = _panel(canvas, columns, SERIES[row], top=top)
        _draw_badge(canvas, place + 1, (panel.top + panel.bottom) // 2)
        if row is rows[-1]:
            panel.draw_dates(shown)
    return canvas.png()


def _panel(canvas: Canvas, columns: Sequence[DayFigures], series: Series, *, top: int) -> Panel:
    heights = [max(values) if series.inside else sum(values) for values in map(series.values, columns)]
    scale = scale_to(max(heights), lines=LINES, least=series.least)
    panel = Panel(canvas=canvas, left=LEFT, top=top, bottom=top + ROW - GAP, days=len(columns), scale=scale)
    panel.draw_scale()
    for number, day in enumerate(columns):
        above = 0.0
        for value, sign in zip(series.values(day), series.signs, strict=True):
            share = INNER_SHARE if series.inside and sign == series.signs[-1] else BAR_SHARE
            panel.draw_bar(number, value, PAINTS[sign], above=above, share=share)
            above += 0 if series.inside else value
    return panel


def _draw_badge(canvas: Canvas, number: int, y: int) -> None:
    """Draw the number by which the caption refers to the row."""
    box = (BADGE_X - BADGE_RADIUS, y - BADGE_RADIUS, BADGE_X + BADGE_RADIUS, y + BADGE_RADIUS)
    canvas.draw.ellipse(box, fill=INK)
    canvas.draw.text((BADGE_X, y), str(number), font=canvas.font, fill=BACKGROUND, anchor="mm")
