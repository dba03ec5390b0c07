"""Runs one turn: passes the question to the conversation and shows what comes back.

In: a question's text. Out: messages with the answer, its sources and buttons, and a row of `turn_metrics`. Turns of
one dialogue run one after the other. After the first answer by quotes the owner of the installation is told what it has
no model for; on the page of this machine with a button that runs `baza models add search`.
"""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial

import structlog
from aiogram import Router
from aiogram.types import InlineKeyboardMarkup

from adapters.local.layout import KNOWN, Task
from bot.cli.output import CommandError
from bot.handlers.filters import expect, has_message
from bot.handlers.menu import lack_of
from bot.handlers.sources import answer_keyboard
from bot.keyboards import ADD_SEARCH, STOP, button, question_key, rows
from bot.replies.answers import finished_answer, growing_answer, in_words
from bot.replies.citations import page_of, sourced_table
from bot.replies.sending import edit
from bot.replies.streaming import StreamedAnswer, live_steps, streamed_answer
from bot.services import Refusal, Talk
from domain.documents import DocumentCard, DocumentStatus
from domain.errors import DatabaseTrouble
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
from rag.reservations import Reservation, await_reservation, holding

log = structlog.get_logger()

CLARIFIED = "clarified"  # what the next words answer after a question back, whatever the mode
WHICH = "which"  # the same after one that asks which document is meant
SHOWN_EVERY_S = 1.0  # Telegram allows a bot about one edit a second in a chat


async def answer_question(talk: Talk, text: str, *, chosen: DocumentChoice | None = None) -> None:
    """Answer a question with its sources, after the turns of the dialogue that came before it; where the person has
    `chosen` a document, from that alone."""
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
    stopping = rows([button(talk.words.plain("button-enough"), STOP)])
    async with turns.order(talk.room), streamed_answer(talk.bot, talk.place, stop=stopping) as shown:
        bounds = services.bounds.of_day(talk.person)
        reservation = await await_reservation(talk.stores.library, talk.state.user_id, talk.person, bounds)
        conversation = services.frugal_conversation if reservation.is_spent else services.conversation
        async with holding(talk.stores.library, reservation):
            with turns.stoppable(talk.room, asker=talk.person) as stop:
                answer = await _follow(talk, conversation.answer(question, stop=stop), shown)
            try:
                await _show(talk, answer, shown, asked=text, only=only, spent=reservation)
            finally:  # the cost counts even if showing failed, and before the next question is weighed
                await _note(talk, answer, reservation)
    if answer.asks_which:
        await expect(talk, about=WHICH, subject=question_key(text))
    elif answer.choices:
        await expect(talk, about=CLARIFIED)
    is_without_model = answer.kind is AnswerKind.QUOTES and not services.has_model
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


async def _follow(talk: Talk, events: AsyncIterator[TurnEvent], shown: StreamedAnswer) -> Answer:
    async with live_steps(talk.bot, talk.place, talk.words) as steps:
        async for event in events:
            if isinstance(event, StepsChanged):
                steps.show(event.steps)
            elif isinstance(event, TextGrew):
                shown.grow(partial(growing_answer, event, talk.words))
            elif isinstance(event, Answered):
                return event.answer
    raise RuntimeError("the conversation ended without an answer")


async def _show(
    talk: Talk, answer: Answer, shown: StreamedAnswer, *, asked: str, only: DocumentCard | None, spent: Reservation
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
            table = await talk.stores.answer_tables.save_table(talk.state.user_id, talk.base_id, sourced)
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
    turn = answer.metrics()
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


def build_router() -> Router:
    """The button that brings search by meaning."""
    router = Router(name="models")
    router.callback_query.register(add_search, lambda query: query.data == ADD_SEARCH, has_message)
    return router


async def _tell_about_models(talk: Talk) -> None:
    """That answers are quotes, and the two lines that change it; the button where it does something."""
    text = talk.words("answer-full-answers")
    if talk.services.add_search is None:
        await talk.say(text)
        return
    model = next(each for each in KNOWN if each.task is Task.SEARCH)
    offer = _offer(talk.words.plain("button-add-search", megabytes=model.megabytes))
    await talk.say(f"{text}\n\n{talk.words('search-model-offer')}", offer)


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
        end, keyboard = talk.words("search-model-failed", reason=str(error)), _offer(talk.words.plain("button-go-on"))
    await edit(talk.bot, talk.place.chat, live, end, keyboard)


def _offer(label: str) -> InlineKeyboardMarkup | None:
    return rows([button(label, ADD_SEARCH)])
