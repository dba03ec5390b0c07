"""Times of day as people say them: «без четверти пять», «полпятого», "quarter past four".

In: text in Russian or English. Out: `ClockTime`s on a 12-hour clock, since such words do not distinguish morning from
evening; and all times that a text names, in words or digits. Whole hours («в пять») are not handled here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

HOURS = 12  # on the clock face

_NEXT = ("первого", "второго", "третьего", "четвертого", "пятого", "шестого", "седьмого", "восьмого", "девятого",
         "десятого", "одиннадцатого", "двенадцатого")  # fmt: skip
_HOUR = ("час", "два", "три", "четыре", "пять", "шесть", "семь", "восемь", "девять", "десять", "одиннадцать",
         "двенадцать")  # fmt: skip
_ENGLISH = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_MINUTES = {
    "пять": 5, "пяти": 5, "десять": 10, "десяти": 10, "пятнадцать": 15, "пятнадцати": 15, "четверть": 15,
    "четверти": 15, "двадцать": 20, "двадцати": 20, "двадцать пять": 25, "двадцати пяти": 25, "half": 30,
    "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty-five": 25,
}  # fmt: skip


def _any(words: tuple[str, ...]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_BEFORE_HOUR = re.compile(
    rf"\bбез (четверти|пяти|десяти|двадцати пяти|двадцати)(?: минут)? ({_any(_HOUR)})\b(?! минут)"
)
_INTO_HOUR = re.compile(
    rf"\b(?:(четверть)|(половина|половине|половины|пол)[ -]?|(пять|десять|пятнадцать|двадцать пять|двадцать) минут)"
    rf" ?({_any(_NEXT)})\b"
)
_ENGLISH_PHRASE = re.compile(
    r"\b(?:(half|quarter) (past|to|after|before)"
    r"|(?:(?<=at )|(?<=by )|(?<=until ))(five|ten|twenty-five|twenty) (to)"  # «from ten to twelve» is no time of day
    r"|(five|ten|twenty-five|twenty)(?: minutes (past|to|after|before)| (past)))"
    rf" ({_any(_ENGLISH)})\b"
)
_IN_DIGITS = re.compile(r"(?<![\d:.])([01]?\d|2[0-4])(?:[:.]|[ \u00a0]?(?:ч|h)\w*\.?[ \u00a0])([0-5]\d)(?!\d|\.\d)")
_AM_OR_PM = re.compile(r"(?<![\d:.])(1[0-2]|[1-9])(?:[:.]([0-5]\d))?[ \u00a0]?(?:a|(p))\.?m\b")


@dataclass(frozen=True, kw_only=True)
class ClockTime:
    """A time in words, and its offsets in the folded text."""

    shown: str
    hour: int  # 0 to 11
    minute: int
    start: int
    end: int


def clock_times(plain: str) -> Iterator[ClockTime]:
    """The times in words; `plain` is in lower case, with е for ё."""
    for match in _BEFORE_HOUR.finditer(plain):
        yield _time(match, _HOUR.index(match[2]) + 1, -_MINUTES[match[1]])
    for match in _INTO_HOUR.finditer(plain):
        yield _time(match, _NEXT.index(match[4]), 30 if match[2] else _MINUTES[match[1] or match[3]])
    has_english = " past " in plain or " to " in plain or " before " in plain or " after " in plain
    for match in _ENGLISH_PHRASE.finditer(plain) if has_english else ():
        *said, name = filter(None, match.groups())
        minutes, past, hour = _MINUTES[said[0]], said[1], _ENGLISH.index(name) + 1
        yield _time(match, hour, minutes if past in ("past", "after") else -minutes)


def times_named(plain: str) -> frozenset[tuple[int, int]]:
    """Hours (0 to 11) and minutes of all times in the text."""
    in_words = {(each.hour, each.minute) for each in clock_times(plain)}
    return frozenset(in_words | {(hour % HOURS, minute) for hour, minute, _ in digital_times(plain)})


def digital_times(plain: str) -> Iterator[tuple[int, int, re.Match[str]]]:
    """The times in digits (8:30, «8.30», «8 ч 30»): hour (0 to 24), minute, and the match."""
    return ((int(match[1]), int(match[2]), match) for match in _IN_DIGITS.finditer(plain))


def _time(match: re.Match[str], hour: int, minutes: int) -> ClockTime:
    at = (hour * 60 + minutes) % (HOURS * 60)
    return ClockTime(shown=match[0], hour=at // 60, minute=at % 60, start=match.start(), end=match.end())


def twelve_hour_times(plain: str) -> frozenset[tuple[int, int]]:
    """Hours (0 to 23) and minutes of "6 pm" and "4:30 p.m."."""
    found = _AM_OR_PM.finditer(plain)
    return frozenset((int(match[1]) % HOURS + (HOURS if match[3] else 0), int(match[2] or 0)) for match in found)
