"""A recording -> what is said in it, by the listening process; meets `ingestion.ports.Transcriber`.

In: a path. Out: a `Transcript`, heard piece by piece: between two pieces another recording may have its turn, so that a
voice note does not wait for a lecture. The process is started with the first piece, ended after a time without any,
and started anew when it dies: then only the piece is heard again.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import structlog

from adapters.whisper import Hear, Length, Message, Opening, PieceEnd, Ready, Said, Trouble, read_message
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.ports import Transcript, Utterance
from sandbox.confinement import Confinement
from sandbox.forkserver import Ended
from sandbox.pool import Closing, Line, Pool, PoolDied, kept_variables
from sandbox.records import to_line

ENTRY = "adapters.whisper.listener:serve"
LOADING_S = 1800.0  # a download of a gigabyte or two
KEPT_VARIABLES = ("HOME", "OMP_NUM_THREADS")
DOWNLOAD_VARIABLES = (
    *("PATH", "LANG", "LC_ALL", "TMPDIR", "HOME", "SYSTEMROOT"),
    *("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "HF_ENDPOINT", "HF_HUB_OFFLINE"),
)
SET_VARIABLES = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
DOWNLOAD = (
    "import sys; from faster_whisper.utils import download_model as d; print(d(sys.argv[1], cache_dir=sys.argv[2]))"
)
log = structlog.get_logger()
SERVICE = "Whisper"  # as people are told
SILENCE_S = 600.0  # the slowest model takes minutes for its 30 seconds, when it has to try again; never this long
PIECE_S = 180.0  # a quarter of a gigabyte while it is heard; a voice note waits for no more than this
TRIES = 2  # of a piece: a process may die for want of memory that others have taken
Heard = Callable[[float, float], Awaitable[None]]


class ListenerDied(Exception):
    """The process ended or fell silent. `by_signal` is the signal that ended it, when one of the system's did."""

    def __init__(self, reason: str, *, by_signal: int | None = None) -> None:
        super().__init__(reason)
        self.by_signal = by_signal


class ModelRefused(Exception):
    """The model is not there, or the process cannot load it."""


class ListenerProcess:
    """A running process with its model loaded. Made by `start`; `kill` ends it at once."""

    def __init__(self, pool: Pool, line: Line, *, silence_s: float) -> None:
        self._pool = pool
        self._line = line
        self._silence_s = silence_s

    @classmethod
    async def start(cls, opening: Opening, *, models_folder: Path, memory_bytes: int, silence_s: float) -> Self:
        """Wait until the model is loaded. Raises ListenerDied, ModelRefused.

        `models_folder` keeps models that have a name; `silence_s`: after so long without a message a request is given
        up.
        """
        began = time.monotonic()
        folder = await _model_folder(opening.model, models_folder)
        pool = Pool(entry=ENTRY, variables=kept_variables(KEPT_VARIABLES))
        try:
            line = await pool.start(Confinement(reads=(folder,), data_bytes=memory_bytes))
        except BaseException as error:
            await pool.close()
            if isinstance(error, PoolDied):
                raise ListenerDied(str(error)) from error
            raise
        listener = cls(pool, line, silence_s=silence_s)
        try:
            await listener._open(replace(opening, model=folder))
        except BaseException:  # also when cancelled: it must not go on loading
            await listener.kill()
            raise
        log.info("listener_started", model=opening.model, seconds=round(time.monotonic() - began, 2))
        return listener

    async def ask(self, request: Hear, path: Path) -> AsyncGenerator[Message, None]:
        """Its messages about the recording at `path`, without an end: the caller recognises the last one. Raises
        ListenerDied."""
        recording = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            socket.send_fds(self._line.socket, [to_line(request)], [recording])
        except OSError as error:
            raise await self._explain_end() from error
        finally:
            os.close(recording)
        while True:
            yield await self._read(self._silence_s)

    async def kill(self) -> None:
        """End it, whatever it is doing."""
        self._line.close()
        await self._pool.close()

    async def _open(self, opening: Opening) -> None:
        self._line.write(opening)
        match await self._read(LOADING_S):
            case Ready():
                return
            case Trouble(detail=detail):
                raise ModelRefused(detail)
            case other:
                raise ListenerDied(f"it began with {type(other).__name__}")

    async def _read(self, patience_s: float) -> Message:
        try:
            async with asyncio.timeout(patience_s):
                line = await self._line.read()
        except TimeoutError as error:
            raise ListenerDied(f"silent for {patience_s:.0f} s") from error
        except ConnectionError as error:
            raise await self._explain_end() from error
        except ValueError as error:
            raise ListenerDied("it said a line beyond the limit") from error
        if not line.strip():
            raise await self._explain_end()
        try:
            return read_message(line)
        except ValueError as error:
            raise ListenerDied("it said something unreadable") from error

    async def _explain_end(self) -> ListenerDied:
        try:
            ended = await self._line.read_end()
        except (ValueError, ConnectionError):
            ended = None
        status = (ended or Ended(status=1)).status
        name = signal.Signals(-status).name if status < 0 else str(status)
        return ListenerDied(f"it ended by {name}", by_signal=-status if status < 0 else None)


