"""The listening process for real: decoding, voice detection, features, generation and timestamps are faster-whisper's.

Only the weights are written here (`tests.fakes.speech_model`): what is heard is decided by them, that and when
something is heard is not. Linux: children are looked for in /proc.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from adapters.local.layout import LocalModelError
from adapters.whisper import transcriber as listening
from adapters.whisper.transcriber import SpeechModel, WhisperTranscriber
from ingestion.errors import FailureCode, IngestionError, ServiceError, SourceError
from ingestion.ports import Transcript
from tests.fakes.speech_model import write_speech_model
from tests.fakes.voice import quiet, speak, write_recording, write_silent_film, write_wav
from tests.processes import below, confined, environment
from tests.waiting import until

SPEECH = Path(__file__).resolve().parents[5] / "shared" / "data" / "speech"
REAL = sorted(path for path in SPEECH.glob("*/*") if path.suffix in {".wav", ".mp3", ".flac", ".ogg", ".m4a", ".aac"})
PIECE_S = 5.0  # with the 30 s in which a quiet place for the cut is looked for, these recordings make three pieces

WORKER = """
import asyncio, sys
from pathlib import Path
from adapters.whisper.transcriber import SpeechModel, WhisperTranscriber

async def heard(done_s, total_s):
    print("heard", flush=True)

async def main():
    model = SpeechModel(name=sys.argv[1], folder=Path("/nonexistent"))
    async with WhisperTranscriber(model, limit_s=9999, idle_s=60, piece_s=5) as transcriber:
        while True:
            await transcriber.transcribe(Path(sys.argv[2]), name="x", heard=heard)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SpeechModel:
    folder = tmp_path_factory.mktemp("model")
    return SpeechModel(name=str(write_speech_model(folder, says=" Раз, два, три.")), folder=folder)


@pytest.fixture
async def transcriber(model: SpeechModel) -> AsyncIterator[WhisperTranscriber]:
    async with WhisperTranscriber(model, limit_s=600, idle_s=60, piece_s=PIECE_S) as transcriber:
        yield transcriber


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kept(model: SpeechModel) -> AsyncIterator[WhisperTranscriber]:
    """One for the tests that leave it as it was: its process takes a second to start."""
    async with WhisperTranscriber(model, limit_s=600, idle_s=600, piece_s=PIECE_S) as transcriber:
        yield transcriber


@pytest.fixture
def lecture(tmp_path: Path) -> Path:
    """82 s."""
    return write_wav(tmp_path / "lecture.wav", *(part for _ in range(4) for part in (speak(20), quiet(0.5))))


async def _ignore(done_s: float, total_s: float) -> None: ...


async def _hear(transcriber: WhisperTranscriber, path: Path) -> Transcript:
    return await transcriber.transcribe(path, name=path.name, heard=_ignore)


async def _error(transcriber: WhisperTranscriber, path: Path) -> IngestionError:
    with pytest.raises(IngestionError) as caught:
        await _hear(transcriber, path)
    return caught.value


@pytest.fixture
def children() -> Callable[[], list[int]]:
    """The listening processes that the test has started."""
    others = confined(listening.ENTRY)
    return lambda: [child for child in confined(listening.ENTRY) if child not in others]


def _runs(process: int) -> bool:
    with contextlib.suppress(OSError):
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    return False


