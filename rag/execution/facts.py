"""The results of tools: seed 4's FactsPayload (section 7.3) as frozen records; how several become one.

In: nothing, or payloads in the order of the plan's calls. Out: one payload with each fact once, no more items than the
plan's limits allow, and no passages that cannot matter. `to_json` gives the seed's own shape, for logs and `baza ask
--json`. Pure.
"""

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, zip_longest

from domain.ids import ChunkId, DocumentId
from domain.locator import JsonValue
from rag.records import Conflict, DocumentsRead, FactTable, Passage, RankedPassage
from rag.words import estimate_tokens, share, stems


class FactKind(StrEnum):
    """What a fact is; the renderer and the prompt word it by this."""

    PASSAGE = "passage"  # a piece of a document, word for word
    STATEMENT = "statement"  # something known about an entity, from the graph
    DOCUMENT = "document"  # a document of the base: its name, kind, date
    VALUE = "value"  # a row or number that code has computed
    DISAGREEMENT = "disagreement"  # one side of what documents disagree about


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing found. `passage` is what a citation shows; without one the fact has no source block."""

    kind: FactKind
    text: str
    type: str = ""  # of a statement: what it states (achievement, project, technology …)
    title: str = ""  # what the fact is about: an entity's or a document's name; facts are grouped by it
    aspect: str = ""  # what the text says about it, where the text alone is unclear («Python»: a technology it uses)
    passage: RankedPassage | None = None
    document: DocumentId | None = None
    fields: tuple[tuple[str, str], ...] = ()  # column -> value, where facts of one kind make rows of a table
    item: str = ""  # key shared by facts that are one item: a change between two documents, the sides of a disagreement
    shown: int | None = None  # characters of a passage that the prompt holds, those near the question; None: all
    sought: str = ""  # what the searches that found it looked for: words of the document itself
    drawn_from: tuple["Fact", ...] = ()  # where a model has worded it: these decide what is true, not its own words

    @property
    def passages(self) -> tuple[RankedPassage, ...]:
        """All that it stands on, each once."""
        own = (self.passage,) if self.passage else ()
        behind = (each for fact in self.drawn_from for each in fact.passages)
        return tuple({each.passage.chunk_id: each for each in (*own, *behind)}.values())

    @property
    def pieces(self) -> frozenset[ChunkId]:
        """The passages of the base that its passage was merged from, or that passage itself."""
        own = self.passage.passage if self.passage else None
        return frozenset(piece for piece, _ in own.pieces) or frozenset({own.chunk_id}) if own else frozenset()

    @property
    def source_name(self) -> str:
        """The name of its document."""
        return self.passage.passage.name if self.passage else self.title

    @property
    def is_item(self) -> bool:
        """False for a number about rows («Всего (договор): 24») and for a disagreement: limits do not count them."""
        is_number = self.kind is FactKind.VALUE and self.passage is None and not self.fields
        return not is_number and self.kind is not FactKind.DISAGREEMENT

    def reference(self) -> dict[str, JsonValue]:
        """The fact as it is stored with an answer. A passage goes by its id: whoever deletes the document deletes its
        words. Other facts have their text."""
        if self.passage is None:
            return {"type": self.kind.value, "title": self.title, "text": self.text, "document_id": self.document}
        passage = self.passage.passage
        return {
            "type": self.kind.value,
            "title": passage.title,
            "document_id": passage.document_id,
            "chunk_id": passage.chunk_id,
            "locator": passage.locator.to_json(),
        }


def said_by(source: Passage, kind: FactKind, text: str, *, item: str = "", drawn_from: tuple[Fact, ...] = ()) -> Fact:
    """A fact that stands in this passage, under its document's name."""
    return Fact(
        kind=kind,
        text=text,
        title=source.name,
        passage=RankedPassage(passage=source, score=1.0),
        document=source.document_id,
        item=item,
        drawn_from=drawn_from,
    )


