"""Every sentence that a person reads, in their language.

In: the Fluent files of `bot/locales/<language>/` and values. Out: `Words`, a callable from key and values to text. This
module does not choose which text to say.
"""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from babel.dates import format_date, format_skeleton
from fluent.runtime import FluentBundle
from fluent.syntax import FluentParser, ast
from fluent.syntax.visitor import Visitor

LOCALES = Path(__file__).parent / "locales"
LANGUAGES = ("ru", "en")  # the first one is the fallback

_TAG = re.compile(r"<[^>]*>")  # values are escaped, so every tag comes from our own texts

Value = str | int | float | date | timedelta


class TextError(Exception):
    """A text is missing, broken, or was asked for with the wrong values; the message names the key."""


class Words:
    """The texts of one language."""

    def __init__(self, language: str, messages: Mapping[str, ast.Message], today: Callable[[], date]) -> None:
        self.language = language
        self._variables = {key: frozenset(_Variables(message).names) for key, message in messages.items()}
        self._today = today
        self._bundle = FluentBundle([language], use_isolating=False)
        self._bundle.add_resource(ast.Resource(list(messages.values())))

    def __call__(self, key: str, **values: Value) -> str:
        """The text as Telegram HTML; strings among the values are escaped. Raises TextError for a wrong call."""
        if (needed := self.variables(key)) != values.keys():
            raise TextError(f"The text “{key}” takes {sorted(needed)}, and was given {sorted(values)}.")
        pattern = self._bundle.get_message(key).value
        shown = {name: self._shown(value) for name, value in values.items()}
        text, problems = self._bundle.format_pattern(pattern, shown) if pattern else ("", [])
        if problems or not isinstance(text, str):
            raise TextError(f"The text “{key}” in {self.language} cannot be filled: {problems}")
        return text

    def plain(self, key: str, **values: Value) -> str:
        """The text for places without formatting: buttons, pop-ups, a terminal, and text that is escaped later."""
        return html.unescape(_TAG.sub("", self(key, **values)))

    def variables(self, key: str) -> frozenset[str]:
        """The values that `key` takes. Raises TextError when there is no such text."""
        if key not in self._variables:
            raise TextError(f"There is no text “{key}” in {self.language}.")
        return self._variables[key]

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self._variables)

    def until(self, moment: datetime) -> str:
        """`до завтра, 14:05`, by the clock of this machine."""
        here = moment.astimezone()
        ahead = (here.date() - self._today()).days
        return self.plain("until", time=f"{here:%H:%M}", ahead=ahead, day=moment)

    def _shown(self, value: Value) -> str | int | float:
        """A day as `12 мая`, with the year if it is not the current one."""
        if isinstance(value, str):
            return html.escape(value, quote=False)
        if isinstance(value, timedelta):
            return duration(value)
        if not isinstance(value, date):
            return value
        day = value.astimezone().date() if isinstance(value, datetime) else value
        if day.year == self._today().year:
            return str(format_skeleton("MMMMd", day, locale=self.language))
        return str(format_date(day, format="long", locale=self.language))


def duration(length: timedelta) -> str:
    """`4:12`, or `1:04:12` from an hour on."""
    minutes, seconds = divmod(round(length.total_seconds()), 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours}:{rest:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


@dataclass(frozen=True, kw_only=True)
class Texts:
    """The texts of all languages."""

    by_language: Mapping[str, Words]

    def for_language(self, language: str) -> Words:
        return self.by_language.get(language) or self.by_language[LANGUAGES[0]]


def load_texts(*, today: Callable[[], date] = date.today) -> Texts:
    """All of them. Tests see to it that every language has the same keys with the same values."""
    parse, by_language = FluentParser().parse, {}
    for language in LANGUAGES:
        files = [parse(path.read_text(encoding="utf-8")) for path in sorted((LOCALES / language).glob("*.ftl"))]
        messages = {entry.id.name: entry for file in files for entry in file.body if isinstance(entry, ast.Message)}
        by_language[language] = Words(language, messages, today)
    return Texts(by_language=by_language)


def language_of(code: str | None, *, default: str) -> str:
    """The interface language for Telegram's `language_code` (IETF tag, may be missing)."""
    reads_russian = ("ru", "be", "kk", "ky", "tg", "tt", "uk", "uz")
    if not code:
        return default
    return "ru" if code.split("-")[0].lower() in reads_russian else "en"


class _Variables(Visitor):
    def __init__(self, message: ast.Message) -> None:
        self.names: set[str] = set()
        self.visit(message)

    def visit_VariableReference(self, node: ast.VariableReference) -> None:  # noqa: N802 - named by fluent.syntax
        self.names.add(node.id.name)
