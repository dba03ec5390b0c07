"""The facts known so far, and how a model's reply changes them (seed 0, "Обновление глобального списка").

In: a ledger, a reply, the passages that were read for it; the ledgers of several groups of documents. Out: the next
ledger, with counts of what was rejected; all facts once, with all their sources; and the sets of similar facts that
have to be compared. New facts get their ids here. A fact that no passage supports is dropped. A contradicted fact is
removed; if another document stated it, the conflict is kept: which document says what, the newest first, by the
document's own date, else the day in its name, else its arrival date. No fact is lost in merging, and the order of the
groups does not matter. Pure.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from itertools import combinations
from typing import Self

from domain.documents import SourceType
from domain.ids import DocumentId
from prompts.wordings import Wordings
from rag.execution.evidence import tie
from rag.execution.facts import Fact, FactKind
from rag.execution.wire import CONTRADICTS, Certainty, IterationReply, NewFact, NumberedFact, UpdatedFact
from rag.records import Claim, Conflict, Passage, RankedPassage
from rag.values import day_of_name, whole_day
from rag.words import escaped, estimate_tokens, plain, stems


def claim(value: str, source: RankedPassage) -> Claim:
    """A claim with the document's own date, if it has one."""
    return Claim(value=value, passage=source, dated=_own_day(source.passage))


def dated(conflicts: Iterable[Conflict], came: Mapping[DocumentId, datetime]) -> tuple[Conflict, ...]:
    """The same, with the arrival date where a document has no date of its own, newest claims first."""

    def with_date(one: Claim) -> Claim:
        return replace(one, dated=one.dated or came.get(one.passage.passage.document_id))

    def age(one: Claim) -> tuple[bool, float]:
        return newness(one.passage.passage, one.dated)

    return tuple(
        replace(each, claims=tuple(sorted(map(with_date, each.claims), key=age, reverse=True))) for each in conflicts
    )


def newness(passage: Passage, came: datetime | None) -> tuple[bool, float]:
    """Sort key; greater is newer. Documents' own dates rank above arrival dates: an old paper may arrive late. A month
    in a document's name counts where it has no other date."""
    own = _own_day(passage) or _in_name(passage, day_of_name)
    last = own or came
    return own is not None or bears_its_day(passage), last.timestamp() if last else float("-inf")


def _own_day(passage: Passage) -> datetime | None:
    """The date that the document bears, or the day in its name."""
    return passage.published_at or _in_name(passage, whole_day)


def _in_name(passage: Passage, read: Callable[[str], date | None]) -> datetime | None:
    names = (passage.source_identifier, passage.title)
    named = next(filter(None, (read(name.replace("_", " ")) for name in names)), None)
    return datetime.combine(named, time.min, tzinfo=UTC) if named else None


def bears_its_day(passage: Passage) -> bool:
    """Whether its date is its own rather than an arrival date. A typed note is dated by its arrival."""
    return _own_day(passage) is not None or passage.source_type is SourceType.NOTE


def in_words(conflict: Conflict, words: Wordings) -> Conflict:
    """The same with `told` filled in: Markdown with all sides, the newest first, one per line."""
    about = _about(conflict)
    heading = f"{words.conflict}{about}{'.' if about else ':'}"
    sides = (f"- {escaped(f'{_named(one, words)}: {one.value}')}" for one in conflict.claims)
    return replace(conflict, told="\n".join((escaped(heading), "", *sides)))


def conflict_facts(conflict: Conflict, words: Wordings) -> tuple[Fact, ...]:
    """A fact for each side, each with its own passage, so that an answer can cite all sides. `words`: in the person's
    language."""
    heading = f"{words.conflict}{_about(conflict)}"
    return tuple(
        Fact(
            kind=FactKind.DISAGREEMENT,
            text=f"{heading}. {_named(one, words)}: {one.value}",
            title=one.passage.passage.name,
            passage=one.passage,
            document=one.passage.passage.document_id,
            item=f"{heading}: {conflict.about}",
        )
        for one in conflict.claims
    )


def _about(conflict: Conflict) -> str:
    """What the conflict is about; empty where one of the sides says it in the same words."""
    said = conflict.about in (one.value for one in conflict.claims)
    return "" if said else f": {conflict.about.rstrip('.')}"


def _named(one: Claim, words: Wordings) -> str:
    """«Письмо.pdf (от 12.03.2024)». An arrival date is labelled as such: it orders the claims but proves little. A name
    with a month needs none («Прайс март 2025»)."""
    passage = one.passage.passage
    name, is_own = passage.name, bears_its_day(passage)
    if one.dated is None or (not is_own and _in_name(passage, day_of_name)):
        return name
    wording = words.dated if is_own else words.came
    return f"{name} ({wording.format(day=one.dated.strftime(words.day))})"


