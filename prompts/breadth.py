"""Words that tell how far a search goes where no model plans.

In: `breadth.toml`. Out: `BreadthWords`. Their use is decided elsewhere; they name no intent.
"""

from dataclasses import dataclass
from importlib.resources.abc import Traversable

from prompts.word_lists import load_word_lists


@dataclass(frozen=True, kw_only=True)
class BreadthWords:
    """Phrases in lower case, е for ё; a word that ends in `*` stands for all its endings."""

    everywhere: tuple[str, ...]  # that every document is meant, in so many words
    quantities: tuple[str, ...]  # words of quantity: nothing to search for
    holders: tuple[str, ...]  # words for the documents themselves and what they do: nothing to search for
    openings: tuple[str, ...]  # first words of a question that depends on the dialogue
    rest: tuple[str, ...]  # requests for the rest of a list
    rest_beside: tuple[str, ...]  # what may stand beside such a request
    pronouns: tuple[str, ...]  # make a short question depend on the dialogue
    retell: tuple[str, ...]  # first words of a request for a document's contents
    compare: tuple[str, ...]  # first words of a request to compare two things
    below: tuple[str, ...]  # before a number: what is less than it
    above: tuple[str, ...]  # what is more
    priced: tuple[str, ...]  # those of both that speak of a price
    prices: tuple[str, ...]  # words of a column that holds prices


def load_breadth(folder: Traversable | None = None) -> BreadthWords:
    """Raises WordListError."""
    return load_word_lists(BreadthWords, "breadth.toml", folder)
