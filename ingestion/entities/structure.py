"""Extracts the facts that a document's structure states, without a model: labelled values, and lists under headings.

In: blocks. Out: an `Extract`: «## Достижения» with its bullets is what a project achieved, «Стек: …» what it was made
with, «Телефон: …» how to reach somebody. Prose is left to the model, if there is one.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from domain.names import Relation
from ingestion.entities.records import EntityName, EntityType, Extract, Mention, Statement
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind

PERSON, ORGANIZATION = EntityType.PERSON, EntityType.ORGANIZATION
PROJECT, TECHNOLOGY = EntityType.PROJECT, EntityType.TECHNOLOGY
LONGEST_NAME = 80  # characters; a longer heading is a sentence
MOST_PERSON_WORDS = 4
LONGEST_FACT = 400  # characters, of a sentence too
MOST_SENTENCES = 5  # of one technology in one document
LONGEST_OBJECT = 60  # a longer value is a description, not a name
LONGEST_LIST = 4_000  # characters of a value searched for items: the patterns are quadratic in a run of blanks
Path = tuple[str, ...]
Subjects = Mapping[Path, EntityName]
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]?")
_SKIPPED = "-•*– "
_BULLET = re.compile(r"^\s*(?:[-•*–—]|\d+[.)])\s+")
_BETWEEN_ITEMS = re.compile(r"\s*[,;]\s*(?![^()]*\))")
_QUOTED_NAME = re.compile(r"[«„“\"]([^»“”\"]+)[»“”\"]")
_NAME_BEGINS = re.compile(r"(?<!\S)[«„“\"]?[A-ZА-ЯЁ0-9]")


@dataclass(frozen=True, kw_only=True)
class LabelRule:
    """What a value under a label means, by the type of the subject; it is ignored without a relation for that type."""

    labels: str  # in lower case, separated by commas
    relations: Mapping[EntityType, Relation]
    object: EntityType | None = None  # type of the things that the values name
    is_list: bool = False  # the values are separated by commas, and each is a fact
    evidence: EntityType | None = None  # type of a thing that has this label
    holds: EntityType | None = None  # as a section title: type of what the headings under it name
    written: bool = True  # whether the label is part of the fact's text («Телефон: …»)


_DETAILS = {PERSON: Relation.ENTITY_FACTS, ORGANIZATION: Relation.ENTITY_FACTS, PROJECT: Relation.PROJECT_DETAILS}
_OF_PROJECT = {PROJECT: Relation.PROJECT_DETAILS}
_OF_ANYTHING = dict.fromkeys(EntityType, Relation.CONTACTS)
RULES = (
    LabelRule(
        labels="место работы, текущее место работы, работает в, сейчас работает, работодатель, employer, "
        "current employer, current job, works at",
        relations={PERSON: Relation.CURRENT_JOB},
        object=ORGANIZATION,
        evidence=PERSON,
    ),
    LabelRule(
        labels="роль, должность, позиция, role, position, job title",
        relations={PERSON: Relation.CURRENT_JOB, PROJECT: Relation.PROJECT_DETAILS},
    ),
    LabelRule(
        labels="заказчик, клиент, исполнитель, подрядчик, компания, customer, client, contractor, company",
        relations=_OF_PROJECT,
        object=ORGANIZATION,
        evidence=PROJECT,
    ),
    LabelRule(labels="период, сроки, срок, даты, годы, period, dates", relations=_DETAILS),
    LabelRule(
        labels="стек, стек технологий, технологии, инструменты, технологический стек, stack, tech stack, technologies, "
        "tools, built with",
        relations={PROJECT: Relation.PROJECT_TECH_STACK, PERSON: Relation.TECHNOLOGY_OVERVIEW},
        object=TECHNOLOGY,
        is_list=True,
        evidence=PROJECT,
        written=False,
    ),
    LabelRule(
        labels="навыки, умения, ключевые навыки, профессиональные навыки, skills, key skills",
        relations={PERSON: Relation.TECHNOLOGY_OVERVIEW},
        object=TECHNOLOGY,
        is_list=True,
        evidence=PERSON,
        written=False,
    ),
    LabelRule(
        labels="достижения, результаты, итоги, ключевые достижения, achievements, results, key achievements",
        relations=dict.fromkeys(EntityType, Relation.PROJECT_ACHIEVEMENTS),
        evidence=PROJECT,
        written=False,
    ),
    LabelRule(
        labels="проекты, projects",
        relations={PERSON: Relation.EXPERIENCE_SUMMARY, ORGANIZATION: Relation.PROJECT_DETAILS},
        object=PROJECT,
        is_list=True,
        holds=PROJECT,
        written=False,
    ),
    LabelRule(
        labels="опыт работы, опыт, карьера, места работы, experience, work experience, employment",
        relations={PERSON: Relation.EXPERIENCE_SUMMARY},
        evidence=PERSON,
        holds=ORGANIZATION,
        written=False,
    ),
    LabelRule(
        labels="образование, education, языки, languages, о себе, about me",
        relations={PERSON: Relation.ENTITY_FACTS},
        evidence=PERSON,
        written=False,
    ),
    LabelRule(labels="город, city, location", relations={PERSON: Relation.ENTITY_FACTS}),
    LabelRule(labels="контакты, contacts, contact", relations=_OF_ANYTHING, written=False),
    LabelRule(
        labels="телефон, тел, тел., моб, моб., мобильный, phone, mobile, e-mail, email, почта, эл. почта, "
        "электронная почта, telegram, телеграм, телеграмм, whatsapp, skype, github, linkedin, сайт, website, адрес, "
        "address",
        relations=_OF_ANYTHING,
    ),
)
BY_LABEL = {label: rule for rule in RULES for label in rule.labels.split(", ")}
_ALL_LABELS = "|".join(re.escape(label) for label in sorted(BY_LABEL, key=len, reverse=True))
_LABELLED = re.compile(rf"(?:^|(?<=\s))(?P<label>{_ALL_LABELS})\s?:(?:\s+|(?=\S))", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A block under the heading of a subject."""

    block: Block
    at: int  # the block's offset in the document's text
    path: Path  # the subject's heading
    subject: EntityName


