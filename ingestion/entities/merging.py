"""Merges several readings of a document into what is stored: one entity for all its names, facts with their passages.

In: extracts, the base's entities with the same keys, the document's passages. Out: `NewEntities`. A name in another
form or alphabet means the same entity if the types are equal, or if one of the types is only a guess; a single ordinary
word counts only where it is written as a name. What a document's structure states is never removed; what the model
repeats is. Pure.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from domain.names import NameWord, Relation
from ingestion.entities.records import (
    EntityName,
    EntityType,
    Extract,
    NameReader,
    NewAlias,
    NewEntities,
    NewEntity,
    NewFact,
    PassageSpan,
    RegisteredEntity,
)

PART_WEIGHT = 0.8  # «АЛОР» for «АЛОР Брокер»: likely, but less sure than the whole name
MOST_SPELLINGS = 8  # combinations kept for one sequence of words
MOST_WORDS = 6  # of a name; the whole key of a longer one has only its first words
SHORTEST_PART = 3  # letters
NUMBER_WORDS = 3  # words that a number may consist of: «45-П/2025»
SURE = 1.0  # confidence of facts from structure; only less certain facts may be removed
OPEN = 0.6  # a THING below this confidence has an unknown type
GUESSED = 0.8  # below this confidence a name is a finder's guess; a model, in contrast, has read the sentence
LONGEST_NAME = 200  # characters; a longer one may exceed an index row (2,700 bytes), and then nothing would be stored
MOST_ENTITIES = 1_000  # of one document
MOST_FACTS = 3_000
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"[«„“\"]([^»“”\"]+)[»“”\"]")


def spellings(words: Sequence[NameWord]) -> tuple[str, ...]:
    """Keys of a sequence of words, the most probable first."""
    return tuple(" ".join(parts) for parts in islice(product(*(word.keys for word in words)), MOST_SPELLINGS))


def _whole_keys(name: str, names: NameReader) -> dict[str, bool]:
    """Keys of the whole name, for «Студия «Кедр»» also of «Кедр», and whether each counts as a written name alone."""
    found: dict[str, bool] = {}
    for form in (name, *_QUOTED.findall(name)[:1]):
        if words := names.words(form):
            found |= dict.fromkeys(spellings(words[:MOST_WORDS]), len(words) == 1 and words[0].is_ordinary)
    return found


def _part_keys(name: str, kind: EntityType, names: NameReader) -> Iterator[str]:
    """Keys of its prefixes, of a person's surname, and of its first word with its first number, alone and with the
    words that may belong to the number."""
    words = names.words(name)
    whole = words[:MOST_WORDS]
    parts = [whole[:length] for length in range(1, len(whole))]
    number = next((place for place, word in enumerate(words) if word.form[0].isdigit()), 0)
    if number > 1:  # else it is in a prefix already
        last = min(number + NUMBER_WORDS, len(words))
        parts += [(words[0], *words[number:end]) for end in range(number + 1, last + 1)]
    if kind is EntityType.PERSON and len(whole) > 1:
        parts.append(whole[-1:])
    for part in parts:
        if len(part) > 1 or not (part[0].is_ordinary or len(part[0].form) < SHORTEST_PART):
            yield from spellings(part)


@dataclass(kw_only=True, eq=False)
class Gathered:
    """An entity of the document while its mentions are collected."""

    type: EntityType
    name: str
    keys: dict[str, bool]  # of its whole names
    at: int
    count: int = 0
    confidence: float = 0.0
    forms: dict[str, None] = field(default_factory=dict)


def gather(extracts: Iterable[Extract], names: NameReader) -> dict[EntityName, Gathered]:
    """Every name of the document -> its entity."""
    mentions = sorted(
        (mention for extract in extracts for mention in extract.mentions if len(mention.of.name) <= LONGEST_NAME),
        key=lambda mention: (-mention.confidence, mention.at),
    )
    by_key: dict[tuple[EntityType, str], Gathered] = {}
    found: dict[EntityName, Gathered] = {}
    for mention in mentions:
        keys = _whole_keys(mention.of.name, names)
        words = names.words(mention.of.name)
        # Finders take the first words of lines («Город», «Довёл») for names.
        is_doubtful = mention.confidence < GUESSED and len(words) == 1 and words[0].is_ordinary
        if not keys or not names.slug(mention.of.name) or is_doubtful:
            continue
        types = [mention.of.type] if mention.confidence >= SURE else [mention.of.type, *EntityType]
        same = (by_key[kind, key] for kind in types for key in keys if (kind, key) in by_key)
        entity = found[mention.of] = next(same, None) or Gathered(
            type=mention.of.type, name=mention.of.name, keys={}, at=mention.at
        )
        entity.count += mention.count
        entity.at = min(entity.at, mention.at)
        entity.confidence = max(entity.confidence, mention.confidence)
        entity.keys |= keys
        forms = (mention.of.name, *mention.forms)
        entity.forms.update(dict.fromkeys(form for form in forms if len(form) <= LONGEST_NAME))
        for key in keys:
            by_key.setdefault((entity.type, key), entity)
    return found


def merge(
    extracts: Sequence[Extract],
    gathered: Mapping[EntityName, Gathered],
    *,
    known: Sequence[RegisteredEntity],
    spans: Sequence[PassageSpan],
    names: NameReader,
) -> NewEntities:
    """`known` are the base's entities under the keys of `gathered`. Facts outside of all passages are dropped."""
    entities = list(dict.fromkeys(gathered.values()))[:MOST_ENTITIES]
    ids = {entity: _canonical(entity, known, names) for entity in entities}
    merged: dict[str, NewEntity] = {}
    for entity in sorted(entities, key=lambda each: -each.confidence):
        canonical, span = ids[entity], _passage_at(entity.at, spans)
        new = NewEntity(
            canonical=canonical,
            type=EntityType(canonical.partition(":")[0]),  # an entity of unknown type may have joined a known one
            name=entity.name,
            count=entity.count,
            chunk=span.chunk if span else None,
            confidence=entity.confidence,
        )
        merged.setdefault(canonical, new)
    facts = _facts(extracts, {name: ids[each] for name, each in gathered.items() if each in ids}, spans)
    return NewEntities(
        entities=tuple(merged.values()),
        aliases=tuple(alias for entity in entities for alias in _aliases(entity, ids[entity], names)),
        facts=tuple(without_repeats(facts)[:MOST_FACTS]),
    )


