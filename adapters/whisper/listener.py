"""The listening process: loads a Whisper once and hears pieces of recordings with it, one after the other.

In: one `Opening`, then `Hear` requests, each with the recording as an open file. Out: `Message` records on the same
socket. Sound is decoded piece by piece, so that memory does not grow with a recording's length. It is confined before
it loads the model (`sandbox.forkserver`), and ended when the other end is closed, also in the middle of a piece.

faster-whisper runs with voice detection on, and no window sees the text of the one before: the text is less smooth, but
recordings do not end in repetition loops.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BufferedReader
from typing import IO, TYPE_CHECKING

import av
import numpy as np
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer
from numpy.typing import NDArray

from adapters.whisper import Hear, Length, Message, Opening, PieceEnd, Ready, Trouble
from ingestion.errors import FailureCode
from ingestion.ports import Utterance
from sandbox.confinement import Layer
from sandbox.records import LINE_BYTES, from_line, to_line

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

RATE = 16_000  # samples a second: what Whisper was trained on
CUT_WITHIN_S = 30.0  # the end of a piece in which a quiet place for the cut is looked for
BUFFER_BYTES = 256 * 1024  # read at once: a call into Python each
QUIET_S = 0.4  # length of the quiet place: shorter ones are inside words
FORMATS = "mp3,aac,wav,w64,flac,ogg,mov,matroska,asf,flv,avi,aiff,amr,amrnb,amrwb,mpeg,mpegts"
"""FFmpeg's names; without hls, concat, dash and the like, which open what a file tells them to."""
OPTIONS = {"protocol_whitelist": "none", "format_whitelist": FORMATS}
GUESSED_LENGTHS = frozenset({"mp3", "aac", "amr", "amrnb", "amrwb"})
"""Formats without an index: FFmpeg guesses their length by the bit rate (31 s for an AAC file of 10 s)."""
Samples = NDArray[np.int16]
MOST_THREADS = 8  # more of them wait for each other
MOST_OPEN = 4  # recordings kept open between two of their pieces; a further one is opened anew and skipped through
Tell = Callable[[Message], None]


class Unheard(Exception):
    def __init__(self, code: FailureCode, detail: object = "") -> None:
        super().__init__(str(detail)[:500])
        self.code = code


class Recording:
    """A recording in the middle of which one may be; `read_piece` goes on from where the last one ended."""

    def __init__(self, file: IO[bytes]) -> None:
        """It takes over `file` and closes it, also when it raises Unheard."""
        self._file = file
        try:
            self._container = _open(file)
        except Unheard:
            file.close()
            raise
        self._stream = self._container.streams.audio[0]
        self._decoded = _decode(self._container, self._stream)
        self._left = np.zeros(0, dtype=np.int16)  # decoded beyond the last cut
        self._position = 0

    @property
    def position_s(self) -> float:
        """Where the next piece begins."""
        return self._position / RATE

    @property
    def has_picture(self) -> bool:
        """Whether there is a moving picture: cover art does not count."""
        attached = av.stream.Disposition.attached_pic
        return any(not stream.disposition & attached for stream in self._container.streams.video)

    @property
    def title(self) -> str | None:
        tags = {**self._stream.metadata, **self._container.metadata}
        return tags.get("title", "").strip() or None

    def read_piece(self, piece_s: float) -> tuple[Samples, bool]:
        """Samples for about `piece_s` seconds, and whether the recording ends with them. Raises Unheard."""
        samples, is_last = self._read(int((piece_s + CUT_WITHIN_S) * RATE))
        if is_last and not self._position and not len(samples):
            raise Unheard(FailureCode.FILE_DAMAGED, "no sound could be decoded")
        cut = len(samples) if is_last else _quietest(samples, int(piece_s * RATE))
        self._left = samples[cut:]
        self._position += cut
        return samples[:cut], is_last

    def skip(self, until_s: float) -> None:
        """Go to a second that an earlier reader of the same file has reached."""
        wanted = round(until_s * RATE)
        while self._position < wanted:
            samples, is_last = self._read(min(wanted - self._position, 60 * RATE))
            cut = min(len(samples), wanted - self._position)
            self._left = samples[cut:]
            self._position += cut
            if is_last:
                return

    def close(self) -> None:
        self._container.close()
        self._file.close()

    def _read(self, count: int) -> tuple[Samples, bool]:
        """At least `count` samples, or all that are left and True."""
        parts, total = [self._left], len(self._left)
        while total < count:
            part = next(self._decoded, None)
            if part is None:
                return np.concatenate(parts), True
            parts.append(part)
            total += len(part)
        return np.concatenate(parts), False


def measure(file: IO[bytes]) -> float:
    """Seconds of sound: as the container says, or by counting packets where it does not. Raises Unheard."""
    with _open(file) as container:
        names = set(container.format.name.split(","))
        if container.duration and not names & GUESSED_LENGTHS:
            return float(container.duration / av.time_base)
        stream = container.streams.audio[0]
        units = 0
        with suppress(av.error.FFmpegError):  # a cut-off end is no reason to refuse the rest
            units = sum(packet.duration or 0 for packet in container.demux(stream))
        return float(units * (stream.time_base or 0))


