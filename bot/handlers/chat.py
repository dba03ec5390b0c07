"""Mode Чат: streams the answer to a question, and asks back when a message is no question.

In: messages of people. Out: a streamed answer with its sources; for links and files a question what to do with them.
"""

import structlog
from aiogram import Bot, F, Router
from aiogram.enums import ChatAction
from aiogram.types import CallbackQuery, Message

from bot.handlers.answering import Answering, answer_question
from bot.handlers.base import refusal_of, take
from bot.handlers.filters import has_message, in_mode
from bot.handlers.menu import switch_mode
from bot.handlers.received import Received, original_of, receive
from bot.keyboards import ANSWER, KEEP, ONLY_READ, ModeFor, button, mode_keyboard, mode_offer, rows
from bot.replies.names import shortened
from bot.replies.sending import acknowledge, place_at, send, take_away
from bot.services import Talk
from domain.documents import SourceType
from domain.ids import MessageId
from domain.people import Mode
from ingestion.errors import ServiceError, SourceError

UNDERSTOOD_CHARACTERS = 1000  # of a spoken question, shown before its answer
log = structlog.get_logger()

_NO_QUESTIONS = frozenset({SourceType.FILE, SourceType.LINK})


def build_router() -> Router:
    """Takes messages in mode Чат, and messages that came before any mode was chosen."""
    router = Router(name="chat")
    router.message.register(ask, in_mode(Mode.CHAT))
    router.message.register(keep_or_answer, in_mode(None))
    router.callback_query.register(answer_original, F.data == ANSWER, has_message)
    router.callback_query.register(choose_mode_for, ModeFor.filter(), has_message)
    return router


async def ask(message: Message, answering: Answering) -> None:
    """Answer a question, written or spoken; ask back when the message is nothing but links or a file."""
    talk = answering.talk
    await _ask(receive(message, talk.words), answering)


async def _ask(received: Received, answering: Answering) -> None:
    bot, services, talk = answering.bot, answering.services, answering.talk
    message, sources = received.message, received.sources
    if spoken := message.voice or message.video_note:
        await _ask_spoken(spoken.file_id, message, answering)
        return
    if (sources or message.caption) and (refusal := refusal_of(received, talk.words, services)):
        await send(bot, talk.place, refusal)
        await _ask_by_caption(received, answering)
        return
    if sources and (not message.text or all(source.type in _NO_QUESTIONS for source in sources)):
        await _ask_back(received, bot, talk)
        return
    if not message.text:
        await send(bot, talk.place, talk.words("question-is-not-text"))
        return
    if note := services.small_talk.to_remember(received.own_text):
        noted = message.model_copy(update={"text": note, "entities": None})
        await take(receive(noted, talk.words), bot, services, talk)
        return
    await answer_question(message.text, answering)


async def answer_original(query: CallbackQuery, shown: Message, answering: Answering) -> None:
    """«Это вопрос» under the bot's question about a message with words and a link: answer that message as it stands."""
    bot, talk = answering.bot, answering.talk
    original = await original_of(shown, bot)
    if original is None or not original.text:
        await acknowledge(query, talk.words.plain("original-gone"), alert=True)
        return
    await acknowledge(query)
    if not await take_away(shown):
        return  # pressed twice: the first press is being answered
    await answer_question(original.text, answering)


async def _ask_by_caption(received: Received, answering: Answering) -> None:
    """The file cannot be read, but its caption may still be a question, or a link to read."""
    bot, talk = answering.bot, answering.talk
    caption = received.message.caption
    if not caption:
        return
    if not received.has_own_words:
        await _ask_back(received, bot, talk)
        return
    await answer_question(caption, answering)


async def _ask_back(received: Received, bot: Bot, talk: Talk) -> None:
    """Ask what to do with a link or a file. Words beside a link may be a question, so a button offers to answer it."""
    keep_it = button(talk.words.plain("button-keep"), KEEP)
    is_question = received.message.text and received.has_own_words
    answer_it = [button(talk.words.plain("button-answer"), ANSWER)] if is_question else []
    only_read = button(talk.words.plain("button-only-read"), ONLY_READ)
    place = place_at(talk.place, MessageId(received.message.message_id))
    await send(bot, place, talk.words("question-or-document"), rows([*answer_it, keep_it], [only_read]))


async def _ask_spoken(file_id: str, message: Message, answering: Answering) -> None:
    """Transcribe a voice message, show the transcript, and answer it."""
    bot, services, talk = answering.bot, answering.services, answering.talk
    place = place_at(talk.place, MessageId(message.message_id))
    if services.hear is None:
        await send(bot, place, talk.words("voice-not-heard"))
        return
    answering.release()
    await bot.send_chat_action(talk.place.chat, ChatAction.TYPING, message_thread_id=talk.place.thread)
    try:
        question = await services.hear(file_id)
    except ServiceError as error:
        log.warning("chat.not_heard", reason=error.code)
        await send(bot, place, talk.words("voice-away"))
        return
    except SourceError as error:
        log.info("chat.not_understood", reason=error.code)
        await send(bot, place, talk.words("voice-without-speech"))
        return
    await send(bot, place, talk.words("voice-understood", question=shortened(question, UNDERSTOOD_CHARACTERS)))
    await answer_question(question, answering)


async def keep_or_answer(message: Message, answering: Answering) -> None:
    """No mode was chosen yet: the message chooses (DESIGN, section 6). What was sent for keeping is kept, a question is
    answered; once a day a line says so, and offers the other."""
    bot, services, talk = answering.bot, answering.services, answering.talk
    received = receive(message, talk.words)
    asks = bool(received.own_text) and any(source.type is SourceType.NOTE for source in received.sources)
    is_spoken = bool((message.voice or message.video_note) and services.hear)
    mode = Mode.CHAT if asks or (is_spoken and not message.forward_origin) else Mode.DOCUMENTS
    if mode is Mode.CHAT:
        await _ask(received, answering)
    else:
        await take(received, bot, services, talk)
    if answering.dialogues.may_tell(f"no-mode-{mode.value}", talk.state.user_id):
        place = place_at(talk.place, MessageId(message.message_id))
        has_panel = mode is Mode.DOCUMENTS and talk.place.is_private  # a kept file need not be handled in Чат as well
        keyboard = mode_keyboard(talk.words, None) if has_panel else mode_offer(talk.words, beside=mode)
        await send(bot, place, talk.words(f"no-mode-{mode.value}"), keyboard)


async def choose_mode_for(query: CallbackQuery, callback_data: ModeFor, shown: Message, answering: Answering) -> None:
    """Switch to the other mode and handle the message in it as well."""
    bot, services, talk = answering.bot, answering.services, answering.talk
    await acknowledge(query, talk.words.plain(f"mode-set-{callback_data.mode.value}"))
    await switch_mode(bot, services, talk, callback_data.mode)
    original = await original_of(shown, bot)
    if original is None:
        await send(bot, talk.place, talk.words("original-gone"))
    elif callback_data.mode is Mode.DOCUMENTS:
        await take(receive(original, talk.words), bot, services, talk)
    else:
        await ask(original, answering)
