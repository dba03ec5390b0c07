"""Documents that disagree: who says what, the newest first.

In: claims with their passages, days on which documents came. Out: `Conflict`s with dates, and facts that name all
sides. A document is dated by what it says of itself, else by the day it came. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from domain.documents import SourceType, known_as
from domain.ids import DocumentId
from prompts.wordings import Wordings
from rag.answering.renderer import escaped
from rag.execution.facts import Fact, FactKind
from rag.records import Claim, Conflict, Passage, RankedPassage


def claim(value: str, source: RankedPassage) -> Claim:
    """Dated by the document itself, if it is."""
    return Claim(value=value, passage=source, dated=source.passage.published_at)


def dated(conflicts: Iterable[Conflict], came: Mapping[DocumentId, datetime]) -> tuple[Conflict, ...]:
    """The same with the day a document came where it has no date of its own, newest claims first."""
    return tuple(replace(each, claims=_newest_first([_dated(one, came) for one in each.claims])) for each in conflicts)


def newness(passage: Passage, came: datetime | None) -> tuple[bool, float]:
    """Greater is newer. Days that documents bear go before those on which others came: an old paper may come late."""
    day = passage.published_at or came
    return bears_its_day(passage), day.timestamp() if day else float("-inf")


def bears_its_day(passage: Passage) -> bool:
    """Rather than having come on it; what somebody types is of the day on which it came."""
    return passage.published_at is not None or passage.source_type is SourceType.NOTE


def document_name(passage: Passage) -> str:
    """As the person knows it."""
    return known_as(passage.source_type, passage.title, passage.source_identifier)


def in_words(conflict: Conflict, words: Wordings) -> Conflict:
    """The same with what is told of it by code, in Markdown: all sides, the newest first, a line each."""
    about = _about(conflict)
    heading = f"{words.conflict}{about}{'.' if about else ':'}"
    sides = (f"- {escaped(f'{_named(one, words)}: {one.value}')}" for one in conflict.claims)
    return replace(conflict, told="\n".join((escaped(heading), "", *sides)))


def conflict_facts(conflict: Conflict, words: Wordings) -> tuple[Fact, ...]:
    """A fact for each side, each with its own passage, so that an answer can cite them all. `words` are the person's
    language."""
    heading = f"{words.conflict}{_about(conflict)}"
    return tuple(
        Fact(
            kind=FactKind.VALUE,
            text=f"{heading}. {_named(one, words)}: {one.value}",
            title=document_name(one.passage.passage),
            passage=one.passage,
            document=one.passage.passage.document_id,
            item=f"{heading}: {conflict.about}",
        )
        for one in conflict.claims
    )


def _about(conflict: Conflict) -> str:
    """Nothing where it is one of the sides' own words: they say it themselves."""
    said = conflict.about in (one.value for one in conflict.claims)
    return "" if said else f": {conflict.about.rstrip('.')}"


def _named(one: Claim, words: Wordings) -> str:
    """«Письмо.pdf (от 12.03.2024)»; a day on which it came is said to be that, for it orders and proves little."""
    name = document_name(one.passage.passage)
    if one.dated is None:
        return name
    wording = words.dated if bears_its_day(one.passage.passage) else words.came
    return f"{name} ({wording.format(day=one.dated.strftime(words.day))})"


def _dated(one: Claim, came: Mapping[DocumentId, datetime]) -> Claim:
    return replace(one, dated=one.dated or came.get(one.passage.passage.document_id))


def _newest_first(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Equals stay in order."""
    return tuple(sorted(claims, key=lambda one: newness(one.passage.passage, one.dated), reverse=True))
