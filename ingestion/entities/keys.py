"""Under which keys a name is to be found.

In: the words of a name. Out: keys with how surely each means it: all words, their beginnings, a person's surname, a
document's kind with its number («договор 17/А» for «Договор аренды помещения № 17/А»). A single ordinary word is no
beginning, and as a whole name counts only where it is written as one. Pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from domain.names import NameWord
from ingestion.entities.records import EntityType

PART_WEIGHT = 0.8  # «АЛОР» of «АЛОР Брокер»: likely, and less sure than the whole name
MOST_SPELLINGS = 8  # of one run of words
MOST_WORDS = 6  # of a name; a longer one is found as a whole by its first ones
SHORTEST_PART = 3  # letters
NUMBER_WORDS = 3  # that a number is written with: «45-П/2025»


@dataclass(frozen=True, kw_only=True)
class NameKey:
    """One key of a name."""

    key: str
    weight: float
    as_name: bool


def spellings(words: Sequence[NameWord]) -> tuple[str, ...]:
    """Keys of a run of words, the surest first."""
    return tuple(" ".join(parts) for parts in islice(product(*(word.keys for word in words)), MOST_SPELLINGS))


def whole_keys(words: Sequence[NameWord]) -> Iterator[NameKey]:
    """Keys of the name as a whole."""
    is_plain = len(words) == 1 and words[0].is_ordinary
    for key in spellings(words[:MOST_WORDS]):
        yield NameKey(key=key, weight=1.0, as_name=is_plain)


def part_keys(words: Sequence[NameWord], kind: EntityType) -> Iterator[NameKey]:
    """Keys of its beginnings, of a person's surname, of a first word with the number."""
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
    """The first word with the first number alone, and with what belongs to it."""
    place = next((place for place, word in enumerate(words) if word.form[0].isdigit()), 0)
    if place < 2:  # it is a beginning already, or there is none
        return []
    longest = min(NUMBER_WORDS, len(words) - place)
    return [(words[0], *words[place : place + length]) for length in range(1, longest + 1)]
