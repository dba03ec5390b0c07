"""Writes an arriving body to disk; its first bytes tell the kind of content, and thereby the size limit.

In: decoded pieces. Out: a file within its limit, and the kind of its content. It knows no HTTP.
"""

from dataclasses import dataclass

from ingestion.fetch.files import HashedFile, Oversize
from ingestion.fetch.media import HEAD_BYTES, Content, may_be_document, recognise


@dataclass(frozen=True, kw_only=True)
class DownloadLimits:
    """Limits for one address. Bytes are counted after decompression."""

    total_s: float  # for a page; files get more, see `file_patience`
    page_bytes: int
    file_bytes: int = 0  # 0: no files
    file_patience: float = 4.0  # a file may take this many times the seconds of a page
    documents_only: bool = False  # only files that may hold text: no pictures, recordings, archives
    cut: bool = False  # truncate a body at the limit instead of refusing it

    @property
    def most_bytes(self) -> int:
        """The limit while the kind of the body is unknown."""
        return max(self.page_bytes, self.file_bytes)


class Unwanted(Exception):
    """A body of a kind that was not requested; the message is its declared type."""


class ArrivingBody:
    """A body that is being received."""

    def __init__(self, file: HashedFile, media_type: str, limits: DownloadLimits) -> None:
        self.head = b""
        self.content: Content | None = None  # None until enough bytes have come
        self._file = file
        self._media_type = media_type
        self._limits = limits

    def take(self, piece: bytes) -> bool:
        """Write a piece; False when the limit is reached and the rest is not wanted. Raises Oversize, Unwanted."""
        if self.content is None:
            self.head = (self.head + piece)[:HEAD_BYTES]
            if len(self.head) == HEAD_BYTES:
                self._recognise()
        room = self._limit_bytes() - self._file.size_bytes
        if len(piece) <= room:
            self._file.write(piece)
            return True
        if not self._limits.cut:
            raise Oversize(self._limit_bytes())
        self._file.write(piece[:room])
        return False

    def finish(self) -> Content:
        """The kind of the content. Raises Unwanted."""
        return self.content or self._recognise()

    def _recognise(self) -> Content:
        self.content = recognise(self._media_type, self.head)
        if self.content is Content.FILE and not self._is_wanted_file():
            raise Unwanted(self._media_type)
        return self.content

    def _is_wanted_file(self) -> bool:
        return self._limits.file_bytes > 0 and (not self._limits.documents_only or may_be_document(self._media_type))

    def _limit_bytes(self) -> int:
        if self.content is None:
            return self._limits.most_bytes
        return self._limits.file_bytes if self.content is Content.FILE else self._limits.page_bytes
