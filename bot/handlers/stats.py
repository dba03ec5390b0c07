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
from bot.services import Bounds, Talk
from bot.texts import Words
from domain.statistics import ActionFigures, BaseStatistics, OverallStatistics, Spending, StepFigures, TurnFigures

MINUTE_S = 60

MONTH_DAYS = 30
WEEK_DAYS = 7
LEAST_SHOWN_S = 0.1  # "in 0 s" would look broken
PERCENT = 100


def build_router() -> Router:
    """/stats."""
    router = Router(name="stats")
    router.message.filter(own_words)
    router.message.register(show_statistics, Command("stats"))
    return router


async def show_statistics(talk: Talk) -> None:
    """Show the figures of the base; days are those of this machine's clock, as everywhere else."""
    now = datetime.now().astimezone()
    offset = now.utcoffset()
    minutes = round(offset.total_seconds() / MINUTE_S) if offset else 0
    held = await talk.stores.statistics.of_base(talk.base_id, days=MONTH_DAYS, offset_minutes=minutes)
    html = base_html(held, talk.words, today=now.date(), is_private=talk.place.is_private)
    if talk.person not in talk.services.admin_users:
        html = "\n\n".join(filter(None, [html, await _bounds_html(talk, held)]))
    if held.days:
        picture = await asyncio.to_thread(questions_chart, held.days, last_day=now.date(), days=MONTH_DAYS)
        await _send_photo(talk, picture, html)
    else:
        await talk.say(html)
    if talk.person in talk.services.admin_users and talk.place.is_private:
        await _show_everybody(talk, today=now.date(), offset_minutes=minutes)


async def _bounds_html(talk: Talk, held: BaseStatistics) -> str:
    """Use of the bounds. A group sees only the bound of its base: what a member has spent is private."""
    bounds = talk.services.bounds
    spending = await bounds.spending(talk.person, talk.stores.library) if talk.place.is_private else None
    return bounds_html(held, spending, bounds, talk.words)


async def _show_everybody(talk: Talk, *, today: date, offset_minutes: int) -> None:
    """Send the figures as text first: together with the chart's legend they would be too long for a caption."""
    held = await talk.stores.statistics.of_all(days=MONTH_DAYS, offset_minutes=offset_minutes)
    await talk.say(overall_html(held, talk.words))
    if rows := rows_of(held.days):
        picture = await asyncio.to_thread(everybody_chart, held.days, last_day=today, days=MONTH_DAYS)
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


def base_html(held: BaseStatistics, words: Words, *, today: date, is_private: bool) -> str:
    """What the base holds, and how its questions of the month were answered."""
    week = sum(each.turns for each in held.days if each.day > today - timedelta(days=WEEK_DAYS))
    month = sum(each.turns for each in held.days)
    lines = [
        words("stats-title" if is_private else "stats-title-group"),
        words("stats-held", documents=held.documents, passages=held.passages),
        words("stats-pages", count=held.pages) if held.pages else "",
        words("stats-recorded", length=timedelta(seconds=held.recorded_s)) if held.recorded_s else "",
        "",
        words("stats-asked", week=week, month=month) if month else words("stats-not-asked"),
        _kinds(held, words),
        *_figures(held.figures, words),
    ]
    return _joined(lines)


def overall_html(held: OverallStatistics, words: Words) -> str:
    """The overall figures for the host, without names."""
    lines = [
        words("stats-all-title", days=MONTH_DAYS),
        words("stats-all-people", people=held.people, active=held.active, bases=held.bases),
        words(
            "stats-all-turns",
            turns=held.turns,
            general=held.general,
            quoted=held.quoted,
            unanswered=held.unanswered,
        ),
        *_figures(held.figures, words),
        words("stats-all-calls", count=held.model_calls) if held.model_calls else "",
        words("stats-all-slowest", seconds=held.slowest_s) if held.slowest_s else "",
        *_work(held, words),
        "",
        _counted("stats-all-documents", held.documents, words, prefix="stats-status-"),
        _queue(held, words),
        _counted("stats-all-failures", held.failures, words),
        _slowest_document(held, words),
    ]
    return _joined(lines)


