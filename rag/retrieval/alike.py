"""Documents of one form: what tells them apart, and which of them fit a question equally.

In: how documents begin and what they are called; or the passages that a search has found. Out: a short label for each
(«117/2025 · Лазурит · Казань»), which is shown above materials, in the planner's list and on buttons; or the documents
between which the person has to choose. Pure; it asks no model.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from textwrap import shorten

from domain.documents import opening_line
from domain.ids import DocumentId
from rag.records import DocumentChoice, DocumentMatch, Passage, RankedPassage
from rag.words import folded, likeness, stems

LABEL_CHARS = 48  # of a button that has a row of its own
CUT_CHARS = 150  # of an opening that probably ends in mid-sentence: where it ends tells nothing
SHARED_BY = 0.5  # share of the openings; a word that more of them have tells nothing
NEARLY = 0.9  # share of the best score: «Вектор-Строй», where «Вектор» was asked about, has .92 to .999
EQUAL = 0.99  # of clauses of one form, where nothing in the question tells one from the others, nearly all have it
ALIKE = 0.6  # share of their words that two passages have in common; clauses of one form have .7 and more
ALIKE_OPENING = 0.4  # the same of openings: half of one may be names and days
BETWEEN = " · "

_AMOUNT = re.compile(r"(?<!\S)\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)")  # «120 000»: no number of a document
_WORD = re.compile(rf"{_AMOUNT.pattern}|\S+")
_SHORT_NUMBER = re.compile(r"\d{1,2}")
_COUNTED = re.compile(r"[^\W\d_]{3,}")  # or what else a short number counts; «мая» is the shortest, «с» is none
_EDGES = "«»“”„\"'`.,;:!?()[]{}<>*#|_—–- "


def labels(openings: Sequence[str], *, characters: int = LABEL_CHARS) -> tuple[str, ...]:
    """For each opening the words that most others lack, neighbours together; empty where it has none."""
    split = [
        [(word, folded(word)) for found in _WORD.findall(each) if (word := found.strip(_EDGES))] for each in openings
    ]
    count = Counter(word for words in split for word in {plain for _, plain in words})
    most = max(1, int(len(openings) * SHARED_BY)) if len(openings) > 1 else 1
    told = ([(word, count[plain] <= most and not _AMOUNT.match(plain)) for word, plain in words] for words in split)
    ends = (len(each) >= CUT_CHARS for each in openings)
    return tuple(_label(words, characters, is_cut=cut) for words, cut in zip(told, ends, strict=True))


def told_apart(openings: Sequence[str], *, characters: int) -> tuple[str, ...]:
    """For each opening what tells it from those of its form; how it begins where no other has that form."""
    words = [stems(each) for each in openings]
    forms = [
        [place for place, other in enumerate(words) if other is own or likeness(own, other) >= ALIKE_OPENING]
        for own in words
    ]
    return tuple(
        labels([openings[place] for place in form], characters=characters)[form.index(own)]
        if len(form) > 1
        else shorten(openings[own], characters, placeholder="")
        for own, form in enumerate(forms)
    )


def choices(documents: Sequence[DocumentMatch]) -> tuple[DocumentChoice, ...]:
    """The documents of a list under labels that tell them apart."""
    return _labelled([(each.id, each.name, each.opening) for each in documents])


def _labelled(documents: Sequence[tuple[DocumentId, str, str]]) -> tuple[DocumentChoice, ...]:
    """Of each its id, name and opening. One whose opening tells nothing, or the same as another's, goes by its name."""
    told = labels([opening for _, _, opening in documents])
    return tuple(
        DocumentChoice(id=id_, label=label if label and told.count(label) == 1 else name)
        for (id_, name, _), label in zip(documents, told, strict=True)
    )


def equally_fitting(
    found: Sequence[RankedPassage], question: str, *, share: float = NEARLY
) -> tuple[DocumentChoice, ...]:
    """The documents of the best passages, where these are alike statements of several documents that hold the same
    words of the question and have that share of the best score; none where one document stands out. Best first."""
    best: dict[DocumentId, RankedPassage] = {}
    for each in found:
        best.setdefault(each.passage.document_id, each)
    ranked = list(best.values())
    if len(ranked) < 2:
        return ()
    first, asked = ranked[0], stems(question)

    def said(each: RankedPassage) -> tuple[frozenset[str], frozenset[str]]:
        text = each.passage.with_names
        met = frozenset(each.asked.terms_of(text)).intersection(each.asked.rarities)  # «Анны» is «Анна»: no stem tells
        return asked & stems(text), met

    words, fitting = stems(first.passage.text), [first.passage]
    for each in ranked[1:]:
        is_near = each.score >= share * first.score and said(each) == said(first)
        if is_near and likeness(words, stems(each.passage.text)) >= ALIKE:
            fitting.append(each.passage)
    told = [(each.document_id, each.name, opening_of(each)) for each in fitting]
    return _labelled(told) if len(told) > 1 else ()


def opening_of(passage: Passage) -> str:
    """How the passage's document begins; the first passage is that itself."""
    return passage.opening or opening_line(passage.text)


def _label(words: Sequence[tuple[str, bool]], characters: int, *, is_cut: bool) -> str:
    """The words that tell, as many runs of them as fit. Of a cut opening without those at the very end, where others
    precede them; a short number that tells brings the word behind it: «3 марта», not «3»."""
    last = next((place for place in reversed(range(len(words))) if not words[place][1]), -1) + 1
    whole = words[:last] if is_cut and any(tells for _, tells in words[:last]) else words
    with_units = (
        (word, tells or (told and bool(_SHORT_NUMBER.fullmatch(number)) and bool(_COUNTED.fullmatch(word))))
        for (number, told), (word, tells) in zip([("", False), *whole], whole, strict=False)
    )
    label = ""
    for tells, run in groupby(with_units, key=itemgetter(1)):
        told = " ".join(word for word, _ in run)
        if tells and len(longer := f"{label}{BETWEEN}{told}" if label else told) <= characters:
            label = longer
        elif tells:
            return label or shorten(told, characters, placeholder="") or told[:characters]
    return label
