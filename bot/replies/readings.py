"""The state of one document in words: its progress, or the receipt.

In: a `DocumentCard`. Out: HTML, in full or as one line of a list. The texts are in `locales/*/base.ftl`.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from bot.replies.names import failure_sentence, moment_of, service_name, shortened
from bot.texts import Value, Words
from domain.documents import DocumentCard, DocumentStatus, SourceType, UnreadPart
from domain.visible import readable_address
from ingestion.errors import FailureCode

TITLE_CHARACTERS = 80
PAGES_NAMED = 8  # pages without text that are listed; the others are counted
PARTS_NAMED = 4  # unread parts that are listed; the others are counted
PART_CHARACTERS = 50
_SIGNS_OF_ENDS = {DocumentStatus.FAILED: "⚠️", DocumentStatus.DUPLICATE: "✅"}  # in a list, as visual guides
_OWN_SIGNS = "🔒"  # signs with which a sentence may begin already


def describe(document: DocumentCard, words: Words) -> str:
    """The state of a document in full."""
    return _TEXTS[document.status](document, words)


def describe_in_line(document: DocumentCard, words: Words) -> str:
    """The same as one line of a list."""
    if document.status is DocumentStatus.READY:
        line = words("receipt-line", title=_title(document), size=size_of(document, words))
        until = words.until(document.expires_at) if document.expires_at else ""
        return " · ".join(filter(None, [line, _unread_in_line(document, words), until]))
    text = describe(document, words).split("\n", 1)[0]
    sign = _SIGNS_OF_ENDS.get(document.status, "")
    return f"{sign} {text}" if sign and text[0] not in _OWN_SIGNS else text


def size_of(document: DocumentCard, words: Words) -> str:
    """Duration, pages or parts if the document has any, else passages."""
    if document.duration_s:
        return words.plain("receipt-duration", length=timedelta(seconds=document.duration_s))
    if document.pages:
        return words.plain("receipt-pages", count=document.pages)
    if document.parts:
        return words.plain(_parts_key(document), count=document.parts)
    return words.plain("receipt-passages", count=document.chunks)


def _title(document: DocumentCard) -> str:
    return shortened(document.name, TITLE_CHARACTERS)


def _parts_key(document: DocumentCard) -> str:
    return "receipt-site-pages" if document.source_type is SourceType.SITE else "receipt-files"


def _queued(document: DocumentCard, words: Words) -> str:
    if until := moment_of(document.error_params.get("until")):
        return words("progress-day-spent", title=_title(document), until=words.until(until + timedelta(minutes=1)))
    if document.waits_for_service:
        service = service_name(document.error_params, words)
        return words("progress-waiting", title=_title(document), service=service)
    if document.ahead:
        return words("progress-queued-behind", title=_title(document), count=document.ahead)
    return words("progress-queued", title=_title(document))


def _progress(
    key: str, counted_key: str, *, unit: Callable[[int], Value] = int
) -> Callable[[DocumentCard, Words], str]:
    def tell(document: DocumentCard, words: Words) -> str:
        if document.progress_total <= 1:
            text = words(key, title=_title(document))
        else:
            counted = {"done": unit(document.progress_done), "total": unit(document.progress_total)}
            text = words(counted_key, title=_title(document), **counted)
        return "\n".join(filter(None, [text, _searchable(document, words)]))

    return tell


def _fetching(document: DocumentCard, words: Words) -> str:
    """Progress of a download: counted pages for a site; otherwise a percentage, as bytes mean little to people."""
    if document.source_type is SourceType.SITE or document.progress_total <= 1:
        return _progress("progress-fetching", "progress-fetching-pages")(document, words)
    percent = min(100, 100 * document.progress_done // document.progress_total)
    return words("progress-fetching-percent", title=_title(document), percent=percent)


def _searchable(document: DocumentCard, words: Words) -> str:
    """How much of a document can be searched before its reading ends; empty when nothing can."""
    if not document.searchable or document.progress_total <= document.searchable:
        return ""
    return words("progress-searchable", percent=100 * document.searchable // document.progress_total)


def _ready(document: DocumentCard, words: Words) -> str:
    facts = [
        words("receipt-duration", length=timedelta(seconds=document.duration_s)) if document.duration_s else "",
        words("receipt-pages", count=document.pages) if document.pages else "",
        words(_parts_key(document), count=document.parts) if document.parts else "",
        words("receipt-passages", count=document.chunks),
        words("receipt-language", code=document.language) if document.language else "",
        words("receipt-seconds", count=_seconds(document.seconds)) if document.seconds is not None else "",
    ]
    lines = [words(_ready_key(document), title=_title(document)), " · ".join(filter(None, facts))]
    if document.pages_without_text:
        lines.append(_without_text(document.pages_without_text, words))
    if document.unread:
        lines.append(words("receipt-unread", **unread_values(document, words)))
    if document.expires_at:
        lines.append(words("receipt-leaves", until=words.until(document.expires_at)))
    return "\n".join(lines)


def _ready_key(document: DocumentCard) -> str:
    if document.error_params.get("captioned"):
        return "receipt-captioned"
    if document.version > 1:
        return "receipt-replaced"
    return "receipt-read" if document.expires_at else "receipt-ready"


def _seconds(seconds: float) -> float:
    """Rounded to whole seconds; to tenths (at least 0.1) under a second."""
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


def _unread_in_line(document: DocumentCard, words: Words) -> str:
    """That parts could not be read; the document's card says which and why."""
    if not document.unread:
        return ""
    is_whole = [part.name for part in document.unread] == [document.source_identifier]
    return words("receipt-only-words" if is_whole else "receipt-not-all")


