"""Small documents that go through all stages at once, with everything outside scripted."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from domain.documents import SourceType
from domain.ids import DocumentId
from ingestion.about import hash_note, hash_words
from ingestion.errors import FailureCode, ServiceError
from ingestion.records import ClaimedDocument, Source
from tests.fakes.ingestion import FakeEmbedder, FakeQueue, claimed, note
from tests.unit.ingestion.test_pipeline import LONG_TEXT, make_pipeline

WORDS = "Арендатор вносит плату не позднее пятого числа. "


def file(text: str, *, document: str) -> ClaimedDocument:
    return claimed(Source(type=SourceType.FILE, identifier=f"{document}.txt", file_id=text), document=document)


async def run(queue: FakeQueue, scratch: Path, documents: Sequence[ClaimedDocument]) -> set[DocumentId]:
    outcomes = await make_pipeline(queue, scratch).run_together(documents)
    return {document for document, failure in outcomes.items() if failure is None}


async def test_notes_and_files_are_published_in_one_call(tmp_path: Path) -> None:
    queue = FakeQueue()
    sent = [claimed(note(), document="note"), *(file(f"{WORDS}{name}", document=name) for name in ("a", "b"))]
    assert await run(queue, tmp_path, sent) == {"note", "a", "b"}
    assert (queue.together, queue.published) == ([["note", "a", "b"]], [])
    assert os.listdir(tmp_path) == ["gate.lock"]


@pytest.mark.parametrize(
    "odd",
    [
        file("БОМБА", document="odd"),  # alone it may take more
        file("скан", document="odd"),  # others have to be asked than the parser
        file("", document="odd"),  # without a word
        claimed(note(" "), document="odd"),
        replace(file(WORDS, document="odd"), attempt=2),  # it may be what killed the last worker
        replace(file(WORDS, document="odd"), is_known=True),
        replace(file(WORDS, document="odd"), full_at=10),
    ],
)
async def test_what_is_not_smooth_is_left_and_holds_up_no_other(odd: ClaimedDocument, tmp_path: Path) -> None:
    queue = FakeQueue()
    assert await run(queue, tmp_path, [odd, file(WORDS, document="plain")]) == {"plain"}
    assert queue.together == [["plain"]]


async def test_a_small_file_with_many_passages_is_stored_by_itself_and_read_once(tmp_path: Path) -> None:
    queue, pair = FakeQueue(), [file(LONG_TEXT, document="long"), file(WORDS, document="plain")]
    assert await run(queue, tmp_path, pair) == {"long", "plain"}
    assert (queue.together, len(queue.published)) == ([["plain"]], 1)


async def test_one_with_many_passages_that_meets_trouble_is_left_and_takes_no_other_with_it(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    embedder.trouble.append(ServiceError(FailureCode.SERVICE_AWAY, service="jina"))
    pair = [file(LONG_TEXT, document="long"), file(WORDS, document="plain")]
    outcomes = await make_pipeline(FakeQueue(), tmp_path, embedder=embedder).run_together(pair)
    assert outcomes == {"plain": None}


async def test_what_cannot_be_read_is_told_with_the_reason_and_read_no_second_time(tmp_path: Path) -> None:
    files = [file(text, document=name) for text, name in ((WORDS, "plain"), ("ШИФР", "locked"), ("ОБРЫВ", "torn"))]
    outcomes = await make_pipeline(FakeQueue(), tmp_path).run_together([*files, claimed(note(" "), document="blank")])
    assert {document: failure and failure.code for document, failure in outcomes.items()} == {
        "plain": None,
        "locked": FailureCode.FILE_ENCRYPTED,
        "torn": FailureCode.FILE_DAMAGED,
        "blank": FailureCode.FILE_EMPTY,
    }


async def test_a_file_that_may_be_kept_for_its_caption_is_left(tmp_path: Path) -> None:
    captioned = replace(file("БИНАР", document="a").source, text="Подпись.")
    pair = [claimed(captioned, document="a"), file(WORDS, document="b")]
    assert set(await make_pipeline(FakeQueue(), tmp_path).run_together(pair)) == {"b"}


async def test_what_the_base_holds_has_ended_unread(tmp_path: Path) -> None:
    queue, twin = FakeQueue(), claimed(note("то же"), document="twin")
    queue.known_hashes = {hash_words(WORDS): DocumentId("first"), hash_note(twin.source): DocumentId("second")}
    assert await run(queue, tmp_path, [file(WORDS, document="known"), twin]) == {"known", "twin"}
    assert queue.together == [["twin"]]


async def test_a_service_that_is_away_is_told(tmp_path: Path) -> None:
    embedder, queue = FakeEmbedder(), FakeQueue()
    embedder.trouble.append(ServiceError(FailureCode.SERVICE_AWAY, service="jina"))
    with pytest.raises(ServiceError):
        await make_pipeline(queue, tmp_path, embedder=embedder).run_together([claimed(note()), claimed(note())])
    assert queue.together == []
