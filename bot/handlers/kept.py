"""Buttons of stored documents: cancel, choose a version, add a whole section, refresh, ask about, keep.

In: button presses under live messages and cards. Out: changes in the queue; the notice loop then updates the live
messages.
"""

from dataclasses import replace

from aiogram import Bot, Router
from aiogram.types import CallbackQuery, Message

from bot.handlers.base import DAY_S
from bot.handlers.filters import has_message
from bot.handlers.menu import mode_sign
from bot.handlers.rights import may_change, may_tidy
from bot.keyboards import (
    AddSection,
    AskAbout,
    CancelBatch,
    CancelDocument,
    ChooseVersion,
    KeepBatch,
    KeepDocument,
    Refresh,
    TakeBack,
)
from bot.replies.library import card_html, card_keyboard
from bot.replies.names import name_of, shortened
from bot.replies.receipts import TITLE_CHARACTERS
from bot.replies.sending import acknowledge, edit, send
from bot.services import Services, Talk
from domain.documents import DocumentCard, SourceType
from domain.ids import BatchId, ChatId, DocumentId, MessageId
from domain.people import Mode
from ingestion.intake import section_of
from ingestion.records import Batch, Source

REFRESHABLE = frozenset({SourceType.LINK, SourceType.SITE})


def build_router() -> Router:
    """Buttons under live messages and cards."""
    router = Router(name="kept")
    router.callback_query.register(cancel, CancelDocument.filter())
    router.callback_query.register(cancel_batch, CancelBatch.filter())
    router.callback_query.register(choose_version, ChooseVersion.filter())
    router.callback_query.register(add_section, AddSection.filter(), has_message)
    router.callback_query.register(refresh, Refresh.filter(), has_message)
    router.callback_query.register(ask_about, AskAbout.filter())
    router.callback_query.register(keep_document, KeepDocument.filter(), has_message)
    router.callback_query.register(keep_batch, KeepBatch.filter())
    router.callback_query.register(take_back, TakeBack.filter(), has_message)
    return router


async def cancel(query: CallbackQuery, callback_data: CancelDocument, bot: Bot, services: Services, talk: Talk) -> None:
    """«Отменить» on a live message."""
    if await _changeable(callback_data.document, query, bot, services, talk) is None:
        return
    stopped = await services.library.cancel(talk.base_id, DocumentId(callback_data.document))
    await acknowledge(query, talk.words.plain("cancelled" if stopped else "cancelled-too-late"))
    services.wake()


async def cancel_batch(
    query: CallbackQuery, callback_data: CancelBatch, bot: Bot, services: Services, talk: Talk
) -> None:
    """«Отменить всё»."""
    if not await _may_change_batch(callback_data.batch, query, bot, services, talk):
        return
    stopped = await services.library.cancel_batch(talk.base_id, BatchId(callback_data.batch))
    await acknowledge(query, talk.words.plain("cancelled" if stopped else "cancelled-too-late"))
    services.wake()


async def choose_version(
    query: CallbackQuery, callback_data: ChooseVersion, bot: Bot, services: Services, talk: Talk
) -> None:
    """«Заменить / Оставить оба / Пропустить» under the live message or on the document's card."""
    document = DocumentId(callback_data.document)
    if await _changeable(document, query, bot, services, talk) is None:
        return
    chosen = await services.library.choose(talk.base_id, document, callback_data.choice)
    await acknowledge(query, talk.words.plain("choice-made" if chosen else "choice-too-late"), alert=not chosen)
    services.wake()


async def add_section(
    query: CallbackQuery, callback_data: AddSection, shown: Message, services: Services, talk: Talk
) -> None:
    """«Добавить весь раздел»: add the section as one more document with its own live message. The section of a
    temporary page is temporary, too."""
    card = await _link_of(callback_data.document, query, services, talk)
    if card is None:
        return
    batch = _batch((section_of(card.source_identifier),), shown, talk)
    begun = await services.intake.enqueue(replace(batch, ttl_s=DAY_S if card.expires_at else None))
    is_new = any(document.created for document in begun)
    await acknowledge(query, talk.words.plain("section-begun" if is_new else "section-known"), alert=not is_new)
    services.wake()


