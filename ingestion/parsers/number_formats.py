"""Formats numbers as a spreadsheet shows them: 0.155 is 15.5 %, 46143 is a day, 1200 is 1200 ₽.

In: number formats (ECMA-376, 18.8.30 and .31). Out: the text that the person saw, in a uniform notation: ISO dates, a
decimal point, no thousands separators. It uses the first section of a format, the one for positive numbers.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import lru_cache

GENERAL = "General"
BUILT_IN: Mapping[int, str] = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0", 38: "#,##0",
    39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss",
}  # fmt: skip
"""Formats given by number alone; 5 to 8 and 41 to 44 are currencies of the reader's country and stay general."""

EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - cells have no time zone; day 60, 1900-02-29, does not exist
EPOCH_1904_DAYS = 1462
LAST_DAY = 2_958_465  # 9999-12-31
SIGNIFICANT_DIGITS = 12  # a double's 15, minus the rounding errors of decimal sums
LARGEST_PLAIN = 1e15

_SECTION = re.compile(r'(?:"[^"]*"|\\.|[^;"\\])*')
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_BRACKETS = re.compile(r"\[(?!h+\]|m+\]|s+\])[^\]]*\]", re.IGNORECASE)
_LITERAL = re.compile(r'"([^"]*)"|\\(.)')
_INVISIBLE = re.compile(r"_.|\*.")
_DIGITS = re.compile(r"[#0?][#0?,.\s\u00a0]*")
_ELAPSED = re.compile(r"\[[hms]+\]", re.IGNORECASE)


class Shape(Enum):
    """What a number represents."""

    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    MOMENT = "moment"
    DURATION = "duration"


@dataclass(frozen=True, kw_only=True)
class NumberFormat:
    """A parsed number format."""

    shape: Shape = Shape.NUMBER
    decimals: int | None = None  # None: as many as the number has
    is_percent: bool = False
    before: str = ""  # a currency or a unit
    after: str = ""


@lru_cache(maxsize=1024)
def read_format(code: str) -> NumberFormat:
    """Parse a format code; one that says nothing leaves the number as it is."""
    section = _INVISIBLE.sub("", _section_of(code))
    section = _BRACKETS.sub("", _CURRENCY.sub(lambda found: f'"{found.group(1)}"', section))
    bare = _LITERAL.sub("", section)
    if _ELAPSED.search(bare):
        return NumberFormat(shape=Shape.DURATION)
    letters = set(bare.lower().replace("general", ""))
    if letters & set("dyhs") or "mm" in bare.lower():
        return NumberFormat(shape=_shape_of(letters))
    digits = _DIGITS.search(section)
    if digits is None:
        return NumberFormat()
    return NumberFormat(
        decimals=sum(mark in "0#?" for mark in digits.group().partition(".")[2]),
        is_percent="%" in bare,
        before=_unit(section[: digits.start()]),
        after=_unit(section[digits.end() :]),
    )


def show_number(value: float, number_format: NumberFormat, *, epoch_1904: bool = False) -> str:
    """The number as its cell shows it."""
    if number_format.shape is Shape.DURATION and abs(value) <= LAST_DAY:
        minutes, seconds = divmod(round(abs(value) * 86_400), 60)
        return f"{'-' if value < 0 else ''}{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    if number_format.shape is not Shape.NUMBER:
        return _show_moment(value + EPOCH_1904_DAYS * epoch_1904, number_format.shape) or plain_number(value)
    shown = value * 100 if number_format.is_percent else value
    decimals = number_format.decimals
    text = plain_number(shown) if decimals is None else plain_number(shown, decimals=decimals)
    sign = "%" if number_format.is_percent else ""
    return " ".join(filter(None, (number_format.before, text + sign, number_format.after)))


def plain_number(value: float, *, decimals: int = SIGNIFICANT_DIGITS) -> str:
    """Without an exponent where that is readable, and without rounding errors of binary fractions."""
    if not abs(value) < LARGEST_PLAIN:  # also infinities and NaN
        return f"{value:g}"
    if decimals < SIGNIFICANT_DIGITS:
        text = f"{value:.{decimals}f}"
    elif value == int(value):
        text = str(int(value))
    else:
        text = f"{value:.{SIGNIFICANT_DIGITS}g}"
    return "0" if text == "-0" else text


def _section_of(code: str) -> str:
    found = _SECTION.match(code)
    return found.group() if found else code


def _shape_of(letters: set[str]) -> Shape:
    has_day, has_hour = bool(letters & set("dy")), bool(letters & set("hs"))
    if has_hour:
        return Shape.MOMENT if has_day else Shape.TIME
    return Shape.DATE


def _unit(part: str) -> str:
    words = "".join(one or other for one, other in _LITERAL.findall(part))
    return " ".join(words.split()) or "".join(mark for mark in part if mark in "$€£₽¥₴₸")


def _show_moment(days: float, shape: Shape) -> str | None:
    if not 0 <= days <= LAST_DAY:
        return None
    moment = EPOCH + timedelta(seconds=round(days * 86_400))
    if shape is Shape.TIME:
        return _clock(moment) if days < 1 else f"{moment.date().isoformat()} {_clock(moment)}"
    is_midnight = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    if shape is Shape.DATE or is_midnight:
        return moment.date().isoformat()
    return f"{moment.date().isoformat()} {_clock(moment)}"


def _clock(moment: datetime) -> str:
    return moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