def passage_fact(found: RankedPassage) -> Fact:
    """A passage as a fact."""
    return replace(said_by(found.passage, FactKind.PASSAGE, found.passage.text), passage=found)


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What an analysis of the facts suggests to do next (seed 3, "Адаптация плана")."""

    enough: bool = False  # the question can be answered from the facts
    queries: tuple[str, ...] = ()  # otherwise: what to search for
    missing: tuple[str, ...] = ()  # what the facts do not say, in a few words each


@dataclass(frozen=True, kw_only=True)
class FactsPayload:
    """The result of one tool, or of all of them together."""

    facts: tuple[Fact, ...] = ()
    coverage: float = 0.0  # 0 to 1: how much of the question the facts answer, as far as code can tell
    left_out: int = 0  # items found beyond the limits
    documents: DocumentsRead | None = None  # when documents were read one by one
    table: FactTable | None = None
    conflicts: tuple[Conflict, ...] = ()
    advice: Advice | None = None  # what to do next, from an analysis step
    set_aside: frozenset[ChunkId] = frozenset()  # passages that an analysis saw and drew nothing from
    unread: int = 0  # documents that are still to be read for entities: a list of what they state may become longer
    remarks: tuple[str, ...] = ()  # for the model that answers: what was looked for otherwise than asked, or not at all

    @property
    def found(self) -> bool:
        """Whether there is anything to answer from."""
        return bool(self.facts)

    @property
    def listed(self) -> int:
        """The items that an answer may list."""
        return sum(each.title != "" and each.is_item and each.kind is not FactKind.PASSAGE for each in self.facts)

    def to_json(self) -> dict[str, JsonValue]:
        """Seed 4, section 7.3."""
        titles = dict.fromkeys(fact.title for fact in self.facts)
        groups = {title: [_item(fact) for fact in self.facts if fact.title == title] for title in titles}
        sources = {str(fact.document): fact.source_name for fact in self.facts if fact.document is not None}
        return {
            "found": self.found,
            "items": [_item(fact) for fact in self.facts],
            "groups": [{"title": title, "items": items} for title, items in groups.items()],
            "meta": {"coverage": self.coverage, "left_out": self.left_out},
            "sources": [{"id": key, "label": label} for key, label in sources.items()],
        }


def _item(fact: Fact) -> JsonValue:
    """What describes a whole thing is its `summary`, as in the seed."""
    told = "summary" if fact.type == "project" else "text"
    item: dict[str, JsonValue] = {"type": fact.type or fact.kind.value, "title": fact.title, told: fact.text}
    if fact.fields:
        item["fields"] = dict(fact.fields)
    if fact.document is not None:
        item["source"] = {"id": str(fact.document), "title": fact.source_name}
    if fact.passage and (place := fact.passage.passage.locator.to_json()):
        item["place"] = place
    return item


def merge(payloads: Sequence[FactsPayload]) -> FactsPayload:
    """All facts, each once, in round-robin order: the first of every payload before the second of any. The coverage is
    the minimum: each call stands for a part of the question, and an unanswered part leaves the whole unanswered."""
    if not payloads:
        return FactsPayload()
    facts, seen = list[Fact](), set[Hashable]()
    for fact in filter(None, chain(*zip_longest(*(payload.facts for payload in payloads)))):
        if seen.isdisjoint(keys := fact_keys(fact)):
            facts.append(fact)
        seen |= keys
    read = [each.documents for each in payloads if each.documents]
    most = max(read, key=lambda each: each.read, default=None)
    return FactsPayload(
        facts=tuple(facts),
        coverage=min(payload.coverage for payload in payloads),
        left_out=sum(payload.left_out for payload in payloads),
        documents=replace(most, missing_rows=sum(each.missing_rows for each in read)) if most else None,
        table=max((each.table for each in payloads if each.table), key=lambda table: len(table.rows), default=None),
        conflicts=tuple(conflict for payload in payloads for conflict in payload.conflicts),
        unread=max(payload.unread for payload in payloads),
        remarks=tuple(dict.fromkeys(remark for payload in payloads for remark in payload.remarks)),
        set_aside=frozenset[ChunkId]().union(*(payload.set_aside for payload in payloads)),
    )


def fact_keys(fact: Fact) -> set[Hashable]:
    """Two facts are the same when they share a key: the words, or for passages the chunk."""
    words = (fact.kind, fact.title.casefold(), " ".join(fact.text.casefold().split()))
    return {words, fact.passage.passage.chunk_id} if fact.passage and fact.kind is FactKind.PASSAGE else {words}


def fuse(payloads: Sequence[FactsPayload]) -> FactsPayload:
    """Results of searches for one thing in different words, or for its parts: the best of each search, since it need
    not fit the others; then by the sum of their scores, each search's scores relative to its best. A passage keeps the
    higher of its relative scores (`RankedPassage.score`), for `shortlist`."""
    if len(payloads) == 1:
        return payloads[0]
    found: list[tuple[Fact, list[float]]] = []  # each with its score in every search that found it

    def is_same(one: Fact, other: Fact) -> bool:
        """Neighbouring passages are merged in each search by itself: one may be a part of the other."""
        alike = one.document == other.document and one.kind is other.kind is FactKind.PASSAGE
        is_part = alike and (other.text in one.text or one.text in other.text)
        return is_part or not fact_keys(one).isdisjoint(fact_keys(other))

    for fact, score in (scored for each in payloads for scored in zip(each.facts, _relative(each.facts), strict=True)):
        known = next((scores for other, scores in found if is_same(other, fact)), None)
        if known is None:
            found.append((fact, known := []))
        known.append(score)
    ordered = sorted(found, key=lambda each: (max(each[1]) < 1, -sum(each[1])))
    facts = (
        replace(fact, passage=replace(fact.passage, score=max(scores))) if fact.passage else fact
        for fact, scores in ordered
    )
    return replace(merge(payloads), facts=tuple(facts), coverage=max(payload.coverage for payload in payloads))


def _relative(facts: Sequence[Fact]) -> list[float]:
    """Scores from the best one's 1 down; by place where they have none."""
    scores = [fact.passage.score if fact.passage else 0.0 for fact in facts]
    best = max(scores, default=0.0)
    return [max(score, 0.0) / best if best > 0 else 1 - place / len(facts) for place, score in enumerate(scores)]