def bounds_html(held: BaseStatistics, spending: Spending | None, bounds: Bounds, words: Words) -> str:
    """How much of each bound is used, a line per bound that is set; those of a person only with `spending`."""
    lines = []
    if bounds.passages:
        lines.append(words("stats-bound-passages", held=held.passages, most=bounds.passages))
    if spending and bounds.questions:
        lines.append(words("stats-bound-questions", asked=spending.questions, most=bounds.questions))
    if spending and bounds.cost:
        lines.append(words("stats-bound-cost", spent=spending.cost, most=bounds.cost))
    return "\n".join(lines)


def rows_html(rows: Sequence[Row], words: Words) -> str:
    """The numbered legend of the overall chart's rows."""
    shown = [f"{number}. {words(f'stats-chart-{row}')}" for number, row in enumerate(rows, start=1)]
    return "\n".join([words("stats-chart-title"), *shown])


def _kinds(held: BaseStatistics, words: Words) -> str:
    """`🟦 из базы 30 · 🟧 из общих знаний 5`; this is also the legend of the chart's colours."""
    counts: Counter[str] = Counter()
    for each in held.days:
        counts[each.kind] += each.turns
    parts = [
        f"{sign} {words(f'stats-kind-{kind}', count=counts[kind])}" for kind, sign in KINDS.items() if counts[kind]
    ]
    return " · ".join(parts)


def _figures(figures: TurnFigures, words: Words) -> list[str]:
    lines = []
    if figures.median_s is not None and figures.p95_s is not None:
        median_s, most_s = max(figures.median_s, LEAST_SHOWN_S), max(figures.p95_s, LEAST_SHOWN_S)
        lines.append(words("stats-seconds", median=median_s, most=most_s))
    if figures.thumbs_up or figures.thumbs_down:
        lines.append(words("stats-thumbs", up=figures.thumbs_up, down=figures.thumbs_down))
    if figures.tokens:
        lines.append(words("stats-tokens", tokens=figures.tokens))
    if figures.cost:
        lines.append(words("stats-cost", dollars=figures.cost))
    if figures.steps.turns:
        lines.append(words("stats-steps", **_steps(figures.steps)))
    return lines


def _steps(steps: StepFigures) -> dict[str, float]:
    """How many turns took several steps, and per turn the mean number of steps and the median seconds."""
    return {"turns": steps.turns, "steps": round(steps.run / steps.turns, 1), "seconds": steps.median_s or 0}


def _work(held: OverallStatistics, words: Words) -> list[str]:
    """Where the time of turns went, how many of the facts found were used, and how plans went."""
    lines, steps = [], held.figures.steps
    if held.total_s:
        searching, models = (round(PERCENT * part / held.total_s) for part in (held.searching_s, held.models_s))
        lines.append(words("stats-all-waiting", searching=searching, models=models))
    if held.facts:
        share = round(PERCENT * held.facts_used / held.facts)
        lines.append(words("stats-all-facts", found=held.facts, used=held.facts_used, share=share))
    if steps.turns:
        lines.append(words("stats-all-plans", planned=steps.planned, run=steps.run, adapted=steps.adapted))
    if held.actions:
        lines.append(words("stats-all-actions", list="; ".join(_action(each, words) for each in held.actions)))
    return lines


def _action(each: ActionFigures, words: Words) -> str:
    return words.plain(
        "stats-all-action",
        action=each.action,
        count=each.steps,
        seconds=each.median_s,
        tokens=each.tokens,
        failed=each.failed,
    )


def _queue(held: OverallStatistics, words: Words) -> str:
    queue = held.queue
    if not queue.waiting:
        return words("stats-all-no-queue", working=queue.working)
    age = timedelta(seconds=queue.oldest_s)
    return words("stats-all-queue", waiting=queue.waiting, working=queue.working, age=age)


def _slowest_document(held: OverallStatistics, words: Words) -> str:
    if not held.slowest_document_s:
        return ""
    return words("stats-all-slowest-document", length=timedelta(seconds=held.slowest_document_s))


def _counted(key: str, counts: Mapping[str, int], words: Words, *, prefix: str = "") -> str:
    """`Документы: готовы 120, не прочитаны 4`; nothing when there is nothing to count."""
    if not counts:
        return ""
    named = [f"{words.plain(prefix + name) if prefix else name} {count}" for name, count in counts.items()]
    return words(key, list=", ".join(named))


def _joined(lines: list[str]) -> str:
    """The lines joined, without two empty ones in a row."""
    shown = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]
    return "\n".join(shown).strip()