@pytest.mark.asyncio(loop_scope="module")
async def test_speech_becomes_text_with_its_seconds(kept: WhisperTranscriber, tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.ogg", "libopus", quiet(3), speak(4), title="Планёрка")
    transcript = await _hear(kept, path)
    (utterance,) = transcript.utterances
    assert utterance.text == "Раз, два, три."
    assert 2 < utterance.start_s < 3.5 < utterance.end_s < 7.1
    assert (transcript.language, transcript.title, transcript.has_picture) == ("ru", "Планёрка", False)
    assert transcript.duration_s == pytest.approx(7, abs=0.1)


@pytest.mark.asyncio(loop_scope="module")
async def test_silence_has_no_words(kept: WhisperTranscriber, tmp_path: Path) -> None:
    transcript = await _hear(kept, write_wav(tmp_path / "a.wav", quiet(5)))
    assert (transcript.utterances, transcript.language, transcript.duration_s) == ((), None, 5.0)


async def test_a_fixed_language_is_not_guessed(model: SpeechModel, tmp_path: Path) -> None:
    german = SpeechModel(name=model.name, folder=model.folder, language="de")
    async with WhisperTranscriber(german, limit_s=600, idle_s=60) as transcriber:
        assert (await _hear(transcriber, write_wav(tmp_path / "a.wav", speak(3)))).language == "de"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_long_recording_is_heard_in_pieces(kept: WhisperTranscriber, lecture: Path) -> None:
    told: list[float] = []

    async def heard(done_s: float, total_s: float) -> None:
        told.append(done_s)
        assert total_s == 82.0

    transcript = await kept.transcribe(lecture, name="x", heard=heard)
    starts = [utterance.start_s for utterance in transcript.utterances]
    assert transcript.duration_s == 82.0
    assert len(starts) >= 3
    assert starts == sorted(starts)
    assert starts[-1] > 40
    assert told == sorted(told)
    assert told[-1] == 82.0


@pytest.mark.asyncio(loop_scope="module")
async def test_a_voice_note_does_not_wait_for_a_lecture(
    kept: WhisperTranscriber, lecture: Path, tmp_path: Path
) -> None:
    order: list[str] = []

    async def hear(path: Path) -> None:
        await _hear(kept, path)
        order.append(path.name)

    note = write_wav(tmp_path / "note.wav", speak(2))
    await asyncio.gather(hear(lecture), hear(note))
    assert order == ["note.wav", "lecture.wav"]


async def test_a_recording_too_long_is_refused_before_it_is_heard(
    model: SpeechModel, lecture: Path, children: Callable[[], list[int]]
) -> None:
    async with WhisperTranscriber(model, limit_s=60, idle_s=60) as transcriber:
        error = await _error(transcriber, lecture)
        assert (error.code, error.params) == (FailureCode.FILE_TOO_LONG, {"name": "lecture.wav", "minutes": 1})
        assert len(children()) == 1  # the next recording need not wait for the model


@pytest.mark.parametrize("content", [b"OggS" + bytes(200), b"ffconcat version 1.0\nfile lecture.wav\n"])
@pytest.mark.asyncio(loop_scope="module")
async def test_a_damaged_recording_is_its_own_trouble(kept: WhisperTranscriber, lecture: Path, content: bytes) -> None:
    path = lecture.with_name("damaged.ogg")
    path.write_bytes(content)
    error = await _error(kept, path)
    assert isinstance(error, SourceError)
    assert error.code is FailureCode.FILE_DAMAGED
    assert (await _hear(kept, lecture)).utterances


@pytest.mark.asyncio(loop_scope="module")
async def test_a_film_without_sound_has_no_speech(kept: WhisperTranscriber, tmp_path: Path) -> None:
    error = await _error(kept, write_silent_film(tmp_path / "a.mp4", 2))
    assert error.code is FailureCode.FILE_WITHOUT_SPEECH


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGSEGV])
async def test_a_process_that_dies_loses_no_more_than_a_piece(
    transcriber: WhisperTranscriber, lecture: Path, signal_number: signal.Signals, children: Callable[[], list[int]]
) -> None:
    undisturbed = await _hear(transcriber, lecture)
    killed: list[int] = []

    async def heard(done_s: float, total_s: float) -> None:
        if done_s > 40 and not killed:
            killed.extend(children())
            os.kill(killed[0], signal_number)

    transcript = await transcriber.transcribe(lecture, name="x", heard=heard)
    assert transcript == undisturbed
    assert killed
    assert children() != killed


async def test_a_process_that_hangs_is_replaced(
    transcriber: WhisperTranscriber, lecture: Path, children: Callable[[], list[int]]
) -> None:
    stopped: list[int] = []

    async def heard(done_s: float, total_s: float) -> None:
        if not stopped:
            stopped.extend(children())
            os.kill(stopped[0], signal.SIGSTOP)
            transcriber._silence_s = 5.0

    transcript = await transcriber.transcribe(lecture, name="x", heard=heard)
    assert transcript.duration_s == 82.0
    assert not _runs(stopped[0])


@pytest.mark.parametrize(
    ("entry", "code"),
    [("by_kill", FailureCode.FILE_TOO_HEAVY), ("by_segfault", FailureCode.FILE_DAMAGED)],
)
async def test_a_recording_that_kills_every_process_is_given_up(
    model: SpeechModel,
    lecture: Path,
    monkeypatch: pytest.MonkeyPatch,
    entry: str,
    code: FailureCode,
) -> None:
    monkeypatch.setattr(listening, "ENTRY", f"tests.fakes.dying_listener:{entry}")
    async with WhisperTranscriber(model, limit_s=600, idle_s=60, piece_s=PIECE_S) as transcriber:
        with capture_logs() as logs:
            assert (await _error(transcriber, lecture)).code is code
        assert [entry["trial"] for entry in logs if entry["event"] == "listener_died"] == [1, 2]
        assert (await _hear(transcriber, write_wav(lecture.with_name("note.wav"), speak(2)))).utterances


