"""A file that comes with a request, and the request's other fields.

In: a `multipart/form-data` body. Out: the file on disk and the text fields; the body is never whole in memory, and the
file is gone with the context unless somebody has stored it. It says nothing about what the file is.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from api.problems import Problem
from api.services import ApiServices
from ingestion.files import HashedFile, Oversize, document_folder
from ingestion.intake import one_line

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MULTIPART = "multipart/form-data"
FIELD_BYTES = 4000
MOST_PARTS = 10
FORM_BYTES = 256 * 1024  # of a form beside its file
NAME_CHARACTERS = 255


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file of a request."""

    path: Path
    name: str
    media_type: str | None  # as the sender claims
    size_bytes: int
    sha256: str  # hex
    fields: Mapping[str, str]  # the text fields beside it


@asynccontextmanager
async def received(request: Request, services: ApiServices) -> AsyncIterator[Upload]:
    """Raises Problem 422 for a body without one file or that is no form, 413 for a file beyond the limit."""
    _, options = parse_options_header(request.headers.get("content-type", ""))
    with document_folder(services.scratch) as folder, ExitStack() as stack:
        form = _Form(folder / "upload", services.file_bytes, stack)
        try:
            parser = MultipartParser(options.get(b"boundary", b""), form.callbacks())
            async for piece in request.stream():
                parser.write(piece)
            parser.finalize()
        except Oversize as error:
            raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE) from error
        except FormParserError as error:
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY) from error
        if form.file is None or not form.name or not form.is_over:
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY)
        stack.close()
        yield Upload(
            path=form.file.path,
            name=form.name,
            media_type=form.media_type,
            size_bytes=form.file.size_bytes,
            sha256=form.file.sha256,
            fields={name: _decoded(bytes(value)) for name, value in form.fields.items()},
        )


class _Form:
    """Takes what the parser finds. Raises FormParserError for what we do not take, Oversize."""

    def __init__(self, target: Path, limit_bytes: int, stack: ExitStack) -> None:
        self._target, self._limit_bytes, self._stack = target, limit_bytes, stack
        self._header, self._value, self._headers = bytearray(), bytearray(), dict[str, bytes]()
        self._text: bytearray | None = None  # of the text field that is being read; None: of the file
        self._parts = 0
        self.fields: dict[str, bytearray] = {}
        self.file: HashedFile | None = None
        self.name, self.is_over = "", False
        self.media_type: str | None = None

    def callbacks(self) -> "MultipartCallbacks":
        """By the parser's names."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": self._open,
            "on_part_data": self._take,
            "on_end": self._end,
        }

    def _begin(self) -> None:
        self._headers, self._parts = {}, self._parts + 1
        if self._parts > MOST_PARTS:
            raise FormParserError("too many parts")

    def _end_header(self) -> None:
        self._headers[self._header.decode("latin-1").lower()] = bytes(self._value)
        self._header, self._value = bytearray(), bytearray()

    def _open(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        if b"filename" not in options:
            self._text = self.fields.setdefault(_decoded(options.get(b"name", b"")), bytearray())
            return
        if self.file is not None:
            raise FormParserError("a second file")
        self.name = one_line(_decoded(options[b"filename"]).replace("\\", "/").rpartition("/")[2])[:NAME_CHARACTERS]
        self.media_type = _decoded(self._headers.get("content-type", b"")).partition(";")[0].strip() or None
        self._text, self.file = None, HashedFile(self._target, limit_bytes=self._limit_bytes)
        self._stack.enter_context(self.file)

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._text is None and self.file is not None:
            self.file.write(data[start:end])
        elif self._text is not None:
            self._text.extend(data[start:end])
            if len(self._text) > FIELD_BYTES:
                raise FormParserError("a text field is too long")

    def _end(self) -> None:
        self.is_over = True


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", errors="replace")
