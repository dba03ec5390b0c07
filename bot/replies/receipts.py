"""The live message of a batch: progress while it is read, then the receipt.

In: a `Notice` (or its documents). Out: HTML of at most 4096 characters and buttons. It sends nothing; the texts are
in `locales/*/base.ftl` and `errors.ftl`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot.keyboards import BUTTON_CHARACTERS, AskAbout, CancelDocument, OpenDocument, button, rows
from bot.replies.failures import failure_sentence, service_name
from bot.replies.names import name_of, shortened
from bot.replies.rich import utf16_length
from bot.replies.split import MESSAGE_LIMIT
from bot.texts import Words
from domain.documents import DocumentCard, DocumentStatus

TITLE_CHARACTERS = 80
CANCEL_BUTTONS = 4  # of a batch with several documents
PAGES_NAMED = 8  # of those without text; the rest is counted
_SIGNS_OF_ENDS = {DocumentStatus.FAILED: "⚠️", DocumentStatus.DUPLICATE: "✅"}  # in a list, where signs lead the eye
_OWN_SIGNS = "🔒"  # sentences that have a sign already


@dataclass(frozen=True, kw_only=True)
class LiveMessage:
    """What is shown of a batch; when `is_final` it will not change any more."""

    html: str
    keyboard: InlineKeyboardMarkup | None
    is_final: bool


def live_message(documents: Sequence[DocumentCard], words: Words) -> LiveMessage:
    """One document in full, several as a line each and a total."""
    is_final = all(document.status.is_final for document in documents)
    if len(documents) == 1:
        html, buttons = _describe(documents[0], words), _buttons(documents[0], words)
        return LiveMessage(html=html, keyboard=rows(*buttons), is_final=is_final)
    return LiveMessage(html=_list(documents, words), keyboard=_cancel_buttons(documents, words), is_final=is_final)


def _list(documents: Sequence[DocumentCard], words: Words) -> str:
    """As many lines as fit, and what the total is."""
    lines = [_line(document, words) for document in documents]
    total = _total(documents, words)
    shown = len(lines)
    while shown and utf16_length(text := _joined(lines, shown, total, words)) > MESSAGE_LIMIT:
        shown -= 1
    return text


def _joined(lines: Sequence[str], shown: int, total: str, words: Words) -> str:
    hidden = [words("receipt-hidden", count=len(lines) - shown)] if shown < len(lines) else []
    return "\n".join([*lines[:shown], *hidden]) + f"\n\n{total}"


def _total(documents: Sequence[DocumentCard], words: Words) -> str:
    done = sum(document.status.is_final for document in documents)
    if done < len(documents):
        return words("receipt-total-working", done=done, total=len(documents))
    ready = sum(document.status in (DocumentStatus.READY, DocumentStatus.DUPLICATE) for document in documents)
    return words("receipt-total", total=len(documents), ready=ready)


def _describe(document: DocumentCard, words: Words) -> str:
    return _TEXTS[document.status](document, words)


def _line(document: DocumentCard, words: Words) -> str:
    """The same, short enough to stand among others."""
    if document.status is DocumentStatus.READY:
        size = _size(document, words)
        return words("receipt-line", title=_title(document), size=size)
    text = _describe(document, words)
    sign = _SIGNS_OF_ENDS.get(document.status, "")
    return f"{sign} {text}" if sign and text[0] not in _OWN_SIGNS else text


def _size(document: DocumentCard, words: Words) -> str:
    """Pages where there are any, else passages."""
    if document.pages:
        return words.plain("receipt-pages", count=document.pages)
    return words.plain("receipt-passages", count=document.chunks)


def _title(document: DocumentCard) -> str:
    return shortened(name_of(document), TITLE_CHARACTERS)


def _queued(document: DocumentCard, words: Words) -> str:
    if document.waits_for_service:
        service = service_name(document.error_params, words)
        return words("progress-waiting", title=_title(document), service=service)
    return words("progress-queued", title=_title(document))


def _progress(key: str, counted_key: str) -> Callable[[DocumentCard, Words], str]:
    def describe(document: DocumentCard, words: Words) -> str:
        if document.progress_total <= 1:
            return words(key, title=_title(document))
        counted = {"done": document.progress_done, "total": document.progress_total}
        return words(counted_key, title=_title(document), **counted)

    return describe


def _ready(document: DocumentCard, words: Words) -> str:
    facts = [
        words("receipt-pages", count=document.pages) if document.pages else "",
        words("receipt-passages", count=document.chunks),
        words("receipt-language", code=document.language) if document.language else "",
        words("receipt-seconds", count=_seconds(document.seconds)) if document.seconds is not None else "",
    ]
    lines = [words("receipt-ready", title=_title(document)), " · ".join(filter(None, facts))]
    if document.pages_without_text:
        lines.append(_without_text(document.pages_without_text, words))
    return "\n".join(lines)


def _seconds(seconds: float) -> float:
    """Whole seconds, but tenths of a short time."""
    return round(seconds) if seconds >= 1 else max(round(seconds, 1), 0.1)


def _without_text(pages: Sequence[int], words: Words) -> str:
    named = [str(page) for page in pages[:PAGES_NAMED]]
    if len(pages) > PAGES_NAMED:
        listed = words.plain("list-more", first=", ".join(named), count=len(pages) - PAGES_NAMED)
    elif len(pages) > 1:
        listed = words.plain("list-and", first=", ".join(named[:-1]), last=named[-1])
    else:
        listed = named[0]
    return words("receipt-without-text", count=len(pages), pages=listed)


def _failed(document: DocumentCard, words: Words) -> str:
    return failure_sentence(document, words)


_TEXTS: Mapping[DocumentStatus, Callable[[DocumentCard, Words], str]] = {
    DocumentStatus.QUEUED: _queued,
    DocumentStatus.FETCHING: lambda document, words: words("progress-fetching", title=_title(document)),
    DocumentStatus.PARSING: _progress("progress-parsing", "progress-parsing-pages"),
    DocumentStatus.EMBEDDING: _progress("progress-embedding", "progress-embedding-passages"),
    DocumentStatus.READY: _ready,
    DocumentStatus.FAILED: _failed,
    DocumentStatus.DUPLICATE: _failed,
    DocumentStatus.CANCELLED: lambda document, words: words("receipt-cancelled", title=_title(document)),
    DocumentStatus.SUPERSEDED: lambda document, words: words("receipt-superseded", title=_title(document)),
}


def _buttons(document: DocumentCard, words: Words) -> list[list[InlineKeyboardButton]]:
    if not document.status.is_final:
        return [[button(words.plain("button-cancel"), CancelDocument(document=document.id))]]
    if document.status is DocumentStatus.READY:
        return [[button(words.plain("button-ask"), AskAbout(document=document.id))]]
    original = document.error_params.get("document_id")
    if document.status is DocumentStatus.DUPLICATE and isinstance(original, str):
        return [[button(words.plain("button-show"), OpenDocument(document=original))]]
    return []


def _cancel_buttons(documents: Sequence[DocumentCard], words: Words) -> InlineKeyboardMarkup | None:
    working = [document for document in documents if not document.status.is_final]
    return rows(*([_cancel_button(document, words)] for document in working[:CANCEL_BUTTONS]))


def _cancel_button(document: DocumentCard, words: Words) -> InlineKeyboardButton:
    label = words.plain("button-cancel-one", title=shortened(name_of(document), BUTTON_CHARACTERS))
    return button(label, CancelDocument(document=document.id))
