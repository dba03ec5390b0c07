"""The words of `small_talk.toml`: whole lists, or a clear error."""

from dataclasses import astuple
from itertools import chain
from pathlib import Path

import pytest

from prompts.wordings import WordingsError, load_small_talk


def test_the_words_that_travel_with_the_package_are_whole() -> None:
    words = load_small_talk()
    assert "привет" in words.greeting
    assert all(entry == entry.casefold().replace("ё", "е") for entry in chain(*astuple(words)))


@pytest.mark.parametrize("content", ["", "greeting = [", "greeting = ['hi']", "greeting = 'hi'"])
def test_a_file_that_is_not_whole_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "small_talk.toml").write_text(content, encoding="utf-8")
    with pytest.raises(WordingsError):
        load_small_talk(tmp_path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WordingsError):
        load_small_talk(tmp_path)
