"""The sound of a recording, piece by piece."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from adapters.whisper.listener import CUT_WITHIN_S, RATE, Recording, Samples, Unheard, measure
from ingestion.errors import FailureCode
from tests.fakes.voice import quiet, speak, write_recording, write_silent_film, write_wav

SOUNDS = {"mp3": "libmp3lame", "flac": "flac", "ogg": "libopus", "m4a": "aac", "aac": "aac", "webm": "libopus"}
FILMS = {"mp4": "aac", "mkv": "libopus", "mov": "aac", "avi": "libmp3lame"}
PLAYLISTS = {
    "upload": "ffconcat version 1.0\nfile secret.aac\n",
    "a.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nsecret.aac\n#EXT-X-ENDLIST\n",
}
"""Files that FFmpeg, left to itself, follows to another file."""


def _read(path: Path, piece_s: float = 1000) -> list[Samples]:
    pieces, is_last = [], False
    with closing(Recording(path.open("rb"))) as recording:
        while not is_last:
            samples, is_last = recording.read_piece(piece_s)
            pieces.append(samples)
    return pieces


@pytest.mark.parametrize("ending", [*SOUNDS, *FILMS])
def test_containers_are_read_to_their_end(ending: str, tmp_path: Path) -> None:
    film = ending in FILMS
    codec = {**SOUNDS, **FILMS}[ending]
    path = write_recording(tmp_path / f"a.{ending}", codec, quiet(1), speak(3), film=film)
    (samples,) = _read(path)
    assert len(samples) / RATE == pytest.approx(4, abs=0.12)
    with path.open("rb") as file:
        assert measure(file) == pytest.approx(4, abs=0.25)  # a film may run a frame longer
    assert np.abs(samples[: RATE // 2]).max() < np.abs(samples[2 * RATE :]).max() / 10
    with closing(Recording(path.open("rb"))) as recording:
        assert recording.has_picture == film


def test_a_title_is_taken_from_the_tags(tmp_path: Path) -> None:
    with closing(
        Recording(write_recording(tmp_path / "a.m4a", "aac", speak(1), title="Планёрка").open("rb"))
    ) as recording:
        assert recording.title == "Планёрка"


def test_pieces_are_the_whole_recording(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", *(part for _ in range(9) for part in (speak(11), quiet(1))))
    pieces = _read(path, piece_s=20)
    assert len(pieces) > 2
    assert np.array_equal(np.concatenate(pieces), np.concatenate(_read(path)))


def test_a_piece_ends_in_a_pause(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", speak(25), quiet(1), speak(60))
    with closing(Recording(path.open("rb"))) as recording:
        recording.read_piece(10)
        assert 25 < recording.position_s < 26


def test_a_piece_without_a_pause_ends_all_the_same(tmp_path: Path) -> None:
    pieces = _read(write_wav(tmp_path / "a.wav", speak(100)), piece_s=10)
    assert all(10 <= len(piece) / RATE <= 10 + CUT_WITHIN_S for piece in pieces[:-1])


def test_another_reader_goes_on_at_the_same_sample(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.mp3", "libmp3lame", speak(40), quiet(1), speak(40))
    first, second, *_ = _read(path, piece_s=10)
    with closing(Recording(path.open("rb"))) as recording:
        recording.skip(len(first) / RATE)
        samples, _ = recording.read_piece(10)
    assert np.array_equal(samples, second)


def test_a_file_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_recording(tmp_path / "a.ogg", "libopus", speak(8))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (samples,) = _read(path)
    assert 2 < len(samples) / RATE < 6


def test_a_film_without_sound_says_so(tmp_path: Path) -> None:
    path = write_silent_film(tmp_path / "a.mp4", 2)
    for read in (Recording, measure):
        with path.open("rb") as file, pytest.raises(Unheard) as caught:
            read(file)
        assert caught.value.code is FailureCode.FILE_WITHOUT_SPEECH


@pytest.mark.parametrize("content", [b"", b"OggS", b"ID3" + bytes(500), b"\xff\xfb" + b"noise" * 300])
def test_what_is_no_recording_says_so(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    path.write_bytes(content)
    with pytest.raises(Unheard) as caught:
        _read(path)
    assert caught.value.code is FailureCode.FILE_DAMAGED


@pytest.mark.parametrize("name", PLAYLISTS)
def test_a_playlist_leads_to_no_other_file(name: str, tmp_path: Path) -> None:
    write_recording(tmp_path / "secret.aac", "aac", speak(2))
    path = tmp_path / name
    path.write_text(PLAYLISTS[name])
    with pytest.raises(Unheard) as caught:
        _read(path)
    assert caught.value.code is FailureCode.FILE_DAMAGED
