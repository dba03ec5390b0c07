"""Checks that the e-mail addresses and telephone numbers of an answer are in its materials.

In: an answer and all known text. Out: those that are not in the text. Telephone numbers are compared by their last ten
digits, so that 8 495 and +7 (495) are the same; the order of the groups of digits must be the same. Pure.
"""

import re
from collections.abc import Iterator

_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_TELEPHONE = re.compile(
    r"(?<![\w+])(?:\+\d{1,3}|8)[ \u00a0(–-]{0,3}\d{2,5}[ \u00a0)–-]{0,3}\d[\d \u00a0–-]{4,12}\d(?!\d)"
)
_BETWEEN = re.compile(r"(?<=\d)[ \u00a0\u202f().–/-]{1,3}(?=\d)")
_DIGITS_AFTER_8, _LEAST_DIGITS = 11, 10  # 8 000 000 000 is a number
_SAME_DIGITS = 10  # of a telephone number; the prefix before them depends on where the caller is


def unknown_contacts(answer: str, said: str) -> tuple[str, ...]:
    """E-mail addresses and telephone numbers that are not in `said`, as the answer writes them."""
    return tuple(dict.fromkeys((*_mails(answer, said), *_telephones(answer, said))))


def _mails(answer: str, said: str) -> Iterator[str]:
    found = _MAIL.findall(answer)
    plain = said.casefold() if found else ""
    return (mail for mail in found if mail.casefold() not in plain)


def without_telephones(text: str) -> str:
    """The text without telephone numbers, whose groups of digits are not numbers of their own."""
    return _TELEPHONE.sub(lambda match: " " if _is_telephone(match[0]) else match[0], text)


def _telephones(answer: str, said: str) -> Iterator[str]:
    found = list(filter(_is_telephone, _TELEPHONE.findall(answer)))
    digits = _BETWEEN.sub("", said) if found else ""
    return (number for number in found if _digits(number)[-_SAME_DIGITS:] not in digits)


def _is_telephone(written: str) -> bool:
    count = len(_digits(written))
    return count >= _LEAST_DIGITS if written.startswith("+") else count == _DIGITS_AFTER_8


def _digits(written: str) -> str:
    return re.sub(r"\D", "", written)