def unread_values(document: DocumentCard, words: Words) -> dict[str, Value]:
    """Values for `receipt-unread`: how many parts could not be read, which ones and why."""
    parts = document.unread
    named = ", ".join(
        words.plain("unread-part", name=_part_name(part, document), code=part.code or "")
        for part in parts[:PARTS_NAMED]
    )
    if len(parts) > PARTS_NAMED:
        named = words.plain("list-more", first=named, count=len(parts) - PARTS_NAMED)
    return {"count": len(parts), "parts": named}


def _part_name(part: UnreadPart, document: DocumentCard) -> str:
    """The part's file name or address. When the part is the document's own file (a captioned photo, whose file name is
    a number), the document's name."""
    name = document.name if part.name == document.source_identifier else readable_address(part.name)
    return shortened(name, PART_CHARACTERS)


def _duplicate(document: DocumentCard, words: Words) -> str:
    """A duplicate. A refreshed link without changes, and a file sent again while its question is still open, have texts
    of their own."""
    if "stays_until" in document.error_params:
        return _read_before(document, words)
    if document.error_params.get("unchanged"):
        return words("receipt-unchanged", title=_title(document))
    if document.error_params.get("asked"):
        return words("receipt-asked", title=_title(document))
    return failure_sentence(document, words)


def _read_before(document: DocumentCard, words: Words) -> str:
    """The same document was in the base temporarily: now it stays for good, or its day has begun again."""
    until = document.error_params["stays_until"]
    if not isinstance(until, str):
        return words("receipt-stays", title=_title(document))
    moment = datetime.fromisoformat(until)
    return words("receipt-read-before", title=_title(document), until=words.until(moment))


def _cancelled(document: DocumentCard, words: Words) -> str:
    """Cancelled by the person, or skipped because the base keeps the earlier document of this name."""
    if document.error_code == FailureCode.SKIPPED:
        return failure_sentence(document, words)
    return words("receipt-cancelled", title=_title(document))


def _length(seconds: int) -> Value:
    return timedelta(seconds=seconds)


_TEXTS: Mapping[DocumentStatus, Callable[[DocumentCard, Words], str]] = {
    DocumentStatus.QUEUED: _queued,
    DocumentStatus.CHOOSING: lambda document, words: words("choice-question", title=_title(document)),
    DocumentStatus.FETCHING: _fetching,
    DocumentStatus.PARSING: _progress("progress-parsing", "progress-parsing-pages"),
    DocumentStatus.RECOGNISING: _progress("progress-recognising", "progress-recognising-pages"),
    DocumentStatus.LISTENING: _progress("progress-listening", "progress-listening-time", unit=_length),
    DocumentStatus.EMBEDDING: _progress("progress-embedding", "progress-embedding-passages"),
    DocumentStatus.READY: _ready,
    DocumentStatus.FAILED: failure_sentence,
    DocumentStatus.DUPLICATE: _duplicate,
    DocumentStatus.CANCELLED: _cancelled,
    DocumentStatus.SUPERSEDED: lambda document, words: words("receipt-superseded", title=_title(document)),
}
