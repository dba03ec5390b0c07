"""/stats: figures of the base; for admins in a private chat also those of all bases together.

In: /stats. Out: a chart of questions per day with the figures as its caption (text alone when nothing was asked yet),
and for ADMIN_USERS the overall figures and their chart. No message text and no name is shown.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

from aiogram import Router
from aiogram.enums import ParseMode
from aiogram.filters import Command
from aiogram.types import BufferedInputFile

from bot.charts import KINDS, Row, everybody_chart, questions_chart, rows_of
from bot.handlers.filters import own_words
from bot.replies.sending import answering
from bot.services import Talk
from bot.texts import Words
from domain.statistics import BaseStatistics, OverallStatistics, TurnFigures

MONTH_DAYS = 30
LEAST_SHOWN_S = 0.1  # "in 0 s" would look broken


def build_router() -> Router:
    """/stats."""
    router = Router(name="stats")
    router.message.filter(own_words)
    router.message.register(show_statistics, Command("stats"))
    return router


async def show_statistics(talk: Talk) -> None:
    """Show the figures of the base; days are those of this machine's clock, as everywhere else. The overall ones are
    sent as text first: together with the chart's legend they would be too long for a caption."""
    now = datetime.now().astimezone()
    today, minutes = now.date(), round((now.utcoffset() or timedelta()).total_seconds() / 60)
    is_admin, figures = talk.person in talk.services.admin_users, talk.stores.statistics
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
    await talk.bot.send_photo(
        talk.place.chat,
        BufferedInputFile(picture, "stats.png"),
        caption=caption,
        parse_mode=ParseMode.HTML,
        message_thread_id=talk.place.thread,
        reply_parameters=answering(talk.place),
    )


async def _bounds_html(talk: Talk, held: BaseStatistics) -> str:
    """How much of each bound is used. A group sees only that of its base: what a member has spent is private."""
    bounds, words, lines, spending = talk.services.bounds, talk.words, [], None
    day = bounds.of_day(talk.person) if talk.place.is_private else None
    if day:
        spending = await talk.stores.library.spent_in_a_day(talk.person, questions=day.questions, cost=day.cost)
    if bounds.passages:
        lines.append(words("stats-bound-passages", held=held.passages, most=bounds.passages))
    if spending and bounds.questions:
        lines.append(words("stats-bound-questions", asked=spending.questions, most=bounds.questions))
    if spending and bounds.cost:
        lines.append(words("stats-bound-cost", spent=spending.cost, most=bounds.cost))
    return "\n".join(lines)


def base_html(held: BaseStatistics, words: Words, *, today: date, is_private: bool) -> str:
    """What the base holds, and how its questions of the month were answered."""
    week = sum(each.turns for each in held.days if each.day > today - timedelta(days=7))
    month = sum(each.turns for each in held.days)
    counts: Counter[str] = Counter()
    for each in held.days:
        counts[each.kind] += each.turns
    kinds = [
        f"{sign} {words(f'stats-kind-{kind}', count=counts[kind])}" for kind, sign in KINDS.items() if counts[kind]
    ]
    lines = [
        words("stats-title" if is_private else "stats-title-group"),
        words("stats-held", documents=held.documents, passages=held.passages),
        words("stats-pages", count=held.pages) if held.pages else "",
        words("stats-recorded", length=timedelta(seconds=held.recorded_s)) if held.recorded_s else "",
        "",
        words("stats-asked", week=week, month=month) if month else words("stats-not-asked"),
        " · ".join(kinds),  # this is also the legend of the chart's colours
        *_figures(held.figures, words),
    ]
    return _joined(lines)


def overall_html(held: OverallStatistics, words: Words) -> str:
    """The overall figures for the host, without names."""
    queue, slowest = held.queue, held.slowest_document_s
    turns = {"turns": held.turns, "general": held.general, "quoted": held.quoted, "unanswered": held.unanswered}
    lines = [
        words("stats-all-title", days=MONTH_DAYS),
        words("stats-all-people", people=held.people, active=held.active, bases=held.bases),
        words("stats-all-turns", **turns),
        *_figures(held.figures, words),
        words("stats-all-calls", count=held.model_calls) if held.model_calls else "",
        words("stats-all-slowest", seconds=held.slowest_s) if held.slowest_s else "",
        *_work(held, words),
        "",
        _counted("stats-all-documents", held.documents, words, prefix="stats-status-"),
        words("stats-all-queue", waiting=queue.waiting, working=queue.working, age=timedelta(seconds=queue.oldest_s))
        if queue.waiting
        else words("stats-all-no-queue", working=queue.working),
        _counted("stats-all-failures", held.failures, words),
        words("stats-all-slowest-document", length=timedelta(seconds=slowest)) if slowest else "",
    ]
    return _joined(lines)


def rows_html(rows: Sequence[Row], words: Words) -> str:
    """The numbered legend of the overall chart's rows."""
    shown = [f"{number}. {words(f'stats-chart-{row}')}" for number, row in enumerate(rows, start=1)]
    return "\n".join([words("stats-chart-title"), *shown])


def _figures(figures: TurnFigures, words: Words) -> list[str]:
    lines, steps = [], figures.steps
    if figures.median_s is not None and figures.p95_s is not None:
        median_s, most_s = max(figures.median_s, LEAST_SHOWN_S), max(figures.p95_s, LEAST_SHOWN_S)
        lines.append(words("stats-seconds", median=median_s, most=most_s))
    if figures.thumbs_up or figures.thumbs_down:
        lines.append(words("stats-thumbs", up=figures.thumbs_up, down=figures.thumbs_down))
    if figures.tokens:
        lines.append(words("stats-tokens", tokens=figures.tokens))
    if figures.cost:
        lines.append(words("stats-cost", dollars=figures.cost))
    if steps.turns:
        mean = round(steps.run / steps.turns, 1)
        lines.append(words("stats-steps", turns=steps.turns, steps=mean, seconds=steps.median_s or 0))
    return lines


def _work(held: OverallStatistics, words: Words) -> list[str]:
    """Where the time of turns went, how many of the facts found were used, and how plans went."""
    lines, steps = [], held.figures.steps
    if held.total_s:
        searching, models = (round(100 * part / held.total_s) for part in (held.searching_s, held.models_s))
        lines.append(words("stats-all-waiting", searching=searching, models=models))
    if held.facts:
        share = round(100 * held.facts_used / held.facts)
        lines.append(words("stats-all-facts", found=held.facts, used=held.facts_used, share=share))
    if steps.turns:
        lines.append(words("stats-all-plans", planned=steps.planned, run=steps.run, adapted=steps.adapted))
    actions = [
        words.plain(
            "stats-all-action",
            action=each.action,
            count=each.steps,
            seconds=each.median_s,
            tokens=each.tokens,
            failed=each.failed,
        )
        for each in held.actions
    ]
    return [*lines, words("stats-all-actions", list="; ".join(actions))] if actions else lines


def _counted(key: str, counts: Mapping[str, int], words: Words, *, prefix: str = "") -> str:
    """`Документы: готовы 120, не прочитаны 4`; nothing when there is nothing to count."""
    named = [f"{words.plain(prefix + name) if prefix else name} {count}" for name, count in counts.items()]
    return words(key, list=", ".join(named)) if named else ""


def _joined(lines: list[str]) -> str:
    """The lines joined, without two empty ones in a row."""
    shown = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]
    return "\n".join(shown).strip()
