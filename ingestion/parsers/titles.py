"""Chooses the title and the author under which a document is shown.

In: what a file states of itself, its blocks, its name. Out: one short line, or nothing. It invents nothing. A title
that other files of the base bear as well gives way when the document is published (`bear_own_titles` in SQL).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from ingestion.records import Block, BlockKind

LONGEST_TITLE_CHARS = 200
OPENING_CHARS = 1_000  # a heading after more text than this names a part, not the document
LONGEST_NAME_WORDS = 5

MEANINGLESS_TITLES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(untitled|без (имени|названия))( document|\d| )*",
        r"(document|документ|presentation|презентация|book|книга|лист|sheet)\s*\d*",
        r"(powerpoint presentation|презентация powerpoint|word document|документ (microsoft )?word)",
        r"microsoft (word|powerpoint|excel|office)\b.*",  # from a printer driver: "Microsoft Word - x.doc"
        r".*\.(docx?|pdf|rtf|odt|txt|tex|dvi|indd|qxd|pptx?|xlsx?|html?|p65|fm|cdr|wpd)",  # the name of another file
        r"(title|заголовок|название)( here)?",
        r"((table of )?contents|содержание|оглавление)",
        r"[\W\d_]*",  # no letter at all
        r".*\ufffd.*",
    )
)
"""Titles that no person wrote; matched against the whole title."""

NOBODY = re.compile(
    r"(?:(?:microsoft |ms )?office )?user|windows user|user name|users|(?:администратор|пользователь)(?: windows)?"
    r"|admin(?:istrator)?|author|автор|unknown|неизвестн\w+|anonymous|un-?named|python-docx|openpyxl|apache poi|root"
    r"|owner|pc|пк",
    re.IGNORECASE,
)
"""What programs write into files when the user has never set a name."""

NAME_WORD = re.compile(r"(?:[^\W\d_]|[.'’-])+")
BETWEEN_NAMES = re.compile(r"[,;/&\n]|\s(?:and|и)\s")


def choose_title(stated: str | None, blocks: Iterable[Block], *, name: str) -> str:
    """The stated title if meaningful, else the first such heading of its opening, else the file's name without its
    extension."""
    titles = (_tidy(title) for title in (stated or "", *_first_headings(blocks)))
    return next(filter(_is_meaningful, titles), None) or _tidy(PurePath(name).stem) or name


def choose_author(stated: str | None, blocks: Iterable[Block]) -> str | None:
    """The stated author; None if it is a placeholder, or is no person's name and does not occur in the document.

    Programs and services that make files sign them («python-docx», «EDGAR Online, a division of …»); an organisation
    that wrote one is named in it.
    """
    author = " ".join((stated or "").split())
    if not author or NOBODY.fullmatch(author):
        return None
    if _are_names(author) or any(author in block.text for block in blocks):
        return author
    return None


def _first_headings(blocks: Iterable[Block]) -> Iterator[str]:
    chars = 0
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            yield block.text
        chars += len(block.text)
        if chars > OPENING_CHARS:
            return


def _is_meaningful(title: str) -> bool:
    return bool(title) and not any(pattern.fullmatch(title) for pattern in MEANINGLESS_TITLES)


def _are_names(author: str) -> bool:
    """«Rafael Teixeira de Lima», «Holmes, Jon», «Иванов И. И.; Петров П. П.», a login."""
    return all(_is_name(name.split()) for name in BETWEEN_NAMES.split(author) if name.strip())


def _is_name(words: Sequence[str]) -> bool:
    if len(words) == 1 and words[0].isalnum():
        return True
    is_capitalised = not (words[0][0].islower() or words[-1][0].islower())
    return is_capitalised and len(words) <= LONGEST_NAME_WORDS and all(map(NAME_WORD.fullmatch, words))


def _tidy(title: str) -> str:
    line = " ".join("".join(character if character.isprintable() else " " for character in title).split())
    if len(line) <= LONGEST_TITLE_CHARS:
        return line
    return line[: LONGEST_TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"
