"""A row of a chart with a column for each day: its scale, its bars, its dates.

In: the position of the row, and values. Out: drawing on a canvas. The row does not know what the values mean.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from PIL import Image, ImageDraw, ImageFont

from bot.charts.colours import BACKGROUND, GRID, INK

WIDTH = 1080  # pixels, as the next two
RIGHT = 40
FONT_SIZE = 34  # a phone shows the chart at a third of its size
BAR_SHARE = 0.72  # of a day's width
LABELLED_EVERY = 5  # days
DATES_BELOW = 14
STEPS = (1, 2, 5)  # of the scale, each times a power of ten
LEAST_STEP = 0.001  # of the scale: a tenth of a cent
THOUSAND = 1000


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
