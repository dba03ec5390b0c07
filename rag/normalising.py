"""Input normalisation of the question, for all later stages (seed 4, section 5.1).

In: what a person typed. Out: the same text in NFC, without invisible characters and superfluous blanks.
"""

import re
import unicodedata

_INVISIBLE = re.compile(r"(?<=\S)[^\S\n]+|[\u00ad\u200b-\u200f\u2060\ufeff\x00-\x08\x0e-\x1f\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n{3,}")


def normalise(text: str) -> str:
    """NFC, no invisible characters, single spaces. Line breaks and indents stay: they may belong to code."""
    plain = _INVISIBLE.sub(lambda found: " " if found[0].isspace() else "", unicodedata.normalize("NFC", text))
    return _BLANK_LINES.sub("\n\n", plain).strip()
