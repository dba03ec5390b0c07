"""The chart of a base: questions per day, by kind of answer.

In: the number of turns of each kind on each day. Out: a PNG.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date

from bot.charts.colours import KINDS, OTHER, PAINTS
from bot.charts.panel import Canvas, Panel, last_days, scale_to
from domain.statistics import TurnsOfDay

HEIGHT = 600  # pixels, as the margins below
LEFT, TOP, BOTTOM = 96, 28, 84
LINES = 5  # of the scale, at most


def questions_chart(turns: Sequence[TurnsOfDay], *, last_day: date, days: int) -> bytes:
    """A bar for each of the `days` days that end with `last_day`; other days are left out."""
    by_day: dict[date, dict[str, int]] = defaultdict(dict)
    for each in turns:
        by_day[each.day][each.kind] = each.turns
    shown = last_days(last_day, days)
    scale = scale_to(max((sum(by_day[day].values()) for day in shown), default=0), lines=LINES)
    canvas = Canvas.blank(HEIGHT)
    panel = Panel(canvas=canvas, left=LEFT, top=TOP, bottom=HEIGHT - BOTTOM, days=days, scale=scale)
    panel.draw_scale()
    panel.draw_dates(shown)
    for number, day in enumerate(shown):
        above = 0
        for kind in (*KINDS, *(set(by_day[day]) - set(KINDS))):
            turns_of_kind = by_day[day].get(kind, 0)
            panel.draw_bar(number, turns_of_kind, PAINTS[KINDS[kind]] if kind in KINDS else OTHER, above=above)
            above += turns_of_kind
    return canvas.png()
