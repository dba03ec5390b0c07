"""Text without characters that nobody sees: they hide words from people, or turn a line around.

In: text from documents, people and models. Out: the same without them. Joiners stay where they are part of writing: in
emoji, and between letters of scripts that need them (Arabic, Indic, Mongolian).
"""

import re
import unicodedata

_JOINERS = "\u200c\u200d"
_TAGS = "\U000e0020-\U000e007f"  # of flags such as England's, after 🏴
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_FLAG = "\U0001f3f4"
_JOINED_SCRIPTS = (
    *("ARABIC", "SYRIAC", "DEVANAGARI", "BENGALI", "GUJARATI", "GURMUKHI", "KANNADA", "MALAYALAM", "ORIYA", "SINHALA"),
    *("TAMIL", "TELUGU", "MONGOLIAN", "KHMER", "MYANMAR", "TIBETAN"),
)
_EMOJI = re.compile("[\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff]")


def visible(text: str) -> str:
    """The text without control characters but tab and line break, marks of direction, characters without width, tags
    and halves of surrogate pairs."""
    return _UNSEEN.sub(_kept, text)


def _kept(found: re.Match[str]) -> str:
    sign, text = found[0], found.string
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if sign in _JOINERS:
        joins_emoji = sign == "\u200d" and _EMOJI.match(before) and _EMOJI.match(after)
        return sign if joins_emoji or (_is_joined(before) and _is_joined(after)) else ""
    is_tag = "\U000e0020" <= sign <= "\U000e007f"
    return sign if is_tag and re.search(f"{_FLAG}[{_TAGS}]*\\Z", text[: found.start()][-8:]) else ""


def _is_joined(sign: str) -> bool:
    return unicodedata.name(sign, "").startswith(_JOINED_SCRIPTS) if sign else False
