"""/stats: figures of the base; for admins in a private chat also those of all bases together.

In: /stats. Out: a chart of questions per day with the figures as its caption (text alone when nothing was asked yet),
and for ADMIN_USERS the overall figures and their chart. No message text and no name is shown. The charts can be read
on a phone; only digits are drawn, which every font has, and the caption explains rows and colours.
"""

import asyncio
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import count
from math import ceil

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import BufferedInputFile
from PIL import Image, ImageDraw, ImageFont

from bot.services import Talk, day_bounds
from bot.telegram import answering
from bot.texts import Value, Words
from domain.statistics import ActionFigures, BaseStatistics, DayFigures, OverallStatistics, TurnFigures, TurnsOfDay

MONTH_DAYS = 30
LEAST_SHOWN_S = 0.1  # "in 0 s" would look broken


def register(router: Router) -> None:
    router.message.register(show_statistics, Command("stats"))


async def show_statistics(talk: Talk) -> None:
    """Show the figures of the base; days are those of this machine's clock, as everywhere else. The overall ones are
    sent as text first: together with the chart's legend they would be too long for a caption."""
    now = datetime.now().astimezone()
    today, minutes = now.date(), round((now.utcoffset() or timedelta()).total_seconds() / 60)
    is_admin, figures = talk.person in talk.services.settings.telegram.admin_users, talk.stores.statistics
    held = await figures.of_base(talk.base_id, days=MONTH_DAYS, offset_minutes=minutes)
    html = base_html(held, talk.words, today=today, is_private=talk.place.is_private)
    if not is_admin and (bounds := await _bounds_html(talk, held)):
        html = f"{html}\n\n{bounds}"
    if held.days:
        picture = await asyncio.to_thread(questions_chart, held.days, last_day=today, days=MONTH_DAYS)
        await _send_photo(talk, picture, html)
    else:
        await talk.say(html)
    if is_admin and talk.place.is_private:
        overall = await figures.of_all(days=MONTH_DAYS, offset_minutes=minutes)
        await talk.say(overall_html(overall, talk.words))
        if rows := rows_of(overall.days):
            picture = await asyncio.to_thread(everybody_chart, overall.days, last_day=today, days=MONTH_DAYS)
            await _send_photo(talk, picture, rows_html(rows, talk.words))


async def _send_photo(talk: Talk, picture: bytes, caption: str) -> None:
    photo = BufferedInputFile(picture, "stats.png")
    await talk.message.answer_photo(photo, caption=caption, reply_parameters=answering(talk.place))


async def _bounds_html(talk: Talk, held: BaseStatistics) -> str:
    """How much of each bound is used. A group sees only that of its base: what a member has spent is private."""
    settings, words, lines = talk.services.settings, talk.words, []
    if most := settings.bounds.base_passages:
        lines.append(words("stats-bound-passages", held=held.passages, most=most))
    if talk.place.is_private and (day := day_bounds(settings, talk.person)):
        spending = await talk.stores.library.spent_in_a_day(talk.person, questions=day.questions, cost=day.cost)
        if day.questions:
            lines.append(words("stats-bound-questions", asked=spending.questions, most=day.questions))
        if day.cost:
            lines.append(words("stats-bound-cost", spent=spending.cost, most=day.cost))
    return "\n".join(lines)


def base_html(held: BaseStatistics, words: Words, *, today: date, is_private: bool) -> str:
    week = sum(each.turns for each in held.days if each.day > today - timedelta(days=7))
    month = sum(each.turns for each in held.days)
    counts: Counter[str] = Counter()
    for each in held.days:
        counts[each.kind] += each.turns
    signs = ((kind, sign) for kind, sign in KINDS.items() if counts[kind])
    kinds = [f"{sign} {words(f'stats-kind-{kind}', count=counts[kind])}" for kind, sign in signs]
    lines = [
        words("stats-title" if is_private else "stats-title-group"),
        words("stats-held", documents=held.documents, passages=held.passages),
        _line(words, "stats-pages", count=held.pages),
        _line(words, "stats-recorded", length=timedelta(seconds=held.recorded_s)),
        "",
        _line(words, "stats-asked", week=week, month=month) or words("stats-not-asked"),
        " · ".join(kinds) or None,  # this is also the legend of the chart's colours
        *_figures(held.figures, words),
    ]
    return "\n".join(line for line in lines if line is not None)


