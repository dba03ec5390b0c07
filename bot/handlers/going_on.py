"""Continuing in Чат: answers to clarifying questions, the rest of a list, stopping a turn, earlier dialogues.

In: buttons under answers and on drafts, /dialogs. Out: the next turn of the dialogue, or the end of the running one; a
table as a file; a resumed dialogue.
"""

import asyncio
from contextlib import suppress

from aiogram import F, Router
from aiogram.exceptions import TelegramBadRequest
from aiogram.filters import Command
from aiogram.filters.callback_data import CallbackData
from aiogram.types import BufferedInputFile, CallbackQuery, MessageGenerationStopped

from adapters.spreadsheet import file_name, spreadsheet
from bot import keyboards as press
from bot.handlers.answering import CLARIFIED, WHICH, answer_question
from bot.handlers.filters import answers, has_message, may_tidy, own_words
from bot.keyboards import BUTTON_CHARACTERS, EVERYTHING, EVERYWHERE, MORE, STOP, button, question_key, rows
from bot.replies.names import shortened
from bot.services import Refusal, Services, Talk
from domain.ids import DocumentId, SessionId, ThreadId, UserId
from rag.dialogue import KEPT_MESSAGES
from rag.records import DocumentChoice

LISTED = 8  # dialogues: a screen of a phone
ASKED_BY = {MORE: "ask-more", EVERYWHERE: "button-everywhere"}  # button -> the key of the question that it asks


def build_router() -> Router:
    """Buttons under answers and drafts, and the list of dialogues."""
    router = Router(name="going_on")
    router.message.filter(own_words)
    router.message.register(list_dialogues, Command("dialogs"))
    router.message.register(clarify, answers(CLARIFIED))
    router.message.register(clarify, answers(WHICH))
    router.callback_query.register(pick_choice, press.PickChoice.filter(), has_message)
    router.callback_query.register(pick_document, press.PickDocument.filter(), has_message)
    router.callback_query.register(ask_again, F.data.in_(ASKED_BY), has_message)
    router.callback_query.register(ask_of_everything, F.data == EVERYTHING, has_message)
    router.callback_query.register(stop_turn, F.data == STOP)
    router.stopped_message_generation.register(stop_draft)
    router.callback_query.register(send_table, press.SendTable.filter(), has_message)
    router.callback_query.register(resume_dialogue, press.ResumeDialogue.filter(), has_message)
    return router


async def pick_choice(talk: Talk, callback_data: press.PickChoice) -> None:
    """The pressed choice is the person's answer to a clarifying question."""
    label = _label(talk, callback_data)
    await talk.acknowledge()
    if label is None:
        return
    with suppress(TelegramBadRequest):  # pressed twice, or the message is gone
        await talk.message.edit_reply_markup(reply_markup=None)
    await answer_question(talk, label)


async def clarify(talk: Talk, subject: str) -> None:
    """The same in the person's own words, also in mode База. Where it was asked which document is meant, they belong to
    the question (`subject` is its key), unless they ask something themselves."""
    text = talk.message.text or ""
    if subject and "?" not in text and (question := await _asked(talk, subject)):
        text = f"{question} {text}"
    await answer_question(talk, text)


async def pick_document(talk: Talk, callback_data: press.PickDocument) -> None:
    """The same question once more, answered from the document on the button. The buttons stay: another may be next."""
    label, question = _label(talk, callback_data), await _asked(talk, callback_data.asked)
    if label is None or question is None:
        raise Refusal("question-gone")
    await talk.acknowledge()
    await answer_question(talk, question, chosen=DocumentChoice(id=DocumentId(callback_data.document), label=label))


async def ask_again(talk: Talk) -> None:
    """«Показать ещё» and «По всем документам»: asked like any other question, in the language of the interface."""
    await talk.acknowledge()
    pressed = talk.event.data if isinstance(talk.event, CallbackQuery) else None
    await answer_question(talk, talk.words.plain(ASKED_BY[pressed or ""]))


async def ask_of_everything(talk: Talk) -> None:
    """«Только: … ✕»: questions are asked of all documents again; the other buttons of the answer stay."""
    await talk.ask_only(None)
    await talk.acknowledge("only-ended")
    keyboard = talk.message.reply_markup.inline_keyboard if talk.message.reply_markup else []
    others = rows(*([each for each in line if each.callback_data != EVERYTHING] for line in keyboard))
    with suppress(TelegramBadRequest):  # pressed twice
        await talk.message.edit_reply_markup(reply_markup=others)


async def stop_turn(talk: Talk) -> None:
    """«Остановить» on a live list or a growing answer: the turn ends with the facts found so far. In a group whoever
    asked, and administrators, may stop it."""
    turns = talk.services.turns
    if turns.asker(talk.room) not in (None, talk.person) and not await may_tidy(talk):
        raise Refusal("only-asker-or-administrators")
    await talk.acknowledge("enough-heard" if turns.stop(talk.room) else "enough-too-late")


async def stop_draft(event: MessageGenerationStopped, services: Services) -> None:
    """Telegram's own stop button on a draft. Drafts exist only in private chats, whose id is the person's, so it can
    only stop that person's own turn."""
    thread = event.message_thread_id
    services.turns.stop((UserId(event.chat.id), ThreadId(thread) if thread else None))


async def send_table(talk: Talk, callback_data: press.SendTable) -> None:
    """«Таблица XLSX»: the rows of the answer with their sources, as a file."""
    table = await talk.stores.answer_tables.read_table(talk.base_id, callback_data.table)
    if table is None:
        raise Refusal("table-gone")
    content = await asyncio.to_thread(spreadsheet, table)
    await talk.message.reply_document(BufferedInputFile(content, file_name(table)))


async def list_dialogues(talk: Talk) -> None:
    """/dialogs: list earlier dialogues by their first questions, the latest first."""
    lines = [
        [button(shortened(each.title, BUTTON_CHARACTERS * 2), press.ResumeDialogue(session=each.id))]
        for each in await talk.stores.dialogue.sessions(talk.state.user_id, base=talk.base_id, limit=LISTED)
        if each.id != talk.state.session_id
    ]
    await talk.tell("dialogs-choose" if lines else "dialogs-none", rows(*lines))


async def resume_dialogue(talk: Talk, callback_data: press.ResumeDialogue) -> None:
    """Make an earlier dialogue the current one, which answers remember."""
    session = SessionId(callback_data.session)
    past = await talk.stores.dialogue.sessions(talk.state.user_id, base=talk.base_id, limit=LISTED)
    title = next((each.title for each in past if each.id == session), "")
    if not await talk.stores.dialogue.resume(talk.state.user_id, session, thread=talk.state.thread):
        raise Refusal("dialog-gone")
    await talk.redraw(talk.words("dialog-resumed", title=shortened(title, 60)))


async def _asked(talk: Talk, key: str) -> str | None:
    """The question of the dialogue that has this key; None where the dialogue does not hold it any more."""
    said = await talk.stores.dialogue.recollect(
        talk.state.user_id, talk.state.session_id, pairs=KEPT_MESSAGES // 2, terms=(), recalled=0
    )
    return next((each.question for each in reversed(said.window) if question_key(each.question) == key), None)


def _label(talk: Talk, pressed: CallbackData) -> str | None:
    """The label of the pressed button; the press itself brings only its data."""
    lines = talk.message.reply_markup.inline_keyboard if talk.message.reply_markup else []
    return next((each.text for line in lines for each in line if each.callback_data == pressed.pack()), None)
