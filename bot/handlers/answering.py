"""Runs one turn, shows what comes back, and what goes on from there: choices, the rest of a list, earlier dialogues.

In: a question's text; buttons under answers and on drafts, /dialogs. Out: messages with the answer, its sources and
buttons, and a row of `turn_metrics`. Turns of one dialogue run one after the other. After the first answer by quotes
the owner of the installation is told what it has no model for; on the page of this machine with a button that runs
`baza models add search`.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import structlog
from aiogram import F, Router
from aiogram.exceptions import TelegramBadRequest
from aiogram.filters import Command
from aiogram.filters.callback_data import CallbackData
from aiogram.types import BufferedInputFile, CallbackQuery, InlineKeyboardMarkup, MessageGenerationStopped

from adapters.local.layout import KNOWN, Task
from adapters.spreadsheet import file_name, spreadsheet
from bot import keyboards as press
from bot.cli.output import CommandError
from bot.handlers.filters import answers, expect, has_message, may_tidy, register_pressed
from bot.handlers.menu import lack_of
from bot.handlers.sources import answer_keyboard
from bot.keyboards import BUTTON_CHARACTERS, button, question_key, rows, worded
from bot.replies.answers import finished_answer, growing_answer, in_words, steps_text
from bot.replies.citations import page_of, sourced_table
from bot.replies.names import shortened
from bot.replies.streaming import GrowingText, live_steps, streamed_answer
from bot.services import Refusal, Services, Talk, day_bounds
from bot.telegram import edit
from domain.documents import DocumentCard, DocumentStatus
from domain.errors import DatabaseTrouble
from domain.ids import DocumentId, SessionId, ThreadId, UserId
from rag.dialogue import KEPT_MESSAGES
from rag.records import (
    Answer,
    Answered,
    AnswerKind,
    Citation,
    DocumentChoice,
    Question,
    SmallTalk,
    StepsChanged,
    TextGrew,
    TurnEvent,
)
from rag.reservations import Refused, Reservation, await_reservation, holding

log = structlog.get_logger()

CLARIFIED = "clarified"  # what the next words answer after a question back, whatever the mode
SHOWN_EVERY_S = 1.0  # Telegram allows a bot about one edit a second in a chat
LISTED = 8  # dialogues: a screen of a phone
ASKED_BY = {press.MORE: "ask-more", press.EVERYWHERE: "button-everywhere"}  # button -> key of the question it asks


def register(router: Router) -> None:
    router.message.register(list_dialogues, Command("dialogs"))
    router.message.register(clarify, answers(CLARIFIED))
    register_pressed(router, pick_choice, pick_document, send_table, resume_dialogue)
    router.callback_query.register(ask_again, F.data.in_(ASKED_BY), has_message)
    router.callback_query.register(ask_of_everything, F.data == press.EVERYTHING, has_message)
    router.callback_query.register(stop_turn, F.data == press.STOP)
    router.stopped_message_generation.register(stop_draft)
    router.callback_query.register(add_search, F.data == press.ADD_SEARCH, has_message)


async def answer_question(talk: Talk, text: str, *, chosen: DocumentChoice | None = None) -> None:
    """Answer a question, after the turns of the dialogue before it; from the document alone that was `chosen`."""
    talk.release()
    services, turns = talk.services, talk.services.turns
    only = None if chosen else await _only(talk)
    question = Question(
        text=text,
        user_id=talk.state.user_id,
        session_id=talk.state.session_id,
        base_id=talk.base_id,
        language=talk.words.language,
        asker=talk.person,
        only=tuple(each.id for each in (chosen or only,) if each),
        chosen=chosen.label if chosen else "",
    )
    stopping = rows([worded(talk.words, "enough", press.STOP)])
    async with turns.order(talk.room), streamed_answer(talk.bot, talk.place, stopping) as shown:
        bounds = day_bounds(services.settings, talk.person)
        reservation = await await_reservation(talk.stores.library, talk.state.user_id, talk.person, bounds)
        conversation = services.frugal_conversation if reservation.refused is Refused.SPENT else services.conversation
        async with holding(talk.stores.library, reservation):
            with turns.stoppable(talk.room, asker=talk.person) as stop:
                answer = await _follow(talk, conversation.answer(question, stop=stop), shown, stopping)
            try:
                await _show(talk, answer, shown, asked=text, only=only, spent=reservation)
            finally:  # the cost counts even if showing failed, and before the next question is weighed
                await _note(talk, answer, reservation)
    if answer.asks_which or answer.choices:
        await expect(talk, about=CLARIFIED, subject=question_key(text) if answer.asks_which else "")
    is_without_model = answer.kind is AnswerKind.QUOTES and not services.settings.model.configured
    if is_without_model and services.is_owner(talk) and services.is_first_time(f"no-model-{talk.person}"):
        await _tell_about_models(talk)


async def _only(talk: Talk) -> DocumentCard | None:
    """The one document that is asked, if the person has set one; they are told where it is gone or replaced."""
    if talk.state.only is None:
        return None
    card = await talk.stores.library.card(talk.base_id, talk.state.only)
    if card and card.status is not DocumentStatus.SUPERSEDED:
        return card
    await talk.ask_only(None)
    await talk.tell("only-gone")
    return None


async def _follow(
    talk: Talk, events: AsyncIterator[TurnEvent], shown: GrowingText, stopping: InlineKeyboardMarkup | None
) -> Answer:
    async with live_steps(talk.bot, talk.place, stopping) as steps:
        async for event in events:
            if isinstance(event, StepsChanged):
                steps.grow(partial(steps_text, event.steps, talk.words))
            elif isinstance(event, TextGrew):
                shown.grow(partial(growing_answer, event, talk.words))
            elif isinstance(event, Answered):
                return event.answer
    raise RuntimeError("the conversation ended without an answer")


async def _show(
    talk: Talk, answer: Answer, shown: GrowingText, *, asked: str, only: DocumentCard | None, spent: Reservation
) -> None:
    """Show the finished answer, also where the database fails meanwhile. Where the day is `spent` it begins with why no
    model was asked, except under small talk that needs no model."""
    lack, spent_until, table = None, spent.until, None
    asks_of_one = only is not None and answer.searched
    try:
        if answer.small_talk or not (answer.text or asks_of_one):
            lack = await lack_of(talk)
        answer = replace(answer, citations=await _on_their_pages(talk, answer.citations))
        if answer.table:
            sourced = sourced_table(answer.table, talk.words)
            table = await talk.stores.library.save_table(talk.state.user_id, talk.base_id, sourced)
    except DatabaseTrouble as trouble:
        log.warning("query.shown_without_base", user=talk.person, reason=trouble.reason)
    if answer.small_talk:
        answer = in_words(answer, talk.words, lack=lack)
        spent_until = spent_until if answer.small_talk is SmallTalk.LEANING else None
    nothing = "answer-nothing-only" if asks_of_one else None
    if lack and not answer.text:
        nothing = f"answer-nothing-{lack}"
        answer = replace(answer, misses_meaning=False)  # rewording would not help, nor another search
    reply = finished_answer(answer, talk.words, nothing=nothing, spent_until=spent_until)
    name = only.name if only else None
    await shown.finish(reply, answer_keyboard(answer, talk.words, asked=asked, table=table, only=name))


async def _on_their_pages(talk: Talk, citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """Of a passage that runs over several pages, the page on which the quote stands: «стр. 5» and not «стр. 4–6»."""
    found: list[Citation] = []
    for citation in citations:
        if citation.locator.page_end is not None:
            blocks = await talk.stores.text.blocks(talk.base_id, citation.document_id)
            citation = replace(citation, locator=page_of(citation.quote, citation.locator, blocks))
        found.append(citation)
    return tuple(found)


async def _note(talk: Talk, answer: Answer, reservation: Reservation) -> None:
    """Record the turn's metrics. The person has the answer already, so a database failure is only logged."""
    turn = answer.turn
    talk.services.measures.turn_ended(turn)
    try:
        await talk.stores.library.save_turn(
            talk.state.user_id, talk.base_id, turn, asker=talk.person, reservation=reservation.id
        )
    except DatabaseTrouble as trouble:
        log.warning("query.not_saved", user=talk.person, reason=trouble.reason)
    log.info(  # names as in seed 3, "Логирование"
        "complex_query.completed" if turn.steps.planned else "query.completed",
        user=talk.person,
        kind=turn.kind,
        plan=turn.plan,
        total_steps=turn.steps.planned,
        steps_run=turn.steps.run,
        adapted=turn.steps.adapted,
        spent=answer.spent,
        stopped=answer.stopped,
        model_calls=turn.usage.calls,
        tokens_used=turn.usage.tokens,
        rag_items_retrieved=turn.facts,
        rag_items_used=turn.facts_used,
        answer_check=turn.check.outcome,
        statements_failed=turn.check.failed,
        searching_ms=round(turn.usage.searching.seconds * 1000),
        models_ms=round(turn.usage.models.seconds * 1000),
        execution_time_ms=round(turn.seconds * 1000),
    )


