"""Extracts the facts that a document's structure states, without a model: labelled values, and lists under headings.

In: blocks. Out: an `Extract`: «## Достижения» with its bullets is what a project achieved, «Стек: …» what it was made
with, «Телефон: …» how to reach somebody. Prose is left to the model, if there is one.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from domain.names import Relation
from ingestion.entities.records import EntityName, EntityType, Extract, Mention, Statement
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind

PERSON, ORGANIZATION, PROJECT, TECHNOLOGY = (
    EntityType.PERSON,
    EntityType.ORGANIZATION,
    EntityType.PROJECT,
    EntityType.TECHNOLOGY,
)
LONGEST_NAME = 80  # characters; a longer heading is a sentence
MOST_PERSON_WORDS = 4
Path = tuple[str, ...]
Subjects = Mapping[Path, EntityName]
LONGEST_FACT = 400  # characters
LONGEST_SENTENCE = 400  # characters
MOST_SENTENCES = 5  # of one technology in one document
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]?")
_SKIPPED = "-•*– "
LONGEST_OBJECT = 60  # a longer value is a description, not a name
LONGEST_LIST = 4_000  # characters of a value searched for items: the patterns are quadratic in a run of blanks
_BULLET = re.compile(r"^\s*(?:[-•*–—]|\d+[.)])\s+")
_BETWEEN_ITEMS = re.compile(r"\s*[,;]\s*(?![^()]*\))")
_QUOTED_NAME = re.compile(r"[«„“\"]([^»“”\"]+)[»“”\"]")
_NAME_BEGINS = re.compile(r"(?<!\S)[«„“\"]?[A-ZА-ЯЁ0-9]")


@dataclass(frozen=True, kw_only=True)
class LabelRule:
    """What a value under a label means, by the type of the subject."""

    labels: tuple[str, ...]  # in lower case
    relations: Mapping[EntityType, Relation]
    object: EntityType | None = None  # type of the things that the values name
    is_list: bool = False  # the values are separated by commas, and each is a fact
    evidence: EntityType | None = None  # type of a thing that has this label
    holds: EntityType | None = None  # as a section title: type of what the headings under it name
    written: bool = True  # whether the label is part of the fact's text («Телефон: …»)


def _all(relation: Relation) -> Mapping[EntityType, Relation]:
    return dict.fromkeys(EntityType, relation)


_DETAILS = {PERSON: Relation.ENTITY_FACTS, ORGANIZATION: Relation.ENTITY_FACTS, PROJECT: Relation.PROJECT_DETAILS}
RULES = (
    LabelRule(
        labels=("место работы", "текущее место работы", "работает в", "сейчас работает", "работодатель", "employer",
                "current employer", "current job", "works at"),
        relations={PERSON: Relation.CURRENT_JOB},
        object=ORGANIZATION,
        evidence=PERSON,
    ),
    LabelRule(
        labels=("роль", "должность", "позиция", "role", "position", "job title"),
        relations={PERSON: Relation.CURRENT_JOB, PROJECT: Relation.PROJECT_DETAILS},
    ),
    LabelRule(
        labels=("заказчик", "клиент", "customer", "client"),
        relations={PROJECT: Relation.PROJECT_DETAILS},
        object=ORGANIZATION,
        evidence=PROJECT,
    ),
    LabelRule(
        labels=("исполнитель", "подрядчик", "компания", "contractor", "company"),
        relations={PROJECT: Relation.PROJECT_DETAILS},
        object=ORGANIZATION,
        evidence=PROJECT,
    ),
    LabelRule(labels=("период", "сроки", "срок", "даты", "годы", "period", "dates"), relations=_DETAILS),
    LabelRule(
        labels=("стек", "стек технологий", "технологии", "инструменты", "технологический стек", "stack", "tech stack",
                "technologies", "tools", "built with"),
        relations={PROJECT: Relation.PROJECT_TECH_STACK, PERSON: Relation.TECHNOLOGY_OVERVIEW},
        object=TECHNOLOGY,
        is_list=True,
        evidence=PROJECT,
        written=False,
    ),
    LabelRule(
        labels=("навыки", "умения", "ключевые навыки", "профессиональные навыки", "skills", "key skills"),
        relations={PERSON: Relation.TECHNOLOGY_OVERVIEW},
        object=TECHNOLOGY,
        is_list=True,
        evidence=PERSON,
        written=False,
    ),
    LabelRule(
        labels=("достижения", "результаты", "итоги", "ключевые достижения", "achievements", "results",
                "key achievements"),
        relations=_all(Relation.PROJECT_ACHIEVEMENTS),
        evidence=PROJECT,
        written=False,
    ),
    LabelRule(
        labels=("проекты", "projects"),
        relations={PERSON: Relation.EXPERIENCE_SUMMARY, ORGANIZATION: Relation.PROJECT_DETAILS},
        object=PROJECT,
        is_list=True,
        holds=PROJECT,
        written=False,
    ),
    LabelRule(
        labels=("опыт работы", "опыт", "карьера", "места работы", "experience", "work experience", "employment"),
        relations={PERSON: Relation.EXPERIENCE_SUMMARY},
        evidence=PERSON,
        holds=ORGANIZATION,
        written=False,
    ),
    LabelRule(
        labels=("образование", "education", "языки", "languages", "о себе", "about me"),
        relations={PERSON: Relation.ENTITY_FACTS},
        evidence=PERSON,
        written=False,
    ),
    LabelRule(labels=("город", "city", "location"), relations={PERSON: Relation.ENTITY_FACTS}),
    LabelRule(labels=("контакты", "contacts", "contact"), relations=_all(Relation.CONTACTS), written=False),
    LabelRule(
        labels=("телефон", "тел", "тел.", "моб", "моб.", "мобильный", "phone", "mobile", "e-mail", "email", "почта",
                "эл. почта", "электронная почта", "telegram", "телеграм", "телеграмм", "whatsapp", "skype", "github",
                "linkedin", "сайт", "website", "адрес", "address"),
        relations=_all(Relation.CONTACTS),
    ),
)  # fmt: skip
"""A value is ignored when its rule has no relation for the subject's type."""
BY_LABEL: Mapping[str, LabelRule] = {label: rule for rule in RULES for label in rule.labels}
_ALL_LABELS = "|".join(re.escape(label) for label in sorted(BY_LABEL, key=len, reverse=True))
_LABELLED = re.compile(rf"(?:^|(?<=\s))(?P<label>{_ALL_LABELS})\s?:(?:\s+|(?=\S))", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class LabelledValue:
    """A value such as «Роль: разработчик», `at` characters into the text."""

    label: str  # as it is written
    value: str
    at: int
    rule: LabelRule = field(repr=False)


def labelled_values(text: str) -> list[LabelledValue]:
    """Values with a known label, each up to the next label. A label inside a sentence begins with a small letter and is
    ignored, except at the beginning of the text."""
    found = [match for match in _LABELLED.finditer(text) if match.start() == 0 or match["label"][0].isupper()]
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    return [
        LabelledValue(
            label=match["label"],
            value=text[match.end() : end].strip().rstrip(";"),
            at=match.start(),
            rule=BY_LABEL[match["label"].lower()],
        )
        for match, end in zip(found, ends, strict=True)
    ]


def section_rule(heading: str) -> LabelRule | None:
    """The rule of a heading that is a known label («Достижения», "Skills:")."""
    return BY_LABEL.get(heading.strip().rstrip(":").lower())


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
    for line, offset in _lines_at(block):
        labelled = labelled_values(line)
        for value in labelled:
            text = f"{value.label}: {value.value}" if value.rule.written else value.value
            yield from _states(value.rule, text, value.value, subject, at + offset + value.at)
        if labelled:
            continue
        if rule is not None:
            yield from _states(rule, line, line, subject, at + offset)
        elif not sections and block.kind is BlockKind.PARAGRAPH:
            yield from _describes(line, subject, at + offset)


def _lines_at(block: Block) -> Iterator[tuple[str, int]]:
    """The items or paragraphs without their bullets, each with its offset in the block."""
    at = 0
    for line in block.text.split("\n"):
        text = _BULLET.sub("", line).strip()
        if text:
            yield text, at + line.find(text)
        at += len(line) + 1


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
