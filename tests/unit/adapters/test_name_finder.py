"""Names as they stand in a text."""

import pytest

from adapters.name_finder import CERTAINTY, DOUBT, mentions_of, name_at, nominative
from ingestion.entities.records import EntityType

PERSON, PLACE, THING, ORGANIZATION = (
    EntityType.PERSON,
    EntityType.PLACE,
    EntityType.THING,
    EntityType.ORGANIZATION,
)


@pytest.mark.parametrize(
    ("name", "kind", "told", "confidence"),
    [
        ("Анна Петрова", "PER", PERSON, CERTAINTY),
        ("John Smith", "PER", PERSON, CERTAINTY),
        ("США", "LOC", PLACE, CERTAINTY),
        ("Хиллс", "ORG", ORGANIZATION, CERTAINTY),
        ("Ди Каприо", "PER", PERSON, DOUBT),  # several words are seldom the name of a thing
        ("ЕС", "LOC", PLACE, DOUBT),
        ("Барсик", "PER", THING, DOUBT),
        ("Хиллс", "LOC", THING, DOUBT),
    ],
)
def test_a_single_word_that_no_dictionary_has_as_such_a_name_stays_open(
    name: str, kind: str, told: EntityType, confidence: float
) -> None:
    (mention,) = mentions_of(name, [(0, len(name), kind)])
    assert (mention.of.name, mention.of.type, mention.confidence) == (name, told, confidence)


@pytest.mark.parametrize(
    ("name", "kind", "first"),
    [
        ("Дмитрия Иванова", PERSON, "Дмитрий Иванов"),
        ("Анной Ивановой", PERSON, "Анна Иванова"),
        ("Рашид Галимов", PERSON, "Рашид Галимов"),  # and not the Галимы
        ("Казанском федеральном университете", ORGANIZATION, "Казанский федеральный университет"),
        ("Министерством финансов", ORGANIZATION, "Министерство финансов"),
        ("заводу «Север»", ORGANIZATION, "завод «Север»"),
        ("СтройГрад", ORGANIZATION, "СтройГрад"),
        ("Барсика", THING, "Барсик"),
        ("Тесла", THING, "Тесла"),  # and not «тесло»
    ],
)
def test_names_come_in_the_first_case(name: str, kind: EntityType, first: str) -> None:
    assert nominative(name, kind) == first


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
    return [(each.of.type, each.of.name, each.count) for each in mentions_of(text, places)]


def test_forms_of_a_name_are_one_mention() -> None:
    text = "Барсика кормим. Барсик рад."
    assert found(text, ("Барсика", "PER"), ("Барсик", "PER")) == [(THING, "Барсик", 2)]


def test_a_surname_without_a_first_name_is_a_persons_where_the_text_has_the_full_name() -> None:
    text = "Никола Тесла приехал. Опыты Теслы известны, Барсика нет."
    assert found(text, ("Никола Тесла", "PER"), ("Теслы", "PER"), ("Барсика", "PER")) == [
        (PERSON, "Никола Тесла", 1),
        (PERSON, "Теслы", 1),
        (THING, "Барсик", 1),
    ]