async def _tell_about_models(talk: Talk) -> None:
    """That answers are quotes, and the two lines that change it; the button where it does something."""
    text = talk.words("answer-full-answers")
    if talk.services.add_search is None:
        await talk.say(text)
        return
    model = next(each for each in KNOWN if each.task is Task.SEARCH)
    offer = worded(talk.words, "add-search", press.ADD_SEARCH, megabytes=model.megabytes)
    await talk.say(f"{text}\n\n{talk.words('search-model-offer')}", rows([offer]))


async def add_search(talk: Talk) -> None:
    """Download the model and move the bases to it; the chat goes on meanwhile."""
    if talk.services.add_search is None or not talk.services.is_owner(talk):
        raise Refusal("search-model-is-there")
    talk.release()
    await talk.acknowledge()
    await talk.message.edit_reply_markup(reply_markup=None)  # a second press would wait for the first
    live = await talk.tell("search-model-going", told="")
    shown_at = time.monotonic()
    end, keyboard = talk.words("search-model-added"), None
    try:
        async for told in talk.services.add_search():
            if time.monotonic() - shown_at >= SHOWN_EVERY_S:
                shown_at = time.monotonic()
                await edit(talk.bot, talk.place.chat, live, talk.words("search-model-going", told=told))
    except CommandError as error:
        end = talk.words("search-model-failed", reason=str(error))
        keyboard = rows([worded(talk.words, "go-on", press.ADD_SEARCH)])
    await edit(talk.bot, talk.place.chat, live, end, keyboard)


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
    others = rows(*([each for each in line if each.callback_data != press.EVERYTHING] for line in keyboard))
    with suppress(TelegramBadRequest):  # pressed twice
        await talk.message.edit_reply_markup(reply_markup=others)


