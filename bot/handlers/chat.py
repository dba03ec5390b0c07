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
from bot.keyboards import ANSWER, KEEP, ONLY_READ, ModeFor, button, mode_keyboard, mode_label, rows
from bot.replies.names import shortened
from bot.replies.sending import take_away
from bot.services import Refusal, Talk
from domain.documents import SourceType
from domain.people import Mode
from ingestion.errors import ServiceError, SourceError

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
        if message.caption and received.has_own_words:  # a question about the file that cannot be read
            await answer_question(talk, message.caption)
        elif message.caption:
            await _ask_back(talk, received)
        return
    if sources and (not message.text or all(source.type in _NO_QUESTIONS for source in sources)):
        await _ask_back(talk, received)
        return
    if not message.text:
        await talk.tell("question-is-not-text")
        return
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
    buttons = {"answer": ANSWER, "keep": KEEP, "only-read": ONLY_READ}
    answer, keep, only_read = (button(talk.words.plain(f"button-{what}"), data) for what, data in buttons.items())
    is_question = received.message.text and received.has_own_words
    keyboard = rows([answer, keep] if is_question else [keep], [only_read])
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
    await (_ask if mode is Mode.CHAT else take)(talk, received)
    if talk.services.turns.may_tell(f"no-mode-{mode.value}", talk.state.user_id):
        has_panel = mode is Mode.DOCUMENTS and talk.place.is_private  # a kept file need not be handled in Чат as well
        offer = rows([button(mode_label(words, other, None), ModeFor(mode=other))])
        await talk.reply(words(f"no-mode-{mode.value}"), mode_keyboard(words, None) if has_panel else offer)


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
