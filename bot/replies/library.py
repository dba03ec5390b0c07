"""The list of documents, a document's card, its text page by page, and its versions.

In: cards of the library, blocks, versions. Out: HTML and keyboards. It reads no store.
"""

from collections.abc import Sequence
from dataclasses import replace

from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot import keyboards as press
from bot.keyboards import DISMISS, Shown, button, in_rows, rows, worded
from bot.replies.names import ADDRESSED, failure_sentence, shortened, sign_of, unread_values
from bot.replies.receipts import TITLE_CHARACTERS, choice_buttons, size_of
from bot.replies.rich import BOLD, rich, split_rich, to_html
from bot.texts import Value, Words
from domain.documents import DocumentCard, DocumentStatus, Removed
from domain.visible import readable_address
from ingestion.records import Block

LEAVES = "⏱"  # marks temporary documents in the list; the card says when they are removed
PAGE_SIZE = 8
LINE_CHARACTERS = 42  # of a title in the list: with its date it seldom takes more than two lines on a phone


def text_page(card: DocumentCard, blocks: Sequence[Block], words: Words, *, part: int) -> Shown:
    """The `part`-th message (from 0) that the whole text would take, with ‹ and › to its neighbours."""
    heading = rich(f"{sign_of(card)} {shortened(card.name, TITLE_CHARACTERS)}", BOLD)
    text = "\n\n".join(block.text for block in blocks) or words.plain("text-none")
    pieces = split_rich(heading + rich("\n\n" + text))
    part = max(0, min(part, len(pieces) - 1))
    before = button("‹", press.ReadDocument(document=card.id, part=part - 1)) if part else None
    after = button("›", press.ReadDocument(document=card.id, part=part + 1)) if part + 1 < len(pieces) else None
    back = worded(words, "to-card", press.OpenDocument(document=card.id))
    return to_html(pieces[part]), rows([before, after], [back])


def versions_html(versions: Sequence[DocumentCard], words: Words) -> str:
    """The newest first, with day and size. Earlier versions have no passages, but pages, parts or minutes."""
    lines = [words("versions-title", title=shortened(versions[0].name, TITLE_CHARACTERS))]
    for card in versions:
        line = words("version-line", number=card.version, day=card.created_at)
        has_size = card.pages or card.parts or card.duration_s or card.chunks
        lines.append(f"{line} · {size_of(card, words)}" if has_size else line)
    return "\n".join(lines)