def _canonical(entity: Gathered, known: Sequence[RegisteredEntity], names: NameReader) -> str:
    """The id that the base has for this name, or a new one. A name of one word also matches a longer known name that
    begins with it, if there is only one. An entity of unknown type takes the type that the base knows."""
    is_open = entity.type is EntityType.THING and entity.confidence < OPEN
    same = [each for each in known if (is_open or each.type is entity.type) and each.key in entity.keys]
    longer = {each.id for each in same if each.weight < 1}
    if whole := [each.id for each in same if each.weight >= 1]:
        return min(whole)
    if len(longer) == 1 and len(names.words(entity.name)) == 1 and entity.confidence < SURE:
        return longer.pop()
    return f"{entity.type.value}:{names.slug(entity.name)}"


def _aliases(entity: Gathered, canonical: str, names: NameReader) -> Iterator[NewAlias]:
    for form in entity.forms:
        keys = [(key, 1.0, as_name) for key, as_name in _whole_keys(form, names).items()]
        keys += [(key, PART_WEIGHT, False) for key in _part_keys(form, entity.type, names)]
        for key, weight, as_name in keys:
            yield NewAlias(canonical=canonical, key=key, form=form, weight=weight, as_name=as_name)


def _passage_at(at: int, spans: Sequence[PassageSpan]) -> PassageSpan | None:
    """The first of the passages, which are in order and overlap, that holds a character of the document."""
    last = bisect_right(spans, at, key=lambda span: span.start)
    return next((span for span in spans[max(0, last - 2) : last] if at < span.end), None)


def _facts(
    extracts: Sequence[Extract], canonical: Mapping[EntityName, str], spans: Sequence[PassageSpan]
) -> list[NewFact]:
    """What is said of known entities within a passage, each once."""
    found: dict[tuple[str, str, str, str | None], NewFact] = {}
    statements = sorted((each for extract in extracts for each in extract.statements), key=lambda each: each.at)
    for position, statement in enumerate(statements):
        span, subject = _passage_at(statement.at, spans), canonical.get(statement.subject)
        if span is None or subject is None:
            continue
        about = canonical.get(statement.object) if statement.object else None
        fact = NewFact(
            canonical=subject,
            relation=statement.relation,
            text=statement.text,
            object=about,
            chunk=span.chunk,
            position=position,
            confidence=statement.confidence,
        )
        found.setdefault((subject, fact.relation.value, fact.text.casefold(), about), fact)
    return list(found.values())


def without_repeats(facts: Iterable[NewFact]) -> list[NewFact]:
    """Of two facts where one has all words of the other, the more certain stays, else the longer."""
    groups: dict[tuple[str, Relation], list[tuple[NewFact, frozenset[str]]]] = {}
    for fact in sorted(facts, key=lambda each: (-each.confidence, -len(each.text))):
        group = groups.setdefault((fact.canonical, fact.relation), [])
        words = frozenset(_WORD.findall(fact.text.casefold()))
        if fact.confidence >= SURE or not any(_says(other, held, fact, words) for other, held in group):
            group.append((fact, words))
    return sorted((fact for group in groups.values() for fact, _ in group), key=lambda fact: fact.position)


def _says(other: NewFact, held: frozenset[str], fact: NewFact, words: frozenset[str]) -> bool:
    """Whether `other` covers `fact`. A sure list item («Python») also covers a quotation of its whole list."""
    if fact.object not in (None, other.object):
        return False
    return words <= held or (other.confidence >= SURE and fact.object is not None and held <= words)