def _open(file: IO[bytes]) -> InputContainer:
    """From the beginning of the file. Raises Unheard, also where there is no sound."""
    file.seek(0)
    try:
        container = av.open(file, mode="r", options=dict(OPTIONS), metadata_errors="ignore", buffer_size=BUFFER_BYTES)
    except (av.error.FFmpegError, OSError) as error:
        raise Unheard(FailureCode.FILE_DAMAGED, error) from error
    if not container.streams.audio:
        container.close()
        raise Unheard(FailureCode.FILE_WITHOUT_SPEECH)
    return container


def _decode(container: InputContainer, stream: AudioStream) -> Iterator[Samples]:
    """Mono at RATE. Packets that cannot be decoded are skipped, as players do."""

    def resampled(frame: av.AudioFrame | None) -> Iterator[Samples]:
        for each in resampler.resample(frame):
            yield each.to_ndarray().reshape(-1).astype(np.int16, copy=False)

    resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
    for frame in _frames(container, stream):
        frame.pts = None  # broken clocks of recorders would make the resampler refuse the frame
        try:
            yield from resampled(frame)
        except ValueError:  # the stream changes its format half-way
            yield from resampled(None)
            resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
            yield from resampled(frame)
    yield from resampled(None)


def _frames(container: InputContainer, stream: AudioStream) -> Iterator[av.AudioFrame]:
    with suppress(av.error.FFmpegError):  # a file that was cut off just ends earlier
        for packet in container.demux(stream):
            with suppress(av.error.FFmpegError):
                yield from stream.decode(packet)


def _quietest(samples: Samples, earliest: int) -> int:
    """The middle of the quietest QUIET_S after `earliest`."""
    width = int(QUIET_S * RATE)
    step = width // 8
    end = len(samples) - (len(samples) - earliest) % step
    loudness = np.square(samples[earliest:end].astype(np.float32)).reshape(-1, step).mean(axis=1)
    around = np.convolve(loudness, np.ones(8, dtype=np.float32), mode="valid")
    return earliest + int(np.argmin(around)) * step + width // 2


class Listener:
    """The loaded model and the recordings that it is in the middle of."""

    def __init__(self, model: "WhisperModel", *, piece_s: float) -> None:
        self._model = model
        self._piece_s = piece_s
        self._open: dict[str, Recording] = {}

    def hear(self, request: Hear, file: IO[bytes], tell: Tell) -> None:
        """Tell what is said in one piece of `file`. Raises Unheard."""
        recording = self._recording(request, file, tell)
        began_s = recording.position_s
        samples, is_last = recording.read_piece(self._piece_s)
        language = self._transcribe(samples, request.language, began_s, tell)
        tell(PieceEnd(until_s=recording.position_s, is_last=is_last, language=language))
        if is_last:
            recording.close()
            return
        self._open[request.recording] = recording
        while len(self._open) > MOST_OPEN:
            self._open.pop(next(iter(self._open))).close()

    def _recording(self, request: Hear, file: IO[bytes], tell: Tell) -> Recording:
        """The one that this request goes on with, or the file opened anew. Raises Unheard."""
        known = self._open.pop(request.recording, None)
        if known is not None:
            if abs(known.position_s - request.from_s) < 1 / RATE:
                file.close()
                return known
            known.close()
        total_s = measure(file)
        if total_s > request.limit_s:
            raise Unheard(FailureCode.FILE_TOO_LONG, total_s)
        recording = Recording(file)
        tell(Length(total_s=total_s, has_picture=recording.has_picture, title=recording.title))
        recording.skip(request.from_s)
        return recording

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
            tell(Utterance(start_s=began_s + start_s, end_s=began_s + end_s, text=text))
        return None if is_silent else str(info.language)


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> None:
    """Hear until the other end is closed (`sandbox.forkserver.Serve`)."""

    def tell(message: Message) -> None:
        connection.sendall(to_line(message))

    opening = from_line(stream.readline(LINE_BYTES), Opening)
    try:
        from faster_whisper import WhisperModel  # a second, and after the confinement

        model = WhisperModel(
            opening.model,
            device="cpu",
            compute_type="int8",
            cpu_threads=opening.threads or min(os.cpu_count() or 1, MOST_THREADS),
            local_files_only=True,
        )
    # The top of the process: whatever the libraries raise, the model cannot be loaded.
    except Exception as error:
        tell(Trouble(code=None, detail=f"{type(error).__name__}: {error}"[:500]))
        return
    listener = Listener(model, piece_s=opening.piece_s)
    tell(Ready())  # nothing was sent after the opening before this, so nothing waits in `stream`
    while (asked := _receive(connection)) is not None:
        request, file = asked
        try:
            listener.hear(request, file, tell)
        except (Unheard, MemoryError) as error:
            file.close()
            code = error.code if isinstance(error, Unheard) else FailureCode.FILE_TOO_HEAVY
            tell(Trouble(code=code, detail=str(error)))


def _receive(connection: socket.socket) -> tuple[Hear, IO[bytes]] | None:
    """The next request and its open file; None at the end."""
    line, descriptors, _, _ = socket.recv_fds(connection, LINE_BYTES, 1)
    if not line:
        return None
    while not line.endswith(b"\n"):
        line += connection.recv(LINE_BYTES)
    return from_line(line, Hear), os.fdopen(descriptors[0], "rb")
