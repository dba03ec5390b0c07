"""Finds where a document says how a technology was applied.

In: the blocks, and the statements that name technologies. Out: a statement for each sentence under a project's heading
that names one of the project's technologies. They answer questions such as «Где применял RAG?».
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ingestion.entities.records import EntityName, EntityType, Relation, Statement
from ingestion.entities.subjects import Subjects, subject_of
from ingestion.records import Block, BlockKind

LONGEST_SENTENCE = 400  # characters
MOST_SENTENCES = 5  # of one technology in one document

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]?")
_SKIPPED = "-•*– "


def technology_usage(
    placed: Iterable[tuple[Block, int]], stated: Sequence[Statement], subjects: Subjects
) -> Iterator[Statement]:
    """`stated` tells which technologies each project has."""
    stack = [each for each in stated if each.relation is Relation.PROJECT_TECH_STACK and each.object is not None]
    used = {(each.subject, each.object): _standing_alone(each.object.name) for each in stack if each.object}
    listed = {each.at for each in stack}
    counts: Counter[EntityName] = Counter()
    for project, sentence, at in _sentences(placed, subjects):
        for (subject, technology), pattern in used.items():
            is_usage = subject == project and at not in listed and pattern.search(sentence)
            if not is_usage or technology is None or counts[technology] >= MOST_SENTENCES:
                continue
            counts[technology] += 1
            yield Statement(
                subject=project, relation=Relation.TECHNOLOGY_USAGE, text=sentence, at=at, object=technology
            )


def _sentences(placed: Iterable[tuple[Block, int]], subjects: Subjects) -> Iterator[tuple[EntityName, str, int]]:
    """The sentences under the headings of projects: the project, the sentence, its offset."""
    for block, at in placed:
        owner = subject_of(block.locator.headings, subjects)
        if owner is None or owner[1].type is not EntityType.PROJECT or block.kind is BlockKind.HEADING:
            continue
        for match in _SENTENCE.finditer(block.text):
            sentence = match.group().strip().lstrip(_SKIPPED)
            if sentence:
                yield owner[1], sentence[:LONGEST_SENTENCE], at + match.start() + match.group().find(sentence)


def _standing_alone(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
