"""Mode База: what is sent is put into the base. No answer is generated here.

In: messages of people. Out: a batch in the queue before the handler returns; its live message is shown by
`bot.notices`, which is woken. Buttons of live messages and «Добавить в базу» are here too.
"""

import contextlib

from aiogram import Bot, F, Router
from aiogram.exceptions import TelegramBadRequest
from aiogram.types import CallbackQuery, Message

from bot.handlers.filters import has_message, in_mode
from bot.handlers.incoming import batch_of, original_of, sources_in, unsupported_kind
from bot.handlers.modes import mode_sign
from bot.keyboards import KEEP, AskAbout, CancelDocument
from bot.replies.names import name_of, shortened
from bot.replies.receipts import TITLE_CHARACTERS
from bot.replies.sending import acknowledge, send
from bot.services import Services
from bot.talk import Talk
from bot.texts import Words
from domain.ids import DocumentId
from domain.people import Mode
from ingestion.records import Source

_MB = 2**20


def build_router() -> Router:
    """Messages in mode База, and the buttons of what was kept."""
    router = Router(name="base")
    router.message.register(keep, in_mode(Mode.DOCUMENTS))
    router.callback_query.register(keep_original, F.data == KEEP, has_message)
    router.callback_query.register(cancel, CancelDocument.filter())
    router.callback_query.register(ask_about, AskAbout.filter())
    return router


async def keep(message: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """Put what the message holds into the queue, or say why nothing of it can be kept."""
    sources = sources_in(message)
    if refusal := _refusal(message, sources, talk.words, services.file_limit_mb):
        await send(bot, talk.place, refusal)
        return
    await services.intake.enqueue(batch_of(message, sources, talk))
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


async def cancel(query: CallbackQuery, callback_data: CancelDocument, services: Services, talk: Talk) -> None:
    """«Отменить» on a live message; the message itself changes through the notice loop."""
    stopped = await services.library.cancel(talk.base_id, DocumentId(callback_data.document))
    await acknowledge(query, talk.words.plain("cancelled" if stopped else "cancelled-too-late"))
    services.wake()


async def ask_about(query: CallbackQuery, callback_data: AskAbout, bot: Bot, services: Services, talk: Talk) -> None:
    """«Спросить о нём» on a receipt: goes over to Чат."""
    card = await services.library.card(talk.base_id, DocumentId(callback_data.document))
    if card is None:
        await acknowledge(query, talk.words.plain("document-gone"), alert=True)
        return
    await services.people.set_mode(talk.state.user_id, Mode.CHAT)
    await acknowledge(query, talk.words.plain("mode-set-chat"))
    text = talk.words("ask-about", title=shortened(name_of(card), TITLE_CHARACTERS))
    await send(bot, talk.place, text, mode_sign(talk.words, Mode.CHAT, talk.place))


def _refusal(message: Message, sources: tuple[Source, ...], words: Words, limit_mb: int) -> str | None:
    """Why nothing of it can be kept; Telegram hands no file over the limit to bots."""
    if not sources:
        kind = unsupported_kind(message)
        return words("unsupported", kind=kind) if kind else words("nothing-to-keep")
    for source in sources:
        if (source.size_bytes or 0) > limit_mb * _MB:
            return words("file-too-large-for-telegram", name=source.identifier, limit_mb=limit_mb)
    return None
