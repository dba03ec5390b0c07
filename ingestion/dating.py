"""Finds the day of a document in its own text.

In: its name and first blocks. Out: the day, or none: a wrong day is worse, because of two contradicting documents the
newer is told first. A day counts where documents state theirs: as an edition (this takes precedence), after «дата:», in
a title («Договор № 5 от …»), on a line that is no sentence: alone, with a place, or after a few words and a number.
Days in running text do not count, and several different ones cancel each other. Days in metadata are read by parsers.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from enum import IntEnum
from itertools import chain, islice, takewhile
from pathlib import PurePath

from domain.documents import Medium, SourceType
from ingestion.records import Block, BlockKind, Document, Source

_CENTURY = 2000  # for two-digit years: documents of the last century are rare, and write the year out
_MONTHS = {
    name: number
    for names in ("янв фев мар апр мая июн июл авг сен окт ноя дек", "jan feb mar apr may jun jul aug sep oct nov dec")
    for number, name in enumerate(names.split(), start=1)
}
_RUSSIAN_OF = (
    r"(?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
    r"|(?:янв|февр?|мар|апр|июн|июл|авг|сент?|окт|нояб?|дек)\.?)"
)
_ENGLISH_NAME = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
_DATED = frozenset({SourceType.FILE, SourceType.PATH, SourceType.NOTE})
_WRITTEN = frozenset({Medium.TEXT, Medium.IMAGE})
EARLIEST = date(1990, 1, 1)  # there were hardly any files before: an earlier day is a quotation
EASTERNMOST = timedelta(hours=14)  # ahead of UTC: the time zone where a day begins first
TOP_LINES = 15
TOP_CHARACTERS = 1_500  # about half a page
LINE_CHARACTERS = 300  # of a line; the words that mark a day are close to it
TITLE_LINES = 5  # a title stands above the text
TITLE_CHARACTERS = 90  # between the kind of document and its day: a number, a party, a place
_SIGNS = re.compile(r"[*_#>|\s]+")
"""Markdown marks, and fillers as in «__» марта. Includes every kind of blank: the patterns below would backtrack
through a long run of them."""
_NUMBER = r"(?:№|No\.?|N(?=\s?\d)|#)\s*[\w/.-]*\w"
_TOWN = r"(?:г|гор|город|пос|с)\.?\s+[А-ЯЁ][\w-]+(?:\s[А-ЯЁ][\w-]+)?"
_PLACE = rf"(?:{_TOWN}\s*,?|[A-ZА-ЯЁ][\w-]+(?:[ -][A-ZА-ЯЁ][\w-]+){{0,2}}\s*,)"
_KINDS = (
    r"(?:договор(?:-\w+)?|контракт|(?:доп\.\s*)?соглашение|приказ|распоряжение|постановление|протокол|акт|письмо"
    r"|отч[её]т|справка|сч[её]т(?:-\w+)?|накладная|заявление|заявка|(?:служебная |докладная )?записка|докладная|решение"
    r"|положение|регламент|инструкция|устав|план|смета|спецификация|доверенность|уведомление|претензия|меморандум|пресс-релиз"
    r"|выписка|извещение|памятка|политика|правила|коммерческое предложение|заметка|agreement|contract|order|minutes"
    r"|memo(?:randum)?|letter|report|invoice|act|statement|policy|protocol|notice|receipt|amendment|press release|lease"
    r"|quote|offer)"
)
_PRICES = r"(?:прайс(?:-лист)?|цены|тарифы|расценки|price\s?list|prices|rates|tariffs)"
_ADJECTIVES = r"(?:[А-Яа-яЁё-]+(?:ый|ий|ой|ая|яя|ое|ее|ые|ие)\s+){0,2}"
_TITLE = re.compile(
    rf"(?:{_ADJECTIVES}|(?:[A-Z][\w'-]*\s+){{0,3}})(?:{_KINDS}|(?P<prices>{_PRICES}))(?!\w)(?P<between>.*)",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"\b(?:к|ко|по|согласно|из|со?|до|после|основании|соответствии|взамен|период|срок|действует|приложение|to|under|by"
    r"|until|since|after|before|due|between|pursuant|договора|договору|контракта|соглашения|приказа|приказу|закона"
    r"|постановления|сч[её]та|письма|протокола)\b",
    re.IGNORECASE,
)
"""Words between a kind of document and a day which tell that the day is another document's, or a deadline."""
_FOREIGN_TO_PRICES = re.compile(
    r"\b(?:к|ко|по|до|после|договора|договору|until|to|under|before|after)\b", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"$|[.,;:)\]»\"”—–(-]|(?:№|об?|обо|на|между|к|по|г\.|года|и|on|between|for|with|no)\b|[«\"“A-ZА-ЯЁ№]"
)
"""What may follow the day of a title; a verb in small letters would make it a sentence."""
_EDITION = re.compile(
    r"(?P<lead>.*?)\(?\s*\b(?:в\s+ред(?:акции|\.)|редакция|ред\.|по состоянию на|(?:последн\w+ )?обновлен\w*"
    r"|актуал\w+ на|(?:last\s+)?(?:updated|modified|revised)|(?:as\s+)?amended|revision|версия|version)"
    r"\s*(?:№?\s*[\d.]+\s*)?(?:от|on|of|as of|dated)?\s*:?\s*",
    re.IGNORECASE,
)
_EDITIONS = re.compile(
    r"\(?\s*(?:в\s+)?ред(?:акции|\.)(?:\s|$)", re.IGNORECASE
)  # «(в ред. приказов от … № 3, от … № 8)»
_LABEL = re.compile(
    r"(?:дата(?:\s+(?:составления|документа|публикации|создания|подписания|выдачи|договора|письма|приказа|заключения"
    r"|акта|сч[её]та|протокола|отч[её]та|заявления))?|date(?:d)?|(?:issue|invoice|publication) date|date of issue|"
    r"published(?:\s+on)?|posted(?:\s+on)?|issued(?:\s+on)?|опубликован\w*|составлен\w*|подписан\w*)\s*:?\s*",
    re.IGNORECASE,
)
_BEFORE_LINE = re.compile(rf"(?:{_PLACE})?\s*(?:{_NUMBER})?\s*(?:[Оо]т|[Dd]ated)?\s*")
_AFTER_LINE = re.compile(rf"[.,;\s]*(?:{_NUMBER})?\s*(?:[Нн]а №.*)?(?:{_TOWN})?[.,;\s]*")
"""Also accepts «На № 3 от …», which names the letter that is answered."""
_CAPTION_WORD = r"(?:[^\W\d_][^\W\d_-]{3,}|[A-ZА-ЯЁ][^\W\d_]{2}|[^\W\d_]{1,5}\.)"
"""Neither «к» nor «по», which make what follows another document's; «Акт» and «исх.» are."""
_CAPTION_NUMBER = r"(?:№|No\.?|N|#)?\s?(?=\S*\d)(?!\S*\d{9})[\w/.-]*\w"  # longer ones are a company's: «ОГРН … от …»
_CAPTION = re.compile(
    rf"(?=[A-ZА-ЯЁ]|\w+\.){_CAPTION_WORD}(?: {_CAPTION_WORD}){{0,2}}:?"
    rf"(?:\s?{_CAPTION_NUMBER},?(?: (?:от|of|dated))?| (?:от|of|dated))"
)
"""«Исх. 771 от», «Редакция от», «Our Ref: GH-771,»: a few words, of which none rules another, and a number or «от»."""
_STAMP = re.compile(r"\A[^\W\d_]{4,}(?: [^\W\d_]{4,})?\. (?=[A-ZА-ЯЁ])")  # «ПРОЕКТ. Редакция от …», «Копия верна. …»
_OF_YEAR = r"(?:\s*(?:г\b\.?|года?\b))?"
_DAYS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d)[«\"“„]?\s?(?P<day>\d{{1,2}})\s?[»\"”“]?\s+(?P<month>{_RUSSIAN_OF})\s+(?P<year>\d{{4}})(?!\d){_OF_YEAR}",
        rf"\b(?P<month>{_ENGLISH_NAME})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})(?!\d)",
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?(?P<month>{_ENGLISH_NAME}),?[\s-]+(?P<year>\d{{4}})(?!\d)",
        rf"(?<![\d.])(?P<day>\d{{1,2}})\.(?P<month>\d{{2}})\.(?P<year>\d{{4}})(?!\d|\.\d){_OF_YEAR}",
        rf"(?<![\d.])(?P<day>\d{{2}})\.(?P<month>\d{{2}})\.(?P<year>\d{{2}})(?!\d|\.\d){_OF_YEAR}",
        r"(?<!\d)(?P<year>\d{4})([-./_])(?P<month>\d{2})\2(?P<day>\d{2})(?!\d)",
        r"(?<![\d/])(?P<day>\d{1,2})(?P<sign>[/_-])(?P<month>\d{1,2})(?P=sign)(?P<year>\d{4})(?![\d/])",
    )
)
_YEAR = re.compile(r"\d{4}|\d\.\d\d\.\d\d")  # each pattern above and below has either
_RUN = re.compile(r"(?<!\d)(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?!\d)")


