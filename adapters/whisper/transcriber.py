"""A recording -> what is said in it, by the listening process; meets `ingestion.ports.Transcriber`.

In: a path. Out: a `Transcript`, heard piece by piece: between two pieces another recording may have its turn, so that a
voice note does not wait for a lecture. The process is started with the first piece, ended after a time without any,
and started anew when it dies: then only the piece is heard again.
"""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import structlog

from adapters.local.layout import SPEECH_FILES, LocalModelError, fetch_from_hub
from adapters.local.models import fetched_model
from adapters.whisper import Hear, Length, Message, Opening, PieceEnd, Ready, Trouble, read_message
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.ports import Transcript, Utterance
from sandbox.confinement import Confinement
from sandbox.pool import Line, Pool, PoolDied, Resting, kept_variables
from sandbox.records import to_line

ENTRY = "adapters.whisper.listener:serve"
LOADING_S = 600.0
KEPT_VARIABLES = ("HOME", "OMP_NUM_THREADS")
TURBO = "mobiuslabsgmbh/faster-whisper-large-v3-turbo"
SIZES = {"turbo": TURBO, "large-v3-turbo": TURBO, "large": "Systran/faster-whisper-large-v3"}
"""Names of models by their sizes, where it is not Systran's with the size at its end."""
log = structlog.get_logger()
SERVICE = "Whisper"  # as people are told
SILENCE_S = 600.0  # the slowest model takes minutes for its 30 seconds, when it has to try again; never this long
PIECE_S = 180.0  # a quarter of a gigabyte while it is heard; a voice note waits for no more than this
TRIES = 2  # of a piece: a process may die for want of memory that others have taken
Heard = Callable[[float, float], Awaitable[None]]


class ListenerDied(Exception):
    """The process ended, fell silent or has no model. `by_signal` is the signal that ended it, if one did."""

    def __init__(self, reason: str, *, by_signal: int | None = None) -> None:
        super().__init__(reason)
        self.by_signal = by_signal


@dataclass(frozen=True, kw_only=True)
class SpeechModel:
    name: str  # of a model, or a folder
    folder: Path  # where models that have a name are kept
    threads: int = 0  # 0: one a core
    memory_mb: int = 6144
    language: str | None = None  # ISO 639-1; None: as it is heard


@dataclass(kw_only=True)
class _Hearing:
    path: Path
    name: str
    heard: Heard
    language: str | None
    utterances: list[Utterance] = field(default_factory=list)
    until_s: float = 0.0
    total_s: float = 0.0
    has_picture: bool = False
    title: str | None = None


