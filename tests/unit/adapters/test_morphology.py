"""One analyzer for the whole process, whichever thread asks it."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pymorphy3
import pytest

from adapters import morphology
from adapters.lexical import RussianEnglishAnalyzer
from adapters.morphology import Morphology, dictionary
from adapters.name_finder import nominative
from adapters.names import NameForms
from ingestion.entities.records import EntityType

THREADS = 4
TEXT = """
    договор аренды помещения арендатор вносит плату не позднее пятого числа каждого месяца алоре москве дмитрия иванова
    стали банка замок мыла рама вай-фай по-русски кое-где какой-то интернет-магазина гипермутабельного чатботами
    симансом подключиться красивейшими двадцатиэтажный переподключиться бывшего человеко-часов жил-был росстандарта
"""
WORDS = TEXT.split()


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Morphology]]:
    """The analyzers that were made since; none is there yet."""
    made: list[Morphology] = []
    make = pymorphy3.MorphAnalyzer

    def note() -> Morphology:
        made.append(make())
        return made[-1]

    monkeypatch.setattr(pymorphy3, "MorphAnalyzer", note)
    morphology._load.cache_clear()
    yield made
    morphology._load.cache_clear()


def test_all_who_read_words_share_one(loaded: list[Morphology]) -> None:
    RussianEnglishAnalyzer().terms("договоры")
    NameForms().words("Дмитрию")
    nominative("Дмитрия Иванова", EntityType.PERSON)
    assert len(loaded) == 1


def test_threads_that_come_first_together_share_one(loaded: list[Morphology]) -> None:
    together = Barrier(THREADS)

    def ask(_: int) -> Morphology:
        together.wait()
        return dictionary()

    with ThreadPoolExecutor(THREADS) as threads:
        given = list(threads.map(ask, range(THREADS)))
    assert given == loaded * THREADS


def said(analyzer: Morphology, word: str) -> list[object]:
    """All that is asked of it."""
    parses = analyzer.parse(word)
    first = parses[0].inflect({"nomn"})
    tags = [(parse.normal_form, sorted(parse.tag.grammemes), parse.tag.case, parse.tag.gender) for parse in parses]
    return [analyzer.word_is_known(word), tags, first and first.word, [form.word for form in parses[0].lexeme]]


@pytest.mark.usefixtures("loaded")
def test_threads_hear_what_one_alone_would() -> None:
    alone: Morphology = pymorphy3.MorphAnalyzer()
    expected = {word: said(alone, word) for word in WORDS}

    def read(first: int) -> dict[str, list[object]]:
        return {word: said(dictionary(), word) for word in WORDS[first:] + WORDS[:first]}

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # between almost any two steps
    try:
        with ThreadPoolExecutor(THREADS) as threads:
            heard = list(threads.map(read, range(THREADS)))
    finally:
        sys.setswitchinterval(switching)
    assert heard == [expected] * THREADS
