"""Merges several readings of a document into what is stored: one entity for all its names, facts with their passages.

In: extracts, the base's entities with the same keys, the document's passages. Out: `NewEntities`. A name in another
form or alphabet means the same entity if the types are equal, or if one of the types is only a guess; its keys are all
words, their prefixes, a person's surname, a document's kind with its number, and a single ordinary word counts only
where it is written as a name. What a document's structure states is never removed; what the model repeats is. Pure.
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
    Mention,
    NameReader,
    NewAlias,
    NewEntities,
    NewEntity,
    NewFact,
    PassageSpan,
    RegisteredEntity,
    Statement,
)

PART_WEIGHT = 0.8  # «АЛОР» for «АЛОР Брокер»: likely, but less sure than the whole name
MOST_SPELLINGS = 8  # combinations kept for one sequence of words
MOST_WORDS = 6  # of a name; the whole key of a longer one has only its first words
SHORTEST_PART = 3  # letters
NUMBER_WORDS = 3  # words that a number may consist of: «45-П/2025»
SURE = 1.0  # confidence of facts from structure; only less certain facts may be removed
_WORD = re.compile(r"\w+")
OPEN = 0.6  # a THING below this confidence has an unknown type
GUESSED = 0.8  # below this confidence a name is a finder's guess; a model, in contrast, has read the sentence
LONGEST_NAME = 200  # characters; a longer one may exceed an index row (2,700 bytes), and then nothing would be stored
MOST_ENTITIES = 1_000  # of one document
MOST_FACTS = 3_000
_QUOTED = re.compile(r"[«„“\"]([^»“”\"]+)[»“”\"]")


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


def without_repeats(facts: Iterable[NewFact]) -> list[NewFact]:
    """Of two facts where one has all words of the other, the more certain stays, else the longer."""
    groups: dict[tuple[str, Relation], list[NewFact]] = {}
    for fact in facts:
        groups.setdefault((fact.canonical, fact.relation), []).append(fact)
    kept = [fact for group in groups.values() for fact in _distinct(group)]
    return sorted(kept, key=lambda fact: fact.position)


def _distinct(group: Sequence[NewFact]) -> list[NewFact]:
    kept: list[tuple[NewFact, frozenset[str]]] = []
    for fact in sorted(group, key=lambda each: (-each.confidence, -len(each.text))):
        words = frozenset(_WORD.findall(fact.text.casefold()))
        if fact.confidence >= SURE or not any(_says(other, held, fact, words) for other, held in kept):
            kept.append((fact, words))
    return [fact for fact, _ in kept]


def _says(other: NewFact, held: frozenset[str], fact: NewFact, words: frozenset[str]) -> bool:
    """Whether `other` covers `fact`. A sure list item («Python») also covers a quotation of its whole list."""
    if fact.object not in (None, other.object):
        return False
    return words <= held or (other.confidence >= SURE and fact.object is not None and held <= words)


@dataclass(kw_only=True)
class Gathered:
    """An entity of the document while its mentions are collected."""

    type: EntityType
    name: str
    keys: tuple[str, ...]  # of its whole names
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
        if not keys or not names.slug(mention.of.name) or _is_doubtful(mention, names):
            continue
        entity = found[mention.of] = _same(by_key, mention, keys) or Gathered(
            type=mention.of.type, name=mention.of.name, keys=keys, at=mention.at
        )
        _add(entity, mention, keys)
        by_key.update({(entity.type, key): entity for key in keys if (entity.type, key) not in by_key})
    return found


def _is_doubtful(mention: Mention, names: NameReader) -> bool:
    """Whether the mention is probably no name: finders take the first words of lines («Город», «Довёл») for names."""
    words = names.words(mention.of.name)
    return mention.confidence < GUESSED and len(words) == 1 and words[0].is_ordinary


def _same(by_key: Mapping[tuple[EntityType, str], Gathered], mention: Mention, keys: Sequence[str]) -> Gathered | None:
    types = [mention.of.type] if mention.confidence >= SURE else [mention.of.type, *EntityType]
    return next((by_key[kind, key] for kind in types for key in keys if (kind, key) in by_key), None)


def _add(entity: Gathered, mention: Mention, keys: Sequence[str]) -> None:
    entity.count += mention.count
    entity.at = min(entity.at, mention.at)
    entity.confidence = max(entity.confidence, mention.confidence)
    entity.keys = tuple(dict.fromkeys((*entity.keys, *keys)))
    forms = (mention.of.name, *mention.forms)
    entity.forms.update(dict.fromkeys(form for form in forms if len(form) <= LONGEST_NAME))


def _whole_keys(name: str, names: NameReader) -> tuple[str, ...]:
    """Keys of the whole name; for «Студия «Кедр»» also those of «Кедр»."""
    quoted = _QUOTED.search(name)
    forms = (name, quoted[1]) if quoted else (name,)
    return tuple(dict.fromkeys(key.key for form in forms for key in whole_keys(names.words(form))))


def merge(
    extracts: Sequence[Extract],
    gathered: Mapping[EntityName, Gathered],
    *,
    known: Sequence[RegisteredEntity],
    spans: Sequence[PassageSpan],
    names: NameReader,
) -> NewEntities:
    """`known` are the base's entities under the keys of `gathered`. Facts outside of all passages are dropped."""
    entities = list({id(each): each for each in gathered.values()}.values())[:MOST_ENTITIES]
    ids = {id(entity): _canonical(entity, known, names) for entity in entities}
    canonical = {name: ids[id(entity)] for name, entity in gathered.items() if id(entity) in ids}
    place = _Places(spans)
    merged: dict[str, NewEntity] = {}
    for entity in sorted(entities, key=lambda each: -each.confidence):
        merged.setdefault(ids[id(entity)], _new_entity(entity, ids[id(entity)], place))
    aliases = [alias for entity in entities for alias in _aliases(entity, ids[id(entity)], names)]
    return NewEntities(
        entities=tuple(merged.values()),
        aliases=tuple(aliases),
        facts=tuple(without_repeats(_facts(extracts, canonical, place))[:MOST_FACTS]),
    )


