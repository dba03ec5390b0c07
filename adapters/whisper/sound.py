"""The sound of a recording, piece by piece, so that memory does not grow with its length.

In: an open file of any container that FFmpeg's libraries (in PyAV) read. Out: mono samples at 16 kHz, cut where it is
quiet. The file is a stranger's: only formats named here are opened, and none of them may lead to another file or host,
as playlists do. It runs in the listening process and knows nothing of speech.
"""

from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import IO, Self

import av
import numpy as np
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer
from numpy.typing import NDArray

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


class Damaged(Exception):
    """Not a recording, or nothing of it can be decoded."""


class Soundless(Exception):
    """A video without sound."""


class Recording:
    """A recording in the middle of which one may be; `read_piece` goes on from where the last one ended."""

    def __init__(self, file: IO[bytes]) -> None:
        """It takes over `file` and closes it, also when it raises Damaged or Soundless."""
        self._file = file
        try:
            self._container = _open(file)
        except Damaged:
            file.close()
            raise
        if not self._container.streams.audio:
            self.close()
            raise Soundless
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
        """The title in its tags."""
        tags = {**self._stream.metadata, **self._container.metadata}
        return tags.get("title", "").strip() or None

    def read_piece(self, piece_s: float) -> tuple[Samples, bool]:
        """Samples for about `piece_s` seconds, and whether the recording ends with them. Raises Damaged."""
        samples, is_last = self._read(int((piece_s + CUT_WITHIN_S) * RATE))
        if is_last and not self._position and not len(samples):
            raise Damaged("no sound could be decoded")
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
        """Close the file."""
        self._container.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

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
    """Seconds of sound: as the container says, or by counting packets where it does not.

    Raises Damaged, Soundless.
    """
    with _open(file) as container:
        if not container.streams.audio:
            raise Soundless
        names = set(container.format.name.split(","))
        if container.duration and not names & GUESSED_LENGTHS:
            return float(container.duration / av.time_base)
        stream = container.streams.audio[0]
        units = 0
        with suppress(av.error.FFmpegError):  # a cut-off end is no reason to refuse the rest
            units = sum(packet.duration or 0 for packet in container.demux(stream))
        return float(units * (stream.time_base or 0))


def _open(file: IO[bytes]) -> InputContainer:
    """From the beginning of the file."""
    file.seek(0)
    try:
        return av.open(file, mode="r", options=dict(OPTIONS), metadata_errors="ignore", buffer_size=BUFFER_BYTES)
    except (av.error.FFmpegError, OSError) as error:
        raise Damaged(str(error)) from error


def _decode(container: InputContainer, stream: AudioStream) -> Iterator[Samples]:
    """Mono at RATE. Packets that cannot be decoded are skipped, as players do."""
    resampler = _resampler()
    for packet in _packets(container, stream):
        frames: list[av.AudioFrame] = []
        with suppress(av.error.FFmpegError):
            frames = stream.decode(packet)
        for frame in frames:
            frame.pts = None  # broken clocks of recorders would make the resampler refuse the frame
            try:
                resampled = resampler.resample(frame)
            except ValueError:  # the stream changes its format half-way
                yield from _samples(resampler.resample(None))
                resampler = _resampler()
                resampled = resampler.resample(frame)
            yield from _samples(resampled)
    yield from _samples(resampler.resample(None))


def _packets(container: InputContainer, stream: AudioStream) -> Iterator["av.Packet[AudioStream]"]:
    with suppress(av.error.FFmpegError):  # a file that was cut off just ends earlier
        yield from container.demux(stream)


def _resampler() -> AudioResampler:
    return AudioResampler(format="s16", layout="mono", rate=RATE)


def _samples(frames: list[av.AudioFrame]) -> Iterator[Samples]:
    for frame in frames:
        yield frame.to_ndarray().reshape(-1).astype(np.int16, copy=False)


def _quietest(samples: Samples, earliest: int) -> int:
    """The middle of the quietest QUIET_S after `earliest`."""
    width = int(QUIET_S * RATE)
    step = width // 8
    end = len(samples) - (len(samples) - earliest) % step
    loudness = np.square(samples[earliest:end].astype(np.float32)).reshape(-1, step).mean(axis=1)
    around = np.convolve(loudness, np.ones(8, dtype=np.float32), mode="valid")
    return earliest + int(np.argmin(around)) * step + width // 2