async def stop_turn(talk: Talk) -> None:
    """«Остановить»: the turn ends with the facts found so far. In a group whoever asked, and administrators, may."""
    turns = talk.services.turns
    if turns.asker(talk.room) not in (None, talk.person) and not await may_tidy(talk):
        raise Refusal("only-asker-or-administrators")
    await talk.acknowledge("enough-heard" if turns.stop(talk.room) else "enough-too-late")


async def stop_draft(event: MessageGenerationStopped, services: Services) -> None:
    """Telegram's own stop button on a draft: drafts exist only in private chats, whose id is the person's."""
    thread = event.message_thread_id
    services.turns.stop((UserId(event.chat.id), ThreadId(thread) if thread else None))


async def send_table(talk: Talk, callback_data: press.SendTable) -> None:
    table = await talk.stores.library.read_table(talk.base_id, callback_data.table)
    if table is None:
        raise Refusal("table-gone")
    content = await asyncio.to_thread(spreadsheet, table)
    await talk.message.reply_document(BufferedInputFile(content, file_name(table)))


async def list_dialogues(talk: Talk) -> None:
    lines = [
        [button(shortened(each.title, BUTTON_CHARACTERS * 2), press.ResumeDialogue(session=each.id))]
        for each in await talk.stores.dialogue.sessions(talk.state.user_id, base=talk.base_id, limit=LISTED)
        if each.id != talk.state.session_id
    ]
    await talk.tell("dialogs-choose" if lines else "dialogs-none", rows(*lines))


async def resume_dialogue(talk: Talk, callback_data: press.ResumeDialogue) -> None:
    session = SessionId(callback_data.session)
    if not await talk.stores.dialogue.resume(talk.state.user_id, session, thread=talk.state.thread):
        raise Refusal("dialog-gone")
    await talk.show(talk.words("dialog-resumed", title=_label(talk, callback_data) or ""))


async def _asked(talk: Talk, key: str) -> str | None:
    """The question of the dialogue that has this key; None where the dialogue does not hold it any more."""
    said = await talk.stores.dialogue.recollect(
        talk.state.user_id, talk.state.session_id, pairs=KEPT_MESSAGES // 2, terms=(), recalled=0
    )
    return next((each.question for each in reversed(said.window) if question_key(each.question) == key), None)


def _label(talk: Talk, pressed: CallbackData) -> str | None:
    lines = talk.message.reply_markup.inline_keyboard if talk.message.reply_markup else []
    return next((each.text for line in lines for each in line if each.callback_data == pressed.pack()), None)
