"""Actions on one document: show the original, read its text, rename it, list its versions.

In: buttons of a document's card. Out: messages. Refreshing and asking are in `kept`, deleting is in `library`.
"""

import unicodedata
from collections.abc import AsyncGenerator

from aiogram import Bot, Router
from aiogram.exceptions import TelegramBadRequest, TelegramNetworkError
from aiogram.types import BufferedInputFile, CallbackQuery, InputFile, Message

from bot.handlers.asking import answers, ask
from bot.handlers.filters import has_message
from bot.handlers.rights import may_change
from bot.keyboards import OpenDocument, ReadDocument, Rename, ShowOriginal, ShowVersions, button, rows
from bot.replies.library import TextPage, text_page, versions_html
from bot.replies.names import name_of
from bot.replies.sending import acknowledge, edit, place_at, send
from bot.services import Services, Talk
from domain.documents import DocumentCard
from domain.ids import BaseId, ChatId, DocumentId, FileId, MessageId
from ingestion.errors import IngestionError
from ingestion.ports import KeptFiles

RENAME = "name"
NAME_CHARACTERS = 200
SENT_BYTES = 50 * 2**20  # core.telegram.org/bots/api#senddocument


def build_router() -> Router:
    """Buttons of a card, and the answer to «Как назвать?»."""
    router = Router(name="document")
    router.callback_query.register(send_original, ShowOriginal.filter())
    router.callback_query.register(read_text, ReadDocument.filter(), has_message)
    router.callback_query.register(ask_for_name, Rename.filter())
    router.callback_query.register(show_versions, ShowVersions.filter())
    router.message.register(rename, answers(RENAME))
    return router


async def send_original(
    query: CallbackQuery, callback_data: ShowOriginal, bot: Bot, services: Services, talk: Talk
) -> None:
    """Copy the message that brought the document, or send the file that Baza keeps; without either, the text as a
    file."""
    card = await _card(callback_data.document, query, services, talk)
    if card is None:
        return
    await acknowledge(query)
    if not (await _copy(bot, card, talk) or await _send_kept_file(bot, card, services, talk)):
        await _send_text_file(bot, card, services, talk)


async def read_text(
    query: CallbackQuery, callback_data: ReadDocument, shown: Message, bot: Bot, services: Services, talk: Talk
) -> None:
    """Show the text that was read from the document, page by page."""
    card = await _card(callback_data.document, query, services, talk)
    if card is None:
        return
    blocks = await services.text.blocks(talk.base_id, card.id)
    page: TextPage = text_page(card, blocks, talk.words, part=callback_data.part)
    await edit(bot, ChatId(shown.chat.id), MessageId(shown.message_id), page.html, page.keyboard)
    await acknowledge(query)


async def ask_for_name(query: CallbackQuery, callback_data: Rename, bot: Bot, services: Services, talk: Talk) -> None:
    """Ask for the new name: «Как назвать?»."""
    card = await _card(callback_data.document, query, services, talk)
    if card is None:
        return
    if not await may_change(bot, talk, card):
        await acknowledge(query, talk.words.plain("only-sender-or-administrators"), alert=True)
        return
    await acknowledge(query)
    question = talk.words("rename-question", title=name_of(card))
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
    card = await _card(callback_data.document, query, services, talk)
    if card is None:
        return
    versions = await services.library.versions(talk.base_id, card.id)
    await acknowledge(query)
    await send(bot, talk.place, versions_html(versions, talk.words))


async def _card(document: str, query: CallbackQuery, services: Services, talk: Talk) -> DocumentCard | None:
    card = await services.library.card(talk.base_id, DocumentId(document))
    if card is None:
        await acknowledge(query, talk.words.plain("document-gone"), alert=True)
    return card


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

    def read(self, bot: Bot) -> AsyncGenerator[bytes, None]:
        """Its bytes."""
        return _pieces(self._files, self._base, self._file)


async def _pieces(files: KeptFiles, base: BaseId, file: FileId) -> AsyncGenerator[bytes, None]:
    async for piece in files.read(base, file):
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
    file = BufferedInputFile(text.encode(), filename=f"{name_of(card)}.txt")
    await bot.send_document(
        talk.place.chat, file, message_thread_id=talk.place.thread, caption=talk.words("original-text")
    )


def _is_readable(name: str) -> bool:
    """Whether the name has a letter, a number or a symbol: marks, blanks and invisible characters are not enough."""
    return any(unicodedata.category(character)[0] in "LNS" for character in name)


def original_here(card: DocumentCard, chat: ChatId) -> MessageId | None:
    """The message that brought the document, if it is in this chat."""
    return card.message_id if card.chat_id == chat else None
