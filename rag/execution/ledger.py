"""The facts known so far, and how a model's reply changes them (seed 0, "Обновление глобального списка").

In: a ledger, a reply, the passages that were read for it; the ledgers of several groups of documents. Out: the next
ledger; all facts once, with all their sources. A fact that no passage supports is dropped. A contradicted fact is
removed; if another document stated it, the conflict is kept: which document says what, the newest first. No fact is
lost in merging, and the order of the groups does not matter. Pure.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Self

from domain.documents import SourceType
from domain.ids import DocumentId
from prompts.wordings import Wordings
from rag.execution.evidence import tie
from rag.execution.facts import Fact, FactKind, said_by
from rag.execution.wire import CONTRADICTS, Certainty, IterationReply, NumberedFact, UpdatedFact
from rag.records import Claim, Conflict, Passage
from rag.values import day_of_name, whole_day
from rag.words import escaped, plain

MAX_CLAIMS = 3  # documents named for the contradicted side
SURENESS: Mapping[str, int] = {certainty: rank for rank, certainty in enumerate(Certainty)}


def claim(value: str, source: Passage) -> Claim:
    """A claim with the document's own date, if it has one."""
    return Claim(value=value, passage=source, dated=_own_day(source))


def dated(conflicts: Sequence[Conflict], came: Mapping[DocumentId, datetime]) -> tuple[Conflict, ...]:
    """The same, with the arrival date where a document has no date of its own, newest claims first."""
    told: list[Conflict] = []
    for each in conflicts:
        claims = [replace(one, dated=one.dated or came.get(one.passage.document_id)) for one in each.claims]
        claims.sort(key=lambda one: newness(one.passage, one.dated), reverse=True)
        told.append(replace(each, claims=tuple(claims)))
    return tuple(told)


def newness(passage: Passage, came: datetime | None) -> tuple[bool, float]:
    """Sort key; greater is newer. Documents' own dates rank above arrival dates: an old paper may arrive late. A month
    in a document's name counts where it has no other date."""
    own = _own_day(passage) or _in_name(passage, day_of_name)
    last = own or came
    return own is not None or _bears_its_day(passage), last.timestamp() if last else float("-inf")


def _own_day(passage: Passage) -> datetime | None:
    return passage.published_at or _in_name(passage, whole_day)


def _in_name(passage: Passage, read: Callable[[str], date | None]) -> datetime | None:
    names = (passage.source_identifier, passage.title)
    named = next(filter(None, (read(name.replace("_", " ")) for name in names)), None)
    return datetime.combine(named, time.min, tzinfo=UTC) if named else None


def _bears_its_day(passage: Passage) -> bool:
    """Whether its date is its own rather than an arrival date. A typed note is dated by its arrival."""
    return _own_day(passage) is not None or passage.source_type is SourceType.NOTE


def worded(conflicts: Sequence[Conflict], words: Wordings) -> tuple[tuple[Conflict, ...], list[Fact]]:
    """In the person's language: the same with `told` filled in, Markdown with all sides, the newest first, one per
    line; and a fact for each side, each with its own passage, so that an answer can cite all sides."""
    told, facts = list[Conflict](), list[Fact]()
    for conflict in conflicts:
        claims, about = conflict.claims, conflict.about
        is_said = about in (one.value for one in claims)  # in the same words by one of the sides
        heading = words.conflict if is_said else f"{words.conflict}: {about.rstrip('.')}"
        sides = [f"{_named(one, words)}: {one.value}" for one in claims]
        lines = (escaped(f"{heading}{':' if is_said else '.'}"), "", *(f"- {escaped(side)}" for side in sides))
        told.append(replace(conflict, told="\n".join(lines)))
        for one, side in zip(claims, sides, strict=True):
            item = f"{heading}: {about}"
            facts.append(said_by(one.passage, FactKind.DISAGREEMENT, f"{heading}. {side}", item=item))
    return tuple(told), facts


