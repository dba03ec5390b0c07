"""Quotes: the sentence of a passage that carries the most of the question, then the passage.

In: ranked passages and the question. Out: Markdown (the sentence in bold, the rest of its passage as a quote that the
bot folds) and the citations in the same order. It writes no words of its own: the bot adds the line above the quotes
and the sources below. Pure.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from domain.documents import known_as
from rag.answering.citations import cite
from rag.records import Citation, Fit, Passage, RankedPassage
from rag.retrieval.alike import BETWEEN, telling
from rag.retrieval.ranking import fit_of
from rag.table_rows import in_words
from rag.words import STEM_LETTERS, AskedWords, Span, akin, folded, rarity, sentences, stem_of, union

MAX_QUOTES = 2
NEARLY_AS_GOOD = (
    0.7  # of the first passage's score; a second one is in a third of the answers, and right in half of them
)
SHORT_LEAD_CHARS = 30  # «Нет.» says too little: the next sentence is added
LEAD_CHARS = 300  # with the items of a list that the lead announces
CONTEXT_CHARS = 800  # of what precedes the lead; half of the answers that are not in the lead stand there
LONGEST_LEAD_CHARS = 600  # of a sentence without an end, as in logs
FOLDED_CHARS = 1500  # of a passage: two of them and their sources fit one message
AKIN_SHARE = 0.7  # of a word's weight, for one of the same root in its place
HEADING_CHARS = 120
OPENING_WORDS = 2  # of a numbered clause
PRICE_SHARE = 2.0  # of the rarest word's rarity, for the sum that is asked for
MONEY = "₽"  # stands for a sum of money among the stems of a sentence
HEADING_SHARE = 0.9  # of a word's weight, for the heading that has it
SAME_SHARE = 0.8  # of the words of a heading and a question, in common: its answer begins below it
PARAGRAPH_CHARS = 200  # a shorter one is shown whole
FORM_LETTERS = 2  # of a long word, its ending

_ITEM = re.compile(r"[-*•–] |\d+[.)] ")
_CLAUSE = re.compile(r"[-*•–] |\d+(?:\.\d+)*[.)]? ")
_SUM = re.compile(
    r"[$€£]\s?\d|\d[\d\s.,]*(?:(?:тыс|млн|млрд|thousand|million|billion)\w*\.?\s*)?(?:[₽$€£]|руб|р\.|долл|евро|dollar|euro)",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~]|(?:(?<=^\d)|(?<=^\d\d)|(?<=^\d\d\d))[.)](?=\s)")  # «1. » would be counted
_ENDS_SENTENCE = (".", "!", "…", ":", ";", ",")


@dataclass(frozen=True, kw_only=True)
class _Told:
    """What is told of a passage: its text below its title, its tables in words."""

    text: str
    rows: Mapping[str, str] = field(default_factory=dict)  # line in words -> row of the table
    about: frozenset[str] = frozenset()  # of one of several passages: words of its document's names and opening
    stems: Callable[[str], frozenset[str]]

    @classmethod
    def of(cls, ranked: RankedPassage) -> "_Told":
        passage, stems = ranked.passage, ranked.asked.stems
        text, rows = in_words(_without_title(passage))
        named = f"{passage.title}\n{passage.name}\n{passage.opening}"
        about = stems(named) if passage.searchable > 1 else frozenset[str]()
        return cls(text=text, rows=rows, about=about, stems=stems)

    def spans(self) -> Iterator[Span]:
        """Its sentences; a row is one, whatever stops are in it («Дрип-пакеты, 10 шт.»)."""
        row_end = 0
        for span in sentences(self.text):
            if span.start < row_end:
                continue
            line_end = self.text.find("\n", span.start)
            line_end = len(self.text) if line_end < 0 else line_end
            is_row = self.text[span.start : line_end] in self.rows
            row_end = line_end if is_row else 0
            yield Span(start=span.start, end=line_end) if is_row else span


@dataclass(frozen=True, kw_only=True)
class _Sentence:
    """A sentence of a passage, or a row of a table, with the heading or the question that it stands under."""

    start: int
    end: int
    text: str
    words: frozenset[str]
    heading: frozenset[str]
    under: int  # place of its heading among the sentences; -1 without one
    is_heading: bool = False
    is_row: bool = False


@dataclass(frozen=True, kw_only=True)
class _Word:
    """A word of the question."""

    weight: float
    forms: Mapping[str, float]  # stem that stands for it in what is told -> share of its weight, 1 for itself


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What the sentences are chosen by."""

    words: Sequence[_Word]
    before: Sequence[_Word]  # of the question before, where this one leans on it
    forms: Sequence[str]  # see `_forms`


@dataclass(frozen=True, kw_only=True)
class _Excerpt:
    lead: str
    rest: str  # what follows the lead, then what precedes it
    citation: Citation


