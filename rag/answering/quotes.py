"""Quotes: the sentence of a passage that carries the most of the question, then the passage.

In: ranked passages and the question. Out: Markdown (the sentence in bold, the rest of its passage as a quote that the
bot folds) and the citations in the same order. It writes no words of its own. Pure.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import takewhile
from operator import itemgetter

from rag.answering.citations import cite
from rag.records import Citation, Fit, Passage, RankedPassage
from rag.retrieval.alike import ALIKE, ALIKE_OPENING, BETWEEN, labels, opening_of
from rag.retrieval.ranking import fit_of
from rag.table_rows import in_words
from rag.words import (
    STEM_LETTERS,
    AskedWords,
    akin,
    escaped,
    folded,
    likeness,
    rarity,
    sentences,
    stem_of,
    stems,
    union,
)

MAX_QUOTES = 2
NEARLY_AS_GOOD = 0.7  # of the first score; a second one is in a third of the answers, right in half of them
SHORT_LEAD_CHARS = 30  # «Нет.» says too little: the next sentence is added
LEAD_CHARS = 300  # with the items of a list that the lead announces
CONTEXT_CHARS = 800  # of what precedes the lead; half of the answers that are not in the lead stand there
FOLDED_CHARS = 1500  # of a passage: two of them and their sources fit one message
SAME_SHARE = 0.8  # of a question's weight: what begins below a heading that has so much of it is the answer
FORM_LETTERS = 2  # of a long word, its ending
AKIN_SHARE = 0.7  # of a word's weight, for one of the same root in its place
HEADING_CHARS = 120
SUM_SHARE = 2.0  # of the rarest word's rarity, for a word that a sum answers

ITEM = re.compile(r"[-*•–] |\d+[.)] ")
CLAUSE = re.compile(r"[-*•–] |\d+(?:\.\d+)*[.)]? ")
SUM = re.compile(
    r"[$€£]\s?\d|\d[\d\s.,]*(?:(?:тыс|млн|млрд|thousand|million|billion)\w*\.?\s*)?(?:[₽$€£]|руб|р\.|долл|евро|dollar|euro)",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"(?:\w{3}|\d|%)[»\")]*[.!…]$")
_ENDS_SENTENCE = (".", "!", "…", ":", ";", ",")


@dataclass(frozen=True, kw_only=True)
class PassageText:
    """What a quote may be taken from: the passage below its title, its tables in words."""

    passage: Passage
    text: str
    rows: Mapping[str, str] = field(default_factory=dict)  # line in words -> row of the table
    named: frozenset[str]  # words of its document's names and opening
    asked: AskedWords

    @classmethod
    def of(cls, ranked: RankedPassage) -> "PassageText":
        """Without its first line if that is the title, as on many pages: it is shown beside the quote."""
        passage, text = ranked.passage, ranked.passage.text.strip()
        first, _, rest = text.partition("\n")
        line, title = (" ".join(each.strip("#*. ").casefold().split()) for each in (first, passage.title))
        text, rows = in_words(rest.strip() if line == title and rest.strip() else text)
        named = ranked.asked.stems(f"{passage.title}\n{passage.name}\n{passage.opening}")
        return cls(passage=passage, text=text, rows=rows, named=named, asked=ranked.asked)

    @property
    def about(self) -> frozenset[str]:
        """The names where they tell nothing: of one of several passages."""
        return self.named if self.passage.searchable > 1 else frozenset()

    def stems(self, said: str) -> frozenset[str]:
        """The words of a part of it."""
        return self.asked.stems(said) | (self.asked.said_by_sum if SUM.search(said) else frozenset())

    @cached_property
    def parts(self) -> "Sequence[Sentence]":
        """Its sentences in order, read once. A row is one, whatever stops are in it («Дрип-пакеты, 10 шт.»). A
        paragraph of one line that ends no sentence, or asks something, heads what follows."""
        found: list[Sentence] = []
        heading, under, read_to = frozenset[str](), -1, 0
        for span in sentences(self.text):
            if span.start < read_to:
                continue
            line = self.text[span.start :].partition("\n")[0]
            is_row = line in self.rows
            said = line if is_row else self.text[span.start : span.end]
            read_to, words = span.start + len(said), self.stems(said)
            is_heading = not is_row and self._is_heading(span.start, said, below=bool(found and found[-1].is_heading))
            if is_heading:
                heading, under = words, len(found)
            found.append(
                Sentence(
                    start=span.start,
                    end=read_to,
                    text=said,
                    words=words,
                    heading=frozenset() if is_heading else heading,
                    under=-1 if is_heading else under,
                    is_heading=is_heading,
                    is_row=is_row,
                )
            )
        return found

    def _is_heading(self, start: int, said: str, *, below: bool) -> bool:
        """`below` a heading stands a value under its label («Телефон»), or a subtitle."""
        end = start + len(said)
        is_alone = self.text[start - 1 : start] in ("", "\n") and self.text.startswith("\n\n", end)
        # «2. Срок» above «2.1. …» is no item
        is_item = ITEM.match(said) and (ITEM.match(self.text, end + 2) or not said[0].isdigit())
        is_line = len(said) <= HEADING_CHARS and not said.endswith(_ENDS_SENTENCE) and not is_item
        return is_alone and is_line and (said.endswith("?") or not below)


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of a passage, or a row of a table, with the heading or the question that it stands under."""

    start: int
    end: int
    text: str
    words: frozenset[str]
    heading: frozenset[str]
    under: int  # place of its heading among the sentences; -1 without one
    is_heading: bool = False
    is_row: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it states something: a title and «г. Томск, 18 октября 2026 г.» do not end so."""
        return self.is_row or (not self.is_heading and bool(_WHOLE.search(self.text)))


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of the question."""

    weight: float
    forms: Mapping[str, float]  # stem that stands for it in what is told -> share of its weight, 1 for itself


