"""Actions on one document: original, text, name, versions; cancel, choose a version, refresh, ask about and keep it.

In: buttons under live messages and cards. Out: messages, and changes in the queue; the notice loop then updates the
live messages. Deleting is in `library`.
"""

import unicodedata
from collections.abc import AsyncGenerator
from dataclasses import replace

from aiogram import Bot, Router
from aiogram.exceptions import TelegramBadRequest, TelegramNetworkError
from aiogram.types import BufferedInputFile, CallbackQuery, InputFile, Message

from bot.handlers.base import DAY_S
from bot.handlers.filters import answers, ask, changeable, document_of, has_message, may_tidy
from bot.handlers.menu import mode_sign
from bot.keyboards import (
    AddSection,
    AskAbout,
    CancelBatch,
    CancelDocument,
    ChooseVersion,
    KeepBatch,
    KeepDocument,
    OpenDocument,
    ReadDocument,
    Refresh,
    Rename,
    ShowOriginal,
    ShowVersions,
    TakeBack,
    button,
    rows,
)
from bot.replies.library import TextPage, card_html, card_keyboard, text_page, versions_html
from bot.replies.names import shortened
from bot.replies.readings import TITLE_CHARACTERS
from bot.replies.sending import acknowledge, place_at, redraw, send
from bot.services import Services, Talk
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
    router.callback_query.register(send_original, ShowOriginal.filter())
    router.callback_query.register(read_text, ReadDocument.filter(), has_message)
    router.callback_query.register(ask_for_name, Rename.filter())
    router.callback_query.register(show_versions, ShowVersions.filter())
    router.message.register(rename, answers(RENAME))
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


async def send_original(
    query: CallbackQuery, callback_data: ShowOriginal, bot: Bot, services: Services, talk: Talk
) -> None:
    """Copy the message that brought the document, or send the file that Baza keeps; without either, the text as a
    file."""
    card = await document_of(callback_data.document, query, services, talk)
    if card is None:
        return
    await acknowledge(query)
    if not (await _copy(bot, card, talk) or await _send_kept_file(bot, card, services, talk)):
        await _send_text_file(bot, card, services, talk)


