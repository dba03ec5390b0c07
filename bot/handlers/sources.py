"""Buttons under an answer: the passage behind a source, and thumbs.

In: the `Answer` of a turn; button presses. Out: a keyboard; the exact passage as an expandable quote, in reply to the
upload it comes from; a row of `answer_feedback` and a tick on the thumb.
"""

from collections.abc import Sequence

from aiogram import Router
from aiogram.exceptions import TelegramBadRequest
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot import keyboards as press
from bot.handlers.document import original_here
from bot.handlers.filters import has_message
from bot.keyboards import BUTTON_CHARACTERS, EVERYTHING, EVERYWHERE, MORE, button, in_rows, question_key, rows
from bot.replies.citations import passage_quote, source_label
from bot.replies.names import shortened
from bot.replies.rich import split_rich, to_html
from bot.replies.sending import Place, place_at, send
from bot.services import Refusal, Talk
from bot.texts import Words
from domain.ids import ChatId, ChunkId, MessageId
from rag.answering.quotes import MAX_QUOTES
from rag.records import Answer, AnswerKind, Citation, Passage

MAX_SOURCES = 6
SOURCES_IN_A_ROW = 2
ONLY_CHARACTERS = 28  # of a document's name on a button that has a line of its own
MAX_CALLBACK_BYTES = 64  # https://core.telegram.org/bots/api#inlinekeyboardbutton
MOST_ASKED, MOST_OFFERED = 6, 3  # documents to choose from: instead of an answer, and under one
RATINGS = {1: "👍", -1: "👎"}
RATED = frozenset({AnswerKind.FROM_BASE, AnswerKind.GENERAL, AnswerKind.QUOTES})


def answer_keyboard(
    answer: Answer, words: Words, *, asked: str = "", table: int | None = None, only: str | None = None
) -> InlineKeyboardMarkup | None:
    """The choices of a clarifying question; else sources, the rest of a list, a table as a file, documents that fit as
    well, and thumbs.

    `asked` is the question, `table` the number under which the table is stored, `only` the name of the document that
    alone was asked.
    """
    limit = [button(only_label(only, words), EVERYTHING)] if only else []
    documents = [
        [button(each.label, press.PickDocument(document=each.id, asked=question_key(asked)))]
        for each in answer.alike[: MOST_ASKED if answer.asks_which else MOST_OFFERED]
    ]
    if answer.choices or answer.asks_which:
        others = ([button(choice, press.PickChoice(place=place))] for place, choice in enumerate(answer.choices))
        return rows(*documents, *others, limit)
    sources = in_rows(source_buttons(answer.citations, words), SOURCES_IN_A_ROW)
    thumbs = (
        [button(sign, press.Rate(rating=rating)) for rating, sign in RATINGS.items()] if answer.kind in RATED else []
    )
    more = [button(words.plain("button-more", count=answer.left_out), MORE)] if answer.left_out else []
    as_file = [button(words.plain("button-table"), press.SendTable(table=table))] if table is not None else []
    is_quoted = answer.kind is AnswerKind.QUOTES and 0 < len(answer.citations) <= MAX_QUOTES and not answer.left_out
    everywhere = [button(words.plain("button-everywhere"), EVERYWHERE)] if is_quoted and not only else []
    return rows(*sources, more, as_file, everywhere, *documents, thumbs, limit)


def only_label(name: str, words: Words) -> str:
    """«Только: Договор аренды.pdf ✕»"""
    return words.plain("button-only", title=shortened(name, ONLY_CHARACTERS))


def source_buttons(citations: Sequence[Citation], words: Words) -> list[InlineKeyboardButton]:
    """A button for each place that was used; equal labels share one. Places of a single document are in page order."""
    names = {citation.document_id: citation.name for citation in citations}
    characters = BUTTON_CHARACTERS if len(citations) > 1 else ONLY_CHARACTERS
    labels: dict[str, Citation] = {}
    for citation in sorted(citations, key=_pages) if len(names) == 1 else citations:
        label = source_label(citation, words, names=names.values(), characters=characters)
        labels.setdefault(label, citation)
    shown = list(labels.items())[:MAX_SOURCES]
    return [button(label, source_shown(citation)) for label, citation in shown]


def source_shown(citation: Citation) -> press.ShowSource:
    """What the button of a source carries: the passage, and as many places in it as Telegram's 64 bytes hold."""
    place = f"{citation.shown or citation.chunk_id}"
    for span in citation.carrying:
        longer = f"{place}.{span.start}-{span.end}"
        if len(f"{press.ShowSource.__prefix__}:{longer}") > MAX_CALLBACK_BYTES:
            break
        place = longer
    return press.ShowSource(place=place)


def _pages(citation: Citation) -> tuple[int, int]:
    first = citation.locator.page or 0
    return first, citation.locator.page_end or first


def build_router() -> Router:
    """Source buttons and thumbs."""
    router = Router(name="sources")
    router.callback_query.register(show_source, press.ShowSource.filter())
    router.callback_query.register(rate, press.Rate.filter(), has_message)
    return router


async def show_source(talk: Talk, callback_data: press.ShowSource) -> None:
    """The passage, word for word; in bold what carries the answer."""
    passage = await talk.stores.search.passage(talk.base_id, ChunkId(callback_data.chunk))
    if passage is None:
        raise Refusal("source-gone")
    place = await _place_of(talk, passage)
    for piece in split_rich(passage_quote(passage, talk.words, bold=callback_data.bold)):
        await send(talk.bot, place, to_html(piece))


async def rate(talk: Talk, callback_data: press.Rate) -> None:
    """Save the rating for the person who pressed; their last press counts."""
    chat, message = ChatId(talk.message.chat.id), MessageId(talk.message.message_id)
    rating = 1 if callback_data.rating > 0 else -1
    await talk.stores.library.save_feedback(talk.person, talk.base_id, chat, message, rating=rating)
    talk.services.measures.answer_rated(rating)
    await talk.acknowledge("feedback-saved")
    if talk.message.reply_markup:
        await _tick(talk, talk.message.reply_markup, rating)


async def _place_of(talk: Talk, passage: Passage) -> Place:
    card = await talk.stores.library.card(talk.base_id, passage.document_id)
    original = original_here(card, talk.place.chat) if card else None
    return place_at(talk.place, original) if original is not None else talk.place


async def _tick(talk: Talk, markup: InlineKeyboardMarkup, rating: int) -> None:
    ticked = [[_thumb(button, rating, talk) for button in line] for line in markup.inline_keyboard]
    try:
        await talk.message.edit_reply_markup(reply_markup=InlineKeyboardMarkup(inline_keyboard=ticked))
    except TelegramBadRequest:
        return  # pressed twice, or the message is gone; the rating is saved already


def _thumb(button: InlineKeyboardButton, rating: int, talk: Talk) -> InlineKeyboardButton:
    for value, sign in RATINGS.items():
        if button.callback_data == press.Rate(rating=value).pack():
            label = talk.words.plain("button-chosen", mode=sign) if value == rating else sign
            return button.model_copy(update={"text": label})
    return button