class WhisperTranscriber(Resting):
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
        """`limit_s`: the longest recording; `idle_s`: the process ends after so long without work; `silence_s`: after
        so long without a message a request is given up."""
        super().__init__(Pool(entry=ENTRY, variables=kept_variables(KEPT_VARIABLES)), idle_s=idle_s)
        self._model = model
        self._limit_s = limit_s
        self._piece_s = piece_s
        self._silence_s = silence_s
        self._turn = asyncio.Lock()  # first come, first served

    async def transcribe(self, path: Path, *, name: str, heard: Heard) -> Transcript:
        """Raises SourceError (FILE_DAMAGED, FILE_WITHOUT_SPEECH when it has no sound, FILE_TOO_LONG, FILE_TOO_HEAVY),
        ServiceError when the model cannot be loaded, and what `heard` raises. Cancelling ends the process at once."""
        hearing = _Hearing(path=path, name=name, heard=heard, language=self._model.language)
        is_last = False
        while not is_last:
            if hearing.until_s > self._limit_s:  # although its container said less
                raise self._refusal(FailureCode.FILE_TOO_LONG, hearing)
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
        """True when it was the last one. A recording with which the process dies again and again is at fault itself."""
        for trial in range(1, TRIES + 1):
            before = len(hearing.utterances)
            try:
                return await self._listen(await self._running_line(), hearing)
            except ListenerDied as error:
                log.warning("listener_died", trial=trial, at_s=round(hearing.until_s), reason=str(error))
                del hearing.utterances[before:]
                death = error
        code = FailureCode.FILE_TOO_HEAVY if death.by_signal == signal.SIGKILL else FailureCode.FILE_DAMAGED
        raise self._refusal(code, hearing, f"the listening process died: {death}")

    async def _listen(self, line: Line, hearing: _Hearing) -> bool:
        """True when the piece was the last one. Raises SourceError, ListenerDied."""
        try:
            await self._ask(line, hearing)
            while not isinstance(message := await self._read(line, self._silence_s), PieceEnd | Trouble):
                match message:
                    case Length():
                        hearing.total_s, hearing.has_picture = message.total_s, message.has_picture
                        hearing.title = message.title
                    case Utterance():
                        hearing.utterances.append(message)
                        await hearing.heard(message.end_s, max(hearing.total_s, message.end_s))
                    case _:
                        raise ListenerDied(f"an unexpected {type(message).__name__}")
        except BaseException:  # cancelled, or nobody wants it any more: the process must not go on
            await self._end()
            raise
        self._rest_later()
        if isinstance(message, Trouble):
            raise self._refusal(message.code or FailureCode.FILE_DAMAGED, hearing, message.detail)
        hearing.until_s = message.until_s
        hearing.language = hearing.language or message.language
        return message.is_last

    async def _ask(self, line: Line, hearing: _Hearing) -> None:
        request = Hear(
            recording=str(hearing.path.absolute()),
            from_s=hearing.until_s,
            language=hearing.language,
            limit_s=self._limit_s,
        )
        recording = os.open(hearing.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            socket.send_fds(line.socket, [to_line(request)], [recording])
        except OSError as error:
            raise await _explain_end(line) from error
        finally:
            os.close(recording)

    async def _read(self, line: Line, patience_s: float) -> Message:
        try:
            async with asyncio.timeout(patience_s):
                said = await line.read()
            if said.strip():
                return read_message(said)
        except TimeoutError as error:
            raise ListenerDied(f"silent for {patience_s:.0f} s") from error
        except ConnectionError as error:
            raise await _explain_end(line) from error
        except ValueError as error:
            raise ListenerDied("it said something unreadable") from error
        raise await _explain_end(line)

    def _refusal(self, code: FailureCode, hearing: _Hearing, detail: str = "") -> SourceError:
        limit = {"minutes": round(self._limit_s / 60)} if code is FailureCode.FILE_TOO_LONG else {}
        return SourceError(code, name=hearing.name, detail=detail, **limit)

    async def _running_line(self) -> Line:
        """To the process, with its model loaded. Raises ServiceError when it cannot be."""
        self._wake()
        if self._line is not None:
            return self._line
        began, model = time.monotonic(), self._model
        is_size = "/" not in model.name and not await asyncio.to_thread(Path(model.name).is_dir)
        name = SIZES.get(model.name, f"Systran/faster-whisper-{model.name}") if is_size else model.name
        try:
            folder = str(await fetched_model(name, model.folder, partial(fetch_from_hub, files=SPEECH_FILES)))
            self._line = await self._pool.start(Confinement(reads=(folder,), data_bytes=model.memory_mb * 2**20))
            self._line.write(Opening(model=folder, threads=model.threads, piece_s=self._piece_s))
            answer = await self._read(self._line, LOADING_S)
            if not isinstance(answer, Ready):
                raise ListenerDied(answer.detail if isinstance(answer, Trouble) else "it did not begin with Ready")
        except BaseException as error:  # also when cancelled: it must not go on loading
            await self._end()
            if not isinstance(error, ListenerDied | PoolDied | LocalModelError):
                raise
            log.error("speech_model_not_loaded", model=model.name, reason=str(error))
            raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=str(error)) from error
        log.info("listener_started", model=model.name, seconds=round(time.monotonic() - began, 2))
        return self._line


async def _explain_end(line: Line) -> ListenerDied:
    try:
        ended = await line.read_end()
    except (ValueError, ConnectionError):
        ended = None
    status = ended.status if ended else 1
    name = signal.Signals(-status).name if status < 0 else str(status)
    return ListenerDied(f"it ended by {name}", by_signal=-status if status < 0 else None)
