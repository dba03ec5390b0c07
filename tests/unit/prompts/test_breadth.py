"""The words of `breadth.toml`: whole lists, or a clear error."""

from pathlib import Path

import pytest

from prompts.wordings import WordingsError, load_breadth


def test_the_words_that_travel_with_the_package_are_whole() -> None:
    words = load_breadth()
    assert "по всем документам" in words.everywhere
    assert all(entry == entry.casefold().replace("ё", "е") for entry in (*words.everywhere, *words.quantities))


@pytest.mark.parametrize("content", ["", "all = [", "all = ['x']", "all = 'x'"])
def test_a_file_that_is_not_whole_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "breadth.toml").write_text(content, encoding="utf-8")
    with pytest.raises(WordingsError):
        load_breadth(tmp_path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WordingsError):
        load_breadth(tmp_path)