WHOLE, FEWEST, MOST = 2, 4, 20
"""Passages of one prompt: mostly the first carry the answer, but two documents may be meant; of alike statements (the
same clause of many contracts) the right one may be the twentieth."""
STANDS_OUT = 0.5  # share of the best score below which a passage beyond FEWEST is not sent; benchmarks/README.md
SHORT_TOKENS = 1_700  # of the passages behind a value or an explanation; beyond, more hardly bring evidence
PART_TOKENS = 900  # more for each further part: of figures from two tables each needs its own
FRAME_TOKENS = 45  # of the tags around a passage and the name above it
WHOLE_CHARS = 2_000  # of a passage; neighbours that were found together make longer ones
ASIDE_CHARS = 300  # there, of a passage beyond WHOLE: what is near the question holds its evidence as a rule
LONG_TOKENS = 5_000  # behind a list, a comparison, a question of several steps


def shortlist(
    payload: FactsPayload, *, within: float = STANDS_OUT, is_short: bool = True, sought: Sequence[str] = ()
) -> FactsPayload:
    """As many passages as the fall of their scores suggests: FEWEST where the first stand out, up to MOST or the tokens
    where many are nearly as good; for a short answer of those beyond WHOLE only a little is shown. Other facts stay.
    `sought`: the planned queries, one for each part of the question."""
    places = [place for place, fact in enumerate(payload.facts) if fact.kind is FactKind.PASSAGE and fact.passage]
    scores = _relative([payload.facts[place] for place in places])
    further = max(len(sought) - 1, 0)
    kept, left = dict[int, int | None](), SHORT_TOKENS + PART_TOKENS * further if is_short else LONG_TOKENS
    for place, score in zip(places[:MOST], scores, strict=False):
        shown = (ASIDE_CHARS if len(kept) >= WHOLE + further else WHOLE_CHARS) if is_short else None
        size = FRAME_TOKENS + estimate_tokens(payload.facts[place].text[:shown])
        if len(kept) < FEWEST or (score >= within and size <= left):
            kept[place] = shown
            left -= size
    gone = set(places) - kept.keys()
    facts = (
        replace(fact, shown=kept.get(place, fact.shown), sought="\n".join(sought) if place in kept else fact.sought)
        for place, fact in enumerate(payload.facts)
        if place not in gone
    )
    return replace(payload, facts=tuple(facts))


SAME = 0.8  # share of a conclusion's words that another of the same passage has