def choose(passages: Sequence[RankedPassage]) -> tuple[RankedPassage, ...]:
    """The best passage that is `certain`, and a second one where it is nearly as good: no model has judged them. Where
    none is, the first that is related."""
    certain = [each for each in passages if each.certain][:MAX_QUOTES]
    if not certain:
        return tuple(each for each in passages if each.fit is Fit.RELATED)[:1]
    return tuple(takewhile(lambda each: each.score >= NEARLY_AS_GOOD * certain[0].score, certain))


def with_sum(found: Sequence[RankedPassage], priced: Sequence[str]) -> tuple[RankedPassage, ...]:
    """The first passage that has a sum of money and certainly fits the question without the words `priced` that ask for
    one: a contract names the rent, and «стоит» stands nowhere in the base."""
    for each in found:
        asking = union(frozenset(each.asked.terms_of(word)) for word in priced)
        asked = {term: rarity for term, rarity in each.asked.rarities.items() if term not in asking}
        held = frozenset(each.asked.terms_of(each.passage.with_names))
        is_sure = fit_of(asked, held, similarity=None, model=None) is Fit.CERTAIN
        if is_sure and _SUM.search(in_words(each.passage.text)[0]):
            return (each,)
    return ()


def naming_price(
    quoted: RankedPassage, found: Sequence[RankedPassage], question: str, priced: Sequence[str]
) -> RankedPassage:
    """For a question about a price, told by its words `priced` («стоит»): instead of `quoted` the passage of `found`
    that names it, if one of its sentences with a sum of money carries more of the question than any of `quoted`. A sum
    says as much as these words: of linseed oil an advice speaks, too, and «стоит» may tell another thing's price."""
    told = [_Told.of(each) for each in (quoted, *found)]
    subject = " ".join(word for word in folded(question).split() if word not in priced)
    words = _words(subject, told, quoted.asked, asks_price=False)
    if not words:
        return quoted
    stems = union(map(quoted.asked.stems, priced))
    price = _Word(weight=max(word.weight for word in words), forms=dict.fromkeys((MONEY, *stems), 1.0))
    carried = [
        [(_carried([*words, price], part.words | part.heading | said.about), MONEY in part.words) for part in parts]
        for said, parts in zip(told, map(_sentences, told), strict=True)
    ]
    named = [max((weight for weight, is_sum in each if is_sum), default=0.0) for each in carried[1:]]
    most = max(weight for weight, _ in carried[0])
    return max(zip(found, named, strict=True), key=lambda pair: pair[1])[0] if max(named) > most else quoted


def quote_passages(
    passages: Sequence[RankedPassage], question: str, *, before: str = "", asks_price: bool = False
) -> tuple[str, tuple[Citation, ...]]:
    """Markdown with the quotes, and a citation for each. A question that `asks_price` wants a sum of money, too. Of
    sentences that fit it equally well, the words of the question `before` it choose.

    Several documents are named above their quotes, alike ones with what tells them apart; a single one is named among
    the sources.
    """
    told = [_Told.of(each) for each in passages]
    searched = passages[0].asked if passages else AskedWords()
    asked = _Asked(
        words=_words(question, told, searched, asks_price=asks_price),
        before=_words(before, told, searched, asks_price=False) if before else (),
        forms=_forms(question),
    )
    excerpts: list[_Excerpt] = []
    for each, said in zip(passages, told, strict=True):
        excerpt = _excerpt(each.passage, said, asked)
        if not any(excerpt.lead in other.lead + other.rest for other in excerpts):  # neighbouring passages overlap
            excerpts.append(excerpt)
    is_named = len({excerpt.citation.document_id for excerpt in excerpts}) > 1
    names = _names(excerpts, passages) if is_named else [""] * len(excerpts)
    blocks = [_block(excerpt, name) for excerpt, name in zip(excerpts, names, strict=True)]
    return "\n\n".join(blocks), tuple(excerpt.citation for excerpt in excerpts)


def _words(question: str, told: Sequence[_Told], asked: AskedWords, *, asks_price: bool) -> tuple[_Word, ...]:
    """The words of the question that are told. A word's weight is the geometric mean of how rare it is in the base
    (which words matter) and among the sentences that are told (which tell them apart); either alone is worse, see
    benchmarks/README.md. One that the search was not asked for weighs as much as the rarest."""
    most = max(asked.rarities.values(), default=1.0)
    rarities = {MONEY: PRICE_SHARE * most} if asks_price else dict[str, float]()
    for term in asked.terms_of(question):
        rarities[stem_of(term)] = max(asked.rarities.get(term, most), rarities.get(stem_of(term), 0.0))
    read = [each.words for said in told for each in _sentences(said)]
    found = akin(rarities, union(read))
    return tuple(
        _Word(
            weight=math.sqrt(rarities[stem] * rarity(sum(not forms.isdisjoint(words) for words in read), len(read))),
            forms={form: 1.0 if form == stem else AKIN_SHARE for form in forms},
        )
        for stem, forms in found.items()
    )


