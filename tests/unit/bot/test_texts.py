"""Texts: the same in every language, filled the Russian way, escaped."""

import ast
import re
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest
from fluent.syntax import FluentParser
from fluent.syntax import ast as fluent

from bot.texts import LANGUAGES, LOCALES, TextError, Words, duration, language_of
from ingestion.errors import FailureCode
from tests.fakes.bot import texts

BOT = Path(__file__).parents[3] / "bot"


def russian() -> Words:
    return texts().for_language("ru")


@pytest.mark.parametrize(
    ("count", "shown"),
    [(1, "1 фрагмент"), (2, "2 фрагмента"), (5, "5 фрагментов"), (21, "21 фрагмент"), (1214, "1\xa0214 фрагментов")],
)
def test_numbers_and_plurals_are_russian(count: int, shown: str) -> None:
    assert russian()("receipt-passages", count=count) == shown


@pytest.mark.parametrize(
    ("day", "shown"),
    [(date(2026, 5, 12), "12 мая"), (date(2025, 5, 12), "12 мая 2025\u202fг.")],
    ids=["this year", "another"],
)
def test_dates_are_russian(day: date, shown: str) -> None:
    assert russian()("library-day", day=day) == shown


def test_a_fraction_has_a_comma() -> None:
    assert russian()("receipt-seconds", count=0.5) == "0,5\u00a0с"


@pytest.mark.parametrize(("seconds", "shown"), [(252, "4:12"), (5, "0:05"), (3852, "1:04:12")])
def test_durations_read_like_a_clock(seconds: int, shown: str) -> None:
    assert duration(timedelta(seconds=seconds)) == shown


def test_values_are_escaped() -> None:
    assert russian()("progress-queued", title="<b>&") == "⏳ <b>&lt;b&gt;&amp;</b> · в очереди"


def test_plain_text_has_no_tags_and_no_escapes() -> None:
    assert russian().plain("progress-queued", title="<b>&") == "⏳ <b>& · в очереди"


def test_a_missing_value_is_named() -> None:
    with pytest.raises(TextError, match=r"progress-queued.*title"):
        russian()("progress-queued")


def test_an_unknown_key_is_named() -> None:
    with pytest.raises(TextError, match="no-such-text"):
        russian()("no-such-text")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", list(FailureCode))
def test_every_failure_has_a_sentence(code: FailureCode, language: str) -> None:
    assert f"error-{code.value}" in texts().for_language(language).keys


def test_every_language_has_the_same_texts_with_the_same_values() -> None:
    first, *others = [{key: words.variables(key) for key in words.keys} for words in texts().by_language.values()]
    assert others == [first] * (len(LANGUAGES) - 1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_file_can_be_read_and_no_text_is_there_twice(language: str) -> None:
    files = [FluentParser().parse(path.read_text(encoding="utf-8")) for path in (LOCALES / language).glob("*.ftl")]
    entries = [entry for file in files for entry in file.body]
    names = [entry.id.name for entry in entries if isinstance(entry, fluent.Message)]
    assert [entry.content for entry in entries if isinstance(entry, fluent.Junk)] == []
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize(
    ("code", "language"), [("ru", "ru"), ("uk", "ru"), ("en-US", "en"), ("de", "en"), (None, "ru")]
)
def test_the_language_follows_telegram(code: str | None, language: str) -> None:
    assert language_of(code, default="ru") == language


def calls_of_texts() -> list[tuple[str, str, frozenset[str]]]:
    """(place, key, names of values) of every call of a `Words` in bot/ whose key is written out."""
    return [
        (f"{path.relative_to(BOT)}:{node.lineno}", key, frozenset(str(keyword.arg) for keyword in node.keywords))
        for path in BOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _is_words(node.func) and all(keyword.arg for keyword in node.keywords)
        for key in _written_out(node.args[:1])
    ]


def _written_out(nodes: list[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _is_words(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "plain":
        node = node.value
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in ("words", "chosen")


def test_the_code_asks_for_texts_as_they_are() -> None:
    calls = calls_of_texts()
    assert len(calls) > 60
    wrong = [call for call in calls if call[1] not in russian().keys or russian().variables(call[1]) != call[2]]
    assert wrong == []


@pytest.mark.parametrize("language", ["ru", "en"])
def test_no_line_ends_between_a_number_and_its_unit(language: str) -> None:
    written = "\n".join(file.read_text(encoding="utf-8") for file in (LOCALES / language).glob("*.ftl"))
    assert re.findall(r"\} (?:с|МБ|s|MB|%|\$)(?!\w).*", written) == []