async def _model_folder(model: str, models_folder: Path) -> str:
    """The model's folder; one that has a name is downloaded unless it is there. Raises ModelRefused."""
    if await asyncio.to_thread(Path(model).is_dir):
        return str(Path(model).absolute())  # noqa: ASYNC240 - it asks for the working folder alone
    if Path(model).is_absolute():
        raise ModelRefused(f"no folder {model}")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", DOWNLOAD, model, str(models_folder)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=kept_variables(DOWNLOAD_VARIABLES) | SET_VARIABLES,
    )
    try:
        async with asyncio.timeout(LOADING_S):
            said, trouble = await process.communicate()
    except BaseException:  # also when cancelled: it must not go on loading
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise ModelRefused(trouble.decode(errors="replace").strip().rpartition("\n")[2][:500])
    return said.decode().strip().rpartition("\n")[2]


@dataclass(frozen=True, kw_only=True)
class SpeechModel:
    """Which Whisper, and what it may take."""

    name: str  # of a model, or a folder
    folder: Path  # where models that have a name are kept
    threads: int = 0  # 0: one a core
    memory_mb: int = 6144
    language: str | None = None  # ISO 639-1; None: as it is heard


@dataclass(kw_only=True)
class _Hearing:
    """The progress of one recording."""

    path: Path
    name: str
    heard: Heard
    language: str | None
    utterances: list[Utterance] = field(default_factory=list)
    until_s: float = 0.0
    total_s: float = 0.0
    has_picture: bool = False
    title: str | None = None


class _Refused(Exception):
    """The process said why this recording cannot be heard, and runs on."""

    def __init__(self, error: SourceError) -> None:
        super().__init__(str(error))
        self.error = error