def _carried(words: Sequence[_Word], told: frozenset[str]) -> float:
    """The weight of the words that stand in what is told."""
    return sum(word.weight * max((word.forms[form] for form in word.forms.keys() & told), default=0) for word in words)


def _forms(question: str) -> tuple[str, ...]:
    """The long words of the question without their endings: «арендатора» is nearer to «арендатор» than to
    «арендодатель», though all three begin alike."""
    return tuple(word[:-FORM_LETTERS] for word in folded(question).split() if len(word) > STEM_LETTERS + FORM_LETTERS)


def _excerpt(passage: Passage, told: _Told, asked: _Asked) -> _Excerpt:
    parts, text, words = _sentences(told), told.text, asked.words
    first = _lead(parts, asked, told)
    first, last = _paragraph(text, parts, first, _end_of_lead(parts, first, words))
    lead = _cut(text[parts[first].start : parts[last].end], LONGEST_LEAD_CHARS)
    carrying = [told.rows.get(line, line) for line in lead.splitlines()]
    says_nothing_alone = len(lead) < SHORT_LEAD_CHARS or not _carried(words, told.stems(lead))
    if says_nothing_alone and (label := _label(parts, first)):
        lead = f"{label}\n{lead}"
    after = text[parts[last].end :].strip()
    before = text[_context(parts, first) : parts[first].start].strip()
    rest = "\n\n".join(filter(None, (after, before and f"↑ {before}")))
    citation = cite(passage, about=lead, carrying=carrying)
    return _Excerpt(lead=lead, rest=_cut(rest, FOLDED_CHARS), citation=citation)


def _lead(parts: Sequence[_Sentence], asked: _Asked, told: _Told) -> int:
    """The place of the sentence that carries most of the question; the first one below a heading or a question that
    asks the same.

    What stands under a heading belongs to it, and the first words of a numbered clause may head it: «3.1. Арендная
    плата …» is about the rent, and «… штраф в размере арендной платы» is not. Words of the document's names
    (`told.about`) count nowhere: the clause on the rent answers, and not the preamble that names the tenant. Of two
    that carry as much the one with more words of the question before, then with more of its own, then with nearer forms
    of them, then the earlier."""
    words = asked.words
    left = [word for word in words if word.forms.keys().isdisjoint(told.about)] or words

    def above(heading: frozenset[str]) -> float:
        """All that the heading has of the question, if it is more than the document's names."""
        return HEADING_SHARE * _carried(words, heading) if _carried(left, heading) else 0.0

    def carried(place: int) -> tuple[float, float, float, int, int]:
        part = parts[place]
        own, said = _carried(left, part.words), folded(part.text)
        has_body = part.is_heading and place + 1 < len(parts) and parts[place + 1].under == place
        total = 0.0 if has_body else own + above(part.heading) + above(_headed_by(part.text, told, words))
        return (total, _carried(asked.before, part.words), own, sum(form in said for form in asked.forms), -place)

    wanted = union(frozenset(word.forms) for word in left)
    same = (place for place, part in enumerate(parts[1:]) if parts[place].is_heading and part.under == place)
    alike = {place: len(parts[place].words & wanted) / len(parts[place].words | wanted) for place in same}
    asking = max(alike, key=alike.__getitem__, default=-1)
    if asking >= 0 and alike[asking] >= SAME_SHARE:
        return asking + 1
    best = max(range(len(parts)), key=carried)
    whole = sum(word.weight for word in left)
    return parts[best].under + 1 if _carried(left, parts[best].heading) >= SAME_SHARE * whole > 0 else best


def _headed_by(text: str, told: _Told, words: Sequence[_Word]) -> frozenset[str]:
    """The first words of a numbered clause, where they are a phrase of the question; a single one may just act there
    («1.1. Арендодатель передаёт …»)."""
    item = _CLAUSE.match(text)
    opening = [told.stems(word) for word in text[item.end() :].split()[:OPENING_WORDS]] if item else []
    return union(opening) if opening and all(_carried(words, stems) for stems in opening) else frozenset()


def _paragraph(text: str, parts: Sequence[_Sentence], first: int, last: int) -> tuple[int, int]:
    """The first and the last sentence of the whole paragraph, where it is short."""
    start = text.rfind("\n", 0, parts[first].start) + 1
    end = text.find("\n", parts[last].end)
    if (end if end >= 0 else len(text)) - start > PARAGRAPH_CHARS:
        return first, last
    while first and parts[first - 1].start >= start:
        first -= 1
    while last + 1 < len(parts) and (end < 0 or parts[last + 1].end <= end):
        last += 1
    return first, last


