"""The catalogue of intents: what a question may be about.

In: `intents.toml`. Out: `Intent` records by name. Code decides nothing by keywords: the planner model chooses an
intent, and code knows no more about it than its record.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable

GENERAL = "GENERAL_UNSTRUCTURED"
"""The intent of the emergency plan (seed 4, section 6.4)."""


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
