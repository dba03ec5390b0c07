"""What people send: kept in База, answered in Чат; before a mode is chosen the message chooses.

In: messages of people, and the buttons of the bot's questions about them. Out: a batch in the queue before the handler
returns, whose live message `bot.notices` shows; a streamed answer with its sources; for links and files in Чат, for
greetings and questions in База a question what to do with them.
"""

from dataclasses import replace

import structlog
from aiogram import F, Router
from aiogram.enums import ChatAction
from aiogram.types import CallbackQuery, Message

from bot import keyboards as press
from bot.handlers.answering import answer_question
from bot.handlers.filters import has_message, in_mode, register_pressed, writable_bases
from bot.handlers.menu import switch_mode
from bot.handlers.received import Received, batch_of, original_of, receive
from bot.keyboards import BUTTON_CHARACTERS, button, mode_keyboard, mode_label, rows, worded
from bot.replies.bases import AddTo, name_of_base
from bot.replies.names import shortened
from bot.replies.rich import utf16_length
from bot.services import Refusal, Talk
from bot.telegram import TELEGRAM_FILE_MB, take_away
from domain.bases import Role
from domain.documents import SourceType
from domain.people import Mode
from ingestion.errors import ServiceError, SourceError
from ingestion.records import Batch

NEARLY_FULL_UNITS = 2000  # UTF-16: clients cut a text over 4,096 earlier, where a paragraph, line or sentence ends
HOLD_S = 3  # the next part of a cut text arrives within this time
ALBUM_S = 1  # the other files of an album arrive within this time
DAY_S = 24 * 60 * 60  # lifetime of a temporary document («Только прочитать сейчас»)
SHORT_QUESTION_CHARACTERS = 200  # a longer text that ends with «?» is a letter or a list rather than a question
log = structlog.get_logger()


def register_keeping(router: Router) -> None:
    router.message.register(keep, in_mode(Mode.DOCUMENTS))
    router.callback_query.register(keep_original, F.data.in_({press.KEEP, press.ONLY_READ}), has_message)


def register_asking(router: Router) -> None:
    """Takes messages in mode Чат, and messages that came before any mode was chosen."""
    router.message.register(ask, in_mode(Mode.CHAT))
    router.message.register(keep_or_answer, in_mode(None))
    router.callback_query.register(answer_original, F.data == press.ANSWER, has_message)
    register_pressed(router, choose_mode_for)


async def keep(talk: Talk) -> None:
    """Put what the message holds into the queue, or say why nothing of it can be kept."""
    received = receive(talk.message, talk.words)
    said = received.own_text.strip()
    is_question = said.endswith("?") and len(said) <= SHORT_QUESTION_CHARACTERS and "\n" not in said
    only_words = said and all(source.type is SourceType.NOTE for source in received.sources)
    if only_words and (is_question or talk.services.small_talk.kind(said) is not None):
        line = [worded(talk.words, "answer-it", press.ANSWER), worded(talk.words, "save-it", press.KEEP)]
        await talk.reply(talk.words("question-or-note"), rows(line))
        return
    await take(talk, received)


async def take(talk: Talk, received: Received, *, ttl_s: int | None = None) -> None:
    """Put the sources into the queue, or say why they cannot be kept; the words under a refused file are."""
    message = received.message
    if talk.state.role is Role.READER:
        offered = [
            [button(shortened(name_of_base(each, talk.words), BUTTON_CHARACTERS * 2), AddTo(base=each.id))]
            for each in await writable_bases(talk)
        ]
        name = talk.state.base_name or talk.state.base_owner or ""
        await talk.reply(talk.words("base-only-read", name=name), rows(*offered), to=message)
        return
    if refusal := refusal_of(talk, received):
        if received.written:
            await talk.stores.intake.enqueue(replace(batch_of(message, received.written, talk), ttl_s=ttl_s))
            talk.services.wake()
            refusal = f"{refusal} {talk.words('caption-taken')}"
        await talk.say(refusal)
        return
    is_typed = message.text is not None
    await _enqueue(talk, replace(batch_of(message, received.sources, talk), ttl_s=ttl_s), may_go_on=is_typed)
    talk.services.wake()


async def keep_original(talk: Talk) -> None:
    """Store the message that the bot's question replies to; with «Только прочитать сейчас» for a day."""
    only_read = isinstance(talk.event, CallbackQuery) and talk.event.data == press.ONLY_READ
    await take(talk, receive(await original_of(talk), talk.words), ttl_s=DAY_S if only_read else None)
    await take_away(talk.message)


async def _enqueue(talk: Talk, batch: Batch, *, may_go_on: bool) -> None:
    """A note that fills its message is held for a moment, since the next may continue it; it is joined to its start."""
    hold_s, is_note = 0, len(batch.sources) == 1 and batch.sources[0].type is SourceType.NOTE
    if is_note and may_go_on and batch.ttl_s is None:  # temporary and permanent notes are never joined
        hold_s = HOLD_S if utf16_length(batch.sources[0].text or "") >= NEARLY_FULL_UNITS else 0
        if await talk.stores.intake.join(batch, hold_s=hold_s):
            return
    if batch.media_group and not any(source.text for source in batch.sources):
        hold_s = ALBUM_S  # for the caption, which one file of the album brings, with documents often the last one
    await talk.stores.intake.enqueue(batch, hold_s=hold_s)


