"""The labels and section titles that documents use («Роль: …», «## Достижения»).

In: a label as it is written. Out: what a value under it means. The rules are data; `structure` applies them to a
document.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ingestion.entities.records import EntityType, Relation

PERSON, ORGANIZATION, PROJECT, TECHNOLOGY = (
    EntityType.PERSON,
    EntityType.ORGANIZATION,
    EntityType.PROJECT,
    EntityType.TECHNOLOGY,
)


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