def weighted_words(question: str, told: Sequence[PassageText], asked: AskedWords) -> tuple[Word, ...]:
    """The words of the question that are told. A word's weight is the geometric mean of how rare it is in the base
    (which words matter) and among the sentences that are told (which tell them apart); either alone is worse, see
    benchmarks/README.md. One that the search was not asked for weighs as much as the rarest."""
    most = max(asked.rarities.values(), default=1.0)
    rarities: dict[str, float] = {}
    for term in asked.terms_of(question):
        rarities[stem_of(term)] = max(asked.rarities.get(term, most), rarities.get(stem_of(term), 0.0))
    rarities |= dict.fromkeys(rarities.keys() & asked.said_by_sum, SUM_SHARE * most)
    read = [each.words for said in told for each in said.parts]
    found = akin(rarities, union(read))
    return tuple(
        Word(
            weight=math.sqrt(rarities[stem] * rarity(sum(not forms.isdisjoint(words) for words in read), len(read))),
            forms={form: 1.0 if form == stem else AKIN_SHARE for form in forms},
        )
        for stem, forms in found.items()
    )


def weight_in(words: Sequence[Word], told: frozenset[str]) -> float:
    """The weight of the words that stand in what is told."""
    return sum(word.weight * max((word.forms[form] for form in word.forms.keys() & told), default=0) for word in words)


_Place = tuple[PassageText, int]  # a sentence of what is told


@dataclass(frozen=True, kw_only=True)
class _Excerpt:
    passage: Passage
    lead: str
    rest: str  # what follows the lead, then what precedes it
    citation: Citation


def choose(passages: Sequence[RankedPassage]) -> tuple[RankedPassage, ...]:
    """The best passage that is `certain`, and a second one nearly as good; else the first that is related."""
    certain = [each for each in passages if each.certain][:MAX_QUOTES]
    if not certain:
        return tuple(each for each in passages if each.fit is Fit.RELATED)[:1]
    return tuple(takewhile(lambda each: each.score >= NEARLY_AS_GOOD * certain[0].score, certain))


def read_for_sum(found: Sequence[RankedPassage], question: str, asking: Sequence[str]) -> list[RankedPassage]:
    """What was found, read for a sum of money, which answers the words `asking` for one («стоит»): a text with a sum
    says them, whatever its own words are. The passage whose best sentence carries the most is then the first: an advice
    speaks of linseed oil, too, and a contract names the rent where «стоит» stands nowhere in the base."""
    if not (found and asking):
        return list(found)
    sums = found[0].asked.stems(" ".join(asking))
    told = [PassageText.of(replace(each, asked=replace(each.asked, said_by_sum=sums))) for each in found]
    words = weighted_words(question, told, told[0].asked)
    read = []
    for each, said in zip(found, told, strict=True):
        weights = (weight_in(words, part.words | part.heading | said.about) for part in said.parts)
        judge = partial(_fit_for_sum, each, said)
        read.append(replace(each, score=max(weights, default=0.0), asked=said.asked, judge=judge))
    return sorted(read, key=lambda each: -each.score)


def _fit_for_sum(found: RankedPassage, told: PassageText) -> Fit:
    """How well a passage with a sum fits the question without the words that ask for one, if that is better."""
    if not SUM.search(told.text):
        return found.fit
    asked = told.asked
    subject = {term: rarity for term, rarity in asked.rarities.items() if stem_of(term) not in asked.said_by_sum}
    held = frozenset(asked.terms_of(found.passage.with_names))
    return max(found.fit, fit_of(subject, held, similarity=None, model=None))


