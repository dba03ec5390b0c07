"""Words that stand beside the prompts: texts of computed facts, and word lists for when no model is asked.

In: TOML files of this package. Out: `Wordings` by language, `BreadthWords`, `SmallTalkWords`, the intents' words. It
holds words only; their use is decided in `rag`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Words = TypeVar("Words", bound="DataclassInstance")
GENERAL = "GENERAL_UNSTRUCTURED"
"""The intent of the emergency plan (seed 4, section 6.4)."""
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")


class WordListError(Exception):
    """A file of words is missing or malformed."""


def load_word_lists(words: type[Words], name: str, folder: Traversable | None = None) -> Words:
    """The lists of the file `name` (in this package, or in `folder`), each as a tuple of strings.

    Every field of `words` needs a list that is not empty, and there may be no other. Raises WordListError.
    """
    place = folder if folder is not None else files("prompts")
    try:
        entries = tomllib.loads(place.joinpath(name).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise WordListError(f"{name}: {error}") from error
    wanted = {field.name for field in fields(words)}
    if set(entries) != wanted or not all(isinstance(listed, list) and listed for listed in entries.values()):
        raise WordListError(f"{name}: needs lists of words under {', '.join(sorted(wanted))}")
    return words(**{key: tuple(map(str, listed)) for key, listed in entries.items()})


@dataclass(frozen=True, kw_only=True)
class BreadthWords:
    """Phrases in lower case, е for ё; a word that ends in `*` stands for all its endings."""

    everywhere: tuple[str, ...]  # that every document is meant, in so many words
    quantities: tuple[str, ...]  # words of quantity: nothing to search for
    holders: tuple[str, ...]  # words for the documents themselves and what they do: nothing to search for
    counting: tuple[str, ...]  # first words of a question how many documents of a kind there are
    having: tuple[str, ...]  # what such a question has beside the kind
    openings: tuple[str, ...]  # first words of a question that depends on the dialogue
    rest: tuple[str, ...]  # requests for the rest of a list
    rest_beside: tuple[str, ...]  # what may stand beside such a request
    pronouns: tuple[str, ...]  # make a short question depend on the dialogue
    retell: tuple[str, ...]  # first words of a request for a document's contents
    compare: tuple[str, ...]  # first words of a request to compare two things
    below: tuple[str, ...]  # before a number: what is less than it
    above: tuple[str, ...]  # what is more
    priced: tuple[str, ...]  # those of both that speak of a price
    prices: tuple[str, ...]  # words of a column that holds prices
    asking_price: tuple[str, ...]  # of a question that a sum of money answers


def load_breadth(folder: Traversable | None = None) -> BreadthWords:
    """Raises WordListError."""
    return load_word_lists(BreadthWords, "breadth.toml", folder)


@dataclass(frozen=True, kw_only=True)
class SmallTalkWords:
    """Phrases in lower case, е for ё. The groups down to `leaning` are whole messages."""

    greeting: tuple[str, ...]
    thanks: tuple[str, ...]
    farewell: tuple[str, ...]
    assent: tuple[str, ...]
    about: tuple[str, ...]  # who Baza is, and what it can do
    more: tuple[str, ...]  # requests for more on the subject of the last answer
    leaning: tuple[str, ...]  # questions that mean nothing without the dialogue
    beside: tuple[str, ...]  # what may stand beside those, but is no small talk alone
    documents: tuple[str, ...]  # whole messages that ask which documents there are
    courtesies: tuple[str, ...]  # at the beginning of a question
    afterwards: tuple[str, ...]  # the same at its end
    frames: tuple[str, ...]  # first words of a question that say nothing about its subject
    interrogatives: tuple[str, ...]  # first words that only ask
    remember: tuple[str, ...]  # first words of a note that is sent in Чат


def load_small_talk(folder: Traversable | None = None) -> SmallTalkWords:
    """Raises WordListError."""
    return load_word_lists(SmallTalkWords, "small_talk.toml", folder)


class IntentsError(Exception):
    """The file of intents is missing, or an entry is malformed."""


@dataclass(frozen=True, kw_only=True)
class Intent:
    """One thing that a question may be about."""

    name: str
    about: str  # description for the planner
    style: str  # render style: BULLETS, GROUPED_BULLETS, SHORT or TABLE
    items: int  # maximum number of list items


def load_intents(folder: Traversable | None = None) -> Mapping[str, Intent]:
    """By name, in the file's order. Raises IntentsError."""
    place = folder if folder is not None else files("prompts")
    try:
        entries = tomllib.loads(place.joinpath("intents.toml").read_text(encoding="utf-8"))["intent"]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise IntentsError(f"intents.toml: {error}") from error
    intents = {intent.name: intent for intent in map(_intent, entries)}
    if GENERAL not in intents:
        raise IntentsError(f"intents.toml: {GENERAL} is missing")
    return intents


def _intent(entry: dict[str, object]) -> Intent:
    wanted = {field.name: field.type for field in fields(Intent)}
    kinds = {name: type(value) for name, value in entry.items()}
    if kinds != wanted:
        raise IntentsError(f"intents.toml: an intent needs {sorted(wanted)}, not {sorted(entry)}")
    return Intent(**entry)  # type: ignore[arg-type]  # the types were compared above


class WordingsError(Exception):
    """The file of wordings is missing, or a language is incomplete."""


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
    kind_text: str  # kind_*: what a document is
    kind_image: str
    kind_audio: str
    kind_video: str
    kind_link: str
    kind_note: str
    kind_site: str


def load_wordings(folder: Traversable | None = None) -> Mapping[str, Wordings]:
    """By language, ru and en. Raises WordingsError."""
    place = folder if folder is not None else files("prompts")
    try:
        languages = tomllib.loads(place.joinpath("wordings.toml").read_text(encoding="utf-8"))
        return {language: _wordings(languages[language]) for language in ("ru", "en")}
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise WordingsError(f"wordings.toml: {error}") from error


def language_of(question: str) -> str:
    """ru when the question has a Cyrillic letter, else en."""
    return "ru" if _CYRILLIC.search(question) else "en"


def _wordings(entries: Mapping[str, str]) -> Wordings:
    names = {field.name for field in fields(Wordings)}
    if set(entries) != names:
        raise WordingsError(f"wordings.toml: missing or unknown: {', '.join(sorted(names ^ set(entries)))}")
    return Wordings(**entries)
