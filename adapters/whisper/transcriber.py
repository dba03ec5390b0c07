"""A recording -> what is said in it, by the listening process; meets `ingestion.ports.Transcriber`.

In: a path. Out: a `Transcript`, heard piece by piece: between two pieces another recording may have its turn, so that a
voice note does not wait for a lecture. The process is started with the first piece, ended after a time without any,
and started anew when it dies: then only the piece is heard again.
"""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog

from adapters.whisper.process import ListenerDied, ListenerProcess, ModelRefused
from adapters.whisper.wire import (
    TROUBLE_LONG,
    TROUBLE_MEMORY,
    TROUBLE_SOUNDLESS,
    Hear,
    Length,
    Opening,
    PieceEnd,
    Said,
    Trouble,
)
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.ports import Transcript, Utterance

SERVICE = "Whisper"  # as people are told
SILENCE_S = 600.0  # the slowest model takes minutes for its 30 seconds, when it has to try again; never this long
PIECE_S = 180.0  # a quarter of a gigabyte while it is heard; a voice note waits for no more than this
TRIES = 2  # of a piece: a process may die for want of memory that others have taken

log = structlog.get_logger()

Heard = Callable[[float, float], Awaitable[None]]


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


class WhisperTranscriber:
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

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

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
            case Trouble():
                raise _Refused(self._refusal(hearing.name, message))
            case _:
                raise ListenerDied(f"an unexpected {type(message).__name__}")

    def _refusal(self, name: str, trouble: Trouble) -> SourceError:
        if trouble.kind == TROUBLE_LONG:
            return self._too_long(name)
        codes = {TROUBLE_SOUNDLESS: FailureCode.FILE_WITHOUT_SPEECH, TROUBLE_MEMORY: FailureCode.FILE_TOO_HEAVY}
        return SourceError(codes.get(trouble.kind, FailureCode.FILE_DAMAGED), name=name, detail=trouble.detail)

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
