"""Where a passage stands, from where its pieces stand, and which pieces may not share one.

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
    """From the first page (row, second) to the last; the headings that all but the overlap (`own`) stand under."""
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
    """The first and the last of all; the last is None when it is the first."""
    known = [(first, last or first) for first, last in places if first is not None]
    if not known:
        return None, None
    low, high = min(first for first, _ in known), max(last for _, last in known)
    return low, high if high != low else None


def _shared_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The beginning that all paths have in common; of two short sections, the one that they belong to."""
    shared = paths[0]
    for path in paths[1:]:
        while shared != path[: len(shared)]:
            shared = shared[:-1]
    return shared
