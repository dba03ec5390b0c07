"""The rules for questions without a model: how far one goes, and what code does where no model writes: a document's
outline, one quote of each of two, rows that fit a condition.

In: a question, the words of `prompts/breadth.toml`, what was found. Out: Markdown and the passages behind it, or None,
and then quotes answer. A request is recognised by how it begins or by a comparison with a number. Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from prompts.wordings import BreadthWords, Wordings
from rag.records import Passage, RankedPassage
from rag.table_rows import Row, in_words, rows_of
from rag.values import amount, exact_amount
from rag.words import escaped, folded, sentences, stems

_QUOTED = re.compile(r"«[^»]*»|“[^”]*”|\"[^\"]*\"")  # a name: its words are not part of the request
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")

OUTLINE_CHARS, OUTLINE_LINE_CHARS, OUTLINE_LINES = 1800, 200, 16
FILTERED_ROWS = 20  # that are shown; all are counted
NUMERIC_SHARE = 0.6  # of a column's cells: the others may be «по запросу»


class RequestKind(StrEnum):
    """What is asked; the value ends the key of the bot's remark on what a model would add."""

    OUTLINE = "outline"
    COMPARISON = "comparison"
    ROWS = "rows"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """«дешевле 500», «не больше 20»."""

    is_below: bool
    is_inclusive: bool  # «не дороже» means at most
    limit: Decimal
    is_price: bool  # it says itself that a price is meant

    def holds(self, value: Decimal) -> bool:
        """Whether a value fits."""
        if value == self.limit:
            return self.is_inclusive
        return (value < self.limit) is self.is_below


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request and its object: the rest of the question, or the condition."""

    kind: RequestKind
    about: str = ""
    condition: Condition | None = None


Done = tuple[str, Sequence[Passage]]  # Markdown, and the passages behind it


class Breadth:
    """How far a question without a model goes, and what code is asked to do: the rules, their words compiled once."""

    def __init__(self, words: BreadthWords, wordings: Mapping[str, Wordings]) -> None:
        self._wordings = wordings
        self._everywhere = _whole_words(words.everywhere)
        self._unsought = _whole_words((*words.everywhere, *words.quantities, *words.holders))
        self._counting = _whole_words(words.counting)
        self._having = _whole_words(words.having)
        self._openings = _whole_words(words.openings)
        self._rest = _whole_words(words.rest)
        self._rest_beside = _whole_words(words.rest_beside)
        self._pronouns = frozenset(words.pronouns)
        self._outline = _beginning(words.retell)
        self._compare = _beginning(words.compare)
        self._prices = _beginning(words.prices)
        self._priced_words = _beginning(words.asking_price)
        self._priced = frozenset(words.priced)
        self._below = frozenset(words.below)
        sides = _alternatives((*words.below, *words.above))
        self._condition = re.compile(
            rf"(?<!\w)(?P<no>не |no |not )?(?P<side>{sides})(?: чем)? (?P<number>\d[\d  .,]*(?:тыс|млн|k\b|к\b)?)"
        )

    def names_all_documents(self, question: str) -> bool:
        """Whether it says in so many words that every document is meant. A number («сколько») does not."""
        return bool(self._everywhere.search(_words(_QUOTED.sub(" - ", question))))

    def names_nothing_else(self, question: str) -> bool:
        """Whether it names all documents and no subject: the one of the question before is meant."""
        return self.names_all_documents(question) and self.subject(question) == question

    def counted(self, question: str) -> str:
        """What documents a question counts («сколько у меня договоров поставки?»); empty where it counts none."""
        said = _words(question)
        begun = self._counting.match(said)
        if begun is None or not self._having.search(said):
            return ""
        return " ".join(self._having.sub(" ", said[begun.end() :]).split())

    def subject(self, question: str) -> str:
        """The question without words of quantity and for the documents themselves, unless nothing is left."""
        return " ".join(self._unsought.sub(" ", _words(question)).replace("-", " ").split()) or question

    def leans(self, question: str) -> bool:
        """Whether the question seems to need the dialogue to be understood."""
        said = _words(question)
        return bool(self._openings.match(said)) or (
            len(said.split()) <= 5 and not self._pronouns.isdisjoint(said.split())
        )

    def takes_up(self, question: str) -> bool:
        """Whether the question asks for the rest of a list, and for nothing else."""
        said = _words(question)
        return bool(self._rest.search(said)) and not self._rest_beside.sub(" ", self._rest.sub(" ", said)).strip()

    def request(self, question: str) -> Request | None:
        """What code is asked to do; None for a question that is answered by quotes."""
        said = " ".join(folded(question).split())
        if found := self._outline.match(said):
            return Request(kind=RequestKind.OUTLINE, about=said[found.end() :].strip(" ?!.:"))
        if found := self._compare.match(said):
            return Request(kind=RequestKind.COMPARISON, about=said[found.end() :])
        found = self._condition.search(said)
        limit = amount(found["number"].rstrip(" .,")) if found else None
        if found is None or limit is None:
            return None
        is_negated, side = found["no"] is not None, found["side"]
        is_below, is_price = (side in self._below) is not is_negated, side in self._priced
        condition = Condition(is_below=is_below, is_inclusive=is_negated, limit=limit.value, is_price=is_price)
        return Request(kind=RequestKind.ROWS, condition=condition)

    def rows(self, condition: Condition, question: str, found: Sequence[RankedPassage], language: str) -> Done | None:
        """The rows of the first document that has a column for the condition."""
        wanted, words = stems(question), self._wordings[language]
        for passages in _by_document(found):
            rows = list(dict.fromkeys(row for passage in passages for row in rows_of(passage.text)))
            if (column := self._column(rows, condition, wanted)) is None:
                continue
            values = {row: _value(row, column) for row in rows}
            fitting = [row for row, value in values.items() if value is not None and condition.holds(value)]
            is_whole = passages[0].searchable <= sum(len(each.pieces) or 1 for each in passages)
            told = (words.rows_fit if is_whole else words.rows_fit_found).format(fit=len(fitting), total=len(rows))
            lines = [f"**{escaped(told)}**", *(f"- {escaped(row.words)}" for row in fitting[:FILTERED_ROWS])]
            used = [each for each in passages if any(row in fitting for row in rows_of(each.text))] or passages[:1]
            return "\n".join(lines), used
        return None

    def _column(self, rows: Sequence[Row], condition: Condition, wanted: frozenset[str]) -> str | None:
        """The numeric column that is meant: with prices, or named. Some cells may be «по запросу»."""
        for name in dict.fromkeys(name for row in rows for name in row.names if name):
            filled = [row for row in rows if row.cell(name)]
            numbers = sum(_value(row, name) is not None for row in filled)
            is_price = "₽" in name or "$" in name or any(map(self._prices.match, folded(name).split()))
            is_meant = is_price if condition.is_price else bool(stems(name) & wanted)
            if is_meant and numbers >= NUMERIC_SHARE * max(len(filled), 1):
                return name
        return None

    def asking_price(self, question: str) -> tuple[str, ...]:
        """The words that say that a sum of money would answer the question."""
        return tuple(word for word in folded(question).split() if self._priced_words.match(word))


def outline(found: Sequence[RankedPassage]) -> Done | None:
    """Each heading with the sentence below it, or the first sentence of each paragraph, of the first document found."""
    passages = sorted(next(_by_document(found), ()), key=lambda each: each.ordinal)
    said = (line for passage in passages for line in _beginnings(in_words(passage.text)[0]))
    lines = [f"- {line}" for line in dict.fromkeys(said)]
    kept = lines[:OUTLINE_LINES]
    while len("\n".join(kept)) > OUTLINE_CHARS:
        kept.pop()
    more = ["- …"] if len(kept) < len(lines) else []
    return ("\n".join([*kept, *more]), passages[:1]) if kept else None


def _by_document(found: Sequence[RankedPassage]) -> Iterator[list[Passage]]:
    groups: dict[str, list[Passage]] = {}
    for each in found:
        groups.setdefault(each.passage.document_id, []).append(each.passage)
    return iter(groups.values())


def _beginnings(text: str) -> Iterator[str]:
    """The heading, if there is one, and the first sentence below it, of each part of the text."""
    heading = ""
    for paragraph in filter(None, (part.strip() for part in text.split("\n"))):
        if len(paragraph) <= 120 and not paragraph.endswith((".", "!", "…", ":", ";", ",")):
            if heading:
                yield heading
            heading = f"**{escaped(paragraph)}**"
            continue
        said = paragraph[: sentences(paragraph)[0].end]
        is_long = len(said) > OUTLINE_LINE_CHARS
        said = f"{said[:OUTLINE_LINE_CHARS].rsplit(maxsplit=1)[0]} …" if is_long else said
        yield f"{heading} {escaped(said)}".strip()
        heading = ""
    if heading:
        yield heading


def _value(row: Row, column: str) -> Decimal | None:
    read = exact_amount(row.cell(column))
    return read.value if read else None


def _alternatives(entries: Sequence[str], rest: str = r"\w*") -> str:
    """The longest first; `*` stands for the rest of a word."""
    return "|".join(re.escape(entry).replace(r"\*", rest) for entry in sorted(entries, key=len, reverse=True))


def _beginning(entries: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?:{_alternatives(entries)})(?!\w)")


def _words(text: str) -> str:
    """The words in lower case, separated by single blanks; «-» stays as a placeholder."""
    return " ".join(re.findall(rf"{_WORD.pattern}|-", folded(text).replace("’", "'")))


def _whole_words(entries: Sequence[str]) -> re.Pattern[str]:
    return re.compile(r"(?<!\S)(?:" + _alternatives(entries, r"\S*") + r")(?!\S)")
