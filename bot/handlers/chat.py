"""Mode Чат: streams the answer to a question, and asks back when a message is no question.

In: messages of people. Out: a streamed answer with its sources; for links and files a question what to do with them.
"""

import structlog
from aiogram import F, Router
from aiogram.enums import ChatAction
from aiogram.types import Message

from bot.handlers.answering import answer_question
from bot.handlers.base import refusal_of, take
from bot.handlers.filters import has_message, in_mode
from bot.handlers.menu import switch_mode
from bot.handlers.received import Received, original_of, receive
from bot.keyboards import ANSWER, KEEP, ONLY_READ, ModeFor, button, mode_keyboard, mode_offer, rows
from bot.replies.names import shortened
from bot.replies.sending import take_away
from bot.services import Refusal, Talk
from domain.documents import SourceType
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


async def ask(talk: Talk) -> None:
    """Answer a question, written or spoken; ask back when the message is nothing but links or a file."""
    await _ask(talk, receive(talk.message, talk.words))


async def _ask(talk: Talk, received: Received) -> None:
    message, sources = received.message, received.sources
    if spoken := message.voice or message.video_note:
        await _ask_spoken(talk, message, spoken.file_id)
        return
    if (sources or message.caption) and (refusal := refusal_of(talk, received)):
        await talk.say(refusal)
        await _ask_by_caption(talk, received)
        return
    if sources and (not message.text or all(source.type in _NO_QUESTIONS for source in sources)):
        await _ask_back(talk, received)
        return
    if not message.text:
        await talk.tell("question-is-not-text")
        return
    if note := talk.services.small_talk.to_remember(received.own_text):
        noted = message.model_copy(update={"text": note, "entities": None})
        await take(talk, receive(noted, talk.words))
        return
    await answer_question(talk, message.text)


async def answer_original(talk: Talk) -> None:
    """«Это вопрос» under the bot's question about a message with words and a link: answer that message as it stands."""
    original = await original_of(talk)
    if not original.text:
        raise Refusal("original-gone")
    await talk.acknowledge()
    if not await take_away(talk.message):
        return  # pressed twice: the first press is being answered
    await answer_question(talk, original.text)


async def _ask_by_caption(talk: Talk, received: Received) -> None:
    """The file cannot be read, but its caption may still be a question, or a link to read."""
    caption = received.message.caption
    if not caption:
        return
    if not received.has_own_words:
        await _ask_back(talk, received)
        return
    await answer_question(talk, caption)


async def _ask_back(talk: Talk, received: Received) -> None:
    """Ask what to do with a link or a file. Words beside a link may be a question, so a button offers to answer it."""
    keep_it = button(talk.words.plain("button-keep"), KEEP)
    is_question = received.message.text and received.has_own_words
    answer_it = [button(talk.words.plain("button-answer"), ANSWER)] if is_question else []
    only_read = button(talk.words.plain("button-only-read"), ONLY_READ)
    keyboard = rows([*answer_it, keep_it], [only_read])
    await talk.reply(talk.words("question-or-document"), keyboard, to=received.message)


async def _ask_spoken(talk: Talk, message: Message, file_id: str) -> None:
    """Transcribe a voice message, show the transcript, and answer it."""
    if talk.services.hear is None:
        await talk.reply(talk.words("voice-not-heard"), to=message)
        return
    talk.release()
    await talk.bot.send_chat_action(talk.place.chat, ChatAction.TYPING, message_thread_id=talk.place.thread)
    try:
        question = await talk.services.hear(file_id)
    except ServiceError as error:
        log.warning("chat.not_heard", reason=error.code)
        await talk.reply(talk.words("voice-away"), to=message)
        return
    except SourceError as error:
        log.info("chat.not_understood", reason=error.code)
        await talk.reply(talk.words("voice-without-speech"), to=message)
        return
    understood = talk.words("voice-understood", question=shortened(question, UNDERSTOOD_CHARACTERS))
    await talk.reply(understood, to=message)
    await answer_question(talk, question)


async def keep_or_answer(talk: Talk) -> None:
    """No mode was chosen yet: the message chooses (DESIGN, section 6). What was sent for keeping is kept, a question is
    answered; once a day a line says so, and offers the other."""
    message = talk.message
    received = receive(message, talk.words)
    asks = bool(received.own_text) and any(source.type is SourceType.NOTE for source in received.sources)
    is_spoken = bool((message.voice or message.video_note) and talk.services.hear)
    mode = Mode.CHAT if asks or (is_spoken and not message.forward_origin) else Mode.DOCUMENTS
    if mode is Mode.CHAT:
        await _ask(talk, received)
    else:
        await take(talk, received)
    if talk.services.turns.may_tell(f"no-mode-{mode.value}", talk.state.user_id):
        has_panel = mode is Mode.DOCUMENTS and talk.place.is_private  # a kept file need not be handled in Чат as well
        keyboard = mode_keyboard(talk.words, None) if has_panel else mode_offer(talk.words, beside=mode)
        await talk.reply(talk.words(f"no-mode-{mode.value}"), keyboard)


async def choose_mode_for(talk: Talk, callback_data: ModeFor) -> None:
    """Switch to the other mode and handle the message in it as well."""
    await talk.acknowledge(f"mode-set-{callback_data.mode.value}")
    await switch_mode(talk, callback_data.mode)
    original = talk.message.reply_to_message and await original_of(talk)
    if not original:
        await talk.tell("original-gone")
        return
    received = receive(original, talk.words)
    await (take if callback_data.mode is Mode.DOCUMENTS else _ask)(talk, received)
