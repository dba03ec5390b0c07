"""The bytes of the files that Baza keeps itself: in its data folder, or in Supabase Storage.

In: a base and the name of a file in it. Out: its bytes in pieces; no file is ever whole in memory. What is kept, and
for how long, the database knows (`adapters.database.stores.library`); removing what is not there is no error.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO

import httpx

from domain.ids import BaseId, FileId
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.files import READ_BYTES

BUCKET = "baza-files"
STORAGE_S = 60.0  # of silence
SERVICE = "Supabase Storage"


class FolderFiles:
    """In a folder of this machine; meets `ingestion.ports.KeptFiles`, as does `SupabaseFiles`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, base: BaseId, file: FileId, content: BinaryIO) -> None:
        """Take a copy of `content`, which appears whole or not at all."""
        await asyncio.to_thread(self._put, self._place(base, file), content)

    async def read(self, base: BaseId, file: FileId) -> AsyncIterator[bytes]:
        """Raises SourceError FILE_GONE."""
        try:
            source = await asyncio.to_thread(self._place(base, file).open, "rb")
        except FileNotFoundError as error:
            raise _gone("folder") from error
        with source:
            while piece := await asyncio.to_thread(source.read, READ_BYTES):
                yield piece

    async def copy(self, base: BaseId, file: FileId, to: BaseId, copy: FileId) -> None:
        """The same content for another base. Raises SourceError FILE_GONE."""
        try:
            with self._place(base, file).open("rb") as source:
                await asyncio.to_thread(self._put, self._place(to, copy), source)
        except FileNotFoundError as error:
            raise _gone("folder") from error

    async def remove(self, files: Sequence[tuple[BaseId, FileId]]) -> None:
        """Remove them, and the folders of bases that are empty then."""

        def clear() -> None:
            for place in (self._place(base, file) for base, file in files):
                place.unlink(missing_ok=True)
                place.with_suffix(".incoming").unlink(missing_ok=True)
                if place.parent.is_dir() and not any(place.parent.iterdir()):
                    place.parent.rmdir()

        await asyncio.to_thread(clear)

    def _place(self, base: BaseId, file: FileId) -> Path:
        return self._folder / base / file

    def _put(self, place: Path, content: BinaryIO) -> None:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        incoming = place.with_suffix(".incoming")  # of a killed process: overwritten by the next try, or removed
        with incoming.open("wb") as copy:
            shutil.copyfileobj(content, copy, READ_BYTES)
            copy.flush()
            os.fsync(copy.fileno())
        incoming.replace(place)


class SupabaseFiles:
    """In a private bucket of a Supabase project. Make it with `open_supabase_files`."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def put(self, base: BaseId, file: FileId, content: BinaryIO) -> None:
        """Upload it; the bucket is made when it is not there yet. Raises ServiceError."""
        size = await asyncio.to_thread(content.seek, 0, os.SEEK_END)
        headers = {"x-upsert": "true", "Content-Type": "application/octet-stream", "Content-Length": str(size)}
        path = f"object/{BUCKET}/{base}/{file}"
        if not await self._ask("POST", path, content=_pieces(content), headers=headers):
            await self._ask("POST", "bucket", json={"id": BUCKET, "name": BUCKET, "public": False})
            if not await self._ask("POST", path, content=_pieces(content), headers=headers):
                raise _away("the bucket does not take the file")

    async def read(self, base: BaseId, file: FileId) -> AsyncIterator[bytes]:
        """Raises SourceError FILE_GONE, ServiceError."""
        try:
            async with self._client.stream("GET", f"object/{BUCKET}/{base}/{file}") as response:
                if _is_missing(response):
                    raise _gone("bucket")
                async for piece in response.aiter_bytes(READ_BYTES):
                    yield piece
        except httpx.HTTPError as error:
            raise _away(type(error).__name__) from error

    async def copy(self, base: BaseId, file: FileId, to: BaseId, copy: FileId) -> None:
        """The same content for another base. Raises ServiceError."""
        places = {"sourceKey": f"{base}/{file}", "destinationKey": f"{to}/{copy}"}
        await self._ask("POST", "object/copy", json={"bucketId": BUCKET, **places})

    async def remove(self, files: Sequence[tuple[BaseId, FileId]]) -> None:
        """Raises ServiceError."""
        await self._ask("DELETE", f"object/{BUCKET}", json={"prefixes": [f"{base}/{file}" for base, file in files]})

    async def _ask(self, method: str, path: str, **request: Any) -> bool:
        """False when what it is about is not there. What is there already is no error. Raises ServiceError."""
        try:
            response = await self._client.request(method, path, **request)
        except httpx.HTTPError as error:
            raise _away(type(error).__name__) from error
        return response.status_code == HTTPStatus.CONFLICT or not _is_missing(response)


@asynccontextmanager
async def open_supabase_files(url: str, key: str) -> AsyncIterator[SupabaseFiles]:
    headers = {"Authorization": f"Bearer {key}", "apikey": key}
    async with httpx.AsyncClient(base_url=f"{url}/storage/v1/", headers=headers, timeout=STORAGE_S) as client:
        yield SupabaseFiles(client)


async def _pieces(content: BinaryIO) -> AsyncIterator[bytes]:
    content.seek(0)
    while piece := await asyncio.to_thread(content.read, READ_BYTES):
        yield piece


def _is_missing(response: httpx.Response) -> bool:
    """Storage answers 400 with "statusCode": "404" for a bucket or file that is not there, and newer ones 404. Raises
    ServiceError for any other failure."""
    is_missing = response.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST)
    if not (is_missing or response.is_success):
        raise _away(f"HTTP {response.status_code}")
    return is_missing


def _gone(place: str) -> SourceError:
    return SourceError(FailureCode.FILE_GONE, detail=f"not in the {place}")


def _away(detail: str) -> ServiceError:
    return ServiceError(FailureCode.SERVICE_AWAY, detail=detail, service=SERVICE)
