"""The documents of a base: the list, searching it by name, a document's card, deleting.

In: /docs, «🗂 Документы» and buttons. Out: one message that is edited into what was pressed. The other actions on one
document are in `document`.
"""

from aiogram import F, Router
from aiogram.filters import Command, CommandObject

from bot import keyboards as press
from bot.handlers.filters import answers, ask, changeable, document_of, has_message, may_change, own_words
from bot.keyboards import DISMISS, bare, button, for_readers, rows
from bot.replies.library import PAGE_SIZE, LibraryPage, card_html, card_keyboard, page_html, page_keyboard
from bot.services import Talk
from bot.texts import Texts
from domain.bases import Role
from domain.documents import DocumentStatus

SEARCH = "find"
MOST_FAILED = 900  # documents per call; both transports refuse 1000 rows
WANTED_BYTES = 40  # of a searched name: a button carries 64 bytes in all, and a Cyrillic letter takes two


def build_router(texts: Texts) -> Router:
    """`texts` serves to recognise the keyboard's button by its label in every language."""
    router = Router(name="library")
    router.message.filter(own_words)
    router.message.register(show_list, Command("docs"))
    labels = texts.in_every_language("button-library")
    router.message.register(show_list, F.text.in_(labels | set(map(bare, labels))))
    router.message.register(show_found, answers(SEARCH))
    router.callback_query.register(ask_for_name, press.SearchDocuments.filter())
    router.callback_query.register(turn_page, press.ListPage.filter(), has_message)
    router.callback_query.register(open_document, press.OpenDocument.filter(), has_message)
    router.callback_query.register(delete, press.DeleteDocument.filter(), has_message)
    router.callback_query.register(dismiss, F.data == DISMISS, has_message)
    return router


async def show_list(talk: Talk, command: CommandObject | None = None) -> None:
    """Show the first page; `/docs договор` lists the documents with that word in their names."""
    await _show_page(talk, 0, name=_wanted(command.args if command else None))


async def ask_for_name(talk: Talk) -> None:
    """🔍: ask for a part of a name."""
    await ask(talk, talk.words("library-search"), about=SEARCH)


async def show_found(talk: Talk) -> None:
    """List what the answer to 🔍 searches for."""
    await _show_page(talk, 0, name=_wanted(talk.message.text))


async def turn_page(talk: Talk, callback_data: press.ListPage) -> None:
    """‹ and ›."""
    await _show_page(talk, callback_data.page, name=callback_data.name or None)


async def open_document(talk: Talk, callback_data: press.OpenDocument) -> None:
    """Show a document's card in place of the list."""
    card = await document_of(talk, callback_data.document)
    keyboard = card_keyboard(card, talk.words, page=callback_data.page)
    only_reads = talk.state.role is Role.READER
    await talk.redraw(card_html(card, talk.words), for_readers(keyboard) if only_reads else keyboard)


async def delete(talk: Talk, callback_data: press.DeleteDocument) -> None:
    """Ask for confirmation; with `sure`, delete."""
    words, card = talk.words, await changeable(talk, callback_data.document)
    if not callback_data.sure:
        page = callback_data.page
        sure = button(words.plain("button-delete-sure"), press.DeleteDocument(document=card.id, page=page, sure=True))
        no = button(words.plain("button-no"), press.OpenDocument(document=card.id, page=page))
        await talk.redraw(words("delete-sure", title=card.name), rows([sure, no]))
    elif await talk.stores.library.delete(talk.base_id, card.id):
        talk.services.wake()  # the live message of a document that was being read shows its removal
        back = button(words.plain("button-back"), press.ListPage(page=callback_data.page))
        await talk.redraw(words("deleted", title=card.name), rows([back]))


async def dismiss(talk: Talk) -> None:
    """«Убрать непрочитанные»: in a group, those that the person may change."""
    failed = [
        card
        for card in await talk.stores.library.documents(talk.base_id, limit=MOST_FAILED)
        if card.status is DocumentStatus.FAILED and await may_change(talk, card)
    ]
    for card in failed:
        await talk.stores.library.delete(talk.base_id, card.id)
    talk.services.wake()
    await _show_page(talk, 0, name=None)
    await talk.acknowledge("taken-back" if failed else "only-sender-or-administrators")


def _wanted(text: str | None) -> str | None:
    """The searched part of a name, short enough for a button to carry (`ListPage.name`)."""
    wanted = " ".join((text or "").replace(":", " ").split())[:WANTED_BYTES]
    while len(wanted.encode()) > WANTED_BYTES:
        wanted = wanted[:-1]
    return wanted.strip() or None


async def _show_page(talk: Talk, page: int, *, name: str | None) -> None:
    held = await talk.stores.library.count(talk.base_id, name_contains=name)
    total = held.documents + held.others
    page = max(0, min(page, (total - 1) // PAGE_SIZE))  # the last document of the last page may have been deleted
    documents = await talk.stores.library.documents(
        talk.base_id, limit=PAGE_SIZE, offset=page * PAGE_SIZE, name_contains=name
    )
    shown = LibraryPage(documents=tuple(documents), held=held, number=page, name=name or "")
    await talk.show(page_html(shown, talk.words), page_keyboard(shown, talk.words))