def overall_html(held: OverallStatistics, words: Words) -> str:
    queue, steps = held.queue, held.figures.steps
    turns = {"turns": held.turns, "general": held.general, "quoted": held.quoted, "unanswered": held.unanswered}
    searching, models = (round(100 * part / (held.total_s or 1)) for part in (held.searching_s, held.models_s))
    share = round(100 * held.facts_used / (held.facts or 1))
    lines = [
        words("stats-all-title", days=MONTH_DAYS),
        words("stats-all-people", people=held.people, active=held.active, bases=held.bases),
        words("stats-all-turns", **turns),
        *_figures(held.figures, words),
        _line(words, "stats-all-calls", count=held.model_calls),
        _line(words, "stats-all-slowest", seconds=held.slowest_s or 0),
        words("stats-all-waiting", searching=searching, models=models) if held.total_s else None,
        _line(words, "stats-all-facts", found=held.facts, used=held.facts_used, share=share),
        _line(words, "stats-all-plans", planned=steps.planned, run=steps.run, adapted=steps.adapted),
        _line(words, "stats-all-actions", list="; ".join(_action(each, words) for each in held.actions)),
        "",
        _counted("stats-all-documents", held.documents, words, prefix="stats-status-"),
        words("stats-all-queue", waiting=queue.waiting, working=queue.working, age=timedelta(seconds=queue.oldest_s))
        if queue.waiting
        else words("stats-all-no-queue", working=queue.working),
        _counted("stats-all-failures", held.failures, words),
        _line(words, "stats-all-slowest-document", length=timedelta(seconds=held.slowest_document_s or 0)),
    ]
    return "\n".join(line for line in lines if line is not None)


def rows_html(rows: Sequence[str], words: Words) -> str:
    shown = [f"{number}. {words(f'stats-chart-{row}')}" for number, row in enumerate(rows, start=1)]
    return "\n".join([words("stats-chart-title"), *shown])


def _figures(figures: TurnFigures, words: Words) -> list[str | None]:
    took = (figures.median_s, figures.p95_s)
    median, most = (0 if seconds is None else max(seconds, LEAST_SHOWN_S) for seconds in took)
    steps = figures.steps
    mean = round(steps.run / (steps.turns or 1), 1)
    return [
        _line(words, "stats-seconds", median=median, most=most),
        _line(words, "stats-thumbs", up=figures.thumbs_up, down=figures.thumbs_down),
        _line(words, "stats-tokens", tokens=figures.tokens),
        _line(words, "stats-cost", dollars=figures.cost),
        _line(words, "stats-steps", turns=steps.turns, steps=mean, seconds=steps.median_s or 0),
    ]


def _action(each: ActionFigures, words: Words) -> str:
    counts = {"count": each.steps, "seconds": each.median_s, "tokens": each.tokens, "failed": each.failed}
    return words.plain("stats-all-action", action=each.action, **counts)


def _line(words: Words, key: str, **values: Value) -> str | None:
    """The line, unless all that it would say is nothing."""
    return words(key, **values) if any(values.values()) else None


def _counted(key: str, counts: Mapping[str, int], words: Words, *, prefix: str = "") -> str | None:
    """`Документы: готовы 120, не прочитаны 4`; nothing when there is nothing to count."""
    named = [f"{words.plain(prefix + name) if prefix else name} {count}" for name, count in counts.items()]
    return _line(words, key, list=", ".join(named))


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
