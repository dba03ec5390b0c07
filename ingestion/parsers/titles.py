"""Chooses the title under which a document is shown.

In: the file's stated title, its headings, its name. Out: one short line. It invents nothing.
"""

import re
from collections.abc import Iterable
from pathlib import PurePath

from ingestion.records import Block, BlockKind

LONGEST_TITLE_CHARS = 200

MEANINGLESS_TITLES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(untitled|без (имени|названия))( document|\d| )*",
        r"(document|документ|presentation|презентация|book|книга|лист|sheet)\s*\d*",
        r"(powerpoint presentation|презентация powerpoint|word document|документ (microsoft )?word)",
        r"microsoft (word|powerpoint|excel|office)\b.*",  # from a printer driver: "Microsoft Word - x.doc"
        r".*\.(docx?|pdf|rtf|odt|txt|tex|dvi|indd|qxd|pptx?|xlsx?|html?|p65|fm|cdr|wpd)",  # the name of another file
        r"(title|заголовок|название)( here)?",
        r"[\W\d_]*",  # no letter at all
        r".*\ufffd.*",
    )
)
"""Titles that no person wrote; matched against the whole title."""


def choose_title(stated: str | None, blocks: Iterable[Block], *, name: str) -> str:
    """The stated title if meaningful, else the first heading, else the file name without its extension."""
    title = _tidy(stated or "")
    if title and not any(pattern.fullmatch(title) for pattern in MEANINGLESS_TITLES):
        return title
    headings = (_tidy(block.text) for block in blocks if block.kind is BlockKind.HEADING)
    return next(filter(None, headings), None) or _tidy(PurePath(name).stem) or name


def _tidy(title: str) -> str:
    line = " ".join("".join(character if character.isprintable() else " " for character in title).split())
    if len(line) <= LONGEST_TITLE_CHARS:
        return line
    return line[: LONGEST_TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"
