"""Mode База: what is sent is put into the base. No answer is generated here.

In: messages of people. Out: a batch in the queue before the handler returns; its live message is shown by
`bot.notices`, which is woken. «Добавить в базу» is here too; the other buttons of what was kept are in `kept`.
"""

import contextlib

from aiogram import Bot, F, Router
from aiogram.exceptions import TelegramBadRequest
from aiogram.types import CallbackQuery, Message

from bot.handlers.attached import unsupported_kind
from bot.handlers.filters import has_message, in_mode
from bot.handlers.incoming import batch_of, original_of, sources_in
from bot.keyboards import KEEP
from bot.replies.sending import acknowledge, send
from bot.services import Services
from bot.talk import Talk
from bot.texts import Words
from domain.documents import SourceType
from domain.people import Mode
from ingestion.records import Batch, Source

_MB = 2**20
NEARLY_FULL_UNITS = 2000
"""UTF-16 units: a client cuts a text over 4,096 at an empty line, a line's or a sentence's end some way before that."""
HOLD_S = 3  # in which the next part arrives


def build_router() -> Router:
    """Messages in mode База."""
    router = Router(name="base")
    router.message.register(keep, in_mode(Mode.DOCUMENTS))
    router.callback_query.register(keep_original, F.data == KEEP, has_message)
    return router


async def keep(message: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """Put what the message holds into the queue, or say why nothing of it can be kept."""
    sources = sources_in(message, talk.words)
    if refusal := _refusal(message, sources, talk.words, services):
        await send(bot, talk.place, refusal)
        return
    await _enqueue(batch_of(message, sources, talk), services)
    services.wake()


async def keep_original(query: CallbackQuery, shown: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """«Добавить в базу» under a question about a link or a file: the message it replies to is kept."""
    original = await original_of(shown, bot)
    if original is None:
        await acknowledge(query, talk.words.plain("original-gone"), alert=True)
        return
    await keep(original, bot, services, talk)
    await acknowledge(query)
    with contextlib.suppress(TelegramBadRequest):  # pressed twice
        await shown.delete()


async def _enqueue(batch: Batch, services: Services) -> None:
    """A note that fills its message may go on in the next one: it is held for that, and joined to what it goes on."""
    note = batch.sources[0] if len(batch.sources) == 1 and batch.sources[0].type is SourceType.NOTE else None
    hold_s = HOLD_S if note and _units(note) >= NEARLY_FULL_UNITS else 0
    if note and await services.intake.join(batch, hold_s=hold_s):
        return
    await services.intake.enqueue(batch, hold_s=hold_s)


def _units(note: Source) -> int:
    return len((note.text or "").encode("utf-16-le", errors="surrogatepass")) // 2


def _refusal(message: Message, sources: tuple[Source, ...], words: Words, services: Services) -> str | None:
    """Why nothing of it can be kept."""
    if not sources:
        kind = unsupported_kind(message)
        return words("unsupported", kind=kind) if kind else words("nothing-to-keep")
    for source in sources:
        if (source.size_bytes or 0) > services.file_limit_mb * _MB:
            key = "file-too-large-for-telegram" if services.is_limited_by_telegram else "error-file-too-large"
            return words(key, name=source.title or source.identifier, limit_mb=services.file_limit_mb)
    return None
