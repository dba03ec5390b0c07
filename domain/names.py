"""A word as the registry of entities sees it, and what its facts say.

In: nothing. Out: a frozen record into which names of documents and questions of people are read, so that they can be
matched (`adapters.names` folds); the kinds of facts, which documents give and questions ask for.
"""

from dataclasses import dataclass
from enum import StrEnum

_LEGAL = "ооо оао зао пао ао нко ано ип тоо llc ltd inc corp gmbh plc llp co corporation incorporated limited"
LEGAL_FORMS = frozenset(_LEGAL.split())
"""Of companies, in small letters: a firm is called the same without them."""


@dataclass(frozen=True, kw_only=True)
class NameWord:
    """One word of a name or of a question."""

    form: str  # as it is written
    keys: tuple[str, ...]  # what it may be found under, in Latin letters: endings and spellings folded, surest first
    is_ordinary: bool  # a dictionary knows it, and not as a name
    is_written_as_name: bool  # capitals where none are due, quotation marks, Latin letters in a Russian text


class Relation(StrEnum):
    """What a fact says of its entity: the intents of prompts/intents.toml that the graph answers."""

    CURRENT_JOB = "CURRENT_JOB"
    PROJECT_DETAILS = "PROJECT_DETAILS"
    PROJECT_ACHIEVEMENTS = "PROJECT_ACHIEVEMENTS"
    PROJECT_TECH_STACK = "PROJECT_TECH_STACK"
    TECHNOLOGY_USAGE = "TECHNOLOGY_USAGE"
    EXPERIENCE_SUMMARY = "EXPERIENCE_SUMMARY"
    TECHNOLOGY_OVERVIEW = "TECHNOLOGY_OVERVIEW"
    CONTACTS = "CONTACTS"
    ENTITY_FACTS = "ENTITY_FACTS"
