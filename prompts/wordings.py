"""Words that stand beside the prompts: texts of computed facts, and word lists for when no model is asked.

In: TOML files of this package. Out: records of words only; their use is decided in `rag`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter

Words = TypeVar("Words")
Phrases = Annotated[tuple[str, ...], Field(min_length=1)]
GENERAL = "GENERAL_UNSTRUCTURED"  # the intent of the emergency plan (seed 4, section 6.4)
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")


def _load(kind: type[Words], name: str) -> Words:
    """The packaged file as a record; every field is there, and nothing that nobody asks for."""
    entries = tomllib.loads(files("prompts").joinpath(name).read_text(encoding="utf-8"))
    (words,) = TypeAdapter(list[kind], config=ConfigDict(extra="forbid")).validate_python([entries])  # type: ignore[valid-type]
    return words


@dataclass(frozen=True, kw_only=True)
class BreadthWords:
    """Phrases in lower case, е for ё; a word that ends in `*` stands for all its endings."""

    everywhere: Phrases  # that every document is meant, in so many words
    quantities: Phrases  # words of quantity: nothing to search for
    holders: Phrases  # words for the documents themselves and what they do: nothing to search for
    counting: Phrases  # first words of a question how many documents of a kind there are
    having: Phrases  # what such a question has beside the kind
    openings: Phrases  # first words of a question that depends on the dialogue
    rest: Phrases  # requests for the rest of a list
    rest_beside: Phrases  # what may stand beside such a request
    pronouns: Phrases  # make a short question depend on the dialogue
    retell: Phrases  # first words of a request for a document's contents
    compare: Phrases  # first words of a request to compare two things
    below: Phrases  # before a number: what is less than it
    above: Phrases  # what is more
    priced: Phrases  # those of both that speak of a price
    prices: Phrases  # words of a column that holds prices
    asking_price: Phrases  # of a question that a sum of money answers


def load_breadth() -> BreadthWords:
    """The words of `breadth.toml`."""
    return _load(BreadthWords, "breadth.toml")


@dataclass(frozen=True, kw_only=True)
class SmallTalkWords:
    """Phrases in lower case, е for ё. The groups down to `leaning` are whole messages."""

    greeting: Phrases
    thanks: Phrases
    farewell: Phrases
    assent: Phrases
    about: Phrases  # who Baza is, and what it can do
    more: Phrases  # requests for more on the subject of the last answer
    leaning: Phrases  # questions that mean nothing without the dialogue
    beside: Phrases  # what may stand beside those, but is no small talk alone
    documents: Phrases  # whole messages that ask which documents there are
    courtesies: Phrases  # at the beginning of a question
    afterwards: Phrases  # the same at its end
    frames: Phrases  # first words of a question that say nothing about its subject
    interrogatives: Phrases  # first words that only ask
    remember: Phrases  # first words of a note that is sent in Чат


def load_small_talk() -> SmallTalkWords:
    """The words of `small_talk.toml`."""
    return _load(SmallTalkWords, "small_talk.toml")


@dataclass(frozen=True, kw_only=True)
class Intent:
    """One thing that a question may be about."""

    name: str
    style: str  # render style: BULLETS, GROUPED_BULLETS, SHORT or TABLE
    items: int  # maximum number of list items


def load_intents() -> Mapping[str, Intent]:
    """By name, in the file's order."""
    return {intent.name: intent for intent in _load(dict[str, list[Intent]], "intents.toml")["intent"]}


@dataclass(frozen=True, kw_only=True)
class Wordings:
    """One language; `{}` are filled by `str.format`."""

    summary: str
    conflict: str
    day: str  # a format for `strftime`
    dated: str  # day: the document's own
    came: str  # day: the arrival of a document without a date of its own
    uncompared: str  # count: of facts
    count: str  # what, count
    sum: str  # column, value
    min: str
    max: str
    avg: str
    unread: str  # column, count
    dropped: str  # count
    missing: str  # count
    otherwise: str  # values: that other documents say; result: with them
    undecided: str  # count, names: of rows
    replaced: str  # values: that were replaced
    outdated: str  # count, names
    outdated_out: str  # count, names
    formerly: str
    nothing_fits: str  # count: of rows before the condition
    partial: str  # read, total
    rows: str
    column: str
    only_in: str  # document
    changed: str
    same: str  # count
    survey: str  # documents in which something was found, documents that were searched
    survey_of: str  # the same, and the number of documents in the base
    survey_best: str  # those of them that hold most of the question's words
    survey_remark: str
    documents: str  # count: of the base
    documents_called: str  # count; about: what the question calls them
    rows_fit: str  # fit, total: rows of a table
    rows_fit_found: str  # the same, of a part of the document
    entry_name: str  # entry_*: the fields of each document in the list of documents
    entry_title: str
    entry_kind: str
    entry_pages: str
    entry_length: str
    entry_author: str
    entry_dated: str
    entry_sender: str
    entry_added: str
    kinds: Mapping[str, str]  # what a document is, by medium or type of source


def load_wordings() -> Mapping[str, Wordings]:
    """By language, ru and en."""
    return _load(dict[str, Wordings], "wordings.toml")


def language_of(question: str) -> str:
    """ru when the question has a Cyrillic letter, else en."""
    return "ru" if _CYRILLIC.search(question) else "en"
