"""Tells headings from paragraphs by their fonts.

In: paragraphs with font size and weight. Out: a level for each that is a heading. Without sizes, or where half the text
would be headings, there are none: a wrong heading is attached to every passage below it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from ingestion.parsers.pdf_layout import BULLET, Paragraph

LARGER = 1.12  # times the size of body text
SAME_LEVEL = 0.05  # relative difference of sizes on one level
LONGEST_HEADING_CHARS = 160
MOST_LINES = 3
DEEPEST_LEVEL = 6
MOST_HEADINGS_SHARE = 0.45  # of all characters; a short list of questions and answers has 0.4
ENDS = frozenset(".,;")  # ends of a sentence, or of a line that PDFium has cut
LEADER = " … "  # in a table of contents, see `pdf_lines`
SIZE_STEP = 0.5  # points; sizes are rounded to it to find the size of body text


Looks = tuple[float, bool]
"""Font size in points, and whether it is bold."""


class HeadingLooks:
    """Counts the characters of each look, from which the levels of headings follow."""

    def __init__(self) -> None:
        self._all: Counter[Looks] = Counter()  # with rounded sizes
        self._brief: Counter[Looks] = Counter()  # of paragraphs whose text may be a heading

    def note(self, paragraph: Paragraph) -> None:
        """Count the next paragraph."""
        self._all[_rounded(paragraph.size), paragraph.bold] += len(paragraph.text)
        if _may_be_heading(paragraph):
            self._brief[paragraph.size, paragraph.bold] += len(paragraph.text)

    def levels(self) -> Mapping[Looks, int]:
        """Levels of the looks that make a short paragraph a heading; call it after the last `note`."""
        (text_size, text_is_bold), _ = self._all.most_common(1)[0] if self._all else ((0, False), 0)
        if not text_size:
            return {}
        chosen = [looks for looks in self._brief if _stands_out(looks, text_size, text_is_bold=text_is_bold)]
        if sum(self._brief[looks] for looks in chosen) > self._all.total() * MOST_HEADINGS_SHARE:
            return {}
        return dict(zip(chosen, _levels_by_size([size for size, _ in chosen]), strict=True))


def level_of(paragraph: Paragraph, levels: Mapping[Looks, int]) -> int | None:
    """1 is the outermost level; None: no heading."""
    level = levels.get((paragraph.size, paragraph.bold))
    return level if level is not None and _may_be_heading(paragraph) else None


def _rounded(size: float) -> float:
    return round(size / SIZE_STEP) * SIZE_STEP


def _may_be_heading(paragraph: Paragraph) -> bool:
    text = paragraph.text
    return (
        not paragraph.is_table
        and len(text) <= LONGEST_HEADING_CHARS
        and paragraph.lines <= MOST_LINES
        and any(character.isalpha() for character in text)
        and text[0] not in ENDS
        and text[-1] not in ENDS
        and LEADER not in text
        and (BULLET.match(text) is None or text[0].isdigit())
    )


def _stands_out(looks: Looks, text_size: float, *, text_is_bold: bool) -> bool:
    size, bold = looks
    if size >= text_size * LARGER:
        return True
    return bold and not text_is_bold and _rounded(size) >= text_size


def _levels_by_size(sizes: Sequence[float]) -> list[int]:
    """The largest size is level 1; nearly equal sizes share a level."""
    steps: list[float] = []
    for size in sorted(set(sizes), reverse=True):
        if not steps or size < steps[-1] * (1 - SAME_LEVEL):
            steps.append(size)
    return [min(sum(size <= step for step in steps), DEEPEST_LEVEL) for size in sizes]
