"""The live message of a batch: progress while it is read, then the receipt.

In: the documents of a `Notice`, and what a new version changed. Out: HTML of at most 4096 characters and buttons; of a
single document its state in full, or as one line of a list. The wording is in `locales/*/base.ftl`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot import keyboards as press
from bot.keyboards import BUTTON_CHARACTERS, Shown, button, rows, worded
from bot.replies.names import failure_sentence, listed, moment_of, service_name, shortened, unread_values
from bot.replies.rich import MESSAGE_LIMIT, utf16_length
from bot.texts import Words
from domain.documents import Choice, DocumentCard, DocumentStatus, SourceType
from domain.ids import DocumentId
from ingestion.changes import Changes, Edit
from ingestion.errors import FailureCode

TITLE_CHARACTERS = 80
PAGES_NAMED = 8  # pages without text that are listed; the others are counted
_SIGNS_OF_ENDS = {DocumentStatus.FAILED: "⚠️", DocumentStatus.DUPLICATE: "✅"}  # in a list, as visual guides
_SAID = {
    DocumentStatus.CHOOSING: "choice-question",
    DocumentStatus.CANCELLED: "receipt-cancelled",
    DocumentStatus.SUPERSEDED: "receipt-superseded",
}


def describe(document: DocumentCard, words: Words) -> str:
    status = document.status
    if status is DocumentStatus.FAILED or document.error_code == FailureCode.SKIPPED:
        return failure_sentence(document, words)
    if status in _SAID:
        return words(_SAID[status], title=_title(document))
    told = {DocumentStatus.QUEUED: _queued, DocumentStatus.READY: _ready, DocumentStatus.DUPLICATE: _duplicate}
    return told.get(status, _progress)(document, words)


def describe_in_line(document: DocumentCard, words: Words) -> str:
    """The same as one line of a list. What could not be read, and why, is on the document's card."""
    if document.status is DocumentStatus.READY:
        parts = [words("receipt-line", title=_title(document), size=size_of(document, words))]
        if document.unread:
            is_whole = [part.name for part in document.unread] == [document.source_identifier]
            parts.append(words("receipt-only-words" if is_whole else "receipt-not-all"))
        if document.expires_at:
            parts.append(words.until(document.expires_at))
        return " · ".join(parts)
    text = describe(document, words).split("\n", 1)[0]
    sign = _SIGNS_OF_ENDS.get(document.status, "")
    return f"{sign} {text}" if sign and text[0] != "🔒" else text


def size_of(document: DocumentCard, words: Words) -> str:
    """Duration, pages or parts if the document has any, else passages."""
    return next(iter(_sizes(document, words)), words.plain("receipt-passages", count=document.chunks))


def _sizes(document: DocumentCard, words: Words) -> list[str]:
    parts = "receipt-site-pages" if document.source_type is SourceType.SITE else "receipt-files"
    counted = {"receipt-pages": document.pages, parts: document.parts}
    length = timedelta(seconds=document.duration_s or 0)
    duration = [words.plain("receipt-duration", length=length)] if document.duration_s else []
    return duration + [words.plain(key, count=count) for key, count in counted.items() if count]


def _title(document: DocumentCard) -> str:
    return shortened(document.name, TITLE_CHARACTERS)


def _queued(document: DocumentCard, words: Words) -> str:
    if until := moment_of(document.error_params.get("until")):
        return words("progress-day-spent", title=_title(document), until=words.until(until + timedelta(minutes=1)))
    if document.waits_for_service:
        service = service_name(document.error_params, words)
        return words("progress-waiting", title=_title(document), service=service)
    if document.ahead:
        return words("progress-queued-behind", title=_title(document), count=document.ahead)
    return words("progress-queued", title=_title(document))