async def test_cancelling_stops_the_work_at_once(
    transcriber: WhisperTranscriber, lecture: Path, children: Callable[[], list[int]]
) -> None:
    listening = asyncio.create_task(_hear(transcriber, lecture))
    await until(lambda: bool(children()))
    process = children()[0]
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await until(lambda: not _runs(process))  # killed; the system takes a moment to end it


async def test_cancelled_before_it_is_connected_no_process_is_left(
    transcriber: WhisperTranscriber, lecture: Path, monkeypatch: pytest.MonkeyPatch, children: Callable[[], list[int]]
) -> None:
    reached = asyncio.Event()

    async def never(**_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio, "open_connection", never)
    listening = asyncio.create_task(_hear(transcriber, lecture))
    await reached.wait()
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await until(lambda: children() == [])  # killed; the system takes a moment to end it


async def test_what_the_listener_of_progress_raises_stops_the_work(
    transcriber: WhisperTranscriber, lecture: Path, children: Callable[[], list[int]]
) -> None:
    async def heard(done_s: float, total_s: float) -> None:
        raise LookupError("the lease is lost")

    with pytest.raises(LookupError):
        await transcriber.transcribe(lecture, name="x", heard=heard)
    await until(lambda: children() == [])  # killed; the system takes a moment to end it


async def test_an_idle_process_ends_and_the_next_recording_starts_another(
    model: SpeechModel, tmp_path: Path, children: Callable[[], list[int]]
) -> None:
    path = write_wav(tmp_path / "a.wav", speak(2))
    async with WhisperTranscriber(model, limit_s=600, idle_s=2) as transcriber:
        await _hear(transcriber, path)
        assert len(children()) == 1
        await until(lambda: not children())
        assert (await _hear(transcriber, path)).utterances


async def test_a_killed_worker_leaves_no_process(model: SpeechModel, lecture: Path) -> None:
    command = [sys.executable, "-c", WORKER, model.name, str(lecture)]
    worker = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert worker.stdout is not None
    while await worker.stdout.readline() != b"heard\n":  # the log comes first
        assert worker.returncode is None
    listener = list(below(worker.pid))[-1]
    worker.kill()
    await worker.communicate()
    await until(lambda: not _runs(listener))


@pytest.mark.parametrize("name", ["/nonexistent/model", "no-such-model"])
async def test_a_model_that_cannot_be_loaded_is_the_services_trouble(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: Callable[[], list[int]]
) -> None:
    def nothing(name: str, *_: object, **__: object) -> None:
        assert name == "Systran/faster-whisper-no-such-model"
        raise LocalModelError("the hub has none")

    monkeypatch.setattr(listening, "fetch_from_hub", nothing)
    path = write_wav(tmp_path / "a.wav", speak(1))
    async with WhisperTranscriber(SpeechModel(name=name, folder=tmp_path), limit_s=60, idle_s=60) as transcriber:
        error = await _error(transcriber, path)
        assert isinstance(error, ServiceError)
        assert (error.code, error.params) == (FailureCode.SERVICE_AWAY, {"service": "Whisper"})
        assert children() == []


async def test_too_little_memory_ends_the_recording_and_not_the_worker(model: SpeechModel, lecture: Path) -> None:
    small = SpeechModel(name=model.name, folder=model.folder, memory_mb=40)
    async with WhisperTranscriber(small, limit_s=600, idle_s=60) as transcriber:
        error = await _error(transcriber, lecture)
        assert error.code in (FailureCode.SERVICE_AWAY, FailureCode.FILE_TOO_HEAVY, FailureCode.FILE_DAMAGED)


async def test_no_secret_reaches_the_process(
    model: SpeechModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: Callable[[], list[int]]
) -> None:
    monkeypatch.setenv("BOT_TOKEN", "123456:secret")
    async with WhisperTranscriber(model, limit_s=600, idle_s=60) as transcriber:
        await _hear(transcriber, write_wav(tmp_path / "a.wav", speak(1)))
        started_with = environment(children()[0])
    assert "PATH=" in started_with
    assert "secret" not in started_with


@pytest.mark.skipif(not REAL, reason="../shared/data/speech is not on this machine")
@pytest.mark.asyncio(loop_scope="module")
async def test_real_recordings_are_heard(kept: WhisperTranscriber) -> None:
    for path in REAL:
        transcript = await _hear(kept, path)
        assert bool(transcript.utterances) == ("silent" not in path.name), path
        for utterance in transcript.utterances:
            assert 0 <= utterance.start_s < utterance.end_s <= transcript.duration_s, path