def labelled_values(text: str) -> list[tuple[str, str, int]]:
    """Known labels as they are written, their values («Роль», «разработчик»), each up to the next label, and where the
    label begins. A label inside a sentence begins with a small letter and is ignored, except at the beginning of the
    text."""
    found = [match for match in _LABELLED.finditer(text) if match.start() == 0 or match["label"][0].isupper()]
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    return [
        (match["label"], text[match.end() : end].strip().rstrip(";"), match.start())
        for match, end in zip(found, ends, strict=True)
    ]


def section_rule(heading: str) -> LabelRule | None:
    """The rule of a heading that is a known label («Достижения», "Skills:")."""
    return BY_LABEL.get(heading.strip().rstrip(":").lower())


def read_structure(blocks: Sequence[Block], *, title: str, names_person: Callable[[str], bool]) -> Extract:
    """`names_person` tells whether a heading looks like a person's name."""
    subjects = _find_subjects(blocks, title, names_person)
    owned = ((block, at, _subject_of(block.locator.headings, subjects)) for block, at in placed(blocks))
    parts = [
        _Part(block=block, at=at, path=owner, subject=subjects[owner])
        for block, at, owner in owned
        if owner is not None and block.kind is not BlockKind.HEADING
    ]
    read = [part for part in parts if part.block.kind not in (BlockKind.CODE, BlockKind.TABLE)]
    statements = [statement for part in read for statement in _read_block(part)]
    statements += _employments(parts, subjects)
    statements += _technology_usage(parts, statements)
    beginnings = {part.path: part.at for part in reversed(read)}
    mentions = [Mention(of=subjects[path], at=at) for path, at in beginnings.items()]
    objects = [Mention(of=each.object, at=each.at) for each in statements if each.object]
    return Extract(mentions=(*mentions, *objects), statements=tuple(statements))


def placed(blocks: Sequence[Block]) -> Iterator[tuple[Block, int]]:
    """Each block with its offset in the document's text."""
    at = 0
    for block in blocks:
        yield block, at
        at += len(block.text) + len(BLOCK_SEPARATOR)


def _find_subjects(blocks: Sequence[Block], title: str, names_person: Callable[[str], bool]) -> Subjects:
    """Heading path -> the entity it names. A text without headings is about its title, path ()."""
    evidence: dict[Path, Counter[EntityType]] = {}
    for block in blocks:
        path = block.locator.headings
        while path and section_rule(path[-1]):
            path = path[:-1]
        rules = [section_rule(block.text)]
        if block.kind is not BlockKind.HEADING:
            lines = (line.strip().lstrip(_SKIPPED) for line in block.text.splitlines())
            rules = [section_rule(label) for line in lines for label, _, _ in labelled_values(line)]
        kinds = [rule.evidence for rule in rules if rule and rule.evidence]
        evidence.setdefault(path, Counter()).update(kinds)
    found: dict[Path, EntityName] = {}
    for path, kinds_there in evidence.items():
        name = path[-1] if path else title
        above = section_rule(path[-2]) if len(path) > 1 else None
        kind = (above and above.holds) or _kind_of(name, kinds_there, names_person)
        if kind is not None and len(name) <= LONGEST_NAME:
            found[path] = EntityName(type=kind, name=name.strip())
    return found