def _end_of_lead(parts: Sequence[_Sentence], first: int, words: Sequence[_Word]) -> int:
    """The place of the lead's last sentence: what follows belongs to one that says too little by itself, announces a
    list, or is the first item of a list that was asked for by its heading."""
    lead, last = parts[first], first
    is_list = lead.text.endswith(":") or (_ITEM.match(lead.text) and not _carried(words, lead.words))
    while last + 1 < len(parts) and not parts[last + 1].is_heading:
        following = parts[last + 1]
        is_short = parts[last].end - lead.start < SHORT_LEAD_CHARS and not _ITEM.match(following.text)
        goes_on = _ITEM.match(following.text) if is_list else is_short and not lead.is_row
        if not goes_on or following.end - lead.start > LEAD_CHARS:
            break
        last += 1
    return last


def _context(parts: Sequence[_Sentence], place: int) -> int:
    """Where the sentences begin that precede the lead and may be needed to understand it: CONTEXT_CHARS of them, and
    where the lead has a heading only those below it."""
    start, under = parts[place].start, parts[place].under
    own = parts[under + 1 : place] if under >= 0 else parts[:place]
    nearest = takewhile(lambda part: start - part.start <= CONTEXT_CHARS, reversed(own))
    return min((part.start for part in nearest), default=start)


def _label(parts: Sequence[_Sentence], place: int) -> str:
    """The heading that names a value («Телефон»), and not the question that it answers; or nothing."""
    heading = parts[parts[place].under].text if parts[place].under >= 0 else ""
    return "" if heading.endswith("?") else heading


def _sentences(told: _Told) -> list[_Sentence]:
    """The sentences in order. A paragraph of one line that ends no sentence, or asks something, heads what follows."""
    text = told.text
    found: list[_Sentence] = []
    heading, under = frozenset[str](), -1
    for span in told.spans():
        said = text[span.start : span.end]
        is_row = said in told.rows
        words = told.stems(said) | ({MONEY} if _SUM.search(said) else set())
        is_heading = not is_row and _heads_paragraph(text, span.start, span.end)
        if is_heading and found and found[-1].is_heading and not said.endswith("?"):
            is_heading = False  # a value under its label («Телефон»), or a subtitle
        if is_heading:
            heading, under = words, len(found)
        found.append(
            _Sentence(
                start=span.start,
                end=span.end,
                text=said,
                words=words,
                heading=frozenset() if is_heading else heading,
                under=-1 if is_heading else under,
                is_heading=is_heading,
                is_row=is_row,
            )
        )
    return found


def _heads_paragraph(text: str, start: int, end: int) -> bool:
    said = text[start:end]
    alone = (start == 0 or text[:start].endswith("\n")) and text.startswith("\n\n", end)
    is_item = _ITEM.match(said) and (_ITEM.match(text, end + 2) or not said[0].isdigit())  # «2. Срок» above «2.1. …»
    is_line = len(said) <= HEADING_CHARS and not is_item
    return alone and is_line and not said.endswith(_ENDS_SENTENCE)


def _without_title(passage: Passage) -> str:
    """The text without its first line if that is the title, as on many pages: the title is shown beside the quote."""
    first, _, rest = passage.text.strip().partition("\n")
    is_title = _plain(first) == _plain(passage.title)
    return rest.strip() if is_title and rest.strip() else passage.text.strip()


def _plain(line: str) -> str:
    return " ".join(line.strip("#* ").casefold().split())


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest].rsplit(maxsplit=1)[0]} …"


def _names(excerpts: Sequence[_Excerpt], passages: Sequence[RankedPassage]) -> list[str]:
    """«dogovor-2.txt · 117/2025 · Лазурит»: of alike documents a file name may tell nothing."""
    known = {each.passage.chunk_id: each.passage for each in passages}
    told = telling([known[excerpt.citation.chunk_id] for excerpt in excerpts])
    names = (_name(excerpt.citation) for excerpt in excerpts)
    return [BETWEEN.join(filter(None, (name, escaped(label)))) for name, label in zip(names, told, strict=True)]


def _block(excerpt: _Excerpt, name: str) -> str:
    lines = [f"*{name}*"] if name else []
    lines += [f"**{escaped(line.strip())}**" for line in excerpt.lead.splitlines() if line.strip()]
    quoted = "\n".join(f"> {escaped(line)}".rstrip() for line in excerpt.rest.splitlines())
    return "\n".join(lines) + (f"\n\n{quoted}" if excerpt.rest else "")


def _name(citation: Citation) -> str:
    name = known_as(citation.source_type, citation.title, citation.source_identifier)
    return escaped(" ".join(name.split()))


def escaped(line: str) -> str:
    """A line as plain text in Markdown."""
    return _MARKUP.sub(r"\\\g<0>", line)
