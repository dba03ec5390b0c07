"""Words that tell how far a reading of documents goes.

In: `breadth.toml`. Out: `BreadthWords`. Their use is decided elsewhere; they name no intent.
"""

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable


class BreadthError(Exception):
    """The file of words is missing or malformed."""


@dataclass(frozen=True, kw_only=True)
class BreadthWords:
    """Phrases in lower case, е for ё; a word that ends in `*` stands for all its endings."""

    all: tuple[str, ...]  # every document has to be read
    single: tuple[str, ...]  # those of `all` that usually ask about one thing
    idioms: tuple[str, ...]  # phrases in which words of `all` do not mean that
    holders: tuple[str, ...]  # words for the documents themselves and what they do: nothing to search for
    openings: tuple[str, ...]  # first words of a question that depends on the dialogue
    rest: tuple[str, ...]  # requests for the rest of a list
    rest_beside: tuple[str, ...]  # what may stand beside such a request
    pronouns: tuple[str, ...]  # make a short question depend on the dialogue


def load_breadth(folder: Traversable | None = None) -> BreadthWords:
    """Raises BreadthError."""
    place = folder if folder is not None else files("prompts")
    try:
        entries = tomllib.loads(place.joinpath("breadth.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise BreadthError(f"breadth.toml: {error}") from error
    names = {field.name for field in fields(BreadthWords)}
    if set(entries) != names or not all(isinstance(words, list) and words for words in entries.values()):
        raise BreadthError(f"breadth.toml: needs lists of words under {', '.join(sorted(names))}")
    return BreadthWords(**{name: tuple(map(str, words)) for name, words in entries.items()})
