"""Extracts the facts that a document's structure states, without a model: labelled values, and lists under headings.

In: blocks. Out: an `Extract`: «## Достижения» with its bullets is what a project achieved, «Стек: …» what it was made
with, «Телефон: …» how to reach somebody. Prose is left to the model, if there is one.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from ingestion.entities.employment import employments
from ingestion.entities.labels import LabelledValue, LabelRule, labelled_values, section_rule
from ingestion.entities.records import EntityName, EntityType, Extract, Mention, Relation, Statement
from ingestion.entities.subjects import Path, find_subjects, subject_of
from ingestion.entities.usage import technology_usage
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind

LONGEST_FACT = 400  # characters
LONGEST_OBJECT = 60  # a longer value is a description, not a name
LONGEST_LIST = 4_000  # characters of a value searched for items: the patterns are quadratic in a run of blanks

_BULLET = re.compile(r"^\s*(?:[-•*–—]|\d+[.)])\s+")
_BETWEEN_ITEMS = re.compile(r"\s*[,;]\s*(?![^()]*\))")
_QUOTED_NAME = re.compile(r"[«„“\"]([^»“”\"]+)[»“”\"]")
_NAME_BEGINS = re.compile(r"(?<!\S)[«„“\"]?[A-ZА-ЯЁ0-9]")


def read_structure(blocks: Sequence[Block], *, title: str, names_person: Callable[[str], bool]) -> Extract:
    """`names_person` tells whether a heading looks like a person's name."""
    subjects = find_subjects(blocks, title=title, names_person=names_person)
    statements: list[Statement] = []
    beginnings: dict[Path, int] = {}
    for block, at in placed(blocks):
        owner = subject_of(block.locator.headings, subjects)
        if owner is None or block.kind in (BlockKind.HEADING, BlockKind.CODE, BlockKind.TABLE):
            continue
        path, subject = owner
        beginnings.setdefault(path, at)
        statements += _read_block(block, at, subject, block.locator.headings[len(path) :])
    statements += employments(placed(blocks), subjects)
    statements += technology_usage(placed(blocks), statements, subjects)
    mentions = [Mention(of=subjects[path], at=at) for path, at in beginnings.items()]
    objects = [Mention(of=each.object, at=each.at) for each in statements if each.object]
    return Extract(mentions=(*mentions, *objects), statements=tuple(statements))


def placed(blocks: Sequence[Block]) -> Iterator[tuple[Block, int]]:
    """Each block with its offset in the document's text."""
    at = 0
    for block in blocks:
        yield block, at
        at += len(block.text) + len(BLOCK_SEPARATOR)


def _read_block(block: Block, at: int, subject: EntityName, sections: Path) -> Iterator[Statement]:
    """`sections` are the headings between the subject's heading and the block."""
    rule = section_rule(sections[-1]) if sections else None
    for line, offset in _lines(block):
        labelled = labelled_values(line)
        for value in labelled:
            yield from _states(value.rule, _text(value), value.value, subject, at + offset + value.at)
        if labelled:
            continue
        if rule is not None:
            yield from _states(rule, line, line, subject, at + offset)
        elif not sections and block.kind is BlockKind.PARAGRAPH:
            yield from _describes(line, subject, at + offset)


def _lines(block: Block) -> Iterator[tuple[str, int]]:
    """The items or paragraphs without their bullets, each with its offset in the block."""
    at = 0
    for line in block.text.split("\n"):
        text = _BULLET.sub("", line).strip()
        if text:
            yield text, at + line.find(text)
        at += len(line) + 1


def _text(value: LabelledValue) -> str:
    return f"{value.label}: {value.value}" if value.rule.written else value.value


def _states(rule: LabelRule, text: str, value: str, subject: EntityName, at: int) -> Iterator[Statement]:
    relation = rule.relations.get(subject.type)
    if relation is None or not value:
        return
    if not rule.is_list:
        named = _named_in(value, rule.object) if rule.object else None
        yield Statement(subject=subject, relation=relation, text=text[:LONGEST_FACT], at=at, object=named)
        return
    for item in filter(None, (part.rstrip(".") for part in _BETWEEN_ITEMS.split(value[:LONGEST_LIST]))):
        named = EntityName(type=rule.object, name=item) if rule.object and len(item) <= LONGEST_OBJECT else None
        yield Statement(subject=subject, relation=relation, text=item[:LONGEST_FACT], at=at, object=named)


def _describes(text: str, subject: EntityName, at: int) -> Iterator[Statement]:
    relation = {EntityType.PROJECT: Relation.PROJECT_DETAILS, EntityType.PERSON: Relation.ENTITY_FACTS}
    if subject.type in relation and len(text) <= LONGEST_FACT:
        yield Statement(subject=subject, relation=relation[subject.type], text=text, at=at)


def _named_in(value: str, kind: EntityType) -> EntityName | None:
    """The name in a value: «АЛОР» in «брокерская компания АЛОР», "Aston" in «Aston, с марта»; none in «личный проект»
    or «ИНН: 6315»."""
    value = value[:LONGEST_FACT]
    quoted = _QUOTED_NAME.search(value)
    if quoted:
        return EntityName(type=kind, name=quoted[1]) if len(quoted[1]) <= LONGEST_OBJECT else None
    if ": " in value:
        return None
    first = re.split(r"[,;(]|\s[—–-]\s", value)[0]
    begins = _NAME_BEGINS.search(first)
    name = first[begins.start() :].strip(" .") if begins else ""
    return EntityName(type=kind, name=name) if 1 < len(name) <= LONGEST_OBJECT else None
