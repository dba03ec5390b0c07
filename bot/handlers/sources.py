"""Buttons under an answer: the passage behind a source, and thumbs.

In: the `Answer` of a turn; button presses. Out: a keyboard; the exact passage as an expandable quote, in reply to the
upload it comes from; a row of `answer_feedback` and a tick on the thumb.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from aiogram import Router
from aiogram.exceptions import TelegramBadRequest
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot import keyboards as press
from bot.handlers.filters import register_pressed
from bot.keyboards import BUTTON_CHARACTERS, button, in_rows, question_key, rows, worded
from bot.replies.citations import passage_quote, source_label
from bot.replies.names import shortened
from bot.replies.rich import split_rich, to_html
from bot.services import Refusal, Talk
from bot.telegram import send
from bot.texts import Words
from domain.ids import ChatId, ChunkId, MessageId
from rag.answering.quotes import MAX_QUOTES
from rag.records import Answer, AnswerKind, Citation

MAX_SOURCES = 6
ONLY_CHARACTERS = 28  # of a document's name on a button that has a line of its own
MAX_CALLBACK_BYTES = 64  # https://core.telegram.org/bots/api#inlinekeyboardbutton
MOST_ASKED, MOST_OFFERED = 6, 3  # documents to choose from: instead of an answer, and under one
RATINGS = {1: "👍", -1: "👎"}


def answer_keyboard(
    answer: Answer, words: Words, *, asked: str = "", table: int | None = None, only: str | None = None
) -> InlineKeyboardMarkup | None:
    """The choices of a clarifying question; else sources, the rest of a list, a table as a file, documents that fit as
    well, and thumbs. `table` is the number of the stored table, `only` the name of the one document asked."""
    limit = worded(words, "only", press.EVERYTHING, title=shortened(only, ONLY_CHARACTERS)) if only else None
    documents = [
        [button(each.label, press.PickDocument(document=each.id, asked=question_key(asked)))]
        for each in answer.alike[: MOST_ASKED if answer.asks_which else MOST_OFFERED]
    ]
    if answer.choices or answer.asks_which:
        others = ([button(choice, press.PickChoice(place=place))] for place, choice in enumerate(answer.choices))
        return rows(*documents, *others, [limit])
    is_rated = answer.kind in (AnswerKind.FROM_BASE, AnswerKind.GENERAL, AnswerKind.QUOTES)
    is_quoted = answer.kind is AnswerKind.QUOTES and 0 < len(answer.citations) <= MAX_QUOTES
    is_whole = is_quoted and not answer.left_out and not only
    return rows(
        *in_rows(source_buttons(answer.citations, words), 2),
        [worded(words, "more", press.MORE, count=answer.left_out) if answer.left_out else None],
        [worded(words, "table", press.SendTable(table=table)) if table is not None else None],
        [worded(words, "everywhere", press.EVERYWHERE) if is_whole else None],
        *documents,
        [button(sign, press.Rate(rating=rating)) for rating, sign in RATINGS.items() if is_rated],
        [limit],  # «Только: Договор аренды.pdf ✕»
    )


def source_buttons(citations: Sequence[Citation], words: Words) -> list[InlineKeyboardButton]:
    """A button for each place that was used; equal labels share one. Places of a single document are in page order."""
    names = {citation.document_id: citation.name for citation in citations}
    characters = BUTTON_CHARACTERS if len(citations) > 1 else ONLY_CHARACTERS
    if len(names) == 1:
        citations = sorted(citations, key=lambda each: (each.locator.page or 0, each.locator.page_end or 0))
    labels: dict[str, Citation] = {}
    for citation in citations:
        labels.setdefault(source_label(citation, words, names=names.values(), characters=characters), citation)
    return [button(label, _source_shown(citation)) for label, citation in list(labels.items())[:MAX_SOURCES]]


def _source_shown(citation: Citation) -> press.ShowSource:
    """What the button of a source carries: the passage, and as many places in it as Telegram's 64 bytes hold."""
    place = f"{citation.shown or citation.chunk_id}"
    for span in citation.carrying:
        longer = f"{place}.{span.start}-{span.end}"
        if len(f"{press.ShowSource.__prefix__}:{longer}") > MAX_CALLBACK_BYTES:
            break
        place = longer
    return press.ShowSource(place=place)


def register(router: Router) -> None:
    register_pressed(router, rate)
    register_pressed(router, show_source, anywhere=True)


async def show_source(talk: Talk, callback_data: press.ShowSource) -> None:
    """The passage, word for word, in reply to the message that brought it; in bold what carries the answer."""
    passage = await talk.stores.search.passage(talk.base_id, ChunkId(callback_data.chunk))
    if passage is None:
        raise Refusal("source-gone")
    place, card = talk.place, await talk.stores.library.card(talk.base_id, passage.document_id)
    if card and card.message_id and card.chat_id == place.chat:
        place = replace(place, reply_to=card.message_id)
    for piece in split_rich(passage_quote(passage, talk.words, bold=callback_data.bold)):
        await send(talk.bot, place, to_html(piece))


async def rate(talk: Talk, callback_data: press.Rate) -> None:
    """Save the rating for the person who pressed; their last press counts."""
    chat, message = ChatId(talk.message.chat.id), MessageId(talk.message.message_id)
    rating = 1 if callback_data.rating > 0 else -1
    await talk.stores.library.save_feedback(talk.person, talk.base_id, chat, message, rating=rating)
    talk.services.measures.answer_rated(rating)
    await talk.acknowledge("feedback-saved")
    thumbs = {press.Rate(rating=each).pack(): sign for each, sign in RATINGS.items()}
    thumbs[press.Rate(rating=rating).pack()] = talk.words.plain("button-chosen", mode=RATINGS[rating])
    lines = talk.message.reply_markup.inline_keyboard if talk.message.reply_markup else []
    ticked = [
        [each.model_copy(update={"text": thumbs.get(each.callback_data or "", each.text)}) for each in line]
        for line in lines
    ]
    with suppress(TelegramBadRequest):  # pressed twice, or the message is gone; the rating is saved already
        await talk.message.edit_reply_markup(reply_markup=rows(*ticked))
