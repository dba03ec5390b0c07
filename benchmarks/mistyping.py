"""Typos as people make them: one in each longer word.

In: a question and a source of chance. Out: the same with a letter dropped, swapped or doubled inside each longer word.
"""

import random

LONG_WORD = 6  # characters; from here on a word of the question gets a typo


def mistype(text: str, chance: random.Random) -> str:
    """White space becomes single blanks."""
    return " ".join(_with_typo(word, chance) if len(word) >= LONG_WORD else word for word in text.split())


def _with_typo(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word) - 2)
    wrong = chance.choice([word[at + 1], word[at + 1] + word[at], word[at] + word[at] + word[at + 1]])
    return word[:at] + wrong + word[at + 2 :]
