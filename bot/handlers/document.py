"""Actions on one document: original, text, name, versions; cancel, choose a version, refresh, ask about and keep it.

In: buttons under live messages and cards. Out: messages, and changes in the queue; the notice loop then updates the
live messages. Deleting is in `library`.
"""

import unicodedata
from collections.abc import AsyncGenerator
from dataclasses import replace

from aiogram import Bot, Router
from aiogram.exceptions import TelegramBadRequest, TelegramNetworkError
from aiogram.types import BufferedInputFile, InputFile

from bot import keyboards as press
from bot.handlers.base import DAY_S
from bot.handlers.filters import answers, ask, changeable, document_of, has_message, may_tidy
from bot.handlers.menu import mode_sign
from bot.keyboards import button, rows
from bot.replies.library import TextPage, card_html, card_keyboard, text_page, versions_html
from bot.replies.names import shortened
from bot.replies.readings import TITLE_CHARACTERS
from bot.replies.sending import place_at
from bot.services import Refusal, Talk
from domain.documents import DocumentCard, SourceType
from domain.ids import BatchId, ChatId, DocumentId, FileId, MessageId
from domain.people import Mode
from ingestion.errors import IngestionError
from ingestion.intake import section_of
from ingestion.ports import KeptFiles
from ingestion.records import Batch, Source

RENAME = "name"
NAME_CHARACTERS = 200
REFRESHABLE = frozenset({SourceType.LINK, SourceType.SITE})
SENT_BYTES = 50 * 2**20  # core.telegram.org/bots/api#senddocument


def build_router() -> Router:
    """Buttons under live messages and cards, and the answer to «Как назвать?»."""
    router = Router(name="document")
    router.callback_query.register(send_original, press.ShowOriginal.filter())
    router.callback_query.register(read_text, press.ReadDocument.filter(), has_message)
    router.callback_query.register(ask_for_name, press.Rename.filter())
    router.callback_query.register(show_versions, press.ShowVersions.filter())
    router.message.register(rename, answers(RENAME))
    router.callback_query.register(cancel, press.CancelDocument.filter())
    router.callback_query.register(cancel_batch, press.CancelBatch.filter())
    router.callback_query.register(choose_version, press.ChooseVersion.filter())
    router.callback_query.register(add_section, press.AddSection.filter(), has_message)
    router.callback_query.register(refresh, press.Refresh.filter(), has_message)
    router.callback_query.register(ask_about, press.AskAbout.filter())
    router.callback_query.register(keep_document, press.KeepDocument.filter(), has_message)
    router.callback_query.register(keep_batch, press.KeepBatch.filter())
    router.callback_query.register(take_back, press.TakeBack.filter(), has_message)
    return router


async def send_original(talk: Talk, callback_data: press.ShowOriginal) -> None:
    """Copy the message that brought the document, or send the file that Baza keeps; without either, the text as a
    file."""
    card = await document_of(talk, callback_data.document)
    await talk.acknowledge()
    if not (await _copy(talk, card) or await _send_kept_file(talk, card)):
        await _send_text_file(talk, card)


async def read_text(talk: Talk, callback_data: press.ReadDocument) -> None:
    """Show the text that was read from the document, page by page."""
    card = await document_of(talk, callback_data.document)
    blocks = await talk.stores.text.blocks(talk.base_id, card.id)
    page: TextPage = text_page(card, blocks, talk.words, part=callback_data.part)
    await talk.redraw(page.html, page.keyboard)


async def ask_for_name(talk: Talk, callback_data: press.Rename) -> None:
    """Ask for the new name: «Как назвать?»."""
    card = await changeable(talk, callback_data.document)
    question = talk.words("rename-question", title=card.name)
    await ask(talk, question, about=RENAME, subject=card.id)


