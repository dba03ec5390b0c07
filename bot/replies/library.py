"""The list of documents and a document's card.

In: cards of the library. Out: HTML and keyboards. It reads no store.
"""

from dataclasses import dataclass, replace

from aiogram.types import InlineKeyboardMarkup

from bot.keyboards import (
    AskAbout,
    DeleteDocument,
    KeepDocument,
    ListPage,
    OpenDocument,
    ReadDocument,
    Refresh,
    Rename,
    SearchDocuments,
    ShowOriginal,
    ShowVersions,
    button,
    in_rows,
    rows,
)
from bot.replies.failures import failure_sentence
from bot.replies.names import name_of, shortened, sign_of
from bot.replies.readings import size_of, unread_values
from bot.replies.receipts import choice_buttons
from bot.texts import Words
from domain.addresses import readable_address
from domain.documents import DocumentCard, DocumentStatus, SourceType

ADDRESSED = frozenset({SourceType.LINK, SourceType.SITE})  # can be read anew, and are shown with their address
LEAVES = "⏱"  # in the list; when it leaves is on the card
PAGE_SIZE = 8
TITLE_CHARACTERS = 60
LINE_CHARACTERS = 42  # of a title in the list: with its date it seldom takes more than two lines of a phone
ADDRESS_CHARACTERS = 300
NUMBERS_IN_A_ROW = 4


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """A page of the library; `page` counts from 0."""

    documents: tuple[DocumentCard, ...]
    total: int
    page: int
    name: str = ""  # a part of the names that are listed; empty for all

    @property
    def pages(self) -> int:
        """At least 1."""
        return max(1, -(-self.total // PAGE_SIZE))


def shelf_html(shelf: Shelf, words: Words) -> str:
    """A line for each document, numbered on through the pages."""
    if not shelf.documents and shelf.page == 0:
        return words("library-none", name=shelf.name) if shelf.name else words("library-empty")
    title = words("library-title", count=shelf.total)
    if shelf.name:
        title += " · " + words("library-named", name=shelf.name)
    if shelf.pages > 1:
        title += " · " + words("library-page", page=shelf.page + 1, pages=shelf.pages)
    lines = [f"{_number(shelf, index)}. {_line(card, words)}" for index, card in enumerate(shelf.documents)]
    return f"{title}\n\n" + "\n".join(lines)


def shelf_keyboard(shelf: Shelf, words: Words) -> InlineKeyboardMarkup | None:
    """A number for each document, ‹ and › where there is more, and from what was searched for back to the whole."""
    numbers = [
        button(str(_number(shelf, index)), OpenDocument(document=card.id, page=shelf.page))
        for index, card in enumerate(shelf.documents)
    ]
    before = [button("‹", ListPage(page=shelf.page - 1, name=shelf.name))] if shelf.page > 0 else []
    after = [button("›", ListPage(page=shelf.page + 1, name=shelf.name))] if shelf.page + 1 < shelf.pages else []
    search = [button("🔍", SearchDocuments())] if shelf.documents or shelf.name else []
    whole = [button(words.plain("button-back"), ListPage(page=0))] if shelf.name else []
    return rows(*in_rows(numbers, NUMBERS_IN_A_ROW), [*before, *search, *after], whole)


def card_html(card: DocumentCard, words: Words) -> str:
    """What is known of a document."""
    title = words.plain("library-line", sign=sign_of(card), title=shortened(name_of(card), TITLE_CHARACTERS))
    facts = [
        _stage(card, words),
        size_of(card, words) if card.pages or card.duration_s or card.parts else "",
        words("receipt-passages", count=card.chunks) if card.chunks else "",
        words("receipt-language", code=card.language) if card.language else "",
        words("card-version", number=card.version) if card.version > 1 else "",
        words("card-published", day=card.published_at) if card.published_at else "",
        words("card-added", day=card.created_at),
    ]
    lines = [words("card-title", title=title), " · ".join(filter(None, facts))]
    if card.leaves_at:
        lines.append(words("receipt-leaves", until=words.until(card.leaves_at)))
    if card.author:
        lines.append(words("card-author", author=shortened(card.author, TITLE_CHARACTERS)))
    if card.source_type in ADDRESSED or card.url:
        lines.append(
            words(
                "card-source",
                source=shortened(readable_address(card.url or card.source_identifier), ADDRESS_CHARACTERS),
            )
        )
    if card.unread:
        lines.append(words("receipt-unread", **unread_values(card, words)))
    if card.status is DocumentStatus.FAILED:
        lines.append(failure_sentence(card, words))
    if card.next_failure is not None:
        failed = replace(card, error_code=card.next_failure.code, error_params=card.next_failure.params)
        lines.append(f"{words('card-not-refreshed')} {failure_sentence(failed, words)}")
    return "\n".join(lines)


def card_keyboard(card: DocumentCard, words: Words, *, page: int) -> InlineKeyboardMarkup | None:
    """What can be done with it, and the way back to the list."""
    is_ready = card.status is DocumentStatus.READY
    read = [
        button(words.plain("button-ask"), AskAbout(document=card.id)),
        button(words.plain("button-text"), ReadDocument(document=card.id)),
    ]
    original = [button(words.plain("button-original"), ShowOriginal(document=card.id))]
    refresh = [button(words.plain("button-refresh"), Refresh(document=card.id))]
    versions = [button(words.plain("button-versions", count=card.version), ShowVersions(document=card.id))]
    return rows(
        choice_buttons(card, words) if card.status is DocumentStatus.CHOOSING else [],
        read if is_ready else [],
        [button(words.plain("button-stay"), KeepDocument(document=card.id, page=page))] if card.leaves_at else [],
        [*(original if is_ready or card.message_id else []), *(versions if card.version > 1 else [])],
        refresh if card.source_type in ADDRESSED and card.status.is_final else [],
        [
            button(words.plain("button-rename"), Rename(document=card.id)),
            button(words.plain("button-delete"), DeleteDocument(document=card.id, page=page)),
        ],
        [button(words.plain("button-back"), ListPage(page=page))],
    )


def _number(shelf: Shelf, index: int) -> int:
    return shelf.page * PAGE_SIZE + index + 1


def _line(card: DocumentCard, words: Words) -> str:
    title = words("library-line", sign=sign_of(card), title=shortened(name_of(card), LINE_CHARACTERS))
    facts = [_status(card, words), words("library-day", day=card.created_at), LEAVES if card.leaves_at else ""]
    return " · ".join(filter(None, [title, *facts]))


def _status(card: DocumentCard, words: Words) -> str:
    if card.status is DocumentStatus.FAILED:
        return words("library-failed")
    if stage := _stage(card, words):
        return stage
    if card.pages and not card.duration_s:
        return words("library-pages", count=card.pages)
    return size_of(card, words)


def _stage(card: DocumentCard, words: Words) -> str:
    """What is going on with it; empty when nothing is."""
    if card.status is DocumentStatus.CHOOSING:
        return words("library-choosing")
    return "" if card.status.is_final else words("library-working")