def refusal_of(talk: Talk, received: Received) -> str | None:
    """Telegram's servers give bots files of 20 MB at most, and the local chat does the same; a self-hosted Bot API
    server has no such limit."""
    words, settings = talk.words, talk.services.settings
    is_telegrams = settings.telegram.api_url is None and settings.worker.file_mb >= TELEGRAM_FILE_MB
    limit_mb = TELEGRAM_FILE_MB if is_telegrams else settings.worker.file_mb
    if not received.sources:
        kind = received.said.unsupported
        return words("unsupported", kind=kind) if kind else words("nothing-to-keep")
    for source in received.sources:
        if (source.size_bytes or 0) > limit_mb * 2**20:
            key = "file-too-large-for-telegram" if is_telegrams else "error-file-too-large"
            return words(key, name=source.title or source.identifier, limit_mb=limit_mb)
    return None


async def ask(talk: Talk, received: Received | None = None) -> None:
    """Answer a question, written or spoken; ask back when the message is nothing but links or a file."""
    received = received or receive(talk.message, talk.words)
    message, sources = received.message, received.sources
    if spoken := message.voice or message.video_note:
        await _ask_spoken(talk, message, spoken.file_id)
        return
    if (sources or message.caption) and (refusal := refusal_of(talk, received)):
        await talk.say(refusal)
        if message.caption and received.has_own_words:  # a question about the file that cannot be read
            await answer_question(talk, message.caption)
        elif message.caption:
            await _ask_back(talk, received)
        return
    if sources and (not message.text or all(source.type in (SourceType.FILE, SourceType.LINK) for source in sources)):
        await _ask_back(talk, received)
        return
    if not message.text:
        raise Refusal("question-is-not-text")
    if note := talk.services.small_talk.to_remember(received.own_text):
        await take(talk, receive(message.model_copy(update={"text": note, "entities": None}), talk.words))
        return
    await answer_question(talk, message.text)


async def answer_original(talk: Talk) -> None:
    """«Это вопрос» under the bot's question about a message with words and a link: answer that message as it stands."""
    original = await original_of(talk)
    if not original.text:
        raise Refusal("original-gone")
    await talk.acknowledge()
    if await take_away(talk.message):  # else pressed twice: the first press is being answered
        await answer_question(talk, original.text)


async def _ask_back(talk: Talk, received: Received) -> None:
    """Ask what to do with a link or a file. Words beside a link may be a question, so a button offers to answer it."""
    is_question = received.message.text and received.has_own_words
    keyboard = rows(
        [
            worded(talk.words, "answer", press.ANSWER) if is_question else None,
            worded(talk.words, "keep", press.KEEP),
        ],
        [worded(talk.words, "only-read", press.ONLY_READ)],
    )
    await talk.reply(talk.words("question-or-document"), keyboard, to=received.message)


async def _ask_spoken(talk: Talk, message: Message, file_id: str) -> None:
    if talk.services.hear is None:
        await talk.reply(talk.words("voice-not-heard"), to=message)
        return
    talk.release()
    await talk.bot.send_chat_action(talk.place.chat, ChatAction.TYPING, message_thread_id=talk.place.thread)
    try:
        question = await talk.services.hear(file_id)
    except (ServiceError, SourceError) as error:
        log.warning("chat.not_heard", reason=error.code)
        key = "voice-away" if isinstance(error, ServiceError) else "voice-without-speech"
        await talk.reply(talk.words(key), to=message)
        return
    await talk.reply(talk.words("voice-understood", question=shortened(question, 1000)), to=message)
    await answer_question(talk, question)


async def keep_or_answer(talk: Talk) -> None:
    """No mode was chosen yet: the message chooses (DESIGN, section 6). What was sent for keeping is kept, a question is
    answered; once a day a line says so, and offers the other."""
    message, words = talk.message, talk.words
    received = receive(message, words)
    asks = received.own_text and any(source.type is SourceType.NOTE for source in received.sources)
    is_spoken = (message.voice or message.video_note) and talk.services.hear and not message.forward_origin
    mode, other = (Mode.CHAT, Mode.DOCUMENTS) if asks or is_spoken else (Mode.DOCUMENTS, Mode.CHAT)
    await (ask if mode is Mode.CHAT else take)(talk, received)
    if talk.services.turns.may_tell(f"no-mode-{mode.value}", talk.state.user_id):
        has_panel = mode is Mode.DOCUMENTS and talk.place.is_private  # a kept file need not be handled in Чат as well
        offer = rows([button(mode_label(words, other, None), press.ModeFor(mode=other))])
        await talk.reply(words(f"no-mode-{mode.value}"), mode_keyboard(words, None) if has_panel else offer)


async def choose_mode_for(talk: Talk, callback_data: press.ModeFor) -> None:
    """Switch to the other mode and handle the message in it as well."""
    await switch_mode(talk, callback_data.mode)
    original = talk.message.reply_to_message and await original_of(talk)
    if not original:
        await talk.tell("original-gone")
        return
    received = receive(original, talk.words)
    await (take if callback_data.mode is Mode.DOCUMENTS else ask)(talk, received)
