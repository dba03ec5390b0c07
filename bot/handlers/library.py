"""The documents of a base: the list, searching it by name, a document's card, and what can be done with one.

In: /docs, «🗂 Документы» and buttons of lists, cards and live messages. Out: one message that is edited into what was
pressed, and changes in the queue; the notice loop then updates the live messages.
"""

import unicodedata
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace

from aiogram import Bot, F, Router
from aiogram.exceptions import TelegramBadRequest, TelegramNetworkError
from aiogram.filters import Command, CommandObject
from aiogram.types import BufferedInputFile, InputFile

from bot import keyboards as press
from bot.handlers.filters import (
    answers,
    ask,
    changeable,
    document_of,
    has_message,
    may_change,
    may_tidy,
    register_pressed,
)
from bot.handlers.menu import mode_sign
from bot.handlers.messages import DAY_S
from bot.handlers.received import batch_of
from bot.keyboards import bare, rows, worded
from bot.replies import library as view
from bot.replies.names import ADDRESSED, shortened
from bot.replies.receipts import TITLE_CHARACTERS
from bot.services import Refusal, Talk
from bot.texts import Texts
from domain.bases import Role
from domain.documents import DocumentCard, DocumentStatus
from domain.ids import BatchId, DocumentId, FileId
from domain.people import Mode
from ingestion.errors import IngestionError
from ingestion.intake import section_of
from ingestion.ports import KeptFiles

SEARCH = "find"
MOST_FAILED = 900  # documents per call; both transports refuse 1000 rows
WANTED_BYTES = 40  # of a searched name, which the buttons of the list carry (`ListPage.name`): they hold 64 bytes
RENAME = "name"
NAME_CHARACTERS = 200
SENT_BYTES = 50 * 2**20  # core.telegram.org/bots/api#senddocument


def register(router: Router, texts: Texts) -> None:
    """`texts` serves to recognise the keyboard's button by its label in every language."""
    router.message.register(show_list, Command("docs"))
    labels = {words.plain("button-library") for words in texts.by_language.values()}
    router.message.register(show_list, F.text.in_(labels | set(map(bare, labels))))
    router.message.register(show_list, answers(SEARCH))
    router.callback_query.register(ask_what_to_find, F.data == press.FIND)
    router.message.register(rename, answers(RENAME))
    router.callback_query.register(dismiss, F.data == press.DISMISS, has_message)
    register_pressed(router, turn_page, open_document, delete, read_text, add_section, refresh, keep, take_back)
    shown_below = (send_original, ask_for_name, show_versions, cancel, choose_version, ask_about)
    register_pressed(router, *shown_below, anywhere=True)


async def show_list(talk: Talk, command: CommandObject | None = None, subject: str | None = None) -> None:
    """The first page; `/docs договор` and an answer to 🔍 list the documents with that word in their names."""
    said = talk.message.text if subject is not None else command.args if command else None
    wanted = " ".join((said or "").replace(":", " ").split()).encode()[:WANTED_BYTES]
    await _show_page(talk, 0, name=wanted.decode(errors="ignore").strip() or None)


async def ask_what_to_find(talk: Talk) -> None:
    await ask(talk, talk.words("library-search"), about=SEARCH)


async def turn_page(talk: Talk, callback_data: press.ListPage) -> None:
    await _show_page(talk, callback_data.page, name=callback_data.name or None)


async def open_document(talk: Talk, callback_data: press.OpenDocument) -> None:
    card = await document_of(talk, callback_data.document)
    may_write = talk.state.role is not Role.READER
    await talk.show(*view.card_shown(card, talk.words, page=callback_data.page, may_write=may_write))


async def delete(talk: Talk, callback_data: press.DeleteDocument) -> None:
    """Ask for confirmation; with `sure`, delete."""
    words, card = talk.words, await changeable(talk, callback_data.document)
    if not callback_data.sure:
        page = callback_data.page
        sure = worded(words, "delete-sure", press.DeleteDocument(document=card.id, page=page, sure=True))
        no = worded(words, "no", press.OpenDocument(document=card.id, page=page))
        await talk.show(words("delete-sure", title=card.name), rows([sure, no]))
    elif await talk.stores.library.delete(talk.base_id, card.id):
        talk.services.wake()  # the live message of a document that was being read shows its removal
        back = worded(words, "back", press.ListPage(page=callback_data.page))
        await talk.show(words("deleted", title=card.name), rows([back]))


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


