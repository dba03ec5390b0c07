"""Fetching a model by its name, from a stand-in for the hub on loopback."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from adapters.local.errors import LocalModelError
from adapters.local.opening import fetch_from_hub, find_model, open_encoder
from tests.onnx_models import build_encoder
from tests.servers.scripted import listen

COMMIT = "a" * 40


def _files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@asynccontextmanager
async def serve_hub(model: Path, *, asked: list[str]) -> AsyncIterator[str]:
    """The files of `model` as `owner/small`, with some that nobody wants; every file asked for is noted."""
    files = {**_files_of(model), "pytorch_model.bin": b"weights of another runtime", "README.md": b"words"}

    async def describe(request: web.Request) -> web.Response:
        siblings = [{"rfilename": name} for name in files]
        return web.json_response({"id": "owner/small", "sha": COMMIT, "siblings": siblings})

    async def list_files(request: web.Request) -> web.Response:
        sizes = {name: len(content) for name, content in files.items()}
        return web.json_response([{"type": "file", "path": n, "size": s, "oid": "0" * 40} for n, s in sizes.items()])

    async def hand_out(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if request.method == "GET":
            asked.append(name)
        etag = hashlib.sha256(files[name]).hexdigest()
        return web.Response(body=files[name], headers={"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})

    application = web.Application()
    application.add_routes(
        [
            web.get("/api/models/owner/small/revision/main", describe),
            web.get(f"/api/models/owner/small/tree/{COMMIT}", list_files),
            web.get("/owner/small/resolve/{commit}/{name:.*}", hand_out),
        ]
    )
    async with listen(application) as address:
        yield address


async def test_a_model_is_fetched_by_its_name_and_works(tmp_path: Path) -> None:
    asked: list[str] = []
    async with serve_hub(build_encoder(tmp_path / "hub"), asked=asked) as address:
        fetch = partial(fetch_from_hub, endpoint=address)
        folder = await asyncio.to_thread(find_model, "owner/small", tmp_path / "models", fetch)
    assert sorted(asked) == ["config.json", "model.onnx", "tokenizer.json"]
    encoder = open_encoder(str(folder), models=tmp_path, context_tokens=512, threads=1)
    assert len(await encoder.embed_query("диск")) == 16


async def test_a_model_that_the_hub_does_not_have_is_said_to_be_missing(tmp_path: Path) -> None:
    async with serve_hub(build_encoder(tmp_path / "hub"), asked=[]) as address:
        fetch = partial(fetch_from_hub, endpoint=address)
        with pytest.raises(LocalModelError, match="owner/other cannot be fetched"):
            await asyncio.to_thread(find_model, "owner/other", tmp_path / "models", fetch)


async def test_a_hub_that_is_not_there_is_named_as_the_reason(tmp_path: Path, unused_tcp_port: int) -> None:
    fetch = partial(fetch_from_hub, endpoint=f"http://127.0.0.1:{unused_tcp_port}")
    with pytest.raises(LocalModelError, match="cannot be fetched"):
        await asyncio.to_thread(find_model, "owner/small", tmp_path / "models", fetch)
