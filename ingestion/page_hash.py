"""Hashes a page without the words that change at every visit, to see whether it is unchanged.

In: the parsed text of a page or a site. Out: a hash. "5 minutes ago", counts of views and comments, and the time of day
next to "today" are left out; everything else counts. Cheap rules on short lines; it does not compare versions.
"""

import re

from ingestion.note import hash_words
from ingestion.records import BLOCK_SEPARATOR, Document

VOLATILE_LINE_CHARACTERS = 120  # longer lines are prose, where "two comments" is content

_NUMBER = r"\d[\d\s.,]*+(?:k|m|тыс\.?|млн\.?|к)?"  # possessive: backtracking over a line of blanks would take 0.2 s
_UNIT = r"(?:sec|min|hour|day|week|month|year|сек|мин|час|дн|день|дня|недел|месяц|год|лет)\w*\.?"
_COUNTED = (
    r"(?:views?|comments?|likes?|shares?|replies|reads?|followers?|subscribers?|votes?|stars?|downloads?"
    r"|просмотр\w*|комментари\w*|лайк\w*|ответ(?:а|ов)?|прочтени\w*|подписчик\w*|голос(?:а|ов)?|скачивани\w*|репост\w*)"
)
_VOLATILE = re.compile(
    rf"\b(?:{_NUMBER}\s*{_UNIT}\s*(?:ago|назад)|(?:just now|только что|minute ago|минуту назад|час назад)"
    rf"|{_NUMBER}\s*{_COUNTED}|{_COUNTED}\s*:?\s*\(?{_NUMBER}\)?|(?:today|yesterday|сегодня|вчера)(?:\s*(?:at|в))?\s*\d?\d:\d\d)",
    re.IGNORECASE,
)


def hash_page(parsed: Document) -> str:
    """SHA-256 (hex) of the page's lines without their volatile words."""
    text = BLOCK_SEPARATOR.join(block.text for block in parsed.blocks)
    return hash_words("\n".join(map(_settled, text.split("\n"))))


def _settled(line: str) -> str:
    return _VOLATILE.sub("", line) if len(line) <= VOLATILE_LINE_CHARACTERS else line
