"""Documents that disagree: who says what, the newest first.

In: claims with their passages, days on which documents came. Out: `Conflict`s with dates, and facts that name all
sides. A document is dated by what it says of itself, else by the day it came. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from domain.documents import known_as
from domain.ids import DocumentId
from rag.execution.facts import Fact, FactKind
from rag.records import Claim, Conflict, Passage, RankedPassage


def claim(value: str, source: RankedPassage) -> Claim:
    """Dated by the document itself, if it is."""
    return Claim(value=value, passage=source, dated=source.passage.published_at)


def dated(conflicts: Iterable[Conflict], came: Mapping[DocumentId, datetime]) -> tuple[Conflict, ...]:
    """The same with the day a document came where it has no date of its own, newest claims first."""
    return tuple(replace(each, claims=_newest_first([_dated(one, came) for one in each.claims])) for each in conflicts)


def document_name(passage: Passage) -> str:
    """As the person knows it."""
    return known_as(passage.source_type, passage.title, passage.source_identifier)


def conflict_facts(conflict: Conflict, *, heading: str) -> tuple[Fact, ...]:
    """A fact for each side, each with its own passage, so that an answer can cite them all. `heading` says what they
    are, in the person's language."""
    about = conflict.about.rstrip(".")
    return tuple(
        Fact(
            kind=FactKind.VALUE,
            text=f"{heading}: {about}. {document_name(one.passage.passage)}{_day(one)}: {one.value}",
            title=document_name(one.passage.passage),
            passage=one.passage,
            document=one.passage.passage.document_id,
            item=f"{heading}: {conflict.about}",
        )
        for one in conflict.claims
    )


def _dated(one: Claim, came: Mapping[DocumentId, datetime]) -> Claim:
    return replace(one, dated=one.dated or came.get(one.passage.passage.document_id))


def _newest_first(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """What has no date comes last; equals stay in order."""
    return tuple(sorted(claims, key=lambda one: -one.dated.timestamp() if one.dated else float("inf")))


def _day(one: Claim) -> str:
    return f" ({one.dated.date().isoformat()})" if one.dated else ""
