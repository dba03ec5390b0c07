"""Reads a TOML file of word lists into a record whose fields are the lists.

In: the record's type and the file's name. Out: the record. It knows no word and decides nothing.
"""

import tomllib
from dataclasses import fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Words = TypeVar("Words", bound="DataclassInstance")


class WordListError(Exception):
    """A file of words is missing or malformed."""


def load_word_lists(words: type[Words], name: str, folder: Traversable | None = None) -> Words:
    """The lists of the file `name` (in this package, or in `folder`), each as a tuple of strings.

    Every field of `words` needs a list that is not empty, and there may be no other. Raises WordListError.
    """
    place = folder if folder is not None else files("prompts")
    try:
        entries = tomllib.loads(place.joinpath(name).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise WordListError(f"{name}: {error}") from error
    wanted = {field.name for field in fields(words)}
    if set(entries) != wanted or not all(isinstance(listed, list) and listed for listed in entries.values()):
        raise WordListError(f"{name}: needs lists of words under {', '.join(sorted(wanted))}")
    return words(**{key: tuple(map(str, listed)) for key, listed in entries.items()})