MAX_CLAIMS = 3  # documents named for the contradicted side

_FACT_ID = re.compile(r"\bf\d+\b")
MAX_SETS = 6  # calls for one reading; the most similar pairs come first
NEAREST = 3  # facts of other documents that each fact is compared with
MOST_HOLDERS = 200  # facts that are paired for one shared word: 20,000 pairs
Pair = tuple[int, int]  # indices of two facts, the lesser first


@dataclass(frozen=True, kw_only=True)
class KnownFact:
    """A fact and its sources; the first source is the one that it was read from."""

    id: str
    text: str
    certainty: Certainty
    reasoning: str
    sources: tuple[RankedPassage, ...]

    def wire(self) -> NumberedFact:
        """The fact as it goes into a prompt."""
        return NumberedFact(id=self.id, fact=self.text, certainty=self.certainty, reasoning=self.reasoning)

    def also(self, *sources: RankedPassage) -> Self:
        """The same with more sources, each passage once."""
        unique = {source.passage.chunk_id: source for source in reversed((*self.sources, *sources))}
        return replace(self, sources=tuple(reversed(unique.values())))


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """The state of one reading."""

    facts: tuple[KnownFact, ...] = ()
    answer: str = ""
    can_answer: bool = False
    conflicts: tuple[Conflict, ...] = ()
    numbered: int = 0  # ids given so far; no id is reused
    dropped: int = 0  # facts that no passage supports
    used: int = 0  # new facts and updates that were accepted
    uncompared: int = 0  # facts that were not compared with all similar ones


def take(ledger: Ledger, reply: IterationReply, part: Sequence[Passage], *, asked: str) -> Ledger:
    """The ledger after a reply to `part` of a document. When the reply has no answer, the earlier one is kept."""
    for update in reply.updated_facts:
        ledger = _update(ledger, update, part, asked=asked)
    for new in reply.new_facts:
        ledger = _add(ledger, new, part, asked=asked)
    answer = reply.answer.strip() or ledger.answer
    return replace(ledger, answer=answer, can_answer=reply.can_answer and bool(ledger.facts))


def settle(ledger: Ledger, updates: Sequence[UpdatedFact], *, asked: str) -> Ledger:
    """The merged ledger after a model has compared the facts of several groups. The rules are those of `take`, with the
    passages of the other facts as the part that was read. A contradiction that none of them supports is ignored."""
    for update in updates:
        if update.certainty == CONTRADICTS:
            ledger = _oppose(ledger, update, asked=asked)
        else:
            ledger = _update(ledger, update, (), asked=asked)
    return ledger


def _oppose(ledger: Ledger, update: UpdatedFact, *, asked: str) -> Ledger:
    known = next((fact for fact in ledger.facts if fact.id == update.id), None)
    if known is None:
        return ledger
    others = [fact for fact in ledger.facts if fact.id != update.id]
    named = [fact for fact in others if fact.id in _FACT_ID.findall(update.reasoning)]
    supported = (tie(update.fact, update.reasoning, _passages(facts), asked=asked) for facts in (named, others))
    source = next(filter(None, supported), None)
    if source is None or _is_told(ledger.conflicts, known, source):
        return replace(ledger, dropped=ledger.dropped + 1)
    return _without(ledger, known, update, source)


def _is_told(conflicts: Sequence[Conflict], known: KnownFact, source: RankedPassage) -> bool:
    """Whether the conflict is recorded the other way round: of two facts that contradict each other, one stays."""
    own = {each.passage.chunk_id for each in known.sources}
    return any(
        each.claims[0].passage.passage.chunk_id in own
        and any(one.passage.passage.chunk_id == source.passage.chunk_id for one in each.claims[1:])
        for each in conflicts
    )


def _passages(facts: Sequence[KnownFact]) -> list[Passage]:
    return list({each.passage.chunk_id: each.passage for fact in facts for each in fact.sources}.values())


def _add(ledger: Ledger, new: NewFact, part: Sequence[Passage], *, asked: str) -> Ledger:
    """Add a fact; if its words are known already, the passage becomes another source of the known fact."""
    source = tie(new.fact, new.reasoning, part, asked=asked)
    if source is None:
        return replace(ledger, dropped=ledger.dropped + 1)
    same = next((fact for fact in ledger.facts if plain(fact.text) == plain(new.fact)), None)
    if same is not None:
        return _with(ledger, same.also(source))
    number = ledger.numbered + 1
    fact = KnownFact(
        id=f"f{number}", text=new.fact, certainty=new.certainty, reasoning=new.reasoning, sources=(source,)
    )
    return replace(ledger, facts=(*ledger.facts, fact), numbered=number, used=ledger.used + 1)


