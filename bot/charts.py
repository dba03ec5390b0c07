"""Pictures of figures: questions a day, by what the answers stood on.

In: how many turns of each kind each day had. Out: a PNG that can be read on a phone. Only digits are drawn, which every
font has; what a colour means is said in the caption. Nobody is asked and nothing is sent.
"""

import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from PIL import Image, ImageDraw, ImageFont

from domain.statistics import TurnsOfDay

WIDTH, HEIGHT = 1080, 600
LEFT, RIGHT, TOP, BOTTOM = 96, 40, 28, 84  # margins, in pixels
FONT_SIZE = 34  # a phone shows a third of it
BAR_SHARE = 0.72  # of a day's width
LABELLED_EVERY = 5  # days
STEPS = (1, 2, 5)  # of the scale, times a power of ten
LINES = 5  # of the scale, at most

BACKGROUND, GRID, INK = "#ffffff", "#e3e7ee", "#4a5261"
COLOURS: Mapping[str, str] = {
    "from_base": "#3478d4",
    "general": "#f09a2a",
    "quotes": "#9966cc",
    "conversation": "#5fae4b",
    "nothing": "#d8504a",
}
"""Bottom to top. The same as the signs of `bot.replies.stats`."""
OTHER = "#9aa3b2"  # a kind that a later version has written


def questions_chart(turns: Sequence[TurnsOfDay], *, last_day: date, days: int) -> bytes:
    """A bar for each of the `days` days that end with `last_day`; what lies outside them is left out."""
    by_day: dict[date, dict[str, int]] = defaultdict(dict)
    for each in turns:
        by_day[each.day][each.kind] = each.turns
    shown = [last_day - timedelta(days=days - 1 - number) for number in range(days)]
    step = scale_step(max((sum(by_day[day].values()) for day in shown), default=0))
    top = step * max(1, -(-max((sum(by_day[day].values()) for day in shown), default=0) // step))
    image = Image.new("RGB", (WIDTH, HEIGHT), BACKGROUND)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(FONT_SIZE)  # Pillow's own: digits look the same on every machine
    _draw_scale(draw, font, step, top)
    for number, day in enumerate(shown):
        _draw_bar(draw, number, days, by_day[day], top)
        if (days - 1 - number) % LABELLED_EVERY == 0:
            middle = LEFT + (number + 0.5) * _day_width(days)
            draw.text((middle, HEIGHT - BOTTOM + 14), f"{day:%d.%m}", font=font, fill=INK, anchor="mt")
    written = io.BytesIO()
    image.save(written, "PNG", optimize=True)
    return written.getvalue()


def scale_step(most: int) -> int:
    """Between two lines, so that at most LINES of them reach `most`: 1, 2, 5, 10, 20 …"""
    power = 1
    while True:
        for step in STEPS:
            if step * power * LINES >= most:
                return step * power
        power *= 10


def _day_width(days: int) -> float:
    return (WIDTH - LEFT - RIGHT) / days


def _height_of(turns: int, top: int) -> float:
    return (HEIGHT - TOP - BOTTOM) * turns / top


def _draw_scale(
    draw: ImageDraw.ImageDraw, font: "ImageFont.FreeTypeFont | ImageFont.ImageFont", step: int, top: int
) -> None:
    for value in range(0, top + 1, step):
        y = HEIGHT - BOTTOM - _height_of(value, top)
        draw.line((LEFT, y, WIDTH - RIGHT, y), fill=GRID if value else INK, width=2)
        draw.text((LEFT - 14, y), str(value), font=font, fill=INK, anchor="rm")


def _draw_bar(draw: ImageDraw.ImageDraw, number: int, days: int, kinds: Mapping[str, int], top: int) -> None:
    width = _day_width(days)
    left, bottom = LEFT + (number + (1 - BAR_SHARE) / 2) * width, float(HEIGHT - BOTTOM)
    for kind in (*COLOURS, *(set(kinds) - set(COLOURS))):
        height = _height_of(kinds.get(kind, 0), top)
        if height:
            fill = COLOURS.get(kind, OTHER)
            draw.rectangle((left, bottom - height, left + width * BAR_SHARE, bottom - 1), fill=fill)
            bottom -= height
