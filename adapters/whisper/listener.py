"""The listening process: loads a Whisper once and hears pieces of recordings with it, one after the other.

In: a socket as file descriptor 0: one `Opening`, then `Hear` requests, each a line. Out: `Message` lines on the same
socket. It ends when the other end is closed, also in the middle of a piece: nothing is left behind when a worker is
killed. faster-whisper runs with voice detection on, and no window sees the text of the one before: the text is less
smooth, but recordings do not end in repetition loops.
"""

import contextlib
import os
import resource
import select
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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
    encode_message,
)
from ingestion.ports import Utterance

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

NICENESS = 10  # answers to people go before listening
LARGEST_LINE_BYTES = 64 * 1024
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

    def hear(self, request: Hear, tell: Tell) -> None:
        """Tell what is said in one piece. Raises Damaged, Soundless, TooLong."""
        recording = self._recording(request, tell)
        began_s = recording.position_s
        samples, is_last = recording.read_piece(self._piece_s)
        language = self._transcribe(samples, request.language, began_s, tell)
        tell(PieceEnd(until_s=recording.position_s, is_last=is_last, language=language))
        if is_last:
            recording.close()
        else:
            self._keep(request.path, recording)

    def _recording(self, request: Hear, tell: Tell) -> Recording:
        """The one that this request goes on with, or the file opened anew. Raises Damaged, Soundless, TooLong."""
        known = self._open.pop(request.path, None)
        if known is not None:
            if abs(known.position_s - request.from_s) < 1 / RATE:
                return known
            known.close()
        total_s = measure(Path(request.path))
        if total_s > request.limit_s:
            raise TooLong(total_s)
        recording = Recording(Path(request.path))
        tell(Length(total_s=total_s, has_picture=recording.has_picture, title=recording.title))
        recording.skip(request.from_s)
        return recording

    def _keep(self, path: str, recording: Recording) -> None:
        self._open[path] = recording
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


def main() -> None:
    """Run with the socket as standard input (see `process`)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the worker closes the socket
    connection = socket.socket(fileno=os.dup(0))
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    stream = connection.makefile("rb")

    def tell(message: Message) -> None:
        connection.sendall(encode_message(message))

    opening = Opening.from_line(stream.readline(LARGEST_LINE_BYTES))
    _limit_resources(opening)
    try:
        listener = Listener(_load(opening), piece_s=opening.piece_s)
    # The top of the process: whatever the libraries raise, the model cannot be loaded.
    except Exception as error:
        tell(Trouble(kind=TROUBLE_MODEL, detail=_describe(error)))
        return
    tell(Ready())
    while line := stream.readline(LARGEST_LINE_BYTES):
        _serve(listener, Hear.from_line(line), tell)


def _serve(listener: Listener, request: Hear, tell: Tell) -> None:
    try:
        listener.hear(request, tell)
    except tuple(_TROUBLES) as error:
        tell(Trouble(kind=_TROUBLES[type(error)], detail=_describe(error)))


def _load(opening: Opening) -> "WhisperModel":
    from faster_whisper import WhisperModel  # a second: after the socket is watched

    if Path(opening.model).is_absolute() and not Path(opening.model).is_dir():
        raise FileNotFoundError(f"no folder {opening.model}")
    return WhisperModel(
        opening.model,
        device="cpu",
        compute_type="int8",
        cpu_threads=opening.threads or min(os.cpu_count() or 1, MOST_THREADS),
        download_root=opening.models_folder,
        local_files_only=Path(opening.model).is_dir(),
    )


def _end_with(connection: socket.socket) -> None:
    """End this process when the other end is closed, whatever it is doing."""
    poll = select.poll()
    poll.register(connection, 0)  # 0: tell of hang-ups only
    poll.poll()
    os._exit(0)


def _limit_resources(opening: Opening) -> None:
    os.nice(NICENESS)
    limits = {resource.RLIMIT_DATA: opening.memory_bytes, resource.RLIMIT_CORE: 0}
    if Path(opening.model).is_dir():
        limits[resource.RLIMIT_FSIZE] = 0  # nothing is to be downloaded, hence nothing to be written
    for limit, value in limits.items():
        # A container may have set a lower hard limit; macOS does not count RLIMIT_DATA in full.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]
