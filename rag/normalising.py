"""Input normalisation of the question, for all later stages (seed 4, section 5.1), and of texts and names for prompts.

In: what a person typed, a document says, or a file or message gives as a name. Out: the same text in NFC, without
invisible characters and superfluous blanks; no heading of a prompt; a name in one line.
"""

import re
import unicodedata

from domain.visible import visible

_BLANKS = re.compile(r"(?<=\S)[^\S\n]+")
_HEADING = re.compile(r"^([ \t>]*)(#{1,6}[ \t])", re.MULTILINE)
_CYRILLIC, _LATIN = re.compile(r"[Ѐ-ӿ]"), re.compile(r"[A-Za-z]")
_BLANK_LINES = re.compile(r"\n{3,}")
NAME_CHARS = 100  # a channel's title and a signature have no more


def normalise(text: str) -> str:
    """NFC, no invisible characters, single spaces. Line breaks and indents stay: they may belong to code."""
    plain = _BLANKS.sub(" ", visible(unicodedata.normalize("NFC", text.replace("\r\n", "\n"))))
    return _BLANK_LINES.sub("\n\n", plain).strip()


def mostly_cyrillic(text: str) -> bool:
    """Whether more of its letters are Cyrillic than Latin."""
    return len(_CYRILLIC.findall(text)) > len(_LATIN.findall(text))


def without_headings(text: str) -> str:
    """A text for a prompt whose lines cannot be taken for headings of the prompt: Markdown's own escape before #."""
    return _HEADING.sub(r"\1\\\2", text)


def person_name(name: str | None) -> str:
    """The name of a person, a channel or an author; empty without one."""
    return " ".join(visible(name or "").split())[:NAME_CHARS]