def _days_in(text: str, patterns: Iterable[re.Pattern[str]] = _DAYS) -> Iterator[tuple[date, str, str]]:
    """Each day, with the text before and after the words that state it. 31.02.2024 is skipped."""
    if not _YEAR.search(text):  # as in most lines
        return
    for found in chain.from_iterable(pattern.finditer(text) for pattern in patterns):
        with suppress(ValueError):
            yield _day(found), text[: found.start()].rstrip(), text[found.end() :].strip()


def _day(found: re.Match[str]) -> date:
    """Raises ValueError where there is no such day, or where it may be two."""
    day, year = int(found["day"]), int(found["year"])
    year += _CENTURY if year < 100 else 0
    if not found["month"].isdecimal():
        return date(year, _MONTHS[found["month"].casefold()[:3]], day)
    month = int(found["month"])
    if "sign" not in found.groupdict():
        return date(year, month, day)
    if day <= 12 and month <= 12 and day != month:
        raise ValueError("day or month first")
    return date(year, min(day, month), max(day, month))


class _Rank(IntEnum):
    """How a line marks its day as the document's; the highest rank wins."""

    LINE = 1
    TITLE = 2
    LABEL = 3
    EDITION = 4


def own_moment(parsed: Document, source: Source) -> datetime | None:
    """Midnight UTC of the document's day. None for pages, which only their markup dates: the day at their top may be
    today or another article's; for recordings, which have no top, and archives, which have several."""
    if source.type not in _DATED or parsed.medium not in _WRITTEN or parsed.parts:
        return None
    name = "" if source.type is SourceType.NOTE else PurePath(source.identifier).name
    day = own_day(name, parsed.blocks, today=(datetime.now(UTC) + EASTERNMOST).date())
    return datetime.combine(day, time.min, tzinfo=UTC) if day else None


