"""Words of small talk: greetings, thanks, and words that only lead up to a question.

In: `small_talk.toml`. Out: `SmallTalkWords`. Their use is decided in `rag.small_talk`.
"""

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable


class SmallTalkError(Exception):
    """The file of words is missing or malformed."""


@dataclass(frozen=True, kw_only=True)
class SmallTalkWords:
    """Phrases in lower case, е for ё. The groups down to `leaning` are whole messages."""

    greeting: tuple[str, ...]
    thanks: tuple[str, ...]
    farewell: tuple[str, ...]
    assent: tuple[str, ...]
    about: tuple[str, ...]  # who Baza is, and what it can do
    more: tuple[str, ...]  # requests for more on the subject of the last answer
    leaning: tuple[str, ...]  # questions that mean nothing without the dialogue
    beside: tuple[str, ...]  # what may stand beside those, but is no small talk alone
    documents: tuple[str, ...]  # whole messages that ask which documents there are
    courtesies: tuple[str, ...]  # at the beginning of a question
    afterwards: tuple[str, ...]  # the same at its end
    frames: tuple[str, ...]  # first words of a question that say nothing about its subject
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
