"""Why a source cannot be read: errors that carry a locale key, and whether a retry helps.

In: nothing. Out: exceptions. `code` is a key of `bot/locales` (`error-<code>`), `params` are its parameters. The texts
themselves are in the locales.
"""

from enum import StrEnum

from domain.locator import JsonValue
from ingestion.records import Failure


class FailureCode(StrEnum):
    """Every failure a person can be shown; each has a sentence `error-<value>` in both locales (tested)."""

    FILE_TOO_LARGE = "file-too-large"  # name, limit_mb
    FILE_EMPTY = "file-empty"  # name
    FILE_ENCRYPTED = "file-encrypted"  # name
    FILE_DAMAGED = "file-damaged"  # name
    FILE_UNSUPPORTED = "file-unsupported"  # name
    FILE_WITHOUT_TEXT = "file-without-text"  # name (scans only)
    FILE_NEEDS_SCRIPT = "file-needs-script"  # name (a page that scripts build in the browser)
    FILE_NEEDS_LOGIN = "file-needs-login"  # name (a page that needs a login, or keeps robots out)
    FILE_GONE = "file-gone"  # name (Telegram or the disk no longer has it)
    FILE_TOO_SLOW = "file-too-slow"  # name, seconds
    FILE_TOO_HEAVY = "file-too-heavy"  # name (memory or output limit)
    FILE_ARCHIVE_EMPTY = "file-archive-empty"  # name (nothing in it that Baza can read)
    FILE_NEEDS_RECOGNITION = "file-needs-recognition"  # name (a picture, but no OCR is set up)
    FILE_NEEDS_HEARING = "file-needs-hearing"  # name (a recording, but no speech model is set up)
    FILE_WITHOUT_WORDS = "file-without-words"  # name (a picture in which no words were found)
    FILE_WITHOUT_SPEECH = "file-without-speech"  # name (a recording in which nothing is said)
    FILE_TOO_LONG = "file-too-long"  # name, minutes (a recording)
    VIDEO_UNAVAILABLE = "video-unavailable"  # host (removed, private, or for members only)
    VIDEO_REFUSED = "video-refused"  # host (it does not serve servers)
    VIDEO_LIVE = "video-live"  # host (still live)
    SITE_FORBIDS = "site-forbids"  # host (by its robots.txt)
    SITE_WITHOUT_TEXT = "site-without-text"  # host
    PAGE_ADDRESS_FORBIDDEN = "page-address-forbidden"  # host
    PAGE_ADDRESS_INVALID = "page-address-invalid"  # url
    PAGE_NOT_FOUND_HOST = "page-not-found-host"  # host
    PAGE_UNREACHABLE = "page-unreachable"  # host
    PAGE_STATUS = "page-status"  # host, status
    PAGE_TOO_LARGE = "page-too-large"  # host, limit_mb
    PAGE_TOO_SLOW = "page-too-slow"  # host, seconds
    PAGE_TOO_MANY_REDIRECTS = "page-too-many-redirects"  # host
    PAGE_TYPE = "page-type"  # host, media_type
    PAGE_WITHOUT_TEXT = "page-without-text"  # host
    BASE_FULL = "base-full"  # name, most (the base's limit of passages)
    BASE_WITHOUT_ROOM = "base-without-room"  # name, passages (of the document), most (the base's limit)
    DUPLICATE = "duplicate"  # document_id, title, created_at
    CANCELLED = "cancelled"
    SKIPPED = "skipped"  # the person keeps the document that the base had under this name
    SERVICE_REFUSED = "service-refused"  # service: a wrong key or an empty balance
    SERVICE_AWAY = "service-away"  # service: given up after all attempts
    DAY_SPENT = "day-spent"  # until: the sender's models have cost as much as they may in a day
    INTERNAL = "internal"  # a bug; the log has the traceback


class IngestionError(Exception):
    """The source could not be read."""

    def __init__(self, code: FailureCode, *, detail: str = "", **params: JsonValue) -> None:
        super().__init__(f"{code}: {detail}" if detail else str(code))
        self.code = code
        self.params = params
        self.detail = detail

    @property
    def failure(self) -> Failure:
        """The same as a record for the database."""
        return Failure(code=self.code.value, params=dict(self.params), detail=self.detail)


class SourceError(IngestionError):
    """The source itself is at fault: a retry does not help until the person does something."""


class ServiceError(IngestionError):
    """A service is away or refuses: the document is kept and retried."""

    def __init__(
        self, code: FailureCode, *, retry_after_s: float | None = None, detail: str = "", **params: JsonValue
    ) -> None:
        super().__init__(code, detail=detail, **params)
        self.retry_after_s = retry_after_s


class WindowTooLarge(Exception):
    """The embedder refused a window for its length; `indexing.embed` splits it and asks again."""


class HoldsLink(Exception):
    """The file is a saved web address and nothing else."""

    def __init__(self, address: str) -> None:
        super().__init__("a saved link")
        self.address = address


class TooManyWaiting(Exception):
    """The sender has as many documents waiting as one person may have (`most`); none of this message was stored."""

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} documents are waiting")
        self.most = most


class LeaseLost(Exception):
    """Another worker holds this document now, or it was cancelled or deleted: stop, and store nothing more."""
