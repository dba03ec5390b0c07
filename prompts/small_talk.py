"""Words of small talk: greetings, thanks, and words that only lead up to a question.

In: `small_talk.toml`. Out: `SmallTalkWords`. Their use is decided in `rag.small_talk`.
"""

from dataclasses import dataclass
from importlib.resources.abc import Traversable

from prompts.word_lists import load_word_lists


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
    remember: tuple[str, ...]  # first words of a note that is sent in Чат


def load_small_talk(folder: Traversable | None = None) -> SmallTalkWords:
    """Raises WordListError."""
    return load_word_lists(SmallTalkWords, "small_talk.toml", folder)
