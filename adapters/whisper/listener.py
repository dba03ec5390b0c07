"""The listening process: loads a Whisper once and hears pieces of recordings with it, one after the other.

In: one `Opening`, then `Hear` requests, each with the recording as an open file. Out: `Message` records on the same
socket. It is confined before it loads the model (`sandbox.forkserver`), and ended when the other end is closed, also in
the middle of a piece.

faster-whisper runs with voice detection on, and no window sees the text of the one before: the text is less smooth, but
recordings do not end in repetition loops.
"""

import os
import socket
from collections.abc import Callable
from io import BufferedReader
from typing import IO, TYPE_CHECKING

import numpy as np

from adapters.whisper.sound import RATE, Damaged, Recording, Samples, Soundless, measure
from adapters.whisper.wire import (
    TROUBLE_DAMAGED,
    TROUBLE_LONG,
    TROUBLE_MEMORY,
    TROUBLE_MODEL,
    TROUBLE_SOUNDLESS,
    Hear,
    Length,
    Message,
    Opening,
    PieceEnd,
    Ready,
    Said,
    Trouble,
)
from ingestion.ports import Utterance
from sandbox.confinement import Layer
from sandbox.records import LINE_BYTES, from_line, to_line

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

MOST_THREADS = 8  # more of them wait for each other
MOST_OPEN = 4  # recordings kept open between two of their pieces; a further one is opened anew and skipped through

Tell = Callable[[Message], None]


class TooLong(Exception):
    """A recording beyond the limit, by what its container says."""


class Listener:
    """The loaded model and the recordings that it is in the middle of."""

    def __init__(self, model: "WhisperModel", *, piece_s: float) -> None:
        self._model = model
        self._piece_s = piece_s
        self._open: dict[str, Recording] = {}

    def hear(self, request: Hear, file: IO[bytes], tell: Tell) -> None:
        """Tell what is said in one piece of `file`. Raises Damaged, Soundless, TooLong."""
        recording = self._recording(request, file, tell)
        began_s = recording.position_s
        samples, is_last = recording.read_piece(self._piece_s)
        language = self._transcribe(samples, request.language, began_s, tell)
        tell(PieceEnd(until_s=recording.position_s, is_last=is_last, language=language))
        if is_last:
            recording.close()
        else:
            self._keep(request.recording, recording)

    def _recording(self, request: Hear, file: IO[bytes], tell: Tell) -> Recording:
        """The one that this request goes on with, or the file opened anew. Raises Damaged, Soundless, TooLong."""
        known = self._open.pop(request.recording, None)
        if known is not None:
            if abs(known.position_s - request.from_s) < 1 / RATE:
                file.close()
                return known
            known.close()
        total_s = measure(file)
        if total_s > request.limit_s:
            raise TooLong(total_s)
        recording = Recording(file)
        tell(Length(total_s=total_s, has_picture=recording.has_picture, title=recording.title))
        recording.skip(request.from_s)
        return recording

    def _keep(self, name: str, recording: Recording) -> None:
        self._open[name] = recording
        while len(self._open) > MOST_OPEN:
            self._open.pop(next(iter(self._open))).close()

    def _transcribe(self, samples: Samples, language: str | None, began_s: float, tell: Tell) -> str | None:
        """The language, None when nothing is said."""
        if not len(samples):
            return None
        sound = samples.astype(np.float32) / -np.iinfo(np.int16).min
        segments, info = self._model.transcribe(
            sound, language=language, vad_filter=True, condition_on_previous_text=False
        )
        length_s = len(samples) / RATE
        is_silent = True
        for segment in segments:
            text = segment.text.strip()
            if not text:
                continue
            is_silent = False
            start_s = min(segment.start, length_s)  # a model may name a second after the end
            end_s = min(max(start_s, segment.end), length_s)
            tell(Said(utterance=Utterance(start_s=began_s + start_s, end_s=began_s + end_s, text=text)))
        return None if is_silent else str(info.language)


_TROUBLES: dict[type[Exception], str] = {
    Damaged: TROUBLE_DAMAGED,
    Soundless: TROUBLE_SOUNDLESS,
    TooLong: TROUBLE_LONG,
    MemoryError: TROUBLE_MEMORY,
}


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> None:
    """Hear until the other end is closed (`sandbox.forkserver.Serve`)."""

    def tell(message: Message) -> None:
        connection.sendall(to_line(message))

    opening = from_line(stream.readline(LINE_BYTES), Opening)
    try:
        listener = Listener(_load(opening), piece_s=opening.piece_s)
    # The top of the process: whatever the libraries raise, the model cannot be loaded.
    except Exception as error:
        tell(Trouble(kind=TROUBLE_MODEL, detail=_describe(error)))
        return
    tell(Ready())  # nothing was sent after the opening before this, so nothing waits in `stream`
    while (asked := _receive(connection)) is not None:
        request, file = asked
        try:
            listener.hear(request, file, tell)
        except tuple(_TROUBLES) as error:
            file.close()
            tell(Trouble(kind=_TROUBLES[type(error)], detail=_describe(error)))


def _receive(connection: socket.socket) -> tuple[Hear, IO[bytes]] | None:
    """The next request and its open file; None at the end."""
    line, descriptors, _, _ = socket.recv_fds(connection, LINE_BYTES, 1)
    if not line:
        return None
    while not line.endswith(b"\n"):
        line += connection.recv(LINE_BYTES)
    return from_line(line, Hear), os.fdopen(descriptors[0], "rb")


def _load(opening: Opening) -> "WhisperModel":
    from faster_whisper import WhisperModel  # a second, and after the confinement

    return WhisperModel(
        opening.model,
        device="cpu",
        compute_type="int8",
        cpu_threads=opening.threads or min(os.cpu_count() or 1, MOST_THREADS),
        local_files_only=True,
    )


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]