async def rename(talk: Talk, subject: str) -> None:
    """Take the answer to «Как назвать?». A name that nobody could read or find is asked for again."""
    name = " ".join((talk.message.text or "").split())[:NAME_CHARACTERS]
    if not _is_readable(name):
        await ask(talk, talk.words("rename-unreadable"), about=RENAME, subject=subject)
        return
    terms = talk.services.count_terms(name)
    renamed = await talk.stores.library.rename(talk.base_id, DocumentId(subject), name, terms=terms)
    text = talk.words("renamed", title=name) if renamed else talk.words("document-gone")
    back = rows([button(talk.words.plain("button-open"), press.OpenDocument(document=subject))]) if renamed else None
    await talk.say(text, back)


async def show_versions(talk: Talk, callback_data: press.ShowVersions) -> None:
    """A line for each version, the newest first."""
    card = await document_of(talk, callback_data.document)
    versions = await talk.stores.library.versions(talk.base_id, card.id)
    await talk.say(versions_html(versions, talk.words))


async def _copy(talk: Talk, card: DocumentCard) -> bool:
    """A copy of the message, in reply to it; False when it is not in this chat, or gone."""
    if card.message_id is None or card.chat_id != talk.place.chat:
        return False
    place = place_at(talk.place, card.message_id)
    try:
        await talk.bot.copy_message(
            place.chat, from_chat_id=card.chat_id, message_id=card.message_id, message_thread_id=place.thread
        )
    except TelegramBadRequest:
        return False
    return True


class _KeptFile(InputFile):
    """A kept file on its way to Telegram, in pieces."""

    def __init__(self, files: KeptFiles, card: DocumentCard, file: FileId) -> None:
        super().__init__(filename=card.source_identifier)
        self._files, self._base, self._file = files, card.base_id, file

    async def read(self, bot: Bot) -> AsyncGenerator[bytes, None]:
        """Its bytes."""
        async for piece in self._files.read(self._base, self._file):
            yield piece


async def _send_kept_file(talk: Talk, card: DocumentCard) -> bool:
    """The file as it came over HTTP; False when it is not kept, or larger than a bot may send."""
    if card.kept_file is None or (card.size_bytes or 0) > SENT_BYTES:
        return False
    file = _KeptFile(talk.services.kept_files, card, card.kept_file)
    try:
        await talk.bot.send_document(talk.place.chat, file, message_thread_id=talk.place.thread)
    except (IngestionError, TelegramBadRequest, TelegramNetworkError):
        return False
    return True


async def _send_text_file(talk: Talk, card: DocumentCard) -> None:
    """The document's text as a file; it exists as long as the document does."""
    blocks = await talk.stores.text.blocks(talk.base_id, card.id)
    if not blocks:
        await talk.tell("original-gone")
        return
    text = "\n\n".join(block.text for block in blocks)
    file = BufferedInputFile(text.encode(), filename=f"{card.name}.txt")
    await talk.bot.send_document(
        talk.place.chat, file, message_thread_id=talk.place.thread, caption=talk.words("original-text")
    )


def _is_readable(name: str) -> bool:
    """Whether the name has a letter, a number or a symbol: marks, blanks and invisible characters are not enough."""
    return any(unicodedata.category(character)[0] in "LNS" for character in name)


def original_here(card: DocumentCard, chat: ChatId) -> MessageId | None:
    """The message that brought the document, if it is in this chat."""
    return card.message_id if card.chat_id == chat else None


async def cancel(talk: Talk, callback_data: press.CancelDocument) -> None:
    """«Отменить» on a live message."""
    await changeable(talk, callback_data.document)
    stopped = await talk.stores.library.cancel(talk.base_id, DocumentId(callback_data.document))
    await talk.acknowledge("cancelled" if stopped else "cancelled-too-late")
    talk.services.wake()


async def cancel_batch(talk: Talk, callback_data: press.CancelBatch) -> None:
    """«Отменить всё»."""
    await _require_batch(talk, callback_data.batch)
    stopped = await talk.stores.library.cancel_batch(talk.base_id, BatchId(callback_data.batch))
    await talk.acknowledge("cancelled" if stopped else "cancelled-too-late")
    talk.services.wake()