def _kind_of(name: str, evidence: Counter[EntityType], names_person: Callable[[str], bool]) -> EntityType | None:
    """A heading with a person's labels must be a name: «John Smith», not «Curriculum vitae» or «Резюме»."""
    if names_person(name):
        return PERSON
    words = name.split()
    is_name = 2 <= len(words) <= MOST_PERSON_WORDS and all(word[0].isupper() and word.isalpha() for word in words)
    likeliest = next((kind for kind, _ in evidence.most_common(1)), None)
    return None if likeliest is PERSON and not is_name else likeliest


def _subject_of(path: Path, subjects: Subjects) -> Path | None:
    """The innermost heading of the path that names an entity."""
    return next((path[:length] for length in range(len(path), -1, -1) if path[:length] in subjects), None)


def _employments(parts: Iterable[_Part], subjects: Subjects) -> Iterator[Statement]:
    """One statement for each employer, in the order of the document."""
    said: dict[Path, tuple[int, list[str]]] = {}
    for part in parts:
        if part.subject.type is ORGANIZATION:
            details = (f"{label}: {value}" for label, value, _ in labelled_values(part.block.text))
            said.setdefault(part.path, (part.at, [part.subject.name]))[1].extend(details)
    for path, (at, values) in said.items():
        above = _subject_of(path[:-1], subjects)
        if above is not None and subjects[above].type is PERSON:
            yield Statement(
                subject=subjects[above],
                relation=Relation.EXPERIENCE_SUMMARY,
                text="; ".join(values)[:LONGEST_FACT],
                at=at,
                object=subjects[path],
            )


def _technology_usage(parts: Iterable[_Part], stated: Sequence[Statement]) -> Iterator[Statement]:
    """Sentences about the technologies of a project, which `stated` tells."""
    stack = [each for each in stated if each.relation is Relation.PROJECT_TECH_STACK]
    listed = {each.at for each in stack}
    patterns = {
        (each.subject, each.object): re.compile(rf"(?<!\w){re.escape(each.object.name)}(?!\w)", re.IGNORECASE)
        for each in stack
        if each.object
    }
    counts: Counter[EntityName] = Counter()
    projects = (each for each in parts if each.subject.type is PROJECT)
    found = ((each, match) for each in projects for match in _SENTENCE.finditer(each.block.text))
    for part, match in found:
        sentence = match[0].strip().lstrip(_SKIPPED)[:LONGEST_FACT]
        at = part.at + match.start() + match[0].find(sentence)
        for (subject, technology), pattern in patterns.items():
            is_usage = subject == part.subject and at not in listed and pattern.search(sentence)
            if is_usage and counts[technology] < MOST_SENTENCES:
                counts[technology] += 1
                yield Statement(
                    subject=subject, relation=Relation.TECHNOLOGY_USAGE, text=sentence, at=at, object=technology
                )


def _read_block(part: _Part) -> Iterator[Statement]:
    sections = part.block.locator.headings[len(part.path) :]
    rule = section_rule(sections[-1]) if sections else None
    described = {PROJECT: Relation.PROJECT_DETAILS, PERSON: Relation.ENTITY_FACTS}.get(part.subject.type)
    end = part.at
    for whole in part.block.text.split("\n"):
        line = _BULLET.sub("", whole).strip()
        at = end + whole.find(line)
        end += len(whole) + 1
        labelled = labelled_values(line)
        for label, value, start in labelled:
            stated = BY_LABEL[label.lower()]
            text = f"{label}: {value}" if stated.written else value
            yield from _states(stated, text, value, part.subject, at + start)
        if labelled or not line:
            continue
        if rule is not None:
            yield from _states(rule, line, line, part.subject, at)
        elif not sections and part.block.kind is BlockKind.PARAGRAPH and described and len(line) <= LONGEST_FACT:
            yield Statement(subject=part.subject, relation=described, text=line, at=at)


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
