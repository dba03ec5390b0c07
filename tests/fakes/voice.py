"""A voice made of numbers, that the real voice detection takes for speech, and files of any container around it.

In: seconds. Out: samples at 16 kHz, and recordings on disk. Nothing in it is recorded, so every machine has it.
"""

import wave
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import OutputContainer
from numpy.typing import NDArray

RATE = 16_000
SYLLABLE_S = 0.22
LOUDNESS = 16_000
VOWELS = ((730, 1090, 2440), (530, 1840, 2480), (270, 2290, 3010), (570, 840, 2410), (300, 870, 2240))
"""Formants in Hz, Peterson and Barney 1952: a, e, i, o, u."""
WIDTHS = ((60, 1.0), (90, 0.6), (120, 0.3))  # of each formant in Hz, and how loud it is
FRAME = 1024

Samples = NDArray[np.int16]


def speak(seconds: float) -> Samples:
    """Syllables without a pause."""
    time = np.arange(int(seconds * RATE)) / RATE
    pitch = 120 + 15 * np.sin(2 * np.pi * 0.7 * time) + 8 * np.sin(2 * np.pi * 3.1 * time)
    pulses = np.diff(np.floor(np.cumsum(pitch) / RATE), prepend=0.0)
    chance = np.random.default_rng(1)
    length = int(SYLLABLE_S * RATE)
    spoken = [
        _syllable(pulses[start : start + length], VOWELS[chance.integers(len(VOWELS))], length)
        for start in range(0, len(pulses), length)
    ]
    sound = np.concatenate(spoken)
    return np.asarray(sound / np.abs(sound).max() * LOUDNESS, dtype=np.int16)


def quiet(seconds: float) -> Samples:
    """Silence."""
    return np.zeros(int(seconds * RATE), dtype=np.int16)


def write_wav(path: Path, *parts: Samples) -> Path:
    """The parts one after the other."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.concatenate(parts).tobytes())
    return path


def write_recording(path: Path, codec: str, *parts: Samples, title: str | None = None, film: bool = False) -> Path:
    """The parts in the container that the name's ending asks for; with `film` a moving picture runs beside them."""
    with av.open(str(path), "w") as container:
        if title:
            container.metadata["title"] = title
        sound = container.add_stream(codec, rate=RATE if codec != "libopus" else 48_000, layout="mono")
        assert isinstance(sound, AudioStream)
        samples = np.concatenate(parts)
        if film:
            _film(container, len(samples) / RATE)
        _encode(container, sound, samples)
    return path


def write_silent_film(path: Path, seconds: float) -> Path:
    """Pictures alone."""
    with av.open(str(path), "w") as container:
        _film(container, seconds)
    return path


def _syllable(pulses: NDArray[np.float64], vowel: tuple[int, ...], length: int) -> NDArray[np.float64]:
    frequency = np.fft.rfftfreq(2 * length, 1 / RATE)
    peaks = zip(vowel, WIDTHS, strict=True)
    gain = sum(loud / (1 + ((frequency - place) / width) ** 2) for place, (width, loud) in peaks)
    sound = np.fft.irfft(np.fft.rfft(pulses, 2 * length) * gain / (1 + frequency / 800))[: len(pulses)]
    swell = np.sqrt(np.sin(np.pi * np.arange(len(pulses)) / length))
    return np.asarray(sound * swell)


def _encode(container: OutputContainer, stream: AudioStream, samples: Samples) -> None:
    resampler = av.AudioResampler(format=stream.format, layout="mono", rate=stream.rate, frame_size=FRAME)
    frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
    frame.sample_rate = RATE
    frame.pts = 0
    frame.time_base = Fraction(1, RATE)
    for resampled in (*resampler.resample(frame), *resampler.resample(None)):
        container.mux(stream.encode(resampled))
    container.mux(stream.encode(None))


def _film(container: OutputContainer, seconds: float) -> None:
    stream = container.add_stream("mpeg4", rate=5)
    stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
    for _ in range(int(seconds * 5)):
        picture = av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), dtype=np.uint8), format="rgb24")
        container.mux(stream.encode(picture))
    container.mux(stream.encode(None))
