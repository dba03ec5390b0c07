"""The words beside the prompts: whole lists, folded as they are compared."""

from dataclasses import astuple
from itertools import chain

from prompts.wordings import load_breadth, load_small_talk


def test_the_words_that_travel_with_the_package_are_whole() -> None:
    breadth, small_talk = load_breadth(), load_small_talk()
    assert "по всем документам" in breadth.everywhere
    assert "привет" in small_talk.greeting
    assert all(entry == entry.casefold().replace("ё", "е") for entry in (*breadth.everywhere, *breadth.quantities))
    assert all(entry == entry.casefold().replace("ё", "е") for entry in chain(*astuple(small_talk)))
