"""Passages that follow each other, as one."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from domain.ids import ChunkId, DocumentId
from domain.locator import Locator
from rag.records import Passage, RankedPassage
from rag.retrieval.ranking import LONGEST_RUN, SHORTEST_OVERLAP, merge_neighbours, spread_over_pages
from tests.fakes.rag import make_passage, rank

FIRST = "Арендатор платит до пятого числа. Штраф — 0,1 % за день просрочки."
SECOND = "Штраф — 0,1 % за день просрочки. Договор действует год."


def piece(ordinal: int, text: str = "текст", *, document: str = "doc", **place: int | str) -> Passage:
    number = ordinal if document == "doc" else ordinal + 100
    plain = make_passage(text, number=number, document=document)
    return replace(plain, ordinal=ordinal, locator=Locator(**place))  # type: ignore[arg-type]  # parts of a place


def merged(*passages: Passage) -> list[Passage]:
    return [each.passage for each in merge_neighbours(rank(*passages))]


def test_neighbours_become_one_in_reading_order_in_the_place_of_the_better() -> None:
    later, between, earlier = piece(5, "конец"), piece(9, "другое"), piece(4, "начало")

    first, second = merged(later, between, earlier)

    assert (first.text, first.chunk_id, first.ordinal) == ("начало\n\nконец", later.chunk_id, 5)
    assert second == between


def test_what_overlaps_is_said_once() -> None:
    (one,) = merged(piece(1, FIRST), piece(2, SECOND))

    assert one.text == "Арендатор платит до пятого числа. Штраф — 0,1 % за день просрочки. Договор действует год."


def test_a_short_repetition_at_the_seam_is_no_overlap() -> None:
    (one,) = merged(piece(1, "Это да"), piece(2, "да, и ещё раз да"))

    assert one.text == "Это да\n\nда, и ещё раз да"


def test_a_gap_keeps_passages_apart() -> None:
    assert len(merged(piece(1), piece(3))) == 2


def test_passages_of_two_documents_stay_apart() -> None:
    assert len(merged(piece(1), piece(2, document="other"))) == 2


def test_sheets_stay_apart() -> None:
    prices, services = (Locator(row=2, row_end=9, headings=(sheet,)) for sheet in ("Прайс", "Услуги"))
    assert len(merged(replace(piece(1), locator=prices), replace(piece(2), locator=services))) == 2
    assert len(merged(replace(piece(1), locator=prices), replace(piece(2), locator=prices))) == 1


def test_slides_files_of_an_archive_and_pages_of_a_site_stay_apart() -> None:
    for part in ({"slide": 1}, {"member": "a.txt"}, {"url": "https://a.example/1"}):
        assert len(merged(piece(1, **part), piece(2))) == 2


def test_the_place_runs_from_the_first_to_the_last() -> None:
    (one,) = merged(piece(2, page=4, page_end=5, row=10, row_end=19), piece(1, page=3, row=2, row_end=9))

    assert one.locator == Locator(page=3, page_end=5, row=2, row_end=19)


def test_one_page_has_no_second() -> None:
    (one,) = merged(piece(1, page=3), piece(2, page=3))

    assert one.locator == Locator(page=3)


def test_seconds_run_from_the_first_to_the_last() -> None:
    later = replace(piece(2), locator=Locator(start_s=60.0, end_s=90.5))
    earlier = replace(piece(1), locator=Locator(start_s=30.0, end_s=60.0))

    assert merged(later, earlier)[0].locator == Locator(start_s=30.0, end_s=90.5)


@given(st.lists(st.integers(1, 12), unique=True, min_size=1))
def test_every_passage_is_in_one_run_of_at_most_three(ordinals: list[int]) -> None:
    words = {ordinal: f"слово{ordinal}" * SHORTEST_OVERLAP for ordinal in ordinals}

    runs = [passage.text.split("\n\n") for passage in merged(*(piece(each, words[each]) for each in ordinals))]

    assert sorted(text for run in runs for text in run) == sorted(words.values())
    assert all(len(run) <= LONGEST_RUN for run in runs)


def test_the_score_is_that_of_the_best() -> None:
    best = RankedPassage(passage=piece(2), score=0.9)
    other = RankedPassage(passage=piece(1), score=0.4)

    (one,) = merge_neighbours([best, other])

    assert (one.score, one.passage.document_id, one.passage.chunk_id) == (0.9, DocumentId("doc"), ChunkId(2))


def test_from_the_third_on_passages_of_a_page_come_behind_other_pages_of_their_document() -> None:
    ranked = rank(
        *(piece(ordinal, page=5) for ordinal in (1, 3, 5, 7)),
        *(piece(ordinal, document="other", page=1) for ordinal in (1, 3, 5)),
        piece(20, page=6),
    )

    spread = spread_over_pages(ranked)

    assert [(each.passage.document_id, each.passage.ordinal) for each in spread] == [
        *(("doc", ordinal) for ordinal in (1, 3, 20, 5)),
        *(("other", ordinal) for ordinal in (1, 3, 5)),
        ("doc", 7),
    ]
    assert [each.score for each in spread] == [each.score for each in ranked]


def test_what_has_no_pages_stays_as_it_is_ranked() -> None:
    ranked = rank(*(piece(ordinal) for ordinal in (4, 2, 8, 6)))

    assert spread_over_pages(ranked) == list(ranked)
