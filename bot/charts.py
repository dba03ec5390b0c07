"""Charts of daily figures: of one base, and of all bases together.

In: records of `domain.statistics`. Out: PNGs that can be read on a phone. Only digits are drawn, which every font has;
the caption explains rows and colours.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import count
from math import ceil

from PIL import Image, ImageDraw, ImageFont

from domain.statistics import DayFigures, TurnsOfDay

BLUE, ORANGE, PURPLE, GREEN, RED = "🟦", "🟧", "🟪", "🟩", "🟥"
PAINTS: Mapping[str, str] = {BLUE: "#3478d4", ORANGE: "#f09a2a", PURPLE: "#9966cc", GREEN: "#5fae4b", RED: "#d8504a"}
BACKGROUND, GRID, INK = "#ffffff", "#e3e7ee", "#4a5261"
KINDS: Mapping[str, str] = {
    "from_base": BLUE,
    "general": ORANGE,
    "quotes": PURPLE,
    "conversation": GREEN,
    "nothing": RED,
}
"""Kind of answer -> its sign; the bars are stacked in this order, bottom to top."""
WIDTH, TOP, RIGHT, BOTTOM = 1080, 28, 40, 64  # pixels, as the next two lines
ROW, GAP = 205, 44  # six rows make 1280, the longest side that Telegram does not scale down
HEIGHT = 600  # of the chart of one base
BADGE_X, BADGE_RADIUS = 40, 28
FONT_SIZE = 34  # a phone shows the chart at a third of its size
BAR_SHARE, INNER_SHARE = 0.72, 0.36  # of a day's width; of a bar inside another one
LABELLED_EVERY = 5  # days
LEAST_STEP = 0.001  # of the scale: a tenth of a cent


@dataclass(frozen=True, kw_only=True)
class Series:
    """Values per day: each bar stands on the one before, or inside it if it is a part of that."""

    signs: tuple[str, ...]
    values: Callable[[DayFigures], tuple[float, ...]] = lambda _: ()
    inside: bool = False
    least: float = 1  # step of the scale


def _shares(day: DayFigures) -> tuple[float, float]:
    rated = day.thumbs_up + day.thumbs_down
    return (100 * day.thumbs_up / rated, 100 * day.thumbs_down / rated) if rated else (0, 0)


SERIES: Mapping[str, Series] = {
    "asked": Series(values=lambda day: (day.turns, day.people), signs=(BLUE, ORANGE), inside=True),
    "documents": Series(values=lambda day: (day.read, day.failed), signs=(GREEN, RED)),
    "tokens": Series(values=lambda day: (day.tokens,), signs=(PURPLE,)),
    "cost": Series(values=lambda day: (day.cost,), signs=(ORANGE,), least=LEAST_STEP),
    "seconds": Series(
        values=lambda day: (day.p95_s or 0, day.median_s or 0), signs=(ORANGE, BLUE), inside=True, least=LEAST_STEP
    ),
    "thumbs": Series(values=_shares, signs=(GREEN, RED)),
}
"""The rows from top to bottom; `asked` is `stats-chart-asked` in the locales."""


def rows_of(days: Sequence[DayFigures]) -> tuple[str, ...]:
    """The rows that have a value on at least one day."""
    return tuple(row for row, series in SERIES.items() if any(any(series.values(day)) for day in days))


def everybody_chart(done: Sequence[DayFigures], *, last_day: date, days: int) -> bytes:
    """The rows of `rows_of`, numbered from 1, over the `days` days that end with `last_day`."""
    rows, by_day = rows_of(done), {each.day: each for each in done}
    chart = _Chart(last_day, days, left=176, height=TOP + len(rows) * ROW - GAP + BOTTOM)
    for place, row in enumerate(rows):
        top = TOP + place * ROW
        columns = [SERIES[row].values(by_day.get(day, DayFigures(day=day))) for day in chart.days]
        chart.draw_row(columns, SERIES[row], top, top + ROW - GAP, lines=3)
        chart.draw_badge(str(place + 1), top + (ROW - GAP) // 2)
    return chart.png()


def questions_chart(turns: Sequence[TurnsOfDay], *, last_day: date, days: int) -> bytes:
    """A bar for each of the `days` days that end with `last_day`; other days are left out."""
    counts = {(each.day, each.kind): each.turns for each in turns}
    chart = _Chart(last_day, days, left=96, height=HEIGHT)
    columns = [tuple(counts.get((day, kind), 0) for kind in KINDS) for day in chart.days]
    chart.draw_row(columns, Series(signs=tuple(KINDS.values())), TOP, HEIGHT - BOTTOM, lines=5)
    return chart.png()


class _Chart:
    """A picture that is being drawn, with the dates of its columns at the bottom."""

    def __init__(self, last_day: date, days: int, *, left: int, height: int) -> None:
        self.days = [last_day - timedelta(days=ago) for ago in reversed(range(days))]
        self._left, self._column = left, (WIDTH - left - RIGHT) / days
        self._image = Image.new("RGB", (WIDTH, height), BACKGROUND)
        self._draw = ImageDraw.Draw(self._image)
        self._font = ImageFont.load_default(FONT_SIZE)  # Pillow's own: digits look the same on every machine
        for number, day in enumerate(self.days):
            if (days - 1 - number) % LABELLED_EVERY == 0:
                self._write(left + (number + 0.5) * self._column, height - BOTTOM + 14, f"{day:%d.%m}", anchor="mt")

    def draw_row(
        self, columns: Sequence[Sequence[float]], series: Series, top: int, bottom: int, *, lines: int
    ) -> None:
        """A scale, and for each day the bars of its column."""
        most = max((max(values) if series.inside else sum(values) for values in columns), default=0)
        step, steps = scale_to(most, lines=lines, least=series.least)
        pixels = (bottom - top) / (step * steps)
        for value in (step * number for number in range(steps + 1)):
            y = bottom - value * pixels
            self._draw.line((self._left, y, WIDTH - RIGHT, y), fill=GRID if value else INK, width=2)
            self._write(self._left - 14, y, shortened(value), anchor="rm")
        for number, values in enumerate(columns):
            above = 0.0
            for place, (value, sign) in enumerate(zip(values, series.signs, strict=True)):
                width = self._column * (INNER_SHARE if series.inside and place else BAR_SHARE)
                left, base = self._left + (number + 0.5) * self._column - width / 2, bottom - above * pixels
                if value:
                    edges = (left, min(base - value * pixels, base - 1), left + width, base - 1)
                    self._draw.rectangle(edges, fill=PAINTS[sign])
                above += 0 if series.inside else value

    def draw_badge(self, text: str, y: int) -> None:
        self._draw.circle((BADGE_X, y), BADGE_RADIUS, fill=INK)
        self._write(BADGE_X, y, text, anchor="mm", fill=BACKGROUND)

    def png(self) -> bytes:
        written = io.BytesIO()
        self._image.save(written, "PNG", optimize=True)
        return written.getvalue()

    def _write(self, x: float, y: float, text: str, *, anchor: str, fill: str = INK) -> None:
        self._draw.text((x, y), text, font=self._font, fill=fill, anchor=anchor)


def scale_to(most: float, *, lines: int, least: float = 1) -> tuple[float, int]:
    """Step (1, 2, 5, 10, 20 … times `least`) and number of steps, at most `lines`, of a scale that reaches `most`."""
    steps = (least * first * 10**power for power in count() for first in (1, 2, 5))
    step = next(each for each in steps if each * lines >= most)
    return step, max(1, min(ceil(most / step), lines))  # rounding may give one too many: 0.1 + 0.2 is 4 steps of 0.1


def shortened(value: float) -> str:
    """The value in few characters: `0.002`, `50`, `20k`, `1M`."""
    unit, sign = next(((unit, sign) for unit, sign in ((10**6, "M"), (1000, "k")) if value >= unit), (1, ""))
    return f"{value / unit:.6g}{sign}"
