"""The state of one document in words: its progress, or the receipt.

In: a `DocumentCard`. Out: HTML, in full or as one line of a list. The texts are in `locales/*/base.ftl`.
"""

from datetime import datetime, timedelta

from bot.replies.names import failure_sentence, listed, moment_of, service_name, shortened
from bot.texts import Value, Words
from domain.documents import DocumentCard, DocumentStatus, SourceType
from domain.visible import readable_address
from ingestion.errors import FailureCode

TITLE_CHARACTERS = 80
PAGES_NAMED = 8  # pages without text that are listed; the others are counted
PARTS_NAMED = 4  # unread parts that are listed; the others are counted
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


def unread_values(document: DocumentCard, words: Words) -> dict[str, Value]:
    """Values for `receipt-unread`: how many parts could not be read, which ones and why. The file name of a captioned
    photo is a number, so the document's name stands for it."""
    said = []
    for part in document.unread:
        name = document.name if part.name == document.source_identifier else readable_address(part.name)
        said.append(words.plain("unread-part", name=shortened(name, 50), code=part.code or ""))
    return {"count": len(said), "parts": listed(said, PARTS_NAMED, words)}


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