async def refresh(
    query: CallbackQuery, callback_data: Refresh, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """«Обновить»: fetch the link again; changed content becomes a new version. A failed document is tried again."""
    card = await _link_of(callback_data.document, query, services, talk)
    if card is None or await _changeable(card.id, query, bot, services, talk) is None:
        return
    begun = await services.intake.refresh(_batch((), shown, talk), card.id)
    await acknowledge(query, talk.words.plain("refresh-begun" if begun else "document-gone"), alert=not begun)
    services.wake()


async def ask_about(query: CallbackQuery, callback_data: AskAbout, bot: Bot, services: Services, talk: Talk) -> None:
    """«Спросить о нём» on a receipt or card: switch to Чат, and ask of this document alone until that is taken off."""
    card = await services.library.card(talk.base_id, DocumentId(callback_data.document))
    if card is None:
        await acknowledge(query, talk.words.plain("document-gone"), alert=True)
        return
    await services.people.set_mode(talk.state.user_id, Mode.CHAT, thread=talk.state.thread)
    await services.people.set_only(talk.state.user_id, base=talk.base_id, document=card.id, thread=talk.state.thread)
    await acknowledge(query, talk.words.plain("mode-set-chat"))
    text = talk.words("ask-about", title=shortened(name_of(card), TITLE_CHARACTERS))
    await send(bot, talk.place, text, mode_sign(talk, Mode.CHAT))


async def keep_document(
    query: CallbackQuery, callback_data: KeepDocument, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """«Оставить в базе»: the notice loop updates the live message; the card is updated at once."""
    document = DocumentId(callback_data.document)
    if await _changeable(document, query, bot, services, talk) is None:
        return
    kept = await services.library.keep(talk.base_id, document)
    await acknowledge(query, talk.words.plain("stays-now" if kept else "document-gone"), alert=not kept)
    services.wake()
    card = await services.library.card(talk.base_id, document) if callback_data.page is not None else None
    if card is not None and callback_data.page is not None:
        keyboard = card_keyboard(card, talk.words, page=callback_data.page)
        await edit(bot, ChatId(shown.chat.id), MessageId(shown.message_id), card_html(card, talk.words), keyboard)


async def keep_batch(query: CallbackQuery, callback_data: KeepBatch, bot: Bot, services: Services, talk: Talk) -> None:
    """«Оставить в базе» under a live message of several documents."""
    if not await _may_change_batch(callback_data.batch, query, bot, services, talk):
        return
    kept = await services.library.keep_batch(talk.base_id, BatchId(callback_data.batch))
    await acknowledge(query, talk.words.plain("stays-now" if kept else "documents-gone"), alert=not kept)
    services.wake()


async def take_back(
    query: CallbackQuery, callback_data: TakeBack, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """«Убрать» under a receipt: the document leaves at once, since whoever sent it by mistake wants no question."""
    card = await _changeable(callback_data.document, query, bot, services, talk)
    if card is None:
        return
    await services.library.delete(talk.base_id, card.id)
    await acknowledge(query, talk.words.plain("taken-back"))
    services.wake()
    if shown.reply_markup and len(shown.reply_markup.inline_keyboard) == 1:
        text = talk.words("deleted", title=shortened(name_of(card), TITLE_CHARACTERS))
        await edit(bot, ChatId(shown.chat.id), MessageId(shown.message_id), text, None)


async def _changeable(
    document: str, query: CallbackQuery, bot: Bot, services: Services, talk: Talk
) -> DocumentCard | None:
    """The document, if it is there and this person may change it; otherwise they are told why not."""
    card = await services.library.card(talk.base_id, DocumentId(document))
    if card is None:
        await acknowledge(query, talk.words.plain("document-gone"), alert=True)
    elif await may_change(bot, talk, card):
        return card
    else:
        await acknowledge(query, talk.words.plain("only-sender-or-administrators"), alert=True)
    return None


async def _may_change_batch(batch: str, query: CallbackQuery, bot: Bot, services: Services, talk: Talk) -> bool:
    """Whether this person sent the documents of the batch, or is an administrator; otherwise they are told."""
    sender = await services.library.sender_of_batch(talk.base_id, BatchId(batch))
    if sender in (None, talk.person) or await may_tidy(bot, talk):
        return True
    await acknowledge(query, talk.words.plain("only-sender-or-administrators"), alert=True)
    return False


async def _link_of(document: str, query: CallbackQuery, services: Services, talk: Talk) -> DocumentCard | None:
    card = await services.library.card(talk.base_id, DocumentId(document))
    if card is None or card.source_type not in REFRESHABLE:
        await acknowledge(query, talk.words.plain("document-gone"), alert=True)
        return None
    return card


def _batch(sources: tuple[Source, ...], shown: Message, talk: Talk) -> Batch:
    """A batch for what a button asked for. Its live message replies to the message with the button, and a second press
    of the same button is the same batch."""
    return Batch(
        base_id=talk.base_id,
        user_id=talk.person,
        language=talk.words.language,
        chat_id=talk.place.chat,
        thread_id=talk.place.thread,
        message_id=MessageId(shown.message_id),
        sources=sources,
    )
