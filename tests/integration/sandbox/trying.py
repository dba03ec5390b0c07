"""Runs hostile code in each kind of child process and prints what it could do (`python -m`, as any user).

In: whether namespaces are used, and the kinds. Out: a line of JSON, kind -> act -> what came of it. The targets are
really there: a listening port, a Unix socket, a neighbour's file, and a secret in this program's own environment.
"""

import asyncio
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path

from adapters import name_finder as finder
from adapters import tesseract
from adapters.name_finder import NatashaFinder
from adapters.tesseract import ENTRY, Tesseract
from adapters.whisper import transcriber as listening
from ingestion.errors import ServiceError
from ingestion.fetch import video
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.video import VideoFetcher
from ingestion.fetch.video_child import Refused
from ingestion.parsers import process
from ingestion.parsers.process import ParseProcess
from ingestion.records import FetchedFile
from sandbox import pool
from sandbox.pool import Pool
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.integration.sandbox import hostile
from tests.integration.sandbox.hostile import TARGETS, Targets

SECRET = "BOT_TOKEN"
HOSTILE = "tests.integration.sandbox.hostile"


def _fetched(path: Path) -> FetchedFile:
    return FetchedFile(path=path, name=path.name, media_type=None, size_bytes=path.stat().st_size, sha256="")


def _document(folder: Path) -> FetchedFile:
    path = folder / "document.txt"
    path.write_text("слова")
    return _fetched(path)


async def try_parser(folder: Path) -> str:
    """In the place of a parser."""
    async with ParseProcess(timeout_s=120, memory_mb=1024) as parser:
        parsed = await parser.parse(_document(folder), progress_of(FakeQueue()))
    return parsed.blocks[0].text


async def try_unpacker(folder: Path) -> str:
    """In the place of an unpacker, which may write to one folder."""
    unpacked = folder / "unpacked"
    unpacked.mkdir()
    async with ParseProcess(timeout_s=120, memory_mb=1024) as parser:
        listing = await parser.unpack(_document(folder), unpacked, members=1, total_bytes=1)
    return listing.refused[0]


async def try_unconfined(_folder: Path) -> str:
    """In a process as any other, to see that the acts are real ones."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", HOSTILE, "unconfined", stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return said.decode().splitlines()[-1]


async def try_program(folder: Path) -> str:
    """In the place of tesseract: Python finds a file named like tesseract's first argument, and runs it."""
    shutil.copy(hostile.__file__, folder / "stdin")
    folder.chmod(0o755)  # noqa: ASYNC240 - a test; root becomes somebody else, whom no rights follow into a program
    os.chdir(folder)
    python = os.path.realpath(sys.executable)  # noqa: ASYNC240 - a test
    impostor = Tesseract(path=python, languages=("rus",), knows_orientation=False)
    tesseract.MODEL_FOLDERS = (f"{folder}/stdin", "/nowhere", "/nowhere")
    async with Pool(entry=ENTRY, variables={"PYTHONHOME": sys.base_prefix}) as programs:
        return await tesseract.read_table(programs, impostor, b"no picture", layout=1, timeout_s=100)


async def try_listener(_folder: Path) -> str:
    """In the place of the speech model."""
    with tempfile.TemporaryDirectory() as folder:
        model = listening.SpeechModel(name=folder, folder=Path(folder), memory_mb=1024)
        async with listening.WhisperTranscriber(model, limit_s=60, idle_s=60) as transcriber:
            try:
                await transcriber._running_line()
            except ServiceError as refused:
                return refused.detail
    raise AssertionError("the hostile code did not answer")


async def try_finder(_folder: Path) -> str:
    """In the place of the recogniser of names."""
    async with NatashaFinder() as names:
        ((_, _, said),) = await names._ask("слова", 0)
    return said


async def try_video(folder: Path) -> str:
    """In the place of yt-dlp, which may ask for connections to the web and write to one folder."""
    (place := folder / "document").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as public:
        allowed = frozenset({f"127.0.0.1:{public.getsockname()[1]}"})
        guard = AddressGuard(allow_hosts=allowed)
        fetcher = VideoFetcher(may_listen=True, total_s=100, size_bytes=10**6, sound_s=60, guard=guard)
        refused = await fetcher._run("https://youtu.be/x", place, progress_of(FakeQueue()))
    assert isinstance(refused, Refused)
    return refused.detail


KINDS: dict[str, Callable[[Path], Awaitable[str]]] = {
    "parser": try_parser,
    "unpacker": try_unpacker,
    "tesseract": try_program,
    "speech": try_listener,
    "names": try_finder,
    "video": try_video,
    "unconfined": try_unconfined,
}


async def _try(kind: str) -> str:
    with tempfile.TemporaryDirectory() as made, socket.create_server(("127.0.0.1", 0)) as server:
        folder = Path(made)
        with socket.socket(socket.AF_UNIX) as local:
            local.bind(f"{made}/socket")
            local.listen()
            (folder / "neighbour.txt").write_text("somebody else's")
            targets = Targets(
                secret=os.environ[SECRET],
                port=server.getsockname()[1],
                socket=f"{made}/socket",
                neighbour=str(folder / "neighbour.txt"),
                folder=made,
            )
            os.environ[TARGETS] = json.dumps(asdict(targets))
            return await KINDS[kind](folder)


def main(namespaces: str, *kinds: str) -> None:
    """Put the hostile code in place, and print what it did."""
    pool.KEPT_VARIABLES = (*pool.KEPT_VARIABLES, TARGETS)
    process.ENTRY = f"{HOSTILE}:parser"
    listening.ENTRY = f"{HOSTILE}:listener"
    finder.ENTRY = f"{HOSTILE}:finder"
    video.ENTRY = f"{HOSTILE}:video"
    if namespaces == "without":
        pool.NAMESPACES = False
    sys.stdout.write(json.dumps({kind: json.loads(asyncio.run(_try(kind))) for kind in kinds}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
