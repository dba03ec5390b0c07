"""What the headings of a document name: a person, a project, an employer, or nothing.

In: the blocks of a document. Out: for each heading path, the entity that it is about. The labels under a heading and
the section above it decide; a heading without either names nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from ingestion.entities.labels import labelled_values, section_rule
from ingestion.entities.records import EntityName, EntityType
from ingestion.records import Block, BlockKind

LONGEST_NAME = 80  # characters; a longer heading is a sentence
MOST_PERSON_WORDS = 4

Path = tuple[str, ...]
Subjects = Mapping[Path, EntityName]


def find_subjects(blocks: Sequence[Block], *, title: str, names_person: Callable[[str], bool]) -> Subjects:
    """Heading path -> the entity it names. A text without headings is about its title, path ()."""
    evidence: dict[Path, Counter[EntityType]] = {}
    for block in blocks:
        path, labels = _evidence(block)
        evidence.setdefault(_named(path), Counter()).update(labels)
    found: dict[Path, EntityName] = {}
    for path in sorted(evidence, key=len):
        name = path[-1] if path else title
        kind = _kind_of(path, name, evidence[path], names_person)
        if kind is not None and len(name) <= LONGEST_NAME:
            found[path] = EntityName(type=kind, name=name.strip())
    return found


def subject_of(path: Path, subjects: Subjects) -> tuple[Path, EntityName] | None:
    """The innermost heading above a block that names an entity."""
    for length in range(len(path), -1, -1):
        if path[:length] in subjects:
            return path[:length], subjects[path[:length]]
    return None


def _evidence(block: Block) -> tuple[Path, list[EntityType]]:
    """The heading path that a block is evidence for, and the types that its labels suggest."""
    if block.kind is BlockKind.HEADING:
        rule = section_rule(block.text)
        return block.locator.headings, [rule.evidence] if rule and rule.evidence else []
    labels = [found.rule.evidence for line in _lines(block) for found in labelled_values(line)]
    return block.locator.headings, [kind for kind in labels if kind is not None]


def _lines(block: Block) -> Iterable[str]:
    return (line.strip().lstrip("-•*– ") for line in block.text.splitlines())


def _named(path: Path) -> Path:
    """The path without trailing section titles."""
    while path and section_rule(path[-1]):
        path = path[:-1]
    return path


def _kind_of(
    path: Path, name: str, evidence: Counter[EntityType], names_person: Callable[[str], bool]
) -> EntityType | None:
    above = section_rule(path[-2]) if len(path) > 1 else None
    if above and above.holds:
        return above.holds
    if names_person(name):
        return EntityType.PERSON
    likeliest = next((kind for kind, _ in evidence.most_common(1)), None)
    return None if likeliest is EntityType.PERSON and not _looks_like_a_name(name) else likeliest


def _looks_like_a_name(heading: str) -> bool:
    """Whether a heading with a person's labels is a name: «John Smith», not «Curriculum vitae» or «Резюме»."""
    words = heading.split()
    return 2 <= len(words) <= MOST_PERSON_WORDS and all(word[0].isupper() and word.isalpha() for word in words)