def _progress(document: DocumentCard, words: Words) -> str:
    """How far a stage is, and how much can be searched before it ends. Of a download a percentage, as bytes mean little
    to people, but of a site its pages."""
    title, done, total = _title(document), document.progress_done, document.progress_total
    key = f"progress-{document.status.value}"
    if total <= 1:
        return words(key, title=title)
    if document.status is DocumentStatus.FETCHING and document.source_type is not SourceType.SITE:
        return words("progress-fetching-percent", title=title, percent=min(100, 100 * done // total))
    is_time = document.status is DocumentStatus.LISTENING
    shown = [timedelta(seconds=each) if is_time else each for each in (done, total)]
    text = words(f"{key}-of", title=title, done=shown[0], total=shown[1])
    if not document.searchable or total <= document.searchable:
        return text
    return f"{text}\n{words('progress-searchable', percent=100 * document.searchable // total)}"


def _ready(document: DocumentCard, words: Words) -> str:
    if document.error_params.get("captioned"):
        key = "receipt-captioned"
    elif document.version > 1:
        key = "receipt-replaced"
    else:
        key = "receipt-read" if document.expires_at else "receipt-ready"
    seconds = document.seconds  # shown whole; in tenths under a second
    took = None if seconds is None else round(seconds) if seconds >= 1 else max(round(seconds, 1), 0.1)
    facts = [
        *_sizes(document, words),
        words("receipt-passages", count=document.chunks),
        words("receipt-language", code=document.language) if document.language else "",
        words("receipt-seconds", count=took) if took is not None else "",
    ]
    lines = [words(key, title=_title(document)), " · ".join(filter(None, facts))]
    if pages := [str(page) for page in document.pages_without_text]:
        is_short = 1 < len(pages) <= PAGES_NAMED
        whole = words.plain("list-and", first=", ".join(pages[:-1]), last=pages[-1]) if is_short else ""
        shown = whole or listed(pages, PAGES_NAMED, words)
        lines.append(words("receipt-without-text", count=len(pages), pages=shown))
    if document.unread:
        lines.append(words("receipt-unread", **unread_values(document, words)))
    if document.expires_at:
        lines.append(words("receipt-leaves", until=words.until(document.expires_at)))
    return "\n".join(lines)


def _duplicate(document: DocumentCard, words: Words) -> str:
    """The base has it. Where it was there temporarily, it stays for good now, or its day has begun again; a refreshed
    link without changes, and a file sent again while its question is open, have texts of their own."""
    told, title = document.error_params, _title(document)
    if "stays_until" in told:
        if not isinstance(until := told["stays_until"], str):
            return words("receipt-stays", title=title)
        return words("receipt-read-before", title=title, until=words.until(datetime.fromisoformat(until)))
    if told.get("unchanged") or told.get("asked"):
        return words("receipt-unchanged" if told.get("unchanged") else "receipt-asked", title=title)
    return failure_sentence(document, words)


NAMED = 3
HEADING_CHARACTERS = 40
QUESTIONS = 4  # documents of a batch that ask their question at once; the next ask when these are answered
CANCEL_BUTTONS = 4
TAKEN_BACK = 4  # documents of a batch; of more, /docs shows each
ChangeLines = Mapping[DocumentId, str]  # what a new version changed, as a sentence in HTML


def changes_line(changes: Changes, words: Words) -> str:
    """Added and removed sections, then replaced words, then the number of other changed paragraphs."""
    others = changes.paragraphs + max(len(changes.edits) - NAMED, 0)
    parts = [
        _sections("changes-added", changes.added, words),
        _sections("changes-removed", changes.removed, words),
        *(_edit(edit, words) for edit in changes.edits[:NAMED]),
        words.plain("changes-paragraphs", count=others) if others else "",
    ]
    listed = ", ".join(filter(None, parts))
    return words("changes", list=listed) if listed else ""


def _edit(edit: Edit, words: Words) -> str:
    """«в п. 3.2 теперь «120 000 рублей» вместо «100 000 рублей»»"""
    kind = next((kind for kind in ("clause", "row", "section") if getattr(edit, kind)), "nowhere")
    name = getattr(edit, kind, "")
    return words.plain(
        "changes-edit",
        kind=kind,
        name=shortened(name, HEADING_CHARACTERS),
        before=shortened(edit.before, HEADING_CHARACTERS),
        after=shortened(edit.after, HEADING_CHARACTERS),
    )


def _sections(key: str, headings: Sequence[str], words: Words) -> str:
    names = [f"«{shortened(heading, HEADING_CHARACTERS)}»" for heading in headings]
    return words.plain(key, count=len(names), names=listed(names, NAMED, words)) if names else ""


def live_message(
    documents: Sequence[DocumentCard], words: Words, changes: ChangeLines | None = None, *, removed: int = 0
) -> Shown:
    """One document in full, or several as a line each and a total; then how many were `removed` from the base."""
    if not documents:
        return words("receipt-removed", count=removed), None
    too = words("receipt-removed-too", count=removed) if removed else ""
    if len(documents) == 1:
        said = [describe(documents[0], words), (changes or {}).get(documents[0].id, ""), too]
        return "\n".join(filter(None, said)), _keyboard(documents[0], words)
    told = ((describe_in_line(each, words), (changes or {}).get(each.id, "")) for each in documents)
    lines = ["\n".join(filter(None, parts)) for parts in told]
    done = sum(document.status.is_final for document in documents)
    ready = sum(document.status in (DocumentStatus.READY, DocumentStatus.DUPLICATE) for document in documents)
    total = words("receipt-total", total=len(documents), ready=ready)
    if done < len(documents):
        total = words("receipt-total-working", done=done, total=len(documents))
    total = "\n".join(filter(None, [total, too]))
    shown, html = len(lines), "\n".join(lines) + f"\n\n{total}"
    while shown and utf16_length(html) > MESSAGE_LIMIT:
        shown -= 1
        hidden = words("receipt-hidden", count=len(lines) - shown)
        html = "\n".join([*lines[:shown], hidden]) + f"\n\n{total}"
    return html, _batch_buttons(documents, words)


def _keyboard(document: DocumentCard, words: Words) -> InlineKeyboardMarkup | None:
    """The buttons of a document that is alone in its message. «Добавить весь раздел» is for web pages only: a recording
    or a file behind a link has no pages below it."""
    number, original = document.id, document.error_params.get("document_id")
    if document.status is DocumentStatus.CHOOSING:
        return rows(*choice_buttons(document, words))
    if not document.status.is_final:
        return rows([worded(words, "cancel", press.CancelDocument(document=number))])
    if document.status is DocumentStatus.READY:
        is_page = document.source_type is SourceType.LINK and document.pages is None and document.duration_s is None
        return rows(
            [worded(words, "ask", press.AskAbout(document=number)), _take_back(document, words)],
            [worded(words, "stay", press.KeepDocument(document=number)) if document.expires_at else None],
            [worded(words, "section", press.AddSection(document=number)) if is_page else None],
        )
    if document.status is DocumentStatus.DUPLICATE and isinstance(original, str):
        return rows([worded(words, "show", press.OpenDocument(document=original))])
    return None


def _take_back(document: DocumentCard, words: Words, *, named: bool = False) -> InlineKeyboardButton:
    name = f": {_short(document)}" if named else ""
    return button(words.plain("button-take-back") + name, press.TakeBack(document=document.id))


def choice_buttons(document: DocumentCard, words: Words, *, named: bool = False) -> list[list[InlineKeyboardButton]]:
    """The choices for a CHOOSING document in two lines, since three in one are cut off on a phone; when `named` (in a
    list) the first button names the document."""
    labels = [words.plain(f"button-{choice.value.replace('_', '-')}") for choice in Choice]
    labels[0] += f": {_short(document)}" if named else ""
    choices = (press.ChooseVersion(document=document.id, choice=choice) for choice in Choice)
    first, *others = map(button, labels, choices)
    return [[first], others]


def _short(document: DocumentCard) -> str:
    return shortened(document.name, BUTTON_CHARACTERS)


def _batch_buttons(documents: Sequence[DocumentCard], words: Words) -> InlineKeyboardMarkup | None:
    """Questions first, then what cancels unfinished documents; once all are read, to keep or to take them back."""
    if asking := [document for document in documents if document.status is DocumentStatus.CHOOSING]:
        return rows(*(line for document in asking[:QUESTIONS] for line in choice_buttons(document, words, named=True)))
    if working := [document for document in documents if not document.status.is_final]:
        lines = [
            [worded(words, "cancel-one", press.CancelDocument(document=each.id), title=_short(each))]
            for each in working[:CANCEL_BUTTONS]
        ]
        if len(working) > 1 and (batch := working[0].batch_id):
            lines.append([worded(words, "cancel-all", press.CancelBatch(batch=batch))])
        return rows(*lines)
    ready = [document for document in documents if document.status is DocumentStatus.READY]
    batch = next((document.batch_id for document in ready if document.expires_at), None)
    stay = [worded(words, "stay", press.KeepBatch(batch=batch))] if batch else []
    taken_back = [[_take_back(document, words, named=True)] for document in ready] if len(ready) <= TAKEN_BACK else []
    return rows(stay, *taken_back)