def own_day(name: str, blocks: Iterable[Block], *, today: date) -> date | None:
    """The day; `name` is a file name with its extension, or a title. A name that has only the month gives none: «Прайс
    2024-03» would be shown with a day that nobody wrote."""
    claimed = [
        (rank, day)
        for place, line in enumerate(_top_lines(blocks))
        for day, before, after in _days_in(line)
        if EARLIEST <= day <= today and (rank := _rank(before, after, is_title=place < TITLE_LINES))
    ]
    highest = max((rank for rank, _ in claimed), default=None)
    days = {day for rank, day in claimed if rank is highest}
    if days and (highest is _Rank.EDITION or len(days) == 1):  # the newest edition, or what all such lines agree on
        return max(days)
    days = {day for day, _, _ in _days_in(name, (*_DAYS, _RUN)) if EARLIEST <= day <= today}
    return days.pop() if len(days) == 1 else None


def _top_lines(blocks: Iterable[Block]) -> list[str]:
    """Without code; of a table its name and its first row's cells: a letterhead is often a table."""
    lines: list[str] = []
    for block in islice(blocks, TOP_LINES):
        if sum(len(line) + 1 for line in lines) >= TOP_CHARACTERS:
            break
        pieces = block.text[:TOP_CHARACTERS].splitlines() if block.kind is not BlockKind.CODE else []
        if block.kind is BlockKind.TABLE:
            named = list(takewhile(lambda line: not line.startswith("|"), pieces))
            pieces = [*named, *(cell for row in pieces[len(named) :][:1] for cell in row.split("|"))]
        lines += filter(None, (_SIGNS.sub(" ", piece).strip() for piece in pieces))
    return [line[:LINE_CHARACTERS] for line in lines[:TOP_LINES]]


def _rank(before: str, after: str, *, is_title: bool) -> _Rank | None:
    """By the words on its line before and after the day."""
    is_edition = _EDITIONS.match(before)
    before = _STAMP.sub("", before, count=1)
    found = _EDITION.fullmatch(before)
    lead = found["lead"].strip(" (,;") if found else ""
    if is_edition or (found and (not lead or _is_title(lead))):  # at the start of a line or title, of no cited law
        return _Rank.EDITION
    if _LABEL.fullmatch(before) and (not after or before.endswith(":")):
        return _Rank.LABEL
    if is_title and _is_title(before) and _GOES_ON.match(after):
        return _Rank.TITLE
    # «от 14.01.2025 № 12 (в редакции от 02.10.2025)» ranks like a day alone: the title is on another line.
    ends_here = not after.strip(" ).,;")
    is_of_line = ends_here and any(_is_alone(first, then) for _, first, then in _days_in(lead))
    return _Rank.LINE if is_of_line or _is_alone(before, after) else None


def _is_alone(before: str, after: str) -> bool:
    is_caption = _CAPTION.fullmatch(before) and not after.endswith(".")
    return bool((is_caption or _BEFORE_LINE.fullmatch(before)) and _AFTER_LINE.fullmatch(after))


def _is_title(text: str) -> bool:
    found = _TITLE.fullmatch(text)
    if found is None or len(found["between"]) > TITLE_CHARACTERS:
        return False
    return not (_FOREIGN_TO_PRICES if found["prices"] else _FOREIGN).search(found["between"])