def _canonical(entity: Gathered, known: Sequence[RegisteredEntity], names: NameReader) -> str:
    """The id that the base has for this name, or a new one. A name of one word also matches a longer known name that
    begins with it, if there is only one. An entity of unknown type takes the type that the base knows."""
    is_open = entity.type is EntityType.THING and entity.confidence < OPEN
    same = [each for each in known if (is_open or each.type is entity.type) and each.key in entity.keys]
    whole = [each.canonical for each in same if each.weight >= 1]
    longer = {each.canonical for each in same if each.weight < 1}
    if whole:
        return min(whole)
    if len(longer) == 1 and len(names.words(entity.name)) == 1 and entity.confidence < SURE:
        return longer.pop()
    return f"{entity.type.value}:{names.slug(entity.name)}"


class _Places:
    """Finds the passage that holds a character."""

    def __init__(self, spans: Sequence[PassageSpan]) -> None:
        self._spans = sorted(spans, key=lambda span: span.start)
        self._starts = [span.start for span in self._spans]

    def __call__(self, at: int) -> PassageSpan | None:
        """The first passage that holds the character; passages overlap."""
        last = bisect_right(self._starts, at)
        return next((span for span in self._spans[max(0, last - 2) : last] if span.start <= at < span.end), None)


def _new_entity(entity: Gathered, canonical: str, place: _Places) -> NewEntity:
    span = place(entity.at)
    return NewEntity(
        canonical=canonical,
        type=EntityType(canonical.partition(":")[0]),  # an entity of unknown type may have joined a known one
        name=entity.name,
        count=entity.count,
        chunk=span.chunk if span else None,
        confidence=entity.confidence,
    )


def _aliases(entity: Gathered, canonical: str, names: NameReader) -> Iterable[NewAlias]:
    for form in entity.forms:
        for key in _keys(form, entity.type, names):
            yield NewAlias(canonical=canonical, key=key.key, form=form, weight=key.weight, as_name=key.as_name)


def _keys(form: str, kind: EntityType, names: NameReader) -> Iterable[NameKey]:
    """Keys of a name; for «Студия «Кедр»» also those of the quoted part."""
    words = names.words(form)
    yield from whole_keys(words)
    yield from part_keys(words, kind)
    quoted = _QUOTED.search(form)
    if quoted and quoted[1] != form:
        yield from whole_keys(names.words(quoted[1]))


def _facts(extracts: Sequence[Extract], canonical: Mapping[EntityName, str], place: _Places) -> Iterable[NewFact]:
    statements = sorted((each for extract in extracts for each in extract.statements), key=lambda each: each.at)
    said: set[tuple[str, str, str, str | None]] = set()
    for position, statement in enumerate(statements):
        fact = _fact(statement, position, canonical, place)
        if fact and (key := (fact.canonical, fact.relation.value, fact.text.casefold(), fact.object)) not in said:
            said.add(key)
            yield fact


def _fact(statement: Statement, position: int, canonical: Mapping[EntityName, str], place: _Places) -> NewFact | None:
    span, subject = place(statement.at), canonical.get(statement.subject)
    if span is None or subject is None:
        return None
    return NewFact(
        canonical=subject,
        relation=statement.relation,
        text=statement.text,
        object=canonical.get(statement.object) if statement.object else None,
        chunk=span.chunk,
        position=position,
        confidence=statement.confidence,
    )
