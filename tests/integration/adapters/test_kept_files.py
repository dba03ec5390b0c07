"""Files that Baza keeps itself, in a folder and in a stand-in for Supabase Storage, and the list of them in SQL."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from aiohttp import web

from adapters.database.stores import Stores
from adapters.database.stores.library import KeptFileStore
from adapters.database.transport import Transport
from adapters.kept_files import BUCKET, FolderFiles, SupabaseFiles, open_supabase_files
from bot.serving import remove_files
from domain.documents import SourceType
from domain.ids import BaseId, FileId, UserId
from ingestion.errors import ServiceError, SourceError
from ingestion.records import Batch, Source
from tests.integration.adapters.database.stores.material import ANNA, hash_of, open_base

KEY = "sb_secret_key"
BASE = BaseId(str(uuid.uuid4()))
BORIS = UserId(8_000_000_002)


@dataclass
class FakeStorage:
    """The part of Supabase Storage that is used, as its API reference has it."""

    objects: dict[str, bytes] = field(default_factory=dict)
    has_bucket: bool = False
    largest: int = 2**24

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One request."""
        path = request.path.removeprefix("/storage/v1/")
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"error": "invalid key"}, status=403)
        if (request.method, path) == ("POST", "bucket"):
            assert await request.json() == {"id": BUCKET, "name": BUCKET, "public": False}
            self.has_bucket = True
            return web.json_response({"name": BUCKET})
        if not self.has_bucket or len(await request.read()) > self.largest:
            return web.json_response({"statusCode": "404", "error": "Bucket not found"}, status=400)
        if (request.method, path) == ("POST", "object/copy"):
            asked = await request.json()
            self.objects[asked["destinationKey"]] = self.objects[asked["sourceKey"]]
            return web.json_response({"Key": asked["destinationKey"]})
        name = path.removeprefix(f"object/{BUCKET}").removeprefix("/")
        if request.method == "DELETE":
            gone = [self.objects.pop(each, None) for each in (await request.json())["prefixes"]]
            return web.json_response([{} for each in gone if each is not None])
        if request.method == "POST":
            assert request.headers["x-upsert"] == "true"
            self.objects[name] = await request.read()
            return web.json_response({"Key": name})
        if name not in self.objects:
            return web.json_response({"statusCode": "404", "error": "not_found"}, status=400)
        return web.Response(body=self.objects[name])


@pytest.fixture
def storage() -> FakeStorage:
    return FakeStorage()


@pytest.fixture(params=["folder", "supabase"])
async def files(
    request: pytest.FixtureRequest, storage: FakeStorage, tmp_path: Path
) -> AsyncIterator[FolderFiles | SupabaseFiles]:
    if request.param == "folder":
        yield FolderFiles(tmp_path / "files")
        return
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", storage.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    async with open_supabase_files(f"http://127.0.0.1:{runner.addresses[0][1]}", KEY) as opened:
        yield opened
    await runner.cleanup()


def change(url: str, statement: LiteralString) -> None:
    """As time or a crash would."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


async def whole(files: FolderFiles | SupabaseFiles, base: BaseId, file: FileId) -> bytes:
    """All pieces."""
    return b"".join([piece async for piece in files.read(base, file)])


async def test_a_kept_file_is_read_as_it_came_until_it_is_removed(
    files: FolderFiles | SupabaseFiles, tmp_path: Path
) -> None:
    file = FileId(str(uuid.uuid4()))
    for body in (b"first", bytes(range(256)) * 4000):  # the second time it is there already
        await files.put(BASE, file, BytesIO(body))
        assert await whole(files, BASE, file) == body
    other, copy = BaseId(str(uuid.uuid4())), FileId(str(uuid.uuid4()))
    await files.copy(BASE, file, other, copy)
    await files.remove([(BASE, file)])
    assert await whole(files, other, copy) == body
    await files.remove([(other, copy)])
    for _ in range(2):
        await files.remove([(BASE, file)])
    with pytest.raises(SourceError):
        await whole(files, BASE, file)
    assert not (tmp_path / "files").exists() or not any((tmp_path / "files").iterdir())


@pytest.mark.parametrize("files", ["supabase"], indirect=True)
async def test_a_file_that_the_bucket_refuses_is_not_taken_for_kept(files: SupabaseFiles, storage: FakeStorage) -> None:
    storage.largest = 3
    with pytest.raises(ServiceError):
        await files.put(BASE, FileId("x"), BytesIO(b"four"))


async def test_a_storage_that_is_away_is_told_from_a_file_that_is_gone() -> None:
    async with open_supabase_files("http://127.0.0.1:9", KEY) as nobody:
        with pytest.raises(ServiceError):
            await nobody.put(BASE, FileId("x"), BytesIO(b"x"))
        with pytest.raises(ServiceError):
            await whole(nobody, BASE, FileId("x"))


@pytest.mark.over_rest
async def test_a_file_stays_while_a_document_has_it_and_no_crash_leaves_one_behind(
    transport: Transport, database_url: str, tmp_path: Path
) -> None:
    stores, listed, files = Stores(transport), KeptFileStore(transport), FolderFiles(tmp_path / "files")
    base, other = await open_base(stores), await open_base(stores, BORIS)

    async def keep(word: str, its_base: BaseId = base) -> FileId | None:
        kept = await listed.keep(its_base, sha256=hash_of(word), size_bytes=60, most_bytes=130)
        if kept:
            await files.put(its_base, kept, BytesIO(b"x" * 60))
        return kept

    one, two = await keep("one"), await keep("two")
    assert one
    assert two
    assert await keep("one") == one  # the same content is kept once
    assert await keep("one", other) != one  # but never for two bases
    assert await keep("three") is None  # the base is full
    source = Source(type=SourceType.FILE, identifier="План.docx", kept_file=one)
    (document,) = await stores.intake.enqueue(Batch(base_id=base, user_id=ANNA, sources=(source,)))
    stolen = Source(type=SourceType.FILE, identifier="Чужое.docx", kept_file=one)
    (thief,) = await stores.intake.enqueue(Batch(base_id=other, user_id=BORIS, sources=(stolen,)))
    card, foreign = await stores.library.card(base, document.id), await stores.library.card(other, thief.id)
    assert card
    assert foreign
    assert (card.kept_file, foreign.kept_file) == (one, None)

    await remove_files(listed, files)  # the upload of `two` may still be going on
    assert len(list((tmp_path / "files" / base).iterdir())) == 2
    change(database_url, "update kept_files set keep_until = now() where keep_until <> 'infinity'")
    await remove_files(listed, files)  # its process has died
    assert [each.name for each in (tmp_path / "files" / base).iterdir()] == [one]
    await stores.library.delete(base, document.id)
    (leaving,) = await listed.release(10)  # and the process dies before the file is gone
    again = await keep("one")
    assert (leaving, again != one) == ((base, one), True)
    await remove_files(listed, files)
    assert [each.name for each in (tmp_path / "files" / base).iterdir()] == [again]