def _named(one: Claim, words: Wordings) -> str:
    """«Письмо.pdf (от 12.03.2024)». An arrival date is labelled as such: it orders the claims but proves little. A name
    with a month needs none («Прайс март 2025»)."""
    passage = one.passage
    is_own = _bears_its_day(passage)
    if one.dated is None or (not is_own and _in_name(passage, day_of_name)):
        return passage.name
    return f"{passage.name} ({(words.dated if is_own else words.came).format(day=one.dated.strftime(words.day))})"


@dataclass(frozen=True, kw_only=True)
class KnownFact:
    """A fact and its sources; the first source is the one that it was read from."""

    id: str
    text: str
    certainty: Certainty
    reasoning: str
    sources: tuple[Passage, ...]

    def wire(self) -> NumberedFact:
        """As it goes into a prompt."""
        return NumberedFact(id=self.id, fact=self.text, certainty=self.certainty, reasoning=self.reasoning)

    def also(self, *sources: Passage) -> Self:
        """The same with more sources, each passage once."""
        unique = {source.chunk_id: source for source in reversed((*self.sources, *sources))}
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
    uncompared: int = 0  # facts that no prompt held together with all others

    def fact(self, fact_id: str) -> KnownFact | None:
        """The fact with that id, if it is known."""
        return next((fact for fact in self.facts if fact.id == fact_id), None)


def take(ledger: Ledger, reply: IterationReply, part: Sequence[Passage], *, asked: str) -> Ledger:
    """The ledger after a reply to `part` of a document. When the reply has no answer, the earlier one is kept."""
    for update in reply.updated_facts:
        ledger = _update(ledger, update, part, asked=asked)
    for new in reply.new_facts:
        source = tie(new.fact, new.reasoning, part, asked=asked)
        same = next((fact for fact in ledger.facts if plain(fact.text) == plain(new.fact)), None)
        if source is None:
            ledger = replace(ledger, dropped=ledger.dropped + 1)
        elif same is not None:  # the passage becomes another source of the known fact
            ledger = _with(ledger, same.also(source))
        else:
            number, sure = ledger.numbered + 1, new.certainty
            own = KnownFact(id=f"f{number}", text=new.fact, certainty=sure, reasoning=new.reasoning, sources=(source,))
            ledger = replace(ledger, facts=(*ledger.facts, own), numbered=number, used=ledger.used + 1)
    answer = reply.answer.strip() or ledger.answer
    return replace(ledger, answer=answer, can_answer=reply.can_answer and bool(ledger.facts))


def settle(ledger: Ledger, updates: Sequence[UpdatedFact], *, asked: str) -> Ledger:
    """The merged ledger after the synthesis has seen the facts of several groups. The rules are those of `take`, with
    the passages of the other facts as the part that was read. A contradiction that none of them supports is ignored, as
    is the other way round: of two facts that contradict each other, one stays."""
    for update in updates:
        known = ledger.fact(update.id)
        if update.certainty != CONTRADICTS or known is None:
            ledger = _update(ledger, update, (), asked=asked)
            continue
        others = (fact for fact in ledger.facts if fact.id != update.id)
        passages = {each.chunk_id: each for fact in others for each in fact.sources}
        source = tie(update.fact, update.reasoning, list(passages.values()), asked=asked)
        own = {each.chunk_id for each in known.sources}
        sides = [[one.passage.chunk_id for one in each.claims] for each in ledger.conflicts]
        if source is None or any(side[0] in own and source.chunk_id in side[1:] for side in sides):
            ledger = replace(ledger, dropped=ledger.dropped + 1)
        else:
            ledger = _without(ledger, known, update, source)
    return ledger


def _update(ledger: Ledger, update: UpdatedFact, part: Sequence[Passage], *, asked: str) -> Ledger:
    """Of the old sources those stay that support the new wording, too; or all, where only they and the new part
    together do (it joins two passages)."""
    known = ledger.fact(update.id)
    if known is None:
        return ledger
    source = tie(update.fact, update.reasoning, part, asked=asked)
    if update.certainty == CONTRADICTS:
        return _without(ledger, known, update, source)
    if source is not None:
        others = (old for old in known.sources if old.chunk_id != source.chunk_id)
        sources = (source, *(old for old in others if tie(update.fact, "", [old], asked=asked)))
    elif together := tie(update.fact, update.reasoning, [*known.sources, *part], asked=asked):
        sources = known.also(together).sources
    else:
        return replace(ledger, dropped=ledger.dropped + 1)
    certainty = Certainty(update.certainty)
    changed = replace(known, text=update.fact, certainty=certainty, reasoning=update.reasoning, sources=sources)
    return _with(ledger, changed)


