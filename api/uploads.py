"""A file that comes with a request, and the request's other fields.

In: a `multipart/form-data` body. Out: the file and the text fields. The body is never whole in memory, and the file is
gone with the context unless somebody has stored it. It says nothing about what the file is.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, BinaryIO

from fastapi import Request
from starlette.datastructures import UploadFile

from api.problems import Problem
from ingestion.intake import one_line

MULTIPART = "multipart/form-data"
FIELD_BYTES = 4000
MOST_FIELDS = 9
FORM_BYTES = 256 * 1024  # of a form beside its file
NAME_CHARACTERS = 255


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file of a request."""

    content: BinaryIO
    name: str
    media_type: str | None  # as the sender claims
    size_bytes: int
    sha256: str  # hex
    fields: Mapping[str, str]  # the text fields beside it


@asynccontextmanager
async def received(request: Request, *, most_bytes: int) -> AsyncIterator[Upload]:
    """Raises Problem or HTTPException: 422 for a body without one file or that is no form, 413 for a larger file."""
    async with request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=FIELD_BYTES) as form:
        file = next((value for value in form.values() if isinstance(value, UploadFile)), None)
        name = one_line((file.filename or "").replace("\\", "/").rpartition("/")[2]) if file else ""
        if file is None or not name:
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY)
        size_bytes = file.size or 0
        if size_bytes > most_bytes:
            raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        content: Any = file.file  # typed as BinaryIO, which does not tell of `readinto`
        digest = await asyncio.to_thread(hashlib.file_digest, content, "sha256")
        await file.seek(0)
        yield Upload(
            content=content,
            name=name[:NAME_CHARACTERS],
            media_type=(file.content_type or "").partition(";")[0].strip() or None,
            size_bytes=size_bytes,
            sha256=digest.hexdigest(),
            fields={name: value for name, value in form.items() if isinstance(value, str)},
        )