def _update(ledger: Ledger, update: UpdatedFact, part: Sequence[Passage], *, asked: str) -> Ledger:
    known = next((fact for fact in ledger.facts if fact.id == update.id), None)
    if known is None:
        return ledger
    source = tie(update.fact, update.reasoning, part, asked=asked)
    if update.certainty == CONTRADICTS:
        return _without(ledger, known, update, source)
    sources = _bearing(update, known, part, asked=asked) if source is None else _agreeing(update, known, source, asked)
    if not sources:
        return replace(ledger, dropped=ledger.dropped + 1)
    changed = replace(
        known,
        text=update.fact,
        certainty=Certainty(update.certainty),
        reasoning=update.reasoning,
        sources=sources,
    )
    return _with(ledger, changed)


def _agreeing(update: UpdatedFact, known: KnownFact, source: RankedPassage, asked: str) -> tuple[RankedPassage, ...]:
    """The new source, and those old sources that support the new wording, too."""
    return (
        source,
        *(
            old
            for old in known.sources
            if old.passage.chunk_id != source.passage.chunk_id
            and tie(update.fact, "", [old.passage], asked=asked) is not None
        ),
    )


def _bearing(
    update: UpdatedFact, known: KnownFact, part: Sequence[Passage], *, asked: str
) -> tuple[RankedPassage, ...]:
    """The sources when only the old passages and the new part together support the wording (it joins two passages)."""
    before = [source.passage for source in known.sources]
    together = tie(update.fact, update.reasoning, [*before, *part], asked=asked)
    return known.also(together).sources if together else ()


def _with(ledger: Ledger, changed: KnownFact) -> Ledger:
    facts = tuple(changed if fact.id == changed.id else fact for fact in ledger.facts)
    return replace(ledger, facts=facts, used=ledger.used + 1)


def _without(ledger: Ledger, known: KnownFact, update: UpdatedFact, source: RankedPassage | None) -> Ledger:
    """Remove only that fact, unless it stands in a newer document than `source`. A conflict between two documents is
    recorded; a document that corrects itself is not."""
    is_newer = source is not None and _is_newer(known, source)
    facts = ledger.facts if is_newer else tuple(fact for fact in ledger.facts if fact.id != known.id)
    conflicts = ledger.conflicts
    others = _other_documents(known, source) if source and not _is_known(conflicts, known, source) else ()
    if source is not None and others:
        claims = (claim(update.fact, source), *(claim(known.text, each) for each in others))
        conflicts = (*conflicts, Conflict(about=known.text, claims=claims))
    return replace(ledger, facts=facts, conflicts=conflicts, used=ledger.used + 1)


def _is_known(conflicts: Sequence[Conflict], known: KnownFact, source: RankedPassage) -> bool:
    """Whether this document has contradicted the fact before: each part of it may contradict a fact that stays."""
    document = source.passage.document_id
    return any(
        each.about == known.text and each.claims[0].passage.passage.document_id == document for each in conflicts
    )


def _is_newer(known: KnownFact, source: RankedPassage) -> bool:
    """Whether the fact stands in a newer document, by the documents' own dates: reading order says nothing."""
    day, days = source.passage.published_at, [each.passage.published_at for each in known.sources]
    return day is not None and any(own > day for own in days if own)


def _other_documents(known: KnownFact, source: RankedPassage) -> tuple[RankedPassage, ...]:
    """One source of the fact per document, without the contradicting document; at most MAX_CLAIMS."""
    by_document = {each.passage.document_id: each for each in reversed(known.sources)}
    by_document.pop(source.passage.document_id, None)
    return tuple(reversed(by_document.values()))[:MAX_CLAIMS]


_RANKS: Mapping[str, int] = {certainty: rank for rank, certainty in enumerate(Certainty)}


def merge_facts(ledgers: Iterable[Ledger], order: Mapping[DocumentId, int]) -> tuple[KnownFact, ...]:
    """The most certain first, then by the documents' `order`. Of two wordings that differ only in case or punctuation,
    the one that sorts first is kept."""
    found = [fact for ledger in ledgers for fact in ledger.facts]
    merged: dict[str, KnownFact] = {}
    for fact in sorted(found, key=lambda fact: _place(fact, order)):
        same = merged.get(plain(fact.text))
        merged[plain(fact.text)] = same.also(*fact.sources) if same else fact
    complete = [replace(fact, sources=_sorted(fact.sources, order)) for fact in merged.values()]
    return tuple(replace(fact, id=f"f{number}") for number, fact in enumerate(complete, start=1))


def merge_conflicts(ledgers: Iterable[Ledger]) -> tuple[Conflict, ...]:
    """Each conflict once, in an order that does not depend on the order of the groups."""
    found = [conflict for ledger in ledgers for conflict in ledger.conflicts]
    unique = {(each.about, *sorted(claim.value for claim in each.claims)): each for each in found}
    return tuple(unique[key] for key in sorted(unique))


