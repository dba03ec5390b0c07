"""The keys under which a name can be found.

In: the words of a name. Out: keys with the confidence of each: all words, their prefixes, a person's surname, a
document's kind with its number («договор 17/А» for «Договор аренды помещения № 17/А»). A single ordinary word is no
prefix key, and as a whole name it counts only where it is written as a name. Pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from domain.names import NameWord
from ingestion.entities.records import EntityType

PART_WEIGHT = 0.8  # «АЛОР» for «АЛОР Брокер»: likely, but less sure than the whole name
MOST_SPELLINGS = 8  # combinations kept for one sequence of words
MOST_WORDS = 6  # of a name; the whole key of a longer one has only its first words
SHORTEST_PART = 3  # letters
NUMBER_WORDS = 3  # words that a number may consist of: «45-П/2025»


@dataclass(frozen=True, kw_only=True)
class NameKey:
    """One key of a name."""

    key: str
    weight: float
    as_name: bool


def spellings(words: Sequence[NameWord]) -> tuple[str, ...]:
    """Keys of a sequence of words, the most probable first."""
    return tuple(" ".join(parts) for parts in islice(product(*(word.keys for word in words)), MOST_SPELLINGS))


def whole_keys(words: Sequence[NameWord]) -> Iterator[NameKey]:
    """Keys of the name as a whole."""
    is_plain = len(words) == 1 and words[0].is_ordinary
    for key in spellings(words[:MOST_WORDS]):
        yield NameKey(key=key, weight=1.0, as_name=is_plain)


def part_keys(words: Sequence[NameWord], kind: EntityType) -> Iterator[NameKey]:
    """Keys of its prefixes, of a person's surname, and of its first word with the number."""
    whole = words[:MOST_WORDS]
    parts = [whole[:length] for length in range(1, len(whole))]
    parts += _numbered(words)
    if kind is EntityType.PERSON:
        parts += [whole[-1:]] if len(whole) > 1 else []
    for part in parts:
        if len(part) == 1 and (part[0].is_ordinary or len(part[0].form) < SHORTEST_PART):
            continue
        for key in spellings(part):
            yield NameKey(key=key, weight=PART_WEIGHT, as_name=False)


def _numbered(words: Sequence[NameWord]) -> list[Sequence[NameWord]]:
    """The first word with the first number, alone and with the words that may belong to the number."""
    place = next((place for place, word in enumerate(words) if word.form[0].isdigit()), 0)
    if place < 2:  # it is a prefix already, or there is no number
        return []
    longest = min(NUMBER_WORDS, len(words) - place)
    return [(words[0], *words[place : place + length]) for length in range(1, longest + 1)]
