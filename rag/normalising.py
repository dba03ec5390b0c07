"""The question as everything after it reads it (seed 4, section 5.1: input normalisation).

In: what a person typed. Out: the same in one Unicode form, without invisible characters and superfluous blanks.
"""

import re
import unicodedata

_INVISIBLE = re.compile(r"(?<=\S)[^\S\n]+|[\u00ad\u200b-\u200f\u2060\ufeff\x00-\x08\x0e-\x1f\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n{3,}")


def normalise(text: str) -> str:
    """One Unicode form, no invisible characters, single spaces; line breaks and indents stay, they may be code."""
    plain = _INVISIBLE.sub(lambda found: " " if found[0].isspace() else "", unicodedata.normalize("NFC", text))
    return _BLANK_LINES.sub("\n\n", plain).strip()
