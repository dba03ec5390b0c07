"""Tells headings from paragraphs by their fonts.

In: paragraphs with the size and weight of their letters. Out: a level for each that is a heading. Without sizes, or
where every other paragraph would be one, there are none: a wrong heading travels with every passage below it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from ingestion.parsers.pdf_layout import BULLET, Paragraph

LARGER = 1.12  # times the size of the text
SAME_LEVEL = 0.05  # share by which sizes of one level may differ
LONGEST_HEADING_CHARS = 160
MOST_LINES = 3
DEEPEST_LEVEL = 6
MOST_HEADINGS_SHARE = 0.45  # of all characters: a short list of questions and answers has 0.4
ENDS = frozenset(".,;")  # of a sentence, or of a line that PDFium has cut
LEADER = " … "  # of a line in a table of contents, see `pdf_lines`
SIZE_STEP = 0.5  # points to which sizes are rounded when the text's own is looked for


def heading_levels(paragraphs: Sequence[Paragraph]) -> list[int | None]:
    """For each paragraph its level, 1 the outermost, or None."""
    text_size, text_is_bold = _usual_looks(paragraphs)
    if not text_size:
        return [None] * len(paragraphs)
    candidates = [
        index
        for index, paragraph in enumerate(paragraphs)
        if _may_be_heading(paragraph) and _stands_out(paragraph, text_size, text_is_bold=text_is_bold)
    ]
    if _chars(paragraphs[index] for index in candidates) > _chars(paragraphs) * MOST_HEADINGS_SHARE:
        candidates = []
    levels = _levels_by_size([paragraphs[index].size for index in candidates])
    by_index = dict(zip(candidates, levels, strict=True))
    return [by_index.get(index) for index in range(len(paragraphs))]


def _usual_looks(paragraphs: Sequence[Paragraph]) -> tuple[float, bool]:
    """Size and weight of most characters."""
    counts: Counter[tuple[float, bool]] = Counter()
    for paragraph in paragraphs:
        counts[_rounded(paragraph.size), paragraph.bold] += len(paragraph.text)
    return counts.most_common(1)[0][0] if counts else (0, False)


def _rounded(size: float) -> float:
    return round(size / SIZE_STEP) * SIZE_STEP


def _may_be_heading(paragraph: Paragraph) -> bool:
    text = paragraph.text
    return (
        len(text) <= LONGEST_HEADING_CHARS
        and paragraph.lines <= MOST_LINES
        and any(character.isalpha() for character in text)
        and text[0] not in ENDS
        and text[-1] not in ENDS
        and LEADER not in text
        and (BULLET.match(text) is None or text[0].isdigit())
    )


def _stands_out(paragraph: Paragraph, text_size: float, *, text_is_bold: bool) -> bool:
    if paragraph.size >= text_size * LARGER:
        return True
    return paragraph.bold and not text_is_bold and _rounded(paragraph.size) >= text_size


def _levels_by_size(sizes: Sequence[float]) -> list[int]:
    """The largest is level 1; sizes that hardly differ are of one level."""
    steps: list[float] = []
    for size in sorted(set(sizes), reverse=True):
        if not steps or size < steps[-1] * (1 - SAME_LEVEL):
            steps.append(size)
    return [min(sum(size <= step for step in steps), DEEPEST_LEVEL) for size in sizes]


def _chars(paragraphs: Iterable[Paragraph]) -> int:
    return sum(len(paragraph.text) for paragraph in paragraphs)