def quote_passages(
    passages: Sequence[RankedPassage], question: str, *, before: str = ""
) -> tuple[str, tuple[Citation, ...]]:
    """Markdown with the quotes, and a citation for each. Of sentences that fit equally, the words of the question
    `before` it choose. Several documents are named above their quotes, a single one among the sources."""
    told = [PassageText.of(each) for each in passages]
    searched = passages[0].asked if passages else AskedWords()
    words = weighted_words(question, told, searched)
    words_before = weighted_words(before, told, searched) if before else ()
    # long words without their endings: «арендатора» is nearer to «арендатор» than to «арендодатель», though all three
    # begin alike
    forms = [word[:-FORM_LETTERS] for word in folded(question).split() if len(word) > STEM_LETTERS + FORM_LETTERS]
    return _shown([(each, _lead(each, words, words_before, forms)) for each in told], words)


def compare(found: Sequence[RankedPassage], question: str) -> tuple[str, tuple[Citation, ...]] | None:
    """One quote of each of the first two documents found; None where only one was found. The words of the question that
    name neither document choose both sentences; without any, the two that say the same of different things do."""
    told = [PassageText.of(each) for each in found]
    documents = list(dict.fromkeys(each.passage.document_id for each in told))[:2]
    if len(documents) < 2:
        return None
    sides = [[each for each in told if each.passage.document_id == document] for document in documents]
    names = union(each.named for side in sides for each in side)
    for each in told:  # the words above its first statement («ДОГОВОР № 14-К») name it, too
        above = takewhile(lambda part: not part.is_whole, () if each.passage.opening else each.parts)
        names |= union(part.words for part in above)
    subject = " ".join(word for word in question.split() if told[0].stems(word).isdisjoint(names))
    words = [weighted_words(subject, side, told[0].asked) for side in sides]
    chosen = [] if any(words) else _opposed(*sides)
    chosen = chosen or [_most_carrying(*each) for each in zip(sides, words, strict=True)]
    return _shown(chosen, [word for own in words for word in own])


def _most_carrying(side: Sequence[PassageText], words: Sequence[Word]) -> _Place:
    """The sentence that carries the most of the words, its heading's counted; else the first whole one below a heading,
    or at all: a title, a place and a day say nothing, nor does an item of an agenda."""
    ordered = sorted(side, key=lambda each: each.passage.ordinal)
    places = [(told, place) for told in ordered for place in range(len(told.parts))]

    def worth(at: _Place) -> tuple[float, bool, bool, bool]:
        part = at[0].parts[at[1]]
        weight = 0.0 if part.is_heading else weight_in(words, part.words | part.heading)
        states = part.is_whole and not ITEM.match(part.text)
        return weight, states and part.under >= 0, states, part.is_whole

    return max(places, key=worth)


def _opposed(one: Sequence[PassageText], other: Sequence[PassageText]) -> list[_Place]:
    """The sentences of two documents with most words in common that yet do not say the same, if they are alike."""
    left, right = (
        [
            ((told, place), told.stems(CLAUSE.sub("", part.text, count=1)))
            for told in side
            for place, part in enumerate(told.parts)
            if part.is_whole
        ]
        for side in (one, other)
    )
    pairs = (
        (likeness(*(frozenset(filter(str.isalpha, said)) for said in (mine, theirs))), [here, there])
        for here, mine in left
        for there, theirs in right
        if mine != theirs
    )
    most, best = max(pairs, key=itemgetter(0), default=(0.0, list[_Place]()))
    return best if most >= ALIKE else []


def _shown(chosen: Sequence[_Place], words: Sequence[Word]) -> tuple[str, tuple[Citation, ...]]:
    excerpts: list[_Excerpt] = []
    for told, first in chosen:
        excerpt = _excerpt(told, first, words)
        if not any(excerpt.lead in other.lead + other.rest for other in excerpts):  # neighbouring passages overlap
            excerpts.append(excerpt)
    is_named = len({excerpt.passage.document_id for excerpt in excerpts}) > 1
    names = _names([excerpt.passage for excerpt in excerpts]) if is_named else [""] * len(excerpts)
    blocks = []
    for excerpt, name in zip(excerpts, names, strict=True):
        lines = [f"*{name}*"] if name else []
        lines += [f"**{escaped(line.strip())}**" for line in excerpt.lead.splitlines() if line.strip()]
        quoted = [f"> {escaped(line)}".rstrip() for line in excerpt.rest.splitlines()]
        blocks += ["\n".join(lines), *(["\n".join(quoted)] if quoted else [])]
    return "\n\n".join(blocks), tuple(excerpt.citation for excerpt in excerpts)


