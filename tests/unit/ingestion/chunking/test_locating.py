"""Where a passage stands, and what may not share one."""

import pytest

from domain.locator import Locator
from ingestion.chunking.locating import join_locators, must_part


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Locator(member="а.txt"), Locator(member="б.txt")),
        (Locator(), Locator(member="б.txt")),
        (Locator(url="https://a.example/1"), Locator(url="https://a.example/2")),
        (Locator(slide=1), Locator(slide=2)),
        (Locator(row=9, headings=("Май",)), Locator(headings=("Июнь",))),
    ],
)
def test_no_passage_spans_two_places(before: Locator, after: Locator) -> None:
    assert must_part(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Locator(page=1), Locator(page=2)),
        (Locator(), Locator(slide=1)),  # a caption and the first slide
        (Locator(headings=("Май",)), Locator(row=1, headings=("Май",))),
        (Locator(start_s=0.0, end_s=2.0), Locator(start_s=2.0, end_s=4.0)),
    ],
)
def test_what_goes_on_may_share_a_passage(before: Locator, after: Locator) -> None:
    assert not must_part(before, after)


def test_rows_pages_and_seconds_run_from_the_first_to_the_last() -> None:
    parts = [Locator(row=2, page=1, start_s=1.0, end_s=2.0), Locator(row=5, row_end=7, page=3, start_s=2.0, end_s=9.0)]
    joined = join_locators(parts, own=parts)
    assert joined == Locator(row=2, row_end=7, page=1, page_end=3, start_s=1.0, end_s=9.0)


def test_file_page_and_slide_stay_known() -> None:
    place = Locator(member="а.zip/б.pptx", url="https://a.example", slide=3)
    assert join_locators([place, place], own=[place]) == place