def weighed(facts: Sequence[Fact], payloads: Sequence[FactsPayload]) -> tuple[Fact, ...]:
    """The facts in the light of the analyses among `payloads`: no conclusion that says what another says of the same
    passage; a little, and within SHORT_TOKENS, of passages that an analysis saw and none drew anything from. Where one
    said that its conclusions are enough, so it goes for those that it did not see."""
    drawn = {piece for each in payloads for fact in each.facts for behind in fact.drawn_from for piece in behind.pieces}
    aside = {piece for each in payloads for piece in each.set_aside} - drawn
    is_enough = any(each.advice and each.advice.enough for each in payloads)
    unrepeated = list(facts)
    for fact in reversed(facts):
        if fact.drawn_from and any(_says(other, fact) for other in unrepeated if other is not fact):
            unrepeated.remove(fact)
    kept: list[Fact] = []
    left = SHORT_TOKENS
    for fact in unrepeated:
        is_aside = fact.pieces.isdisjoint(drawn) if is_enough else fact.pieces <= aside
        if fact.kind is FactKind.PASSAGE and fact.pieces and is_aside:
            left -= FRAME_TOKENS + estimate_tokens(fact.text[:ASIDE_CHARS])
            kept += [replace(fact, shown=ASIDE_CHARS)] if left >= 0 else []
        else:
            kept.append(fact)
    return tuple(kept)


def _says(one: Fact, other: Fact) -> bool:
    """Whether two conclusions stand on a common passage, and one has the figures and nearly all words of the other."""
    own, others = (frozenset().union(*(each.pieces for each in fact.drawn_from)) for fact in (one, other))
    words, said = stems(other.text), stems(one.text)
    figures = frozenset(each for each in words if each[0].isdigit())
    return not own.isdisjoint(others) and figures <= said and share(words, said) >= SAME


def told_once(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The facts; passages without the pieces that one before them shows whole: two searches find the same neighbours,
    each merged with others."""
    kept: list[Fact] = []
    known: set[ChunkId] = set()
    for fact in facts:
        rest = fact
        if fact.kind is FactKind.PASSAGE and fact.passage:
            if fact.pieces <= known:
                continue
            if not fact.pieces.isdisjoint(known):
                rest = _without_pieces(fact, fact.passage, known)
            known |= rest.pieces if rest.shown is None or rest.shown >= len(rest.text) else frozenset()
        kept.append(rest)
    return tuple(kept)


def _without_pieces(fact: Fact, ranked: RankedPassage, known: Set[ChunkId]) -> Fact:
    passage, text, left = ranked.passage, "", list[tuple[ChunkId, int]]()
    ends = [*(start for _, start in passage.pieces[1:]), len(passage.text)]
    for (piece, start), end in zip(passage.pieces, ends, strict=True):
        if piece not in known:
            left.append((piece, len(text)))
            text += passage.text[start:end]
    text = text.rstrip()
    shorter = replace(passage, text=text, pieces=tuple(left), chunk_id=left[0][0])
    return replace(fact, text=text, passage=replace(ranked, passage=shorter))


LISTED = frozenset({FactKind.STATEMENT, FactKind.DOCUMENT, FactKind.VALUE})
"""Kinds that an answer lists. Passages are its evidence; the search that found them has its own limit."""
ROWS = LISTED - {FactKind.STATEMENT}  # after several steps, whose statements are evidence for the answer


def limit(payload: FactsPayload, *, items: int, skip: int = 0, counted: frozenset[FactKind] = LISTED) -> FactsPayload:
    """`items` of the `counted` kinds after the first `skip`; later ones are counted in `left_out`. Facts of one item
    count once and go together. A remark on the others («12 documents fit») is no item and always stays: it has no
    title, or is a number or a disagreement (`Fact.is_item`)."""
    known = list[str | int]()
    for place, fact in enumerate(payload.facts):
        if fact.kind in counted and fact.title and fact.is_item and (fact.item or place) not in known:
            known.append(fact.item or place)
    gone = {*known[:skip], *known[skip + items :]}
    facts = tuple(fact for place, fact in enumerate(payload.facts) if (fact.item or place) not in gone)
    left_out = payload.left_out + max(len(known) - skip - items, 0)
    return replace(payload, facts=facts, left_out=left_out)