async def _show_page(talk: Talk, page: int, *, name: str | None) -> None:
    held = await talk.stores.library.count(talk.base_id, name_contains=name)
    total = held.documents + held.others
    page = max(0, min(page, (total - 1) // view.PAGE_SIZE))  # the last document of the last page may have been deleted
    documents = await talk.stores.library.documents(
        talk.base_id, limit=view.PAGE_SIZE, offset=page * view.PAGE_SIZE, name_contains=name
    )
    await talk.show(*view.page_shown(documents, held, talk.words, page=page, name=name or ""))


async def send_original(talk: Talk, callback_data: press.ShowOriginal) -> None:
    """The message that brought the document, else the file that Baza keeps, else the document's text as a file."""
    card, chat, thread = await document_of(talk, callback_data.document), talk.place.chat, talk.place.thread
    await talk.acknowledge()
    if card.message_id and card.chat_id == chat:
        with suppress(TelegramBadRequest):  # the message is gone
            await talk.bot.copy_message(chat, from_chat_id=chat, message_id=card.message_id, message_thread_id=thread)
            return
    if card.kept_file and (card.size_bytes or 0) <= SENT_BYTES:
        file = _KeptFile(talk.services.kept_files, card, card.kept_file)
        with suppress(IngestionError, TelegramBadRequest, TelegramNetworkError):
            await talk.bot.send_document(chat, file, message_thread_id=thread)
            return
    if not (blocks := await talk.stores.text.blocks(talk.base_id, card.id)):
        await talk.tell("original-gone")
        return
    text = BufferedInputFile("\n\n".join(block.text for block in blocks).encode(), filename=f"{card.name}.txt")
    await talk.bot.send_document(chat, text, message_thread_id=thread, caption=talk.words("original-text"))


class _KeptFile(InputFile):
    def __init__(self, files: KeptFiles, card: DocumentCard, file: FileId) -> None:
        super().__init__(filename=card.source_identifier)
        self._files, self._base, self._file = files, card.base_id, file

    async def read(self, bot: Bot) -> AsyncGenerator[bytes, None]:
        async for piece in self._files.read(self._base, self._file):
            yield piece


async def read_text(talk: Talk, callback_data: press.ReadDocument) -> None:
    card = await document_of(talk, callback_data.document)
    blocks = await talk.stores.text.blocks(talk.base_id, card.id)
    await talk.show(*view.text_page(card, blocks, talk.words, part=callback_data.part))


async def ask_for_name(talk: Talk, callback_data: press.Rename) -> None:
    card = await changeable(talk, callback_data.document)
    question = talk.words("rename-question", title=card.name)
    await ask(talk, question, about=RENAME, subject=card.id)


async def rename(talk: Talk, subject: str) -> None:
    """Take the answer to «Как назвать?». A name of marks, blanks and invisible characters alone is asked for again."""
    name = " ".join((talk.message.text or "").split())[:NAME_CHARACTERS]
    if not any(unicodedata.category(character)[0] in "LNS" for character in name):
        await ask(talk, talk.words("rename-unreadable"), about=RENAME, subject=subject)
        return
    terms = talk.services.count_terms(name)
    if not await talk.stores.library.rename(talk.base_id, DocumentId(subject), name, terms=terms):
        raise Refusal("document-gone")
    await talk.tell("renamed", rows([worded(talk.words, "open", press.OpenDocument(document=subject))]), title=name)


async def show_versions(talk: Talk, callback_data: press.ShowVersions) -> None:
    card = await document_of(talk, callback_data.document)
    versions = await talk.stores.library.versions(talk.base_id, card.id)
    await talk.say(view.versions_html(versions, talk.words))


async def cancel(talk: Talk, callback_data: press.CancelDocument | press.CancelBatch) -> None:
    """«Отменить» on a live message, or «Отменить всё»."""
    if isinstance(callback_data, press.CancelBatch):
        await _require_batch(talk, callback_data.batch)
        stopped = await talk.stores.library.cancel_batch(talk.base_id, BatchId(callback_data.batch)) > 0
    else:
        card = await changeable(talk, callback_data.document)
        stopped = await talk.stores.library.cancel(talk.base_id, card.id)
    await talk.acknowledge("cancelled" if stopped else "cancelled-too-late")
    talk.services.wake()


async def choose_version(talk: Talk, callback_data: press.ChooseVersion) -> None:
    """«Заменить / Оставить оба / Пропустить» under the live message or on the document's card."""
    card = await changeable(talk, callback_data.document)
    chosen = await talk.stores.library.choose(talk.base_id, card.id, callback_data.choice)
    await talk.acknowledge("choice-made" if chosen else "choice-too-late", alert=not chosen)
    talk.services.wake()


async def add_section(talk: Talk, callback_data: press.AddSection) -> None:
    """«Добавить весь раздел»: one more document with its own live message, temporary where the page is."""
    card = await _link_of(talk, callback_data.document)
    batch = batch_of(talk.message, (section_of(card.source_identifier),), talk)
    begun = await talk.stores.intake.enqueue(replace(batch, ttl_s=DAY_S if card.expires_at else None))
    is_new = any(document.created for document in begun)
    await talk.acknowledge("section-begun" if is_new else "section-known", alert=not is_new)
    talk.services.wake()


async def refresh(talk: Talk, callback_data: press.Refresh) -> None:
    """«Обновить»: fetch the link again; changed content becomes a new version. A failed document is tried again."""
    await _link_of(talk, callback_data.document)
    card = await changeable(talk, callback_data.document)
    begun = await talk.stores.intake.refresh(batch_of(talk.message, (), talk), card.id)
    await talk.acknowledge("refresh-begun" if begun else "document-gone", alert=not begun)
    talk.services.wake()


async def ask_about(talk: Talk, callback_data: press.AskAbout) -> None:
    """«Спросить о нём» on a receipt or card: switch to Чат, and ask of this document alone until that is taken off."""
    card = await document_of(talk, callback_data.document)
    await talk.stores.people.set_mode(talk.state.user_id, Mode.CHAT, thread=talk.state.thread)
    await talk.ask_only(card.id)
    await talk.acknowledge("mode-set-chat")
    text = talk.words("ask-about", title=shortened(card.name, TITLE_CHARACTERS))
    await talk.say(text, mode_sign(talk, Mode.CHAT))


async def keep(talk: Talk, callback_data: press.KeepDocument | press.KeepBatch) -> None:
    """«Оставить в базе»: the notice loop updates the live message; a card is updated at once."""
    if isinstance(callback_data, press.KeepBatch):
        await _require_batch(talk, callback_data.batch)
        kept, gone = await talk.stores.library.keep_batch(talk.base_id, BatchId(callback_data.batch)), "documents-gone"
    else:
        card = await changeable(talk, callback_data.document)
        kept, gone = await talk.stores.library.keep(talk.base_id, card.id), "document-gone"
    await talk.acknowledge("stays-now" if kept else gone, alert=not kept)
    talk.services.wake()
    if isinstance(callback_data, press.KeepDocument) and callback_data.page is not None:
        await open_document(talk, press.OpenDocument(document=callback_data.document, page=callback_data.page))


async def take_back(talk: Talk, callback_data: press.TakeBack) -> None:
    """«Убрать» under a receipt: the document leaves at once, since whoever sent it by mistake wants no question."""
    card = await changeable(talk, callback_data.document)
    await talk.stores.library.delete(talk.base_id, card.id)
    await talk.acknowledge("taken-back")
    talk.services.wake()
    if talk.message.reply_markup and len(talk.message.reply_markup.inline_keyboard) == 1:
        await talk.show(talk.words("deleted", title=shortened(card.name, TITLE_CHARACTERS)))


async def _require_batch(talk: Talk, batch: str) -> None:
    """Raises Refusal where this person neither sent the documents of the batch, nor is an administrator."""
    sender = await talk.stores.library.sender_of_batch(talk.base_id, BatchId(batch))
    if sender not in (None, talk.person) and not await may_tidy(talk):
        raise Refusal("only-sender-or-administrators")


async def _link_of(talk: Talk, document: str) -> DocumentCard:
    card = await document_of(talk, document)
    if card.source_type not in ADDRESSED:
        raise Refusal("document-gone")
    return card
