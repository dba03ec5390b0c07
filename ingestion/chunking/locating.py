"""Joins the locators of pieces into a passage's, and tells which pieces may not share a passage.

In: locators in reading order. Out: one locator, or whether a border must lie between two. Pure.
"""

from collections.abc import Iterable, Sequence

from domain.locator import Locator


def must_part(before: Locator, after: Locator) -> bool:
    """No passage spans two files, pages of a site, slides or sheets: a citation could not say where it stands."""
    if (before.member, before.url) != (after.member, after.url):
        return True
    if before.slide is not None and before.slide != after.slide:
        return True
    return before.row is not None and before.headings != after.headings


def join_locators(locators: Sequence[Locator], *, own: Sequence[Locator]) -> Locator:
    """From the first page (row, second) to the last; the headings shared by all `own` pieces (not the overlap)."""
    first = locators[0]
    page, page_end = _range((locator.page, locator.page_end) for locator in locators)
    row, row_end = _range((locator.row, locator.row_end) for locator in locators)
    starts = [locator.start_s for locator in locators if locator.start_s is not None]
    ends = [locator.end_s for locator in locators if locator.end_s is not None]
    return Locator(
        page=page,
        page_end=page_end,
        start_s=min(starts, default=None),
        end_s=max(ends, default=None),
        slide=next((locator.slide for locator in locators if locator.slide is not None), None),
        row=row,
        row_end=row_end,
        member=first.member,
        url=first.url,
        headings=_shared_path([locator.headings for locator in own]),
    )


def _range(places: Iterable[tuple[int | None, int | None]]) -> tuple[int | None, int | None]:
    """The first and the last place; the last is None when it equals the first."""
    known = [(first, last or first) for first, last in places if first is not None]
    if not known:
        return None, None
    low, high = min(first for first, _ in known), max(last for _, last in known)
    return low, high if high != low else None


def _shared_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The longest common prefix of the paths: for two short sections, the section that holds both."""
    shared = paths[0]
    for path in paths[1:]:
        while shared != path[: len(shared)]:
            shared = shared[:-1]
    return shared
