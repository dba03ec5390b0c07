"""The answer without a model: the sentence that carries the most of the question, then its passage.

In: ranked passages and the question. Out: Markdown (the sentence in bold, the rest of its passage as a quote that the
bot folds) and the citations in the same order. It writes no words of its own: the bot adds the line above the quotes
and the sources below. Pure.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from domain.documents import known_as
from rag.answering.citations import cite
from rag.records import Citation, Fit, Passage, RankedPassage
from rag.words import akin, sentences, stems

MAX_QUOTES = 2
NEARLY_AS_GOOD = (
    0.7  # of the first passage's score; a second one is in a third of the answers, and right in half of them
)
SHORT_LEAD_CHARS = 30  # «Нет.» says too little: the next sentence is added
LEAD_CHARS = 300  # with the items of a list that the lead announces
CONTEXT_CHARS = 800  # of what precedes the lead; half of the answers that are not in the lead stand there
LONGEST_LEAD_CHARS = 600  # of a sentence without an end, as in logs
FOLDED_CHARS = 1500  # of a passage: two of them and their sources fit one message
HEADING_CHARS = 120
HEADING_SHARE = 0.9  # of a word's weight, where the heading has it and the sentence has not

_ITEM = re.compile(r"[-*•–] |\d+[.)] ")
_ROW = re.compile(r"\|.*\|")
_RULER = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~])")
_ENDS_SENTENCE = (".", "!", "…", ":", ";", ",")


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


def quote_passages(passages: Sequence[RankedPassage], question: str) -> tuple[str, tuple[Citation, ...]]:
    """Markdown with the quotes, and a citation for each.

    Several documents are named above their quotes; a single one is named among the sources.
    """
    texts = [_without_title(each.passage) for each in passages]
    weights = _weights(question, texts)
    excerpts: list[_Excerpt] = []
    for each, text in zip(passages, texts, strict=True):
        excerpt = _excerpt(each.passage, text, weights)
        if not any(excerpt.lead in other.lead + other.rest for other in excerpts):  # neighbouring passages overlap
            excerpts.append(excerpt)
    is_named = len({excerpt.citation.document_id for excerpt in excerpts}) > 1
    blocks = [_block(excerpt, named=is_named) for excerpt in excerpts]
    return "\n\n".join(blocks), tuple(excerpt.citation for excerpt in excerpts)


def _weights(question: str, texts: Sequence[str]) -> dict[str, float]:
    """Stem of the question -> its weight, the logarithm of how few of the sentences have it (IDF, as in BM25)."""
    read = [each.words for text in texts for each in _sentences(text)]
    asked = akin(stems(question), "\n".join(texts))
    counts = {stem: sum(stem in words for words in read) for stem in asked}
    return {stem: math.log(1 + (len(read) - n + 0.5) / (n + 0.5)) for stem, n in counts.items()}


def _excerpt(passage: Passage, text: str, weights: Mapping[str, float]) -> _Excerpt:
    parts = _sentences(text)
    first = _lead(parts, weights)
    last = _end_of_lead(parts, first, weights)
    lead = _in_words(parts, first) or _cut(text[parts[first].start : parts[last].end], LONGEST_LEAD_CHARS)
    says_nothing_alone = len(lead) < SHORT_LEAD_CHARS or weights.keys().isdisjoint(stems(lead))
    if says_nothing_alone and (label := _label(parts, first)):
        lead = f"{label}\n{lead}"
    after = text[parts[last].end :].strip()
    before = text[_context(parts, first) : parts[first].start].strip()
    rest = "\n\n".join(filter(None, (after, before and f"↑ {before}")))
    return _Excerpt(lead=lead, rest=_cut(rest, FOLDED_CHARS), citation=cite(passage, about=lead))


def _lead(parts: Sequence[_Sentence], weights: Mapping[str, float]) -> int:
    """The place of the sentence that carries most of the question. What stands under a heading or after a question
    belongs to it; of two that carry as much the one with more of its own words, then the earlier."""

    def carried(place: int) -> tuple[float, float, int]:
        part = parts[place]
        own = sum(weight for stem, weight in weights.items() if stem in part.words)
        above = sum(weight for stem, weight in weights.items() if stem in part.heading - part.words)
        has_body = part.is_heading and place + 1 < len(parts) and parts[place + 1].under == place
        return (0.0 if has_body else own + HEADING_SHARE * above, own, -place)

    return max(range(len(parts)), key=carried)


def _end_of_lead(parts: Sequence[_Sentence], first: int, weights: Mapping[str, float]) -> int:
    """The place of the lead's last sentence: what follows belongs to one that says too little by itself, announces a
    list, or is the first item of a list that was asked for by its heading."""
    lead, last = parts[first], first
    is_list = lead.text.endswith(":") or (_ITEM.match(lead.text) and weights.keys().isdisjoint(lead.words))
    while last + 1 < len(parts) and not parts[last + 1].is_heading:
        following = parts[last + 1]
        is_short = parts[last].end - lead.start < SHORT_LEAD_CHARS and not _ITEM.match(following.text)
        goes_on = _ITEM.match(following.text) if is_list else is_short and not _ROW.fullmatch(lead.text)
        if not goes_on or following.end - lead.start > LEAD_CHARS:
            break
        last += 1
    return last


def _context(parts: Sequence[_Sentence], place: int) -> int:
    """Where the sentences begin that precede the lead and may be needed to understand it: CONTEXT_CHARS of them, and
    none where the lead has a heading."""
    start = parts[place].start
    nearest = takewhile(lambda part: start - part.start <= CONTEXT_CHARS, reversed(parts[:place]))
    return min((part.start for part in nearest), default=start) if parts[place].under < 0 else start


def _label(parts: Sequence[_Sentence], place: int) -> str:
    """The heading that names a value («Телефон»), and not the question that it answers; or nothing."""
    heading = parts[parts[place].under].text if parts[place].under >= 0 else ""
    return "" if heading.endswith("?") else heading


def _in_words(parts: Sequence[_Sentence], place: int) -> str:
    """A row of a table with the names of its columns («Сорт: Эфиопия; Цена: 1 890 ₽»); empty for other sentences."""
    if not _ROW.fullmatch(parts[place].text):
        return ""
    rulers = [at for at in range(1, place) if _RULER.fullmatch(parts[at].text)]
    cells = _cells(parts[place].text)
    names = _cells(parts[rulers[-1] - 1].text) if rulers else []
    named = zip(names, cells, strict=True) if len(names) == len(cells) else ((("", cell)) for cell in cells)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def _sentences(text: str) -> list[_Sentence]:
    """The sentences in order. A paragraph of one line that ends no sentence, or asks something, heads what follows."""
    spans = sentences(text)
    found: list[_Sentence] = []
    heading, under = frozenset[str](), -1
    for span in spans:
        said = text[span.start : span.end]
        words, is_heading = stems(said), _heads_paragraph(text, span.start, span.end)
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
            )
        )
    return found


def _heads_paragraph(text: str, start: int, end: int) -> bool:
    said = text[start:end]
    alone = (start == 0 or text[:start].endswith("\n")) and text.startswith("\n\n", end)
    is_line = len(said) <= HEADING_CHARS and not (_ITEM.match(said) or _ROW.fullmatch(said))
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


def _block(excerpt: _Excerpt, *, named: bool) -> str:
    lines = [f"*{_name(excerpt.citation)}*"] if named else []
    lines += [f"**{_escaped(line.strip())}**" for line in excerpt.lead.splitlines() if line.strip()]
    quoted = "\n".join(f"> {_escaped(line)}".rstrip() for line in excerpt.rest.splitlines())
    return "\n".join(lines) + (f"\n\n{quoted}" if excerpt.rest else "")


def _name(citation: Citation) -> str:
    name = known_as(citation.source_type, citation.title, citation.source_identifier)
    return _escaped(" ".join(name.split()))


def _escaped(line: str) -> str:
    return _MARKUP.sub(r"\\\1", line)
