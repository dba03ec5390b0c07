"""Names as they stand in a text."""

import pytest

from adapters.name_finder import CERTAINTY, DOUBT, Evidence, NatashaFinder, name_at
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


@pytest.mark.parametrize(
    ("text", "span", "name"),
    [
        ("Поставщик ООО «Ромашка» обязан", "ООО «Ромашка", "ООО «Ромашка»"),
        ('Поставщик ООО "Ромашка" обязан', 'ООО "Ромашка', 'ООО "Ромашка"'),
        ("Поставщик ООО «Ромашка» обязан", "ООО «Ромашка»", "ООО «Ромашка»"),
        ("завод «Север» и банк", "Север", "Север"),
        ('завод "Север" и банк', "Север", "Север"),
        ("Иван Петров\n» конец", "Иван Петров\n", "Иван Петров"),
        ("АО «Альфа\nБета» и", "АО «Альфа\nБета", "АО «Альфа"),
    ],
)
def test_a_name_has_the_quotation_mark_that_closes_it(text: str, span: str, name: str) -> None:
    start = text.index(span)
    assert name_at(text, start, start + len(span)) == name


def found(text: str, *spans: tuple[str, str]) -> list[tuple[EntityType, str, int]]:
    """What becomes of spans that the process has found."""
    places = [(start := text.index(name), start + len(name), kind) for name, kind in spans]
    return [(each.of.type, each.of.name, each.count) for each in NatashaFinder()._mentions(text, places)]


def test_a_cat_and_its_food_are_no_person_and_no_place() -> None:
    text = "Барсика кормим кормом Хиллс. Кот Барсик рад."
    assert found(text, ("Барсика", "PER"), ("Хиллс", "LOC"), ("Кот Барсик", "PER")) == [
        (EntityType.THING, "Барсик", 2),
        (EntityType.THING, "Хиллс", 1),
    ]


def test_a_surname_without_a_first_name_is_a_persons_where_the_text_has_the_full_name() -> None:
    text = "Никола Тесла приехал. Опыты Теслы известны, Барсика нет."
    assert found(text, ("Никола Тесла", "PER"), ("Теслы", "PER"), ("Барсика", "PER")) == [
        (EntityType.PERSON, "Никола Тесла", 1),
        (EntityType.PERSON, "Теслы", 1),
        (EntityType.THING, "Барсик", 1),
    ]
