"""What the base holds: the list, a document's card, deleting, the way back to the original message.

In: /docs, «🗂 Документы» and buttons. Out: one message that turns into what was pressed.
"""

from aiogram import Bot, F, Router
from aiogram.filters import Command
from aiogram.types import CallbackQuery, InlineKeyboardMarkup, Message

from bot.handlers.filters import has_message
from bot.keyboards import DeleteDocument, ListPage, OpenDocument, ShowOriginal, button, rows
from bot.replies.library import PAGE_SIZE, Shelf, card_html, card_keyboard, shelf_html, shelf_keyboard
from bot.replies.names import name_of
from bot.replies.sending import acknowledge, edit, place_at, send
from bot.services import Services
from bot.talk import Talk
from bot.texts import Texts
from domain.documents import DocumentCard
from domain.ids import ChatId, DocumentId, MessageId


def build_router(texts: Texts) -> Router:
    """`texts`: the keyboard's button is recognised by its wording in every language."""
    router = Router(name="library")
    router.message.register(show_list, Command("docs"))
    router.message.register(show_list, F.text.in_(texts.in_every_language("button-library")))
    router.callback_query.register(turn_page, ListPage.filter(), has_message)
    router.callback_query.register(open_document, OpenDocument.filter(), has_message)
    router.callback_query.register(delete, DeleteDocument.filter(), has_message)
    router.callback_query.register(show_original, ShowOriginal.filter())
    return router


async def show_list(message: Message, bot: Bot, services: Services, talk: Talk) -> None:
    """The first page."""
    html, keyboard = await _page(services, talk, 0)
    await send(bot, talk.place, html, keyboard)


async def turn_page(
    query: CallbackQuery, callback_data: ListPage, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """‹ and ›."""
    html, keyboard = await _page(services, talk, callback_data.page)
    await _show(bot, shown, html, keyboard)
    await acknowledge(query)


async def open_document(
    query: CallbackQuery, callback_data: OpenDocument, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """A document's card, in place of the list."""
    card = await services.library.card(talk.base_id, DocumentId(callback_data.document))
    if card is None:
        await acknowledge(query, talk.words.plain("document-gone"), alert=True)
        return
    await _show(bot, shown, card_html(card, talk.words), card_keyboard(card, talk.words, page=callback_data.page))
    await acknowledge(query)


async def delete(
    query: CallbackQuery, callback_data: DeleteDocument, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """Asks first; with `sure` it is done."""
    document, words = DocumentId(callback_data.document), talk.words
    card = await services.library.card(talk.base_id, document)
    if card is None:
        await acknowledge(query, words.plain("document-gone"), alert=True)
        return
    if not callback_data.sure:
        page = callback_data.page
        sure = button(words.plain("button-delete-sure"), DeleteDocument(document=document, page=page, sure=True))
        no = button(words.plain("button-no"), OpenDocument(document=document, page=page))
        await _show(bot, shown, words("delete-sure", title=name_of(card)), rows([sure, no]))
    elif await services.library.delete(talk.base_id, document):
        back = button(words.plain("button-back"), ListPage(page=callback_data.page))
        await _show(bot, shown, words("deleted", title=name_of(card)), rows([back]))
    await acknowledge(query)


async def show_original(
    query: CallbackQuery, callback_data: ShowOriginal, bot: Bot, services: Services, talk: Talk
) -> None:
    """Points at the message that brought the document."""
    card = await services.library.card(talk.base_id, DocumentId(callback_data.document))
    original = original_here(card, talk.place.chat) if card else None
    if original is None:
        await acknowledge(query, talk.words.plain("original-gone"), alert=True)
        return
    await acknowledge(query)
    await send(bot, place_at(talk.place, original), talk.words("original-here"))


def original_here(card: DocumentCard, chat: ChatId) -> MessageId | None:
    """The message that brought the document, if it is in this chat."""
    return card.message_id if card.chat_id == chat else None


async def _page(services: Services, talk: Talk, page: int) -> tuple[str, InlineKeyboardMarkup | None]:
    total = (await services.library.count(talk.base_id)).documents
    page = max(0, min(page, (total - 1) // PAGE_SIZE))  # the last page may have lost its last document
    documents = await services.library.documents(talk.base_id, limit=PAGE_SIZE, offset=page * PAGE_SIZE)
    shelf = Shelf(documents=tuple(documents), total=total, page=page)
    return shelf_html(shelf, talk.words), shelf_keyboard(shelf, talk.words)


async def _show(bot: Bot, shown: Message, html: str, keyboard: InlineKeyboardMarkup | None) -> None:
    await edit(bot, ChatId(shown.chat.id), MessageId(shown.message_id), html, keyboard)
