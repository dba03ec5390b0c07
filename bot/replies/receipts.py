"""The live message of a batch: progress while it is read, then the receipt.

In: the documents of a `Notice`, and what a new version changed. Out: HTML of at most 4096 characters and buttons. The
text for a single document comes from `readings`; the wording is in `locales/*/base.ftl`.
"""

from collections.abc import Mapping, Sequence

from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup

from bot import keyboards as press
from bot.keyboards import BUTTON_CHARACTERS, Shown, button, rows, worded
from bot.replies.names import listed, shortened
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
