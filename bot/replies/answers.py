"""An answer as the person sees it: label, text, sources, buttons.

In: events and the `Answer` of a turn. Out: rich text, of which the growing form is always a beginning of the finished
one, and the keyboard. It sends nothing.
"""

from aiogram.types import InlineKeyboardMarkup

from bot.keyboards import Rate, button, in_rows, rows
from bot.replies.citations import source_block, source_buttons
from bot.replies.markdown import render_markdown
from bot.replies.rich import ITALIC, RichText, join, rich
from bot.replies.unfinished import close_unfinished
from bot.texts import Words
from rag.records import Answer, AnswerKind, TextGrew

LABELS = {AnswerKind.GENERAL: "answer-general-label", AnswerKind.QUOTES: "answer-quotes-label"}
RATINGS = {1: "👍", -1: "👎"}
RATED = frozenset({AnswerKind.FROM_BASE, AnswerKind.GENERAL, AnswerKind.QUOTES})
SOURCES_IN_A_ROW = 2


def growing_answer(event: TextGrew, words: Words) -> RichText:
    """What can be shown of an answer that is still being written."""
    return _labelled(event.kind, render_markdown(close_unfinished(event.text)), words)


def finished_answer(answer: Answer, words: Words) -> RichText:
    """The whole answer, its sources last. Never blank."""
    text = _labelled(answer.kind, render_markdown(answer.text), words)
    if not text.text.strip():
        return rich(words.plain("answer-nothing"))
    remark = rich(words.plain("answer-cut"), ITALIC) if answer.cut else RichText()
    return join([text, remark, source_block(answer.citations, words)], "\n\n")


def answer_keyboard(answer: Answer, words: Words) -> InlineKeyboardMarkup | None:
    """Sources and thumbs; nothing under a greeting."""
    sources = in_rows(source_buttons(answer.citations, words), SOURCES_IN_A_ROW)
    thumbs = [button(sign, Rate(rating=rating)) for rating, sign in RATINGS.items()] if answer.kind in RATED else []
    return rows(*sources, thumbs)


def _labelled(kind: AnswerKind, text: RichText, words: Words) -> RichText:
    if kind not in LABELS or not text:
        return text
    return join([rich(words.plain(LABELS[kind]), ITALIC), text], "\n\n")
