"""Charts of daily figures: of one base, and of all bases together.

In: records of `domain.statistics`. Out: PNGs that can be read on a phone. Only digits are drawn, which every font has;
the caption explains rows and colours. It reads no store and sends nothing.
"""

import io
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from PIL import Image, ImageDraw, ImageFont

from domain.statistics import DayFigures, TurnsOfDay

BLUE, ORANGE, PURPLE, GREEN, RED = "🟦", "🟧", "🟪", "🟩", "🟥"
PAINTS: Mapping[str, str] = {BLUE: "#3478d4", ORANGE: "#f09a2a", PURPLE: "#9966cc", GREEN: "#5fae4b", RED: "#d8504a"}
BACKGROUND, GRID, INK = "#ffffff", "#e3e7ee", "#4a5261"
OTHER = "#9aa3b2"  # for kinds of answers that a later version of Baza has stored
KINDS: Mapping[str, str] = {
    "from_base": BLUE,
    "general": ORANGE,
    "quotes": PURPLE,
    "conversation": GREEN,
    "nothing": RED,
}
"""Kind of answer -> its sign; the bars are stacked in this order, bottom to top."""
WIDTH = 1080  # pixels, as the next two
RIGHT = 40
FONT_SIZE = 34  # a phone shows the chart at a third of its size
BAR_SHARE = 0.72  # of a day's width
LABELLED_EVERY = 5  # days
DATES_BELOW = 14
STEPS = (1, 2, 5)  # of the scale, each times a power of ten
LEAST_STEP = 0.001  # of the scale: a tenth of a cent
THOUSAND = 1000
LEFT, TOP, BOTTOM = 176, 28, 64  # pixels, as the next two lines
ROW, GAP = 205, 44  # six rows make 1280, the longest side that Telegram does not scale down
BADGE_X, BADGE_RADIUS = 40, 28
LINES = 3  # of a scale, at most
INNER_SHARE = 0.36  # width of a bar inside another one, as a share of a day's width
PERCENT = 100
HEIGHT = 600  # pixels, as the margins below
QUESTIONS_LEFT, QUESTIONS_TOP, QUESTIONS_BOTTOM = 96, 28, 84
QUESTIONS_LINES = 5  # of the scale, at most


@dataclass(frozen=True, kw_only=True)
class Canvas:
    """A picture that is being drawn."""

    image: Image.Image
    draw: ImageDraw.ImageDraw
    font: "ImageFont.FreeTypeFont | ImageFont.ImageFont"  # Pillow's own: digits look the same on every machine

    @staticmethod
    def blank(height: int) -> "Canvas":
        """An empty canvas of this height."""
        image = Image.new("RGB", (WIDTH, height), BACKGROUND)
        return Canvas(image=image, draw=ImageDraw.Draw(image), font=ImageFont.load_default(FONT_SIZE))

    def png(self) -> bytes:
        """The picture as a file."""
        written = io.BytesIO()
        self.image.save(written, "PNG", optimize=True)
        return written.getvalue()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A row between two y coordinates: the value 0 is at `bottom`, the value `scale.top` at `top`."""

    canvas: Canvas
    left: int
    top: int
    bottom: int
    days: int
    scale: "Scale"

    def draw_scale(self) -> None:
        """Draw a line with its number for every step of the scale."""
        for value in self.scale.values():
            y = self.bottom - self._height_of(value)
            self.canvas.draw.line((self.left, y, WIDTH - RIGHT, y), fill=GRID if value else INK, width=2)
            self._write(self.left - 14, y, shortened(value), anchor="rm")

    def draw_bar(self, number: int, value: float, paint: str, *, above: float = 0.0, share: float = BAR_SHARE) -> None:
        """Draw a bar in the column of day `number`, starting at value `above`; `share` is of the column's width."""
        if not value:
            return
        width = self._day_width
        left, bottom = self.left + (number + (1 - share) / 2) * width, self.bottom - self._height_of(above)
        top = bottom - self._height_of(value)
        self.canvas.draw.rectangle((left, min(top, bottom - 1), left + width * share, bottom - 1), fill=paint)

    def draw_dates(self, shown: Sequence[date]) -> None:
        """Write dates below the row: the last day, and every fifth day before it."""
        for number, day in enumerate(shown):
            if (self.days - 1 - number) % LABELLED_EVERY == 0:
                middle = self.left + (number + 0.5) * self._day_width
                self._write(middle, self.bottom + DATES_BELOW, f"{day:%d.%m}", anchor="mt")

    @property
    def _day_width(self) -> float:
        return (WIDTH - self.left - RIGHT) / self.days

    def _height_of(self, value: float) -> float:
        return (self.bottom - self.top) * value / self.scale.top

    def _write(self, x: float, y: float, text: str, *, anchor: str) -> None:
        self.canvas.draw.text((x, y), text, font=self.canvas.font, fill=INK, anchor=anchor)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """From 0 to `steps` times `step`."""

    step: float
    steps: int

    @property
    def top(self) -> float:
        """The largest value."""
        return self.step * self.steps

    def values(self) -> list[float]:
        """All values that get a line."""
        return [self.step * number for number in range(self.steps + 1)]


def scale_to(most: float, *, lines: int, least: float = 1) -> Scale:
    """A scale that reaches `most` with at most `lines` steps of 1, 2, 5, 10, 20 … times `least`."""
    power = least
    while True:
        for step in STEPS:
            if step * power * lines >= most:
                steps = -int(-most // (step * power))  # may be one too many: 0.1 + 0.2 gives 4 steps of 0.1
                return Scale(step=step * power, steps=max(1, min(steps, lines)))
        power *= 10


def shortened(value: float) -> str:
    """The value in few characters: `0.002`, `50`, `20k`, `1M`."""
    for unit, sign in ((THOUSAND**2, "M"), (THOUSAND, "k")):
        if value >= unit:
            return f"{value / unit:.6g}{sign}"
    return f"{value:.6g}"


def last_days(last_day: date, days: int) -> list[date]:
    """The `days` days that end with `last_day`, oldest first."""
    return [last_day - timedelta(days=days - 1 - number) for number in range(days)]


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


def questions_chart(turns: Sequence[TurnsOfDay], *, last_day: date, days: int) -> bytes:
    """A bar for each of the `days` days that end with `last_day`; other days are left out."""
    by_day: dict[date, dict[str, int]] = defaultdict(dict)
    for each in turns:
        by_day[each.day][each.kind] = each.turns
    shown = last_days(last_day, days)
    scale = scale_to(max((sum(by_day[day].values()) for day in shown), default=0), lines=QUESTIONS_LINES)
    canvas = Canvas.blank(HEIGHT)
    panel = Panel(
        canvas=canvas, left=QUESTIONS_LEFT, top=QUESTIONS_TOP, bottom=HEIGHT - QUESTIONS_BOTTOM, days=days, scale=scale
    )
    panel.draw_scale()
    panel.draw_dates(shown)
    for number, day in enumerate(shown):
        above = 0
        for kind in (*KINDS, *(set(by_day[day]) - set(KINDS))):
            turns_of_kind = by_day[day].get(kind, 0)
            panel.draw_bar(number, turns_of_kind, PAINTS[KINDS[kind]] if kind in KINDS else OTHER, above=above)
            above += turns_of_kind
    return canvas.png()