def _names(passages: Sequence[Passage]) -> list[str]:
    """«dogovor-2.txt · 117/2025 · Лазурит»: of alike documents a file name may tell nothing."""
    openings = [opening_of(each) for each in passages]
    words = [stems(each) for each in openings]
    are_of_a_form = all(likeness(words[0], each) >= ALIKE_OPENING for each in words[1:])
    told = labels(openings) if are_of_a_form else ("",) * len(openings)
    names = (" ".join(each.name.split()) for each in passages)
    return [BETWEEN.join(map(escaped, filter(None, each))) for each in zip(names, told, strict=True)]


def _excerpt(told: PassageText, first: int, words: Sequence[Word]) -> _Excerpt:
    parts, text = told.parts, told.text
    first, last = _paragraph(text, parts, first, _end_of_lead(parts, first, words))
    lead = _cut(text[parts[first].start : parts[last].end], 600)
    carrying = [told.rows.get(line, line) for line in lead.splitlines()]
    is_headed = weight_in(words, parts[first].heading) and not weight_in(words, told.stems(lead))
    heading = parts[parts[first].under].text if parts[first].under >= 0 else "?"
    if (is_headed or len(lead) < SHORT_LEAD_CHARS) and not heading.endswith("?"):  # it names a value («Телефон»)
        lead = f"{heading}\n{lead}"
    after = text[parts[last].end :].strip()
    own = parts[parts[first].under + 1 : first]  # what precedes the lead and may be needed to understand it
    nearest = takewhile(lambda part: parts[first].start - part.start <= CONTEXT_CHARS, reversed(own))
    before = text[min((part.start for part in nearest), default=parts[first].start) : parts[first].start].strip()
    rest = "\n\n".join(filter(None, (after, before and f"↑ {before}")))
    citation = cite(told.passage, about=lead, carrying=carrying)
    return _Excerpt(passage=told.passage, lead=lead, rest=_cut(rest, FOLDED_CHARS), citation=citation)


def _lead(told: PassageText, words: Sequence[Word], before: Sequence[Word], forms: Sequence[str]) -> int:
    """The place of the sentence that carries most of the question, its heading's words counted; the first one below a
    heading that has nearly all of them. Words of the document's names (`told.about`) count nowhere: the clause on the
    rent answers, and not the preamble that names the tenant. Of equals the one with more words of the question before,
    with nearer forms of its own, then no item («2. О покупке станка» announces the decision), then the earlier."""
    parts = told.parts
    left = [word for word in words if word.forms.keys().isdisjoint(told.about)] or words
    whole = sum(word.weight for word in left)

    def weight(place: int) -> tuple[bool, float, float, int, bool, int]:
        part, said = parts[place], folded(parts[place].text)
        has_body = part.is_heading and place + 1 < len(parts) and parts[place + 1].under == place
        total = 0.0 if has_body else weight_in(left, part.words) + weight_in(left, part.heading)
        near_forms = sum(form in said for form in forms)
        is_asked_above = weight_in(left, part.heading) >= SAME_SHARE * whole > 0
        leaning = weight_in(before, part.words)
        return (is_asked_above, total, leaning, near_forms, not ITEM.match(part.text), -place)

    best = max(range(len(parts)), key=weight)
    return parts[best].under + 1 if weight(best)[0] else best


def _paragraph(text: str, parts: Sequence[Sentence], first: int, last: int) -> tuple[int, int]:
    start = text.rfind("\n", 0, parts[first].start) + 1
    end = text.find("\n", parts[last].end)
    if (end if end >= 0 else len(text)) - start > 200:
        return first, last
    while first and parts[first - 1].start >= start:
        first -= 1
    while last + 1 < len(parts) and (end < 0 or parts[last + 1].end <= end):
        last += 1
    return first, last


def _end_of_lead(parts: Sequence[Sentence], first: int, words: Sequence[Word]) -> int:
    """The place of the lead's last sentence: what follows belongs to one that says too little by itself, announces a
    list, or is the first item of a list that was asked for by its heading."""
    lead, last = parts[first], first
    is_list = lead.text.endswith(":") or (ITEM.match(lead.text) and not weight_in(words, lead.words))
    while last + 1 < len(parts) and not parts[last + 1].is_heading:
        following = parts[last + 1]
        is_short = parts[last].end - lead.start < SHORT_LEAD_CHARS and not ITEM.match(following.text)
        goes_on = ITEM.match(following.text) if is_list else is_short and not lead.is_row
        if not goes_on or following.end - lead.start > LEAD_CHARS:
            break
        last += 1
    return last


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest].rsplit(maxsplit=1)[0]} …"