def refine(facts: Sequence[KnownFact], chosen: Sequence[NumberedFact], *, asked: str) -> tuple[KnownFact, ...]:
    """The facts in the order of the synthesis, and in its wording where their passages support it. Facts that it leaves
    out come last: it may not know why they matter."""
    known = {fact.id: fact for fact in facts}
    first = {each.id: _reworded(known[each.id], each, asked) for each in chosen if each.id in known}
    return (*first.values(), *(fact for fact in facts if fact.id not in first))


def _reworded(fact: KnownFact, said: NumberedFact, asked: str) -> KnownFact:
    passages = [source.passage for source in fact.sources]
    if tie(said.fact, said.reasoning, passages, asked=asked) is None:
        return fact
    return replace(fact, text=said.fact, certainty=said.certainty)


def _place(fact: KnownFact, order: Mapping[DocumentId, int]) -> tuple[int, int, int, str]:
    passage = fact.sources[0].passage
    place = order.get(passage.document_id, len(order))
    return (_RANKS[fact.certainty], place, passage.ordinal, f"{fact.text}\0{fact.reasoning}")


def _sorted(sources: Sequence[RankedPassage], order: Mapping[DocumentId, int]) -> tuple[RankedPassage, ...]:
    def place(source: RankedPassage) -> tuple[int, int, int]:
        passage = source.passage
        return (order.get(passage.document_id, len(order)), passage.ordinal, passage.chunk_id)

    return tuple(sorted(sources, key=place))


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """The comparisons that take calls of their own."""

    sets: tuple[tuple[KnownFact, ...], ...]
    left_out: frozenset[str]  # ids of facts that have a similar fact with which they share no set


def comparisons(facts: Sequence[KnownFact], compared: Iterable[KnownFact], *, tokens: int) -> Comparisons:
    """At most `MAX_SETS` sets. `compared`: facts that are in one prompt together anyway."""
    known = frozenset(fact.id for fact in compared)
    pairs = [pair for pair in _pairs(facts) if not {facts[place].id for place in pair} <= known]
    packed = _packed(pairs, [_size(fact) for fact in facts], tokens)
    asked = [each.places for each in packed if each.left >= 0][:MAX_SETS]
    missed = (pair for pair in pairs if not any(set(pair) <= places for places in asked))
    return Comparisons(
        sets=tuple(tuple(facts[place] for place in sorted(places)) for places in asked),
        left_out=frozenset(facts[place].id for pair in missed for place in pair),
    )


@dataclass(kw_only=True)
class _Set:
    places: set[int]
    left: int  # tokens; negative if the pair does not fit even alone


def _packed(pairs: Iterable[Pair], sizes: Sequence[int], tokens: int) -> list[_Set]:
    """Each pair is whole in one set: in one that has one of the two and room for the other, else in a new one."""
    packed: list[_Set] = []
    for pair in pairs:
        room = (each for each in packed if each.places & set(pair) and _needed(pair, each, sizes) <= each.left)
        place = next(room, None)
        if place is None:
            place = _Set(places=set(), left=tokens)
            packed.append(place)
        place.left -= _needed(pair, place, sizes)
        place.places.update(pair)
    return packed


def _needed(pair: Pair, into: _Set, sizes: Sequence[int]) -> int:
    return sum(sizes[place] for place in pair if place not in into.places)


def _pairs(facts: Sequence[KnownFact]) -> list[Pair]:
    """Pairs of different documents: each fact with the NEAREST most similar ones; the most similar pairs first."""
    likeness = _likeness(facts)
    likest = sorted(likeness, key=lambda pair: (-likeness[pair], pair))
    nearest: defaultdict[int, list[Pair]] = defaultdict(list)
    for pair in likest:
        for place in pair:
            nearest[place].append(pair)
    kept = {pair for pairs in nearest.values() for pair in pairs[:NEAREST]}
    return [pair for pair in likest if pair in kept]


def _likeness(facts: Sequence[KnownFact]) -> Mapping[Pair, float]:
    """Similarity by shared words; a word counts more, the fewer facts have it."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, fact in enumerate(facts):
        for stem in sorted(stems(fact.text)):  # a fixed order: float sums depend on it, and sets have none
            holders[stem].append(place)
    documents = [fact.sources[0].passage.document_id for fact in facts]
    likeness: defaultdict[Pair, float] = defaultdict(float)
    for places in holders.values():
        worth = 1 / len(places)
        for pair in combinations(places[:MOST_HOLDERS], 2):
            if documents[pair[0]] != documents[pair[1]]:
                likeness[pair] += worth
    return likeness


def _size(fact: KnownFact) -> int:
    return estimate_tokens(fact.wire().model_dump_json()) + 1  # a comma
