"""Texts of the facts that code computes, in the language of the question.

In: `wordings.toml`. Out: `Wordings` by language. It holds texts only; which of them is used is decided elsewhere.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable

_CYRILLIC = re.compile(r"[Ѐ-ӿ]")


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
