"""/stats: figures of the base; for admins in a private chat also those of all bases together.

In: /stats. Out: a chart of questions per day with the figures as its caption (text alone when nothing was asked yet),
and for ADMIN_USERS the overall figures and their chart. No message text and no name is shown.
"""

import asyncio
from datetime import date, datetime

from aiogram import Bot, Router
from aiogram.enums import ParseMode
from aiogram.filters import Command
from aiogram.types import BufferedInputFile, Message, ReplyParameters

from bot.charts import everybody_chart, questions_chart, rows_of
from bot.handlers.filters import own_words
from bot.replies.sending import Place, send
from bot.replies.stats import MONTH_DAYS, base_html, bounds_html, overall_html, rows_html
from bot.services import Services
from bot.talk import Talk
from domain.statistics import BaseStatistics

MINUTE_S = 60


def build_router() -> Router:
    """/stats."""
    router = Router(name="stats")
    router.message.filter(own_words)
    router.message.register(show_statistics, Command("stats"))
    return router


async def show_statistics(message: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """Show the figures of the base; days are those of this machine's clock, as everywhere else."""
    now = datetime.now().astimezone()
    offset = now.utcoffset()
    minutes = round(offset.total_seconds() / MINUTE_S) if offset else 0
    held = await services.statistics.of_base(talk.base_id, days=MONTH_DAYS, offset_minutes=minutes)
    html = base_html(held, talk.words, today=now.date(), is_private=talk.place.is_private)
    if talk.person not in services.admin_users:
        html = "\n\n".join(filter(None, [html, await _bounds_html(services, talk, held)]))
    if held.days:
        picture = await asyncio.to_thread(questions_chart, held.days, last_day=now.date(), days=MONTH_DAYS)
        await _send_photo(bot, talk.place, picture, html)
    else:
        await send(bot, talk.place, html)
    if talk.person in services.admin_users and talk.place.is_private:
        await _show_everybody(bot, services, talk, today=now.date(), offset_minutes=minutes)


async def _bounds_html(services: Services, talk: Talk, held: BaseStatistics) -> str:
    """Use of the bounds. A group sees only the bound of its base: what a member has spent is private."""
    bounds = services.bounds
    spending = await bounds.spending(talk.person, services.library) if talk.place.is_private else None
    return bounds_html(held, spending, bounds, talk.words)


async def _show_everybody(bot: Bot, services: Services, talk: Talk, *, today: date, offset_minutes: int) -> None:
    """Send the figures as text first: together with the chart's legend they would be too long for a caption."""
    held = await services.statistics.of_all(days=MONTH_DAYS, offset_minutes=offset_minutes)
    await send(bot, talk.place, overall_html(held, talk.words))
    if rows := rows_of(held.days):
        picture = await asyncio.to_thread(everybody_chart, held.days, last_day=today, days=MONTH_DAYS)
        await _send_photo(bot, talk.place, picture, rows_html(rows, talk.words))


async def _send_photo(bot: Bot, place: Place, picture: bytes, caption: str) -> None:
    reply = ReplyParameters(message_id=place.reply_to, allow_sending_without_reply=True) if place.reply_to else None
    await bot.send_photo(
        place.chat,
        BufferedInputFile(picture, "stats.png"),
        caption=caption,
        parse_mode=ParseMode.HTML,
        message_thread_id=place.thread,
        reply_parameters=reply,
    )
