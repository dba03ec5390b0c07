"""What a document's structure states, read by rules."""

import time

import pytest

from domain.locator import Locator
from domain.names import Relation
from ingestion.entities.records import EntityType, Extract
from ingestion.entities.structure import read_structure
from ingestion.parsers.markdown import parse_markdown
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind

PROJECT = """# АЛОР Брокер

Заказчик: брокерская компания АЛОР
Роль: разработчик

Помощник для поддержки.

## Достижения

- Ускорил ответы втрое
- Снизил расходы на 38 %

## Стек

- Python
- RAG

## Как устроено

RAG применён для выдержек. Остальное обычно.
"""
PERSON = """# Дмитрий Иванов

Место работы: Aston, с марта 2023 года

## Контакты

- Телефон: +7 900 555-01-42
- t.me/dmitry

## Опыт работы

### Северный Склад

Период: 2019 — 2023
Проекты: Маршрут, Учёт
"""


def read(text: str) -> Extract:
    parsed = parse_markdown(text, name="файл.md")
    return read_structure(parsed.blocks, title=parsed.title, names_person=lambda name: name == "Дмитрий Иванов")


def said(extract: Extract, relation: Relation) -> list[tuple[str, str, str | None]]:
    """(of whom, text, object) of a relation."""
    return [
        (each.subject.name, each.text, each.object.name if each.object else None)
        for each in extract.statements
        if each.relation is relation
    ]


def test_bullets_under_a_label_are_facts_of_the_heading_above() -> None:
    assert said(read(PROJECT), Relation.PROJECT_ACHIEVEMENTS) == [
        ("АЛОР Брокер", "Ускорил ответы втрое", None),
        ("АЛОР Брокер", "Снизил расходы на 38 %", None),
    ]


def test_a_stack_names_technologies_and_sentences_say_how_they_were_used() -> None:
    extract = read(PROJECT)
    assert said(extract, Relation.PROJECT_TECH_STACK) == [
        ("АЛОР Брокер", "Python", "Python"),
        ("АЛОР Брокер", "RAG", "RAG"),
    ]
    assert said(extract, Relation.TECHNOLOGY_USAGE) == [("АЛОР Брокер", "RAG применён для выдержек.", "RAG")]


def test_labelled_values_keep_their_label_and_name_their_object() -> None:
    assert said(read(PROJECT), Relation.PROJECT_DETAILS) == [
        ("АЛОР Брокер", "Заказчик: брокерская компания АЛОР", "АЛОР"),
        ("АЛОР Брокер", "Роль: разработчик", None),
        ("АЛОР Брокер", "Помощник для поддержки.", None),
    ]


def test_a_person_has_a_job_contacts_and_employers() -> None:
    extract = read(PERSON)
    assert said(extract, Relation.CURRENT_JOB) == [
        ("Дмитрий Иванов", "Место работы: Aston, с марта 2023 года", "Aston")
    ]
    assert [text for _, text, _ in said(extract, Relation.CONTACTS)] == ["Телефон: +7 900 555-01-42", "t.me/dmitry"]
    assert said(extract, Relation.EXPERIENCE_SUMMARY) == [
        ("Дмитрий Иванов", "Северный Склад; Период: 2019 — 2023; Проекты: Маршрут, Учёт", "Северный Склад")
    ]
    assert said(extract, Relation.PROJECT_DETAILS) == [
        ("Северный Склад", "Маршрут", "Маршрут"),
        ("Северный Склад", "Учёт", "Учёт"),
    ]


def test_a_statement_stands_where_it_says() -> None:
    parsed = parse_markdown(PROJECT, name="файл.md")
    text = BLOCK_SEPARATOR.join(block.text for block in parsed.blocks)
    for statement in read(PROJECT).statements:
        assert text[statement.at :].startswith(statement.text.split(":")[0])


def test_prose_without_labels_states_nothing() -> None:
    extract = read("# Глава первая\n\nОднажды Дмитрий пошёл в лес. Роль его была велика, и стек был пуст.")
    assert extract == Extract()


def test_types_follow_the_evidence() -> None:
    types = {
        mention.of.name: mention.of.type for extract in (read(PERSON), read(PROJECT)) for mention in extract.mentions
    }
    assert types["АЛОР Брокер"] is EntityType.PROJECT
    assert types["Дмитрий Иванов"] is EntityType.PERSON
    assert types["Северный Склад"] is EntityType.ORGANIZATION


@pytest.mark.parametrize("filler", [" ", "a,", "„", "a, ", "(", "a ("])
def test_a_long_value_is_read_in_linear_time(filler: str) -> None:
    value = f"Python{filler * 50_000}RAG"
    began = time.thread_time()
    for label in ("Стек", "Заказчик"):
        block = Block(kind=BlockKind.PARAGRAPH, text=f"{label}: {value}", locator=Locator(headings=("АЛОР Брокер",)))
        read_structure([block], title="АЛОР", names_person=lambda name: False)
    assert time.thread_time() - began < 2


def test_a_quoted_sentence_is_no_name() -> None:
    sentence = "очень " * 40
    extract = read(f"# АЛОР Брокер\n\nЗаказчик: «{sentence}»\n\nСтек: Python\n")
    assert [each.object for each in extract.statements if each.text.startswith("Заказчик")] == [None]