async def read_text(
    query: CallbackQuery, callback_data: ReadDocument, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """Show the text that was read from the document, page by page."""
    card = await document_of(callback_data.document, query, services, talk)
    if card is None:
        return
    blocks = await services.text.blocks(talk.base_id, card.id)
    page: TextPage = text_page(card, blocks, talk.words, part=callback_data.part)
    await redraw(bot, shown, page.html, page.keyboard)
    await acknowledge(query)


async def ask_for_name(query: CallbackQuery, callback_data: Rename, bot: Bot, services: Services, talk: Talk) -> None:
    """Ask for the new name: «Как назвать?»."""
    card = await changeable(callback_data.document, query, bot, services, talk)
    if card is None:
        return
    await acknowledge(query)
    question = talk.words("rename-question", title=card.name)
    await ask(bot, services, talk, question, about=RENAME, subject=card.id)


async def rename(message: Message, subject: str, bot: Bot, services: Services, talk: Talk) -> None:
    """Take the answer to «Как назвать?». A name that nobody could read or find is asked for again."""
    name = " ".join((message.text or "").split())[:NAME_CHARACTERS]
    if not _is_readable(name):
        await ask(bot, services, talk, talk.words("rename-unreadable"), about=RENAME, subject=subject)
        return
    terms = services.count_terms(name)
    renamed = await services.library.rename(talk.base_id, DocumentId(subject), name, terms=terms)
    text = talk.words("renamed", title=name) if renamed else talk.words("document-gone")
    back = rows([button(talk.words.plain("button-open"), OpenDocument(document=subject))]) if renamed else None
    await send(bot, talk.place, text, back)


async def show_versions(
    query: CallbackQuery, callback_data: ShowVersions, bot: Bot, services: Services, talk: Talk
) -> None:
    """A line for each version, the newest first."""
    card = await document_of(callback_data.document, query, services, talk)
    if card is None:
        return
    versions = await services.library.versions(talk.base_id, card.id)
    await acknowledge(query)
    await send(bot, talk.place, versions_html(versions, talk.words))


async def _copy(bot: Bot, card: DocumentCard, talk: Talk) -> bool:
    """A copy of the message, in reply to it; False when it is not in this chat, or gone."""
    if card.message_id is None or card.chat_id != talk.place.chat:
        return False
    place = place_at(talk.place, card.message_id)
    try:
        await bot.copy_message(
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


async def _send_kept_file(bot: Bot, card: DocumentCard, services: Services, talk: Talk) -> bool:
    """The file as it came over HTTP; False when it is not kept, or larger than a bot may send."""
    if card.kept_file is None or (card.size_bytes or 0) > SENT_BYTES:
        return False
    file = _KeptFile(services.kept_files, card, card.kept_file)
    try:
        await bot.send_document(talk.place.chat, file, message_thread_id=talk.place.thread)
    except (IngestionError, TelegramBadRequest, TelegramNetworkError):
        return False
    return True


async def _send_text_file(bot: Bot, card: DocumentCard, services: Services, talk: Talk) -> None:
    """The document's text as a file; it exists as long as the document does."""
    blocks = await services.text.blocks(talk.base_id, card.id)
    if not blocks:
        await send(bot, talk.place, talk.words("original-gone"))
        return
    text = "\n\n".join(block.text for block in blocks)
    file = BufferedInputFile(text.encode(), filename=f"{card.name}.txt")
    await bot.send_document(
        talk.place.chat, file, message_thread_id=talk.place.thread, caption=talk.words("original-text")
    )


def _is_readable(name: str) -> bool:
    """Whether the name has a letter, a number or a symbol: marks, blanks and invisible characters are not enough."""
    return any(unicodedata.category(character)[0] in "LNS" for character in name)


def original_here(card: DocumentCard, chat: ChatId) -> MessageId | None:
    """The message that brought the document, if it is in this chat."""
    return card.message_id if card.chat_id == chat else None


async def cancel(query: CallbackQuery, callback_data: CancelDocument, bot: Bot, services: Services, talk: Talk) -> None:
    """«Отменить» on a live message."""
    if await changeable(callback_data.document, query, bot, services, talk) is None:
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
    if await changeable(document, query, bot, services, talk) is None:
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
    if card is None or await changeable(card.id, query, bot, services, talk) is None:
        return
    begun = await services.intake.refresh(_batch((), shown, talk), card.id)
    await acknowledge(query, talk.words.plain("refresh-begun" if begun else "document-gone"), alert=not begun)
    services.wake()


async def ask_about(query: CallbackQuery, callback_data: AskAbout, bot: Bot, services: Services, talk: Talk) -> None:
    """«Спросить о нём» on a receipt or card: switch to Чат, and ask of this document alone until that is taken off."""
    card = await document_of(callback_data.document, query, services, talk)
    if card is None:
        return
    await services.people.set_mode(talk.state.user_id, Mode.CHAT, thread=talk.state.thread)
    await services.people.set_only(talk.state.user_id, base=talk.base_id, document=card.id, thread=talk.state.thread)
    await acknowledge(query, talk.words.plain("mode-set-chat"))
    text = talk.words("ask-about", title=shortened(card.name, TITLE_CHARACTERS))
    await send(bot, talk.place, text, mode_sign(talk, Mode.CHAT))


async def keep_document(
    query: CallbackQuery, callback_data: KeepDocument, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """«Оставить в базе»: the notice loop updates the live message; the card is updated at once."""
    document = DocumentId(callback_data.document)
    if await changeable(document, query, bot, services, talk) is None:
        return
    kept = await services.library.keep(talk.base_id, document)
    await acknowledge(query, talk.words.plain("stays-now" if kept else "document-gone"), alert=not kept)
    services.wake()
    card = await services.library.card(talk.base_id, document) if callback_data.page is not None else None
    if card is not None and callback_data.page is not None:
        keyboard = card_keyboard(card, talk.words, page=callback_data.page)
        await redraw(bot, shown, card_html(card, talk.words), keyboard)


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
    card = await changeable(callback_data.document, query, bot, services, talk)
    if card is None:
        return
    await services.library.delete(talk.base_id, card.id)
    await acknowledge(query, talk.words.plain("taken-back"))
    services.wake()
    if shown.reply_markup and len(shown.reply_markup.inline_keyboard) == 1:
        text = talk.words("deleted", title=shortened(card.name, TITLE_CHARACTERS))
        await redraw(bot, shown, text)


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
