"""/stats: figures of the base; for admins in a private chat also those of all bases together.

In: /stats. Out: a chart of questions per day with the figures as its caption (text alone when nothing was asked yet),
and for ADMIN_USERS the overall figures and their chart. No message text and no name is shown.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

from aiogram import Router
from aiogram.filters import Command
from aiogram.types import BufferedInputFile

from bot.charts import KINDS, everybody_chart, questions_chart, rows_of
from bot.replies.sending import answering
from bot.services import Talk, day_bounds
from bot.texts import Value, Words
from domain.statistics import ActionFigures, BaseStatistics, OverallStatistics, TurnFigures

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
