"""The list of documents, a document's card, its text page by page, and its versions.

In: cards of the library, blocks, versions. Out: HTML and keyboards. It reads no store.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aiogram.types import InlineKeyboardMarkup

from bot import keyboards as press
from bot.keyboards import DISMISS, Shown, button, in_rows, rows
from bot.replies.names import failure_sentence, shortened, sign_of
from bot.replies.readings import TITLE_CHARACTERS, size_of, unread_values
from bot.replies.receipts import choice_buttons
from bot.replies.rich import BOLD, rich, split_rich, to_html
from bot.texts import Words
from domain.documents import DocumentCard, DocumentStatus, Removed, SourceType
from domain.visible import readable_address
from ingestion.records import Block

ADDRESSED = frozenset({SourceType.LINK, SourceType.SITE})  # can be refreshed, and are shown with their address
LEAVES = "⏱"  # marks temporary documents in the list; the card says when they are removed
PAGE_SIZE = 8
LINE_CHARACTERS = 42  # of a title in the list: with its date it seldom takes more than two lines on a phone


def text_page(card: DocumentCard, blocks: Sequence[Block], words: Words, *, part: int) -> Shown:
    """The `part`-th message (from 0) that the whole text would take, with ‹ and › to its neighbours."""
    heading = rich(f"{sign_of(card)} {shortened(card.name, TITLE_CHARACTERS)}", BOLD)
    text = "\n\n".join(block.text for block in blocks) or words.plain("text-none")
    pieces = split_rich(heading + rich("\n\n" + text))
    part = max(0, min(part, len(pieces) - 1))
    before = [button("‹", press.ReadDocument(document=card.id, part=part - 1))] if part else []
    after = [button("›", press.ReadDocument(document=card.id, part=part + 1))] if part + 1 < len(pieces) else []
    back = [button(words.plain("button-to-card"), press.OpenDocument(document=card.id))]
    return to_html(pieces[part]), rows([*before, *after], back)


def versions_html(versions: Sequence[DocumentCard], words: Words) -> str:
    """The newest first, with day and size. Earlier versions have no passages, but pages, parts or minutes."""
    lines = [words("versions-title", title=shortened(versions[0].name, TITLE_CHARACTERS))]
    for card in versions:
        line = words("version-line", number=card.version, day=card.created_at)
        has_size = card.pages or card.parts or card.duration_s or card.chunks
        lines.append(f"{line} · {size_of(card, words)}" if has_size else line)
    return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class LibraryPage:
    """A page of the library; `number` counts from 0."""

    documents: tuple[DocumentCard, ...]
    held: Removed  # how many there are, on all pages
    number: int
    name: str = ""  # only documents with this in their names are listed; empty: all

    @property
    def pages(self) -> int:
        """At least 1."""
        return max(1, -(-(self.held.documents + self.held.others) // PAGE_SIZE))


def page_html(page: LibraryPage, words: Words) -> str:
    """A line for each document; the numbering continues across pages."""
    if not page.documents and page.number == 0:
        return words("library-none", name=page.name) if page.name else words("library-empty")
    title = [
        words("library-title", count=page.held.documents),
        words("library-choices", count=page.held.choosing) if page.held.choosing else "",
        words("library-waiting", count=page.held.waiting) if page.held.waiting else "",
        words("library-named", name=page.name) if page.name else "",
        words("library-page", page=page.number + 1, pages=page.pages) if page.pages > 1 else "",
    ]
    lines = []
    for number, card in enumerate(page.documents, start=page.number * PAGE_SIZE + 1):
        facts = [_status(card, words), words("library-day", day=card.created_at), LEAVES if card.expires_at else ""]
        lines.append(f"{number}. {' · '.join(filter(None, [_title(card, words), *facts]))}")
    read = sum(card.status is not DocumentStatus.FAILED for card in page.documents)
    failed = [words("library-failures", count=page.held.failed), *lines[read:]] if read < len(lines) else []
    return "\n\n".join("\n".join(part) for part in ([" · ".join(filter(None, title))], lines[:read], failed) if part)


def page_keyboard(page: LibraryPage, words: Words) -> InlineKeyboardMarkup | None:
    """A numbered button for each document, ‹ and › to other pages, and from search results a way back to all."""
    numbers = [
        button(str(number), press.OpenDocument(document=card.id, page=page.number))
        for number, card in enumerate(page.documents, start=page.number * PAGE_SIZE + 1)
    ]
    before = [button("‹", press.ListPage(page=page.number - 1, name=page.name))] if page.number > 0 else []
    after = [button("›", press.ListPage(page=page.number + 1, name=page.name))] if page.number + 1 < page.pages else []
    search = [button("🔍", press.SearchDocuments())] if page.documents or page.name else []
    whole = [button(words.plain("button-back"), press.ListPage(page=0))] if page.name else []
    has_failed = any(card.status is DocumentStatus.FAILED for card in page.documents)
    dismiss = [button(words.plain("button-dismiss"), DISMISS)] if has_failed else []
    return rows(*in_rows(numbers, 4), [*before, *search, *after], dismiss, whole)


def card_html(card: DocumentCard, words: Words) -> str:
    """What is known of a document."""
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
    return "\n".join(lines)


def card_keyboard(card: DocumentCard, words: Words, *, page: int) -> InlineKeyboardMarkup | None:
    """The actions on a document, and the way back to the list."""
    is_ready, document = card.status is DocumentStatus.READY, card.id
    choices = choice_buttons(card, words) if card.status is DocumentStatus.CHOOSING else []
    offers: list[list[tuple[str, press.OfDocument, object]]] = [  # label, what it does, and whether it is offered
        [
            ("ask", press.AskAbout(document=document), is_ready),
            ("text", press.ReadDocument(document=document), is_ready),
        ],
        [("stay", press.KeepDocument(document=document, page=page), card.expires_at)],
        [
            ("original", press.ShowOriginal(document=document), is_ready or card.message_id),
            ("versions", press.ShowVersions(document=document), card.version > 1),
        ],
        [("refresh", press.Refresh(document=document), card.source_type in ADDRESSED and card.status.is_final)],
        [
            ("rename", press.Rename(document=document), True),
            ("delete", press.DeleteDocument(document=document, page=page), True),
        ],
        [("send-over", press.SendOver(document=document), is_ready)],
    ]
    values = {"versions": {"count": card.version}}
    lines = [
        [
            button(words.plain(f"button-{key}", **values.get(key, {})), data)
            for key, data, is_offered in line
            if is_offered
        ]
        for line in offers
    ]
    return rows(*choices, *lines, [button(words.plain("button-back"), press.ListPage(page=page))])


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