class WhisperTranscriber(Closing):
    """`async with` or `close` ends its process."""

    def __init__(
        self,
        model: SpeechModel,
        *,
        limit_s: float,
        idle_s: float,
        piece_s: float = PIECE_S,
        silence_s: float = SILENCE_S,
    ) -> None:
        """`limit_s`: the longest recording; `idle_s`: the process ends after so long without work."""
        self._model = model
        self._limit_s = limit_s
        self._idle_s = idle_s
        self._piece_s = piece_s
        self._silence_s = silence_s
        self._listener: ListenerProcess | None = None
        self._turn = asyncio.Lock()  # first come, first served
        self._rest: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._rest is not None:
            self._rest.cancel()
        await self._end_listener()

    async def transcribe(self, path: Path, *, name: str, heard: Heard) -> Transcript:
        """Raises SourceError (FILE_DAMAGED, FILE_WITHOUT_SPEECH when it has no sound, FILE_TOO_LONG, FILE_TOO_HEAVY),
        ServiceError when the model cannot be loaded, and what `heard` raises. Cancelling ends the process at once."""
        hearing = _Hearing(path=path, name=name, heard=heard, language=self._model.language)
        is_last = False
        while not is_last:
            async with self._turn:
                is_last = await self._hear_piece(hearing)
            await heard(hearing.until_s, max(hearing.total_s, hearing.until_s))
        return Transcript(
            utterances=tuple(hearing.utterances),
            duration_s=hearing.until_s,
            language=hearing.language if hearing.utterances else None,
            has_picture=hearing.has_picture,
            title=hearing.title,
        )

    async def _hear_piece(self, hearing: _Hearing) -> bool:
        """True when it was the last one."""
        if hearing.until_s > self._limit_s:  # although its container said less
            raise self._too_long(hearing.name)
        for trial in range(1, TRIES + 1):
            before = len(hearing.utterances)
            try:
                return await self._ask(hearing)
            except ListenerDied as error:
                log.warning("listener_died", trial=trial, at_s=round(hearing.until_s), reason=str(error))
                del hearing.utterances[before:]
                death = error
        raise _blame(hearing.name, death)

    async def _ask(self, hearing: _Hearing) -> bool:
        try:
            return await self._listen(await self._running_listener(), hearing)
        except _Refused as refusal:  # it waits for the next request
            self._rest_later()
            raise refusal.error from refusal
        except BaseException:  # cancelled, or nobody wants it any more: the process must not go on
            await self._end_listener()
            raise

    async def _listen(self, listener: ListenerProcess, hearing: _Hearing) -> bool:
        async with contextlib.aclosing(listener.ask(self._request(hearing), hearing.path)) as messages:
            async for message in messages:
                if isinstance(message, PieceEnd):
                    return self._note_end(message, hearing)
                await self._take(message, hearing)
        raise ListenerDied("it said no more")

    def _request(self, hearing: _Hearing) -> Hear:
        recording = str(hearing.path.absolute())
        return Hear(recording=recording, from_s=hearing.until_s, language=hearing.language, limit_s=self._limit_s)

    def _note_end(self, end: PieceEnd, hearing: _Hearing) -> bool:
        self._rest_later()
        hearing.until_s = end.until_s
        hearing.language = hearing.language or end.language
        return end.is_last

    async def _take(self, message: object, hearing: _Hearing) -> None:
        match message:
            case Length():
                hearing.total_s, hearing.has_picture = message.total_s, message.has_picture
                hearing.title = message.title
            case Said(utterance=utterance):
                hearing.utterances.append(utterance)
                await hearing.heard(utterance.end_s, max(hearing.total_s, utterance.end_s))
            case Trouble(code=FailureCode.FILE_TOO_LONG):
                raise _Refused(self._too_long(hearing.name))
            case Trouble(code=FailureCode() as code, detail=detail):
                raise _Refused(SourceError(code, name=hearing.name, detail=detail))
            case _:
                raise ListenerDied(f"an unexpected {type(message).__name__}")

    def _too_long(self, name: str) -> SourceError:
        return SourceError(FailureCode.FILE_TOO_LONG, name=name, minutes=round(self._limit_s / 60))

    async def _running_listener(self) -> ListenerProcess:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        if self._listener is None:
            model = self._model
            try:
                self._listener = await ListenerProcess.start(
                    Opening(model=model.name, threads=model.threads, piece_s=self._piece_s),
                    models_folder=model.folder,
                    memory_bytes=model.memory_mb * 2**20,
                    silence_s=self._silence_s,
                )
            except (ModelRefused, ListenerDied) as error:
                log.error("speech_model_not_loaded", model=self._model.name, reason=str(error))
                raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=str(error)) from error
        return self._listener

    def _rest_later(self) -> None:
        self._rest = asyncio.create_task(self._end_when_idle())

    async def _end_when_idle(self) -> None:
        await asyncio.sleep(self._idle_s)
        log.info("listener_rests", idle_s=self._idle_s)
        self._rest = None
        await self._end_listener()

    async def _end_listener(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            await listener.kill()


def _blame(name: str, death: ListenerDied) -> SourceError:
    """A recording with which the process dies again and again is at fault itself."""
    code = FailureCode.FILE_TOO_HEAVY if death.by_signal == signal.SIGKILL else FailureCode.FILE_DAMAGED
    return SourceError(code, name=name, detail=f"the listening process died: {death}")
