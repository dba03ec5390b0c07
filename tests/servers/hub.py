"""A stand-in for the hub of models on loopback: lists files with their hashes, hands them out from any byte on.

In: a model's folder. Out: the same as `owner/small`; a transfer can break, and a byte can be wrong.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from aiohttp import web

from adapters.local.layout import fetch_from_hub
from tests.servers.scripted import listen

COMMIT = "a" * 40


@dataclass(kw_only=True)
class Hub:
    """What is asked of the stand-in, and how it fails."""

    address: str = ""
    asked: list[str] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    cut_at: int | None = None  # the first transfer of the weights breaks there
    damages: bool = False  # one byte of the weights is another

    @property
    def fetch(self) -> Callable[..., None]:
        return partial(fetch_from_hub, endpoint=self.address)


def _files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@asynccontextmanager
async def serve_hub(model: Path, hub: Hub) -> AsyncIterator[Hub]:
    """The files of `model` as `owner/small`, with some that nobody wants; every file asked for is noted."""
    files = _files_of(model) | {"pytorch_model.bin": b"weights of another runtime", "README.md": b"words"}

    async def describe(_: web.Request) -> web.Response:
        listed = [_described(name, content) for name, content in files.items()]
        return web.json_response({"id": "owner/small", "sha": COMMIT, "siblings": listed})

    async def hand_out(request: web.Request) -> web.StreamResponse:
        name, content = request.match_info["name"], files[request.match_info["name"]]
        headers: dict[str, str] = {}
        hub.asked.append(name)
        first = request.http_range.start or 0
        if first:
            hub.ranges.append(request.headers["Range"])
            headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        if hub.damages and name.endswith("model.onnx"):
            content = content[:-1] + bytes([content[-1] ^ 1])
        return await _send(request, content[first:], headers, hub, cuts=name.endswith("model.onnx"))

    application = web.Application()
    application.add_routes(
        [
            web.get("/api/models/owner/small/revision/{commit}", describe),
            web.get("/api/models/owner/small", describe),
            web.get("/owner/small/resolve/{commit}/{name:.*}", hand_out),
        ]
    )
    async with listen(application) as hub.address:
        yield hub


async def _send(
    request: web.Request, content: bytes, headers: dict[str, str], hub: Hub, *, cuts: bool
) -> web.StreamResponse:
    response = web.StreamResponse(status=206 if "Content-Range" in headers else 200, headers=headers)
    response.content_length = len(content)
    await response.prepare(request)
    if cuts and hub.cut_at is not None:
        content, hub.cut_at = content[: hub.cut_at], None
        await response.write(content)
        await asyncio.sleep(0.2)  # what was sent has arrived
        assert request.transport
        request.transport.abort()
        return response
    await response.write(content)
    return response


def _described(name: str, content: bytes) -> dict[str, object]:
    """As the hub lists a file: large ones by their SHA-256, the others by git's name."""
    git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    described: dict[str, object] = {"rfilename": name, "size": len(content), "blobId": git}
    if name.endswith(".onnx"):
        sha256 = hashlib.sha256(content).hexdigest()
        described["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 100}
    return described
