"""What takes a second of a large file is done in a thread: every chat waits for the event loop."""

import threading
from pathlib import Path

import pytest

from ingestion import pipeline
from ingestion.about import hash_page
from ingestion.parsers.kinds import FileKind, glance
from ingestion.reading import reader
from ingestion.records import Document, FetchedFile
from tests.fakes.ingestion import CutHere, FakeQueue, claimed, progress_of
from tests.unit.ingestion.test_pipeline import LONG_TEXT, _link, make_pipeline


async def test_a_long_page_is_compared_in_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def noted(parsed: Document) -> str:
        threads.append(threading.current_thread())
        return hash_page(parsed)

    monkeypatch.setattr(pipeline, "hash_page", noted)
    await make_pipeline(FakeQueue(), tmp_path).run(claimed(_link(LONG_TEXT)))
    assert threads
    assert threading.main_thread() not in threads


async def test_the_directory_of_an_archive_is_looked_through_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def noted(path: Path) -> FileKind | None:
        threads.append(threading.current_thread())
        return glance(path)

    monkeypatch.setattr(reader, "glance", noted)
    path = tmp_path / "a.txt"
    path.write_text("слова", encoding="utf-8")
    file = FetchedFile(path=path, name="a.txt", media_type=None, size_bytes=10, sha256="")
    files = reader.FileReader(parser=CutHere(), pictures=None, recordings=None)
    await files.read(file, progress_of(FakeQueue()))
    assert threads
    assert threading.main_thread() not in threads
