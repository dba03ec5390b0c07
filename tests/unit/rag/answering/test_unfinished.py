"""An answer says which of its documents were still being read, and how much of them had been."""

from dataclasses import replace

import pytest

from domain.documents import DocumentStatus
from domain.locator import Locator
from rag.answering.unfinished import still_read
from rag.execution.search_tool import passages_payload
from rag.records import Citation, Passage
from tests.fakes.rag import make_passage, rank


def _half_read(document: str, *, searchable: int = 1, total: int = 4, number: int = 1) -> Passage:
    passage = make_passage("слова", document=document, title=document, number=number)
    return replace(passage, document_status=DocumentStatus.EMBEDDING, searchable=searchable, progress_total=total)


def _cite(passage: Passage) -> Citation:
    return Citation(
        document_id=passage.document_id,
        chunk_id=passage.chunk_id,
        title=passage.title,
        source_type=passage.source_type,
        source_identifier=passage.source_identifier,
        locator=Locator(),
        quote="",
    )


def _told(*passages: Passage, cited: tuple[Passage, ...] = ()) -> list[tuple[str, int]]:
    payload = passages_payload(rank(*passages), asked="")
    return [(told.title, told.percent) for told in still_read(payload, [_cite(passage) for passage in cited])]


def test_a_ready_document_is_not_mentioned() -> None:
    ready = make_passage("слова")
    assert _told(ready, cited=(ready,)) == []


@pytest.mark.parametrize(("searchable", "total", "percent"), [(1, 4, 25), (4, 4, 99), (0, 4, 0), (3, 0, 99)])
def test_the_share_is_of_its_passages_and_never_the_whole(searchable: int, total: int, percent: int) -> None:
    book = _half_read("Книга", searchable=searchable, total=total)
    assert _told(book, cited=(book,)) == [("Книга", percent)]


def test_each_document_is_told_once() -> None:
    first, second = _half_read("Книга"), _half_read("Книга", number=2)
    assert _told(first, second, cited=(first, second)) == [("Книга", 25)]


def test_of_what_was_found_only_the_sources_are_told() -> None:
    book, other = _half_read("Книга"), _half_read("Другая", number=2)
    assert _told(book, other, cited=(other,)) == [("Другая", 25)]


def test_without_sources_the_answer_may_be_in_the_rest_of_anything() -> None:
    assert _told(_half_read("Книга"), _half_read("Другая", number=2)) == [("Книга", 25), ("Другая", 25)]
