"""The buttons under an answer: its sources and two thumbs.

In: the `Answer` of a turn. Out: a keyboard. What the buttons do is in `bot.handlers.sources`.
"""

from collections.abc import Sequence

from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot.keyboards import (
    BUTTON_CHARACTERS,
    EVERYTHING,
    EVERYWHERE,
    MORE,
    PickChoice,
    PickDocument,
    Rate,
    SendTable,
    ShowSource,
    button,
    in_rows,
    question_key,
    rows,
)
from bot.replies.citations import cited_name, source_label
from bot.replies.names import shortened
from bot.texts import Words
from rag.quoting.quotes import MAX_QUOTES
from rag.records import Answer, AnswerKind, Citation

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
        [button(each.label, PickDocument(document=each.id, asked=question_key(asked)))]
        for each in answer.alike[: MOST_ASKED if answer.asks_which else MOST_OFFERED]
    ]
    if answer.choices or answer.asks_which:
        others = ([button(choice, PickChoice(place=place))] for place, choice in enumerate(answer.choices))
        return rows(*documents, *others, limit)
    sources = in_rows(source_buttons(answer.citations, words), SOURCES_IN_A_ROW)
    thumbs = [button(sign, Rate(rating=rating)) for rating, sign in RATINGS.items()] if answer.kind in RATED else []
    more = [button(words.plain("button-more", count=answer.left_out), MORE)] if answer.left_out else []
    as_file = [button(words.plain("button-table"), SendTable(table=table))] if table is not None else []
    is_quoted = answer.kind is AnswerKind.QUOTES and 0 < len(answer.citations) <= MAX_QUOTES and not answer.left_out
    everywhere = [button(words.plain("button-everywhere"), EVERYWHERE)] if is_quoted and not only else []
    return rows(*sources, more, as_file, everywhere, *documents, thumbs, limit)


def only_label(name: str, words: Words) -> str:
    """«Только: Договор аренды.pdf ✕»"""
    return words.plain("button-only", title=shortened(name, ONLY_CHARACTERS))


def source_buttons(citations: Sequence[Citation], words: Words) -> list[InlineKeyboardButton]:
    """A button for each place that was used; equal labels share one. Places of a single document are in page order."""
    names = {citation.document_id: cited_name(citation) for citation in citations}
    characters = BUTTON_CHARACTERS if len(citations) > 1 else ONLY_CHARACTERS
    labels: dict[str, Citation] = {}
    for citation in sorted(citations, key=_pages) if len(names) == 1 else citations:
        label = source_label(citation, words, names=names.values(), characters=characters)
        labels.setdefault(label, citation)
    shown = list(labels.items())[:MAX_SOURCES]
    return [button(label, show_source(citation)) for label, citation in shown]


def show_source(citation: Citation) -> ShowSource:
    """What the button of a source carries: the passage, and as many places in it as Telegram's 64 bytes hold."""
    place = f"{citation.chunk_id}"
    for span in citation.carrying:
        longer = f"{place}.{span.start}-{span.end}"
        if len(f"{ShowSource.__prefix__}:{longer}") > MAX_CALLBACK_BYTES:
            break
        place = longer
    return ShowSource(place=place)


def _pages(citation: Citation) -> tuple[int, int]:
    first = citation.locator.page or 0
    return first, citation.locator.page_end or first
