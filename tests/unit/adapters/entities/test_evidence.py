"""What a name is the name of."""

import pytest

from adapters.entities.evidence import CERTAINTY, DOUBT, Evidence
from ingestion.entities.records import EntityType

PERSON, PLACE, THING, ORGANIZATION = (
    EntityType.PERSON,
    EntityType.PLACE,
    EntityType.THING,
    EntityType.ORGANIZATION,
)
EVIDENCE = Evidence()


def judged(before: str, name: str, kind: EntityType) -> tuple[str, EntityType, float]:
    found = EVIDENCE.judge(name, kind, before=before)
    return found.name, found.type, found.confidence


@pytest.mark.parametrize(
    ("before", "name", "kind"),
    [
        ("", "Анна Петрова", PERSON),
        ("Встреча с ", "Дмитрием", PERSON),
        ("ветеринар ", "Джонсон", PERSON),  # no dictionary has it, the word before it tells
        ("", "Бубенцовский", PERSON),
        ("книгу ", "Толстого", PERSON),
        ("президент ", "США", PLACE),
        ("машина ", "Ивана Петрова", PERSON),
        ("банк ", "Москвы", PLACE),
        ("в городе ", "Хиллс", PLACE),
        ("из ", "Кирсановки", PLACE),
        ("", "John Smith", PERSON),
        ("корм ", "Хиллс", ORGANIZATION),
    ],
)
def test_a_type_that_something_speaks_for_stays(before: str, name: str, kind: EntityType) -> None:
    assert judged(before, name, kind) == (name, kind, CERTAINTY)


@pytest.mark.parametrize(
    ("before", "name", "kind", "told"),
    [
        ("кормим кормом ", "Хиллс", PLACE, THING),
        ("Купили корм ", "Роял Канин", PERSON, THING),
        ("Собаку ", "Рекса", PERSON, THING),
        ("фильм «", "Титаник", PERSON, THING),
        ("Сервер ", "Юпитер", PLACE, THING),
        ("для компании ", "Ромашка", PERSON, ORGANIZATION),
    ],
)
def test_the_word_before_a_name_tells_what_it_is(before: str, name: str, kind: EntityType, told: EntityType) -> None:
    assert judged(before, name, kind) == (name, told, CERTAINTY)


def test_a_word_that_only_says_what_it_is_is_no_part_of_the_name() -> None:
    assert judged("", "Кот Барсик", PERSON) == ("Барсик", THING, CERTAINTY)


@pytest.mark.parametrize(
    ("before", "name", "kind", "told"),
    [
        ("", "Барсика", PERSON, THING),
        ("чем ", "Хиллс", PLACE, THING),
        ("", "Перенёс", PERSON, THING),
        ("с ", "Ди Каприо", PERSON, PERSON),
        ("В ", "Хиллс", PLACE, PLACE),
        ("", "ЕС", PLACE, PLACE),
    ],
)
def test_what_nothing_speaks_for_is_doubtful_and_mostly_open(
    before: str, name: str, kind: EntityType, told: EntityType
) -> None:
    assert judged(before, name, kind) == (name, told, DOUBT)
