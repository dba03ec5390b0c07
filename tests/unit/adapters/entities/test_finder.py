"""Names as they stand in a text."""

import pytest

from adapters.entities.finder import NatashaFinder, name_at
from ingestion.entities.records import EntityType


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