def page_shown(cards: Sequence[DocumentCard], held: Removed, words: Words, *, page: int, name: str = "") -> Shown:
    """A line and a numbered button for each document of a page (from 0); the numbering continues across pages. `held`
    counts all pages. With `name` only those with it in their names are listed, with a way back to all."""
    pages = -(-(held.documents + held.others) // PAGE_SIZE)
    title = [
        words("library-title", count=held.documents),
        words("library-choices", count=held.choosing) if held.choosing else "",
        words("library-waiting", count=held.waiting) if held.waiting else "",
        words("library-named", name=name) if name else "",
        words("library-page", page=page + 1, pages=pages) if pages > 1 else "",
    ]
    lines, numbers = [], []
    for number, card in enumerate(cards, start=page * PAGE_SIZE + 1):
        facts = [_status(card, words), words("library-day", day=card.created_at), LEAVES if card.expires_at else ""]
        lines.append(f"{number}. {' · '.join(filter(None, [_title(card, words), *facts]))}")
        numbers.append(button(str(number), press.OpenDocument(document=card.id, page=page)))
    read = sum(card.status is not DocumentStatus.FAILED for card in cards)
    failed = [words("library-failures", count=held.failed), *lines[read:]] if read < len(lines) else []
    parts = [[" · ".join(filter(None, title))], lines[:read], failed]
    if not cards:
        parts = [[words("library-none", name=name) if name else words("library-empty")]]
    before = button("‹", press.ListPage(page=page - 1, name=name)) if page else None
    search = button("🔍", press.FIND) if cards or name else None
    after = button("›", press.ListPage(page=page + 1, name=name)) if page + 1 < pages else None
    dismiss = worded(words, "dismiss", DISMISS) if failed else None
    whole = worded(words, "back", press.ListPage(page=0)) if name else None
    keyboard = rows(*in_rows(numbers, 4), [before, search, after], [dismiss], [whole])
    return "\n\n".join("\n".join(part) for part in parts if part), keyboard


def card_shown(card: DocumentCard, words: Words, *, page: int, may_write: bool = True) -> Shown:
    """What is known of a document, what this person may do with it, and the way back to the list."""
    facts = [
        _stage(card, words),
        size_of(card, words) if card.pages or card.duration_s or card.parts else "",
        words("receipt-passages", count=card.chunks) if card.chunks else "",
        words("receipt-language", code=card.language) if card.language else "",
        words("card-version", number=card.version) if card.version > 1 else "",
        words("card-published", day=card.published_at) if card.published_at else "",
        words("card-added", day=card.created_at),
    ]
    lines = [words("card-title", title=_title(card, words, plain=True)), " · ".join(filter(None, facts))]
    if card.expires_at:
        lines.append(words("receipt-leaves", until=words.until(card.expires_at)))
    if card.author:
        lines.append(words("card-author", author=shortened(card.author, LINE_CHARACTERS)))
    if card.source_type in ADDRESSED or card.url:
        address = readable_address(card.url or card.source_identifier)
        lines.append(words("card-source", source=shortened(address, 300)))
    if card.unread:
        lines.append(words("receipt-unread", **unread_values(card, words)))
    if card.status is DocumentStatus.FAILED:
        lines.append(failure_sentence(card, words))
    if card.next_failure is not None:
        failed = replace(card, error_code=card.next_failure.code, error_params=card.next_failure.params)
        lines.append(f"{words('card-not-refreshed')} {failure_sentence(failed, words)}")
    return "\n".join(lines), _card_keyboard(card, words, page, may_write)


def _card_keyboard(card: DocumentCard, words: Words, page: int, may_write: bool) -> InlineKeyboardMarkup | None:
    is_ready, document = card.status is DocumentStatus.READY, card.id

    def offered(key: str, data: press.OfDocument, when: object, **values: Value) -> InlineKeyboardButton | None:
        return worded(words, key, data, **values) if when else None

    is_fetched = may_write and card.source_type in ADDRESSED and card.status.is_final
    versions = card.version if card.version > 1 else 0
    return rows(
        *(choice_buttons(card, words) if may_write and card.status is DocumentStatus.CHOOSING else []),
        [
            offered("ask", press.AskAbout(document=document), is_ready),
            offered("text", press.ReadDocument(document=document), is_ready),
        ],
        [offered("stay", press.KeepDocument(document=document, page=page), may_write and card.expires_at)],
        [
            offered("original", press.ShowOriginal(document=document), is_ready or card.message_id),
            offered("versions", press.ShowVersions(document=document), versions, count=versions),
        ],
        [offered("refresh", press.Refresh(document=document), is_fetched)],
        [
            offered("rename", press.Rename(document=document), may_write),
            offered("delete", press.DeleteDocument(document=document, page=page), may_write),
        ],
        [offered("send-over", press.SendOver(document=document), is_ready)],
        [worded(words, "back", press.ListPage(page=page))],
    )


def _title(card: DocumentCard, words: Words, *, plain: bool = False) -> str:
    say = words.plain if plain else words
    return say("library-line", sign=sign_of(card), title=shortened(card.name, LINE_CHARACTERS))


def _status(card: DocumentCard, words: Words) -> str:
    if card.status is DocumentStatus.FAILED:
        return words("library-failed")
    if stage := _stage(card, words):
        return stage
    if card.pages and not card.duration_s:
        return words("library-pages", count=card.pages)
    return size_of(card, words)


def _stage(card: DocumentCard, words: Words) -> str:
    """That the document waits for a choice or is being read; empty for a final one."""
    if card.status is DocumentStatus.CHOOSING:
        return words("library-choosing")
    return "" if card.status.is_final else words("library-working")
