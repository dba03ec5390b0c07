"""Chooses what transcribes recordings, and what fetches videos behind links.

In: settings. Out: a `Transcriber`, or None without a speech model, and a video fetcher, which without a speech model
takes captions only. Part of the composition root (`bot.app`), split off for length.
"""

import wave
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.settings import Settings
from ingestion.fetch.video import VideoFetcher, VideoLimits
from ingestion.ports import Transcriber

MEGABYTE = 2**20
SAMPLES_A_SECOND = 16_000
SAMPLE_BYTES = 2


async def open_transcriber(settings: Settings, stack: AsyncExitStack) -> Transcriber | None:
    """The speech model of the settings; its process starts with the first recording and ends with `stack`."""
    speech = settings.speech
    if speech.model is None:
        return None
    from adapters.whisper.transcriber import SpeechModel, WhisperTranscriber  # for those who have a model

    model = SpeechModel(
        name=speech.model,
        folder=settings.home / "models",
        threads=speech.threads,
        memory_mb=speech.memory_mb,
        language=None if speech.language == "auto" else speech.language,
    )
    return await stack.enter_async_context(WhisperTranscriber(model, limit_s=speech.minutes * 60, idle_s=speech.idle_s))


async def try_speech(settings: Settings) -> None:
    """Load the model (downloading it if it is not there) and transcribe a second of silence. Raises IngestionError."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="baza-")))
        transcriber = await open_transcriber(settings, stack)
        if transcriber is not None:
            await transcriber.transcribe(_silence(folder / "silence.wav"), name="silence", heard=_ignore)


def video_fetcher(settings: Settings) -> VideoFetcher:
    """Fetches captions of videos, and their sound when there is a speech model."""
    speech = settings.speech
    limits = VideoLimits(
        total_s=speech.video_s,
        size_bytes=speech.video_mb * MEGABYTE,
        sound_s=speech.minutes * 60,
        allow_hosts=settings.worker.fetch_allow_hosts,
    )
    return VideoFetcher(limits, may_listen=speech.model is not None)


def _silence(path: Path) -> Path:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(SAMPLE_BYTES)
        sound.setframerate(SAMPLES_A_SECOND)
        sound.writeframes(bytes(SAMPLE_BYTES * SAMPLES_A_SECOND))
    return path


async def _ignore(done_s: float, total_s: float) -> None:
    """Nobody waits for progress here."""
