"""The live message of a batch: progress while it is read, then the receipt.

In: the documents of a `Notice`, and what a new version changed. Out: HTML of at most 4096 characters and buttons. It
sends nothing. The text for a single document comes from `readings`; the wording is in `locales/*/base.ftl`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot import keyboards as press
from bot.keyboards import BUTTON_CHARACTERS, button, rows
from bot.replies.names import shortened
from bot.replies.readings import describe, describe_in_line
from bot.replies.rich import MESSAGE_LIMIT, utf16_length
from bot.texts import Words
from domain.documents import Choice, DocumentCard, DocumentStatus, SourceType
from domain.ids import DocumentId
from ingestion.changes import Changes, Edit

NAMED = 3
HEADING_CHARACTERS = 40
QUESTIONS = 4  # documents of a batch that ask their question at once; the next ask when these are answered
CANCEL_BUTTONS = 4
TAKEN_BACK = 4  # documents of a batch; of more, /docs shows each
ChangeLines = Mapping[DocumentId, str]
"""What a new version changed, as a sentence in HTML."""


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
    kind, name = next(
        ((kind, name) for kind in ("clause", "row", "section") if (name := getattr(edit, kind))), ("nowhere", "")
    )
    return words.plain(
        "changes-edit",
        kind=kind,
        name=shortened(name, HEADING_CHARACTERS),
        before=shortened(edit.before, HEADING_CHARACTERS),
        after=shortened(edit.after, HEADING_CHARACTERS),
    )


def _sections(key: str, headings: Sequence[str], words: Words) -> str:
    if not headings:
        return ""
    named = ", ".join(f"«{shortened(heading, HEADING_CHARACTERS)}»" for heading in headings[:NAMED])
    if len(headings) > NAMED:
        named = words.plain("list-more", first=named, count=len(headings) - NAMED)
    return words.plain(key, count=len(headings), names=named)


@dataclass(frozen=True, kw_only=True)
class LiveMessage:
    """What is shown of a batch; `is_final`: all its documents are final."""

    html: str
    keyboard: InlineKeyboardMarkup | None
    is_final: bool


def live_message(
    documents: Sequence[DocumentCard], words: Words, changes: ChangeLines | None = None, *, removed: int = 0
) -> LiveMessage:
    """One document in full, or several as a line each and a total; then how many were `removed` from the base."""
    is_final = all(document.status.is_final for document in documents)
    if not documents:
        return LiveMessage(html=words("receipt-removed", count=removed), keyboard=None, is_final=is_final)
    too = words("receipt-removed-too", count=removed) if removed else ""
    if len(documents) == 1:
        lines = [describe(documents[0], words), (changes or {}).get(documents[0].id, ""), too]
        keyboard = rows(*_buttons(documents[0], words))
        return LiveMessage(html="\n".join(filter(None, lines)), keyboard=keyboard, is_final=is_final)
    return LiveMessage(
        html=_list(documents, changes or {}, too, words), keyboard=_batch_buttons(documents, words), is_final=is_final
    )


def _list(documents: Sequence[DocumentCard], changes: ChangeLines, too: str, words: Words) -> str:
    """As many lines as fit into a message, and the total."""
    told = ((describe_in_line(document, words), changes.get(document.id, "")) for document in documents)
    lines = ["\n".join(filter(None, pair)) for pair in told]
    total = "\n".join(filter(None, [_total(documents, words), too]))
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


def _buttons(document: DocumentCard, words: Words) -> list[list[InlineKeyboardButton]]:
    """The buttons of a document that is alone in its message."""
    if document.status is DocumentStatus.CHOOSING:
        return choice_buttons(document, words)
    if not document.status.is_final:
        return [[button(words.plain("button-cancel"), press.CancelDocument(document=document.id))]]
    if document.status is DocumentStatus.READY:
        first = [*_ask(document, words), _take_back(document, words)]
        return [first, _stay(document, words), _section(document, words)]
    original = document.error_params.get("document_id")
    if document.status is DocumentStatus.DUPLICATE and isinstance(original, str):
        return [[button(words.plain("button-show"), press.OpenDocument(document=original))]]
    return []


def _ask(document: DocumentCard, words: Words) -> list[InlineKeyboardButton]:
    return [button(words.plain("button-ask"), press.AskAbout(document=document.id))]


def _take_back(document: DocumentCard, words: Words, *, named: bool = False) -> InlineKeyboardButton:
    label = words.plain("button-take-back")
    name = f": {shortened(document.name, BUTTON_CHARACTERS)}" if named else ""
    return button(label + name, press.TakeBack(document=document.id))


def _stay(document: DocumentCard, words: Words) -> list[InlineKeyboardButton]:
    label = words.plain("button-stay")
    return [button(label, press.KeepDocument(document=document.id))] if document.expires_at else []


def _section(document: DocumentCard, words: Words) -> list[InlineKeyboardButton]:
    """«Добавить весь раздел», for web pages only: a recording or a file behind a link has no pages below it."""
    is_page = document.source_type is SourceType.LINK and document.pages is None and document.duration_s is None
    return [button(words.plain("button-section"), press.AddSection(document=document.id))] if is_page else []


def choice_buttons(document: DocumentCard, words: Words, *, named: bool = False) -> list[list[InlineKeyboardButton]]:
    """The choices for a CHOOSING document in two lines, since three in one are cut off on a phone; when `named` (in a
    list) the first button names the document."""
    labels = {choice: words.plain(f"button-{choice.value.replace('_', '-')}") for choice in Choice}
    if named:
        name = shortened(document.name, BUTTON_CHARACTERS)
        labels[Choice.REPLACE] = f"{labels[Choice.REPLACE]}: {name}"
    first, *others = (
        button(label, press.ChooseVersion(document=document.id, choice=each)) for each, label in labels.items()
    )
    return [[first], others]


def _batch_buttons(documents: Sequence[DocumentCard], words: Words) -> InlineKeyboardMarkup | None:
    """Questions first; then buttons to cancel unfinished documents, one by one or all at once."""
    asking = [document for document in documents if document.status is DocumentStatus.CHOOSING]
    if asking:
        return rows(*(line for document in asking[:QUESTIONS] for line in choice_buttons(document, words, named=True)))
    working = [document for document in documents if not document.status.is_final]
    single = [[_cancel_button(document, words)] for document in working[:CANCEL_BUTTONS]]
    batch = working[0].batch_id if len(working) > 1 else None
    whole = [button(words.plain("button-cancel-all"), press.CancelBatch(batch=batch))] if batch else []
    if working:
        return rows(*single, whole)
    ready = [document for document in documents if document.status is DocumentStatus.READY]
    taken_back = [[_take_back(document, words, named=True)] for document in ready] if len(ready) <= TAKEN_BACK else []
    return rows(_stay_all(ready, words), *taken_back)


def _stay_all(ready: Sequence[DocumentCard], words: Words) -> list[InlineKeyboardButton]:
    """«Оставить в базе» for the temporary documents of a batch, once all are read."""
    batch = next((document.batch_id for document in ready if document.expires_at), None)
    return [button(words.plain("button-stay"), press.KeepBatch(batch=batch))] if batch else []


def _cancel_button(document: DocumentCard, words: Words) -> InlineKeyboardButton:
    label = words.plain("button-cancel-one", title=shortened(document.name, BUTTON_CHARACTERS))
    return button(label, press.CancelDocument(document=document.id))
