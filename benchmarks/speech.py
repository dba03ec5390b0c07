"""How fast speech becomes text, what it costs in memory, and whether that grows with the length of a recording.

In: `python -m benchmarks.speech ../shared/data/speech [--model FOLDER]`. Out: a line for each container with its
real-time factor, and one for each length with the peak memory of the listening process. Without a model the tiny one of
the tests is written: its words mean nothing; its start, decoding, voice detection and memory are real; its speed is the
cost of everything but the model.
"""

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path

from adapters.whisper.transcriber import SpeechModel, WhisperTranscriber
from ingestion.errors import IngestionError
from tests.fakes.speech_model import write_speech_model
from tests.fakes.voice import quiet, speak, write_recording

ENDINGS = frozenset({".wav", ".mp3", ".flac", ".ogg", ".m4a", ".aac", ".mp4", ".webm"})
MINUTES = (1, 10, 60)
LISTENER = b"adapters.whisper.listener"


async def measure_containers(transcriber: WhisperTranscriber, data: Path) -> None:
    """A line for each recording of `data`."""
    print(f"{'recording':42} {'length s':>9} {'heard in s':>11} {'factor':>7}  language, utterances")
    for path in _recordings(data):
        name = str(path.relative_to(data))
        began = time.perf_counter()
        try:
            transcript = await transcriber.transcribe(path, name=name, heard=_ignore)
        except IngestionError as error:
            print(f"{name:42} {error.code}")
            continue
        took_s = time.perf_counter() - began
        factor = took_s / transcript.duration_s
        said = f"{transcript.language}, {len(transcript.utterances)}"
        print(f"{name:42} {transcript.duration_s:9.2f} {took_s:11.2f} {factor:7.2f}  {said}", flush=True)


async def measure_lengths(model: SpeechModel, folder: Path) -> None:
    """A line for each of MINUTES, each with a fresh process, whose start is told apart."""
    print(f"\n{'minutes':>7} {'start s':>8} {'heard in s':>11} {'factor':>7} {'peak MB':>8}")
    minute = (*(part for _ in range(2) for part in (speak(28), quiet(2))),)
    for minutes in MINUTES:
        path = write_recording(folder / f"{minutes}.ogg", "libopus", *minute * minutes)
        async with WhisperTranscriber(model, limit_s=1e6, idle_s=60) as transcriber:
            start_s = await _start(transcriber, folder)
            began = time.perf_counter()
            await transcriber.transcribe(path, name=path.name, heard=_ignore)
            took_s = time.perf_counter() - began
            print(
                f"{minutes:7} {start_s:8.2f} {took_s:11.2f} {took_s / minutes / 60:7.3f} {_peak_mb():8.0f}", flush=True
            )


def _recordings(data: Path) -> list[Path]:
    return sorted(path for path in data.rglob("*") if path.suffix in ENDINGS)


async def _start(transcriber: WhisperTranscriber, folder: Path) -> float:
    silence = write_recording(folder / "silence.wav", "pcm_s16le", quiet(0.1))
    began = time.perf_counter()
    await transcriber.transcribe(silence, name="silence", heard=_ignore)
    return time.perf_counter() - began


async def _ignore(done_s: float, total_s: float) -> None:
    """Nobody watches."""


def _peak_mb() -> float:
    """Of the listening process, by the kernel's count."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    (listener,) = (pid for pid in children if LISTENER in Path(f"/proc/{pid}/cmdline").read_bytes())
    status = Path(f"/proc/{listener}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


async def run(data: Path, given: str | None) -> None:
    """Both tables."""
    with tempfile.TemporaryDirectory(prefix="baza-speech-") as place:
        folder = Path(place)
        name = given or str(write_speech_model(folder / "model", says=" Раз, два, три."))
        model = SpeechModel(name=name, folder=folder)
        print(f"model {given or 'of the tests'}, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
        async with WhisperTranscriber(model, limit_s=1e6, idle_s=60) as transcriber:
            await measure_containers(transcriber, data)
        await measure_lengths(model, folder)


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", help="a folder with a CTranslate2 Whisper, or a name")
    arguments = parser.parse_args()
    asyncio.run(run(arguments.data, arguments.model))


if __name__ == "__main__":
    main()
