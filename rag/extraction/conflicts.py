"""Conflicts between documents: which document says what, the newest first.

In: claims with their passages, the documents' arrival dates. Out: `Conflict`s with dates, and facts that name all
sides. A document's date is its own, else the day in its name, else its arrival date. Pure.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time

from domain.documents import SourceType, known_as
from domain.ids import DocumentId
from prompts.wordings import Wordings
from rag.execution.facts import Fact, FactKind
from rag.extraction.values import day_of_name, whole_day
from rag.quoting.quotes import escaped
from rag.records import Claim, Conflict, Passage, RankedPassage


def claim(value: str, source: RankedPassage) -> Claim:
    """A claim with the document's own date, if it has one."""
    return Claim(value=value, passage=source, dated=_own_day(source.passage))


def dated(conflicts: Iterable[Conflict], came: Mapping[DocumentId, datetime]) -> tuple[Conflict, ...]:
    """The same, with the arrival date where a document has no date of its own, newest claims first."""
    return tuple(replace(each, claims=_newest_first([_dated(one, came) for one in each.claims])) for each in conflicts)


def newness(passage: Passage, came: datetime | None) -> tuple[bool, float]:
    """Sort key; greater is newer. Documents' own dates rank above arrival dates: an old paper may arrive late. A month
    in a document's name counts where it has no other date."""
    own = _own_day(passage) or _in_name(passage, day_of_name)
    last = own or came
    return own is not None or bears_its_day(passage), last.timestamp() if last else float("-inf")


def _own_day(passage: Passage) -> datetime | None:
    """The date that the document bears, or the day in its name."""
    return passage.published_at or _in_name(passage, whole_day)


def _in_name(passage: Passage, read: Callable[[str], date | None]) -> datetime | None:
    names = (passage.source_identifier, passage.title)
    named = next(filter(None, (read(name.replace("_", " ")) for name in names)), None)
    return datetime.combine(named, time.min, tzinfo=UTC) if named else None


def bears_its_day(passage: Passage) -> bool:
    """Whether its date is its own rather than an arrival date. A typed note is dated by its arrival."""
    return _own_day(passage) is not None or passage.source_type is SourceType.NOTE


def document_name(passage: Passage) -> str:
    """The document's name as the person knows it."""
    return known_as(passage.source_type, passage.title, passage.source_identifier)


def in_words(conflict: Conflict, words: Wordings) -> Conflict:
    """The same with `told` filled in: Markdown with all sides, the newest first, one per line."""
    about = _about(conflict)
    heading = f"{words.conflict}{about}{'.' if about else ':'}"
    sides = (f"- {escaped(f'{_named(one, words)}: {one.value}')}" for one in conflict.claims)
    return replace(conflict, told="\n".join((escaped(heading), "", *sides)))


def conflict_facts(conflict: Conflict, words: Wordings) -> tuple[Fact, ...]:
    """A fact for each side, each with its own passage, so that an answer can cite all sides. `words`: in the person's
    language."""
    heading = f"{words.conflict}{_about(conflict)}"
    return tuple(
        Fact(
            kind=FactKind.DISAGREEMENT,
            text=f"{heading}. {_named(one, words)}: {one.value}",
            title=document_name(one.passage.passage),
            passage=one.passage,
            document=one.passage.passage.document_id,
            item=f"{heading}: {conflict.about}",
        )
        for one in conflict.claims
    )


def _about(conflict: Conflict) -> str:
    """What the conflict is about; empty where one of the sides says it in the same words."""
    said = conflict.about in (one.value for one in conflict.claims)
    return "" if said else f": {conflict.about.rstrip('.')}"


def _named(one: Claim, words: Wordings) -> str:
    """«Письмо.pdf (от 12.03.2024)». An arrival date is labelled as such: it orders the claims but proves little. A name
    with a month needs none («Прайс март 2025»)."""
    passage = one.passage.passage
    name, is_own = document_name(passage), bears_its_day(passage)
    if one.dated is None or (not is_own and _in_name(passage, day_of_name)):
        return name
    wording = words.dated if is_own else words.came
    return f"{name} ({wording.format(day=one.dated.strftime(words.day))})"


def _dated(one: Claim, came: Mapping[DocumentId, datetime]) -> Claim:
    return replace(one, dated=one.dated or came.get(one.passage.passage.document_id))


def _newest_first(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Ties stay in order."""
    return tuple(sorted(claims, key=lambda one: newness(one.passage.passage, one.dated), reverse=True))
