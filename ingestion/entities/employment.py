"""Finds who worked where, from the headings under «Опыт работы».

In: the blocks and what their headings name. Out: for each employer under a person's heading, one statement about the
person with all labelled values under that heading: years, role, projects.
"""

from collections.abc import Iterable, Iterator

from ingestion.entities.labels import labelled_values
from ingestion.entities.records import EntityName, EntityType, Relation, Statement
from ingestion.entities.subjects import Path, Subjects, subject_of
from ingestion.records import Block, BlockKind

LONGEST_FACT = 400  # characters


def employments(placed: Iterable[tuple[Block, int]], subjects: Subjects) -> Iterator[Statement]:
    """One statement for each employer, in the order of the document."""
    said: dict[Path, list[str]] = {}
    places: dict[Path, int] = {}
    for block, at in placed:
        owner = subject_of(block.locator.headings, subjects)
        if owner is None or owner[1].type is not EntityType.ORGANIZATION or block.kind is BlockKind.HEADING:
            continue
        values = [f"{each.label}: {each.value}" for each in labelled_values(block.text)]
        said.setdefault(owner[0], []).extend(values)
        places.setdefault(owner[0], at)
    for path, values in said.items():
        person = _person_above(path, subjects)
        if person is not None:
            yield Statement(
                subject=person,
                relation=Relation.EXPERIENCE_SUMMARY,
                text="; ".join([subjects[path].name, *values])[:LONGEST_FACT],
                at=places[path],
                object=subjects[path],
            )


def _person_above(path: Path, subjects: Subjects) -> EntityName | None:
    above = subject_of(path[:-1], subjects)
    return above[1] if above and above[1].type is EntityType.PERSON else None
