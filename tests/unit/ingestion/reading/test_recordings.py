"""A recording becomes a document; what cannot is said with the reason."""

from dataclasses import replace
from pathlib import Path

import pytest

from domain.documents import DocumentStatus, Medium
from ingestion.errors import FailureCode, SourceError
from ingestion.ports import Transcript
from ingestion.reading.recordings import RecordingReader
from ingestion.records import FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.fakes.speech import FakeTranscriber, said

VOICE = FetchedFile(path=Path("/tmp/x"), name="Голосовое.ogg", media_type="audio/ogg", size_bytes=1, sha256="")
HEARD = Transcript(
    utterances=said((0.5, 3.0, "Купить молоко."), (8.0, 9.5, "И хлеб.")),
    duration_s=10.0,
    language="ru",
    has_picture=False,
)


async def test_what_is_said_becomes_paragraphs_with_their_seconds() -> None:
    document = await RecordingReader(FakeTranscriber(HEARD)).read_recording(VOICE, progress_of(FakeQueue()))
    places = [(block.text, block.locator.start_s, block.locator.end_s) for block in document.blocks]
    assert places == [("Купить молоко.", 0.5, 3.0), ("И хлеб.", 8.0, 9.5)]
    assert (document.title, document.language, document.duration_s) == ("Голосовое", "ru", 10.0)
    assert document.medium is Medium.AUDIO


async def test_a_film_is_video_and_keeps_its_title() -> None:
    film = replace(HEARD, has_picture=True, title="Лекция о базах")
    document = await RecordingReader(FakeTranscriber(film)).read_recording(VOICE, progress_of(FakeQueue()))
    assert (document.medium, document.title) == (Medium.VIDEO, "Лекция о базах")


async def test_progress_is_told_in_seconds() -> None:
    queue = FakeQueue()
    await RecordingReader(FakeTranscriber(HEARD)).read_recording(VOICE, progress_of(queue))
    assert queue.reported[0] == (DocumentStatus.LISTENING, 0, 0)
    assert queue.reported[1:] == [(DocumentStatus.LISTENING, 3, 10), (DocumentStatus.LISTENING, 10, 10)]


async def test_silence_is_named() -> None:
    silence = replace(HEARD, utterances=())
    with pytest.raises(SourceError) as caught:
        await RecordingReader(FakeTranscriber(silence)).read_recording(VOICE, progress_of(FakeQueue()))
    assert (caught.value.code, caught.value.params) == (FailureCode.FILE_WITHOUT_SPEECH, {"name": "Голосовое.ogg"})
