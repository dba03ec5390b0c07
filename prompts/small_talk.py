"""What people write beside their questions: greetings, thanks, words that only lead up to what is asked.

In: `small_talk.toml`. Out: `SmallTalkWords`. What is done where they are met is decided elsewhere.
"""

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable


class SmallTalkError(Exception):
    """The file of words is missing, or not of the right shape."""


@dataclass(frozen=True, kw_only=True)
class SmallTalkWords:
    """Entries of words in lower case, е for ё. The groups down to `leaning` are whole messages."""

    greeting: tuple[str, ...]
    thanks: tuple[str, ...]
    farewell: tuple[str, ...]
    assent: tuple[str, ...]
    about: tuple[str, ...]  # who Baza is, and what it can do
    more: tuple[str, ...]  # of what the last answer was about
    leaning: tuple[str, ...]  # nothing is asked without what was said before
    beside: tuple[str, ...]  # what may stand beside those, and is none of them alone
    documents: tuple[str, ...]  # whole messages that ask which documents there are
    courtesies: tuple[str, ...]  # before a question
    afterwards: tuple[str, ...]  # and behind it
    frames: tuple[str, ...]  # first words of a question that say nothing of its subject
    interrogatives: tuple[str, ...]  # first words that only ask


def load_small_talk(folder: Traversable | None = None) -> SmallTalkWords:
    """Raises SmallTalkError."""
    place = folder if folder is not None else files("prompts")
    try:
        entries = tomllib.loads(place.joinpath("small_talk.toml").read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SmallTalkError(f"small_talk.toml: {error}") from error
    names = {field.name for field in fields(SmallTalkWords)}
    if set(entries) != names or not all(isinstance(words, list) and words for words in entries.values()):
        raise SmallTalkError(f"small_talk.toml: needs lists of words under {', '.join(sorted(names))}")
    return SmallTalkWords(**{name: tuple(map(str, words)) for name, words in entries.items()})