def _with(ledger: Ledger, changed: KnownFact) -> Ledger:
    facts = tuple(changed if fact.id == changed.id else fact for fact in ledger.facts)
    return replace(ledger, facts=facts, used=ledger.used + 1)


def _without(ledger: Ledger, known: KnownFact, update: UpdatedFact, source: Passage | None) -> Ledger:
    """Remove only that fact, unless it stands in a document that is newer than that of `source` by its own date:
    reading order says nothing. A conflict between two documents is recorded once, though each part of a document may
    contradict a fact that stays; a document that corrects itself is none."""
    rest = replace(ledger, facts=tuple(fact for fact in ledger.facts if fact.id != known.id), used=ledger.used + 1)
    if source is None:
        return rest
    day, document = source.published_at, source.document_id
    days = [each.published_at for each in known.sources]
    facts = ledger.facts if day is not None and any(own > day for own in days if own) else rest.facts
    is_told = any(
        each.about == known.text and each.claims[0].passage.document_id == document for each in rest.conflicts
    )
    by_document = {each.document_id: each for each in reversed(known.sources)}
    by_document.pop(document, None)
    if is_told or not by_document:
        return replace(rest, facts=facts)
    others = list(reversed(by_document.values()))[:MAX_CLAIMS]
    claims = (claim(update.fact, source), *(claim(known.text, each) for each in others))
    return replace(rest, facts=facts, conflicts=(*rest.conflicts, Conflict(about=known.text, claims=claims)))


def merge_facts(ledgers: Iterable[Ledger], order: Mapping[DocumentId, int]) -> tuple[KnownFact, ...]:
    """The most certain first, then by the documents' `order`. Of two wordings that differ only in case or punctuation,
    the one that sorts first is kept."""

    def place(source: Passage) -> tuple[int, int]:
        return (order.get(source.document_id, len(order)), source.ordinal)

    def rank(fact: KnownFact) -> tuple[int, int, int, str]:
        return (SURENESS[fact.certainty], *place(fact.sources[0]), f"{fact.text}\0{fact.reasoning}")

    merged: dict[str, KnownFact] = {}
    for fact in sorted((fact for ledger in ledgers for fact in ledger.facts), key=rank):
        same = merged.get(plain(fact.text))
        merged[plain(fact.text)] = same.also(*fact.sources) if same else fact
    numbered: list[KnownFact] = []
    for number, fact in enumerate(merged.values(), start=1):
        sources = sorted(fact.sources, key=lambda each: (*place(each), each.chunk_id))
        numbered.append(replace(fact, id=f"f{number}", sources=tuple(sources)))
    return tuple(numbered)


def merge_conflicts(ledgers: Iterable[Ledger]) -> tuple[Conflict, ...]:
    """Each conflict once, in an order that does not depend on the order of the groups."""
    found = [conflict for ledger in ledgers for conflict in ledger.conflicts]
    unique = {(each.about, *sorted(claim.value for claim in each.claims)): each for each in found}
    return tuple(unique[key] for key in sorted(unique))


def refine(facts: Sequence[KnownFact], chosen: Sequence[NumberedFact], *, asked: str) -> tuple[KnownFact, ...]:
    """The facts in the order of the synthesis, and in its wording where their passages support it. Facts that it leaves
    out come last: it may not know why they matter."""
    known, first = {fact.id: fact for fact in facts}, dict[str, KnownFact]()
    for said in chosen:
        if fact := known.get(said.id):
            is_borne = tie(said.fact, said.reasoning, fact.sources, asked=asked) is not None
            first[said.id] = replace(fact, text=said.fact, certainty=said.certainty) if is_borne else fact
    return (*first.values(), *(fact for fact in facts if fact.id not in first))