async def choose_version(talk: Talk, callback_data: press.ChooseVersion) -> None:
    """«Заменить / Оставить оба / Пропустить» under the live message or on the document's card."""
    document = DocumentId(callback_data.document)
    await changeable(talk, document)
    chosen = await talk.stores.library.choose(talk.base_id, document, callback_data.choice)
    await talk.acknowledge("choice-made" if chosen else "choice-too-late", alert=not chosen)
    talk.services.wake()


async def add_section(talk: Talk, callback_data: press.AddSection) -> None:
    """«Добавить весь раздел»: add the section as one more document with its own live message. The section of a
    temporary page is temporary, too."""
    card = await _link_of(talk, callback_data.document)
    batch = _batch(talk, section_of(card.source_identifier))
    begun = await talk.stores.intake.enqueue(replace(batch, ttl_s=DAY_S if card.expires_at else None))
    is_new = any(document.created for document in begun)
    await talk.acknowledge("section-begun" if is_new else "section-known", alert=not is_new)
    talk.services.wake()


async def refresh(talk: Talk, callback_data: press.Refresh) -> None:
    """«Обновить»: fetch the link again; changed content becomes a new version. A failed document is tried again."""
    card = await _link_of(talk, callback_data.document)
    await changeable(talk, card.id)
    begun = await talk.stores.intake.refresh(_batch(talk), card.id)
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


async def keep_document(talk: Talk, callback_data: press.KeepDocument) -> None:
    """«Оставить в базе»: the notice loop updates the live message; the card is updated at once."""
    document = DocumentId(callback_data.document)
    await changeable(talk, document)
    kept = await talk.stores.library.keep(talk.base_id, document)
    await talk.acknowledge("stays-now" if kept else "document-gone", alert=not kept)
    talk.services.wake()
    card = await talk.stores.library.card(talk.base_id, document) if callback_data.page is not None else None
    if card is not None and callback_data.page is not None:
        keyboard = card_keyboard(card, talk.words, page=callback_data.page)
        await talk.redraw(card_html(card, talk.words), keyboard)


async def keep_batch(talk: Talk, callback_data: press.KeepBatch) -> None:
    """«Оставить в базе» under a live message of several documents."""
    await _require_batch(talk, callback_data.batch)
    kept = await talk.stores.library.keep_batch(talk.base_id, BatchId(callback_data.batch))
    await talk.acknowledge("stays-now" if kept else "documents-gone", alert=not kept)
    talk.services.wake()


async def take_back(talk: Talk, callback_data: press.TakeBack) -> None:
    """«Убрать» under a receipt: the document leaves at once, since whoever sent it by mistake wants no question."""
    card = await changeable(talk, callback_data.document)
    await talk.stores.library.delete(talk.base_id, card.id)
    await talk.acknowledge("taken-back")
    talk.services.wake()
    if talk.message.reply_markup and len(talk.message.reply_markup.inline_keyboard) == 1:
        text = talk.words("deleted", title=shortened(card.name, TITLE_CHARACTERS))
        await talk.redraw(text)


async def _require_batch(talk: Talk, batch: str) -> None:
    """Raises Refusal where this person neither sent the documents of the batch, nor is an administrator."""
    sender = await talk.stores.library.sender_of_batch(talk.base_id, BatchId(batch))
    if sender not in (None, talk.person) and not await may_tidy(talk):
        raise Refusal("only-sender-or-administrators")


async def _link_of(talk: Talk, document: str) -> DocumentCard:
    card = await document_of(talk, document)
    if card.source_type not in REFRESHABLE:
        raise Refusal("document-gone")
    return card


def _batch(talk: Talk, *sources: Source) -> Batch:
    """A batch for what a button asked for. Its live message replies to the message with the button, and a second press
    of the same button is the same batch."""
    return Batch(
        base_id=talk.base_id,
        user_id=talk.person,
        language=talk.words.language,
        chat_id=talk.place.chat,
        thread_id=talk.place.thread,
        message_id=MessageId(talk.message.message_id),
        sources=sources,
    )
