"""What of a model's reading is taken: nothing that does not stand in the part."""

import pytest

from adapters.llm.structured import read_record
from adapters.names import NameForms
from bot.enrichment import ReadableText, ReadEntity, ReadFact, ReadPart, checked
from domain.names import Relation
from ingestion.entities.records import EntityType, Extract

NAMES = NameForms()
TEXT = "В Алоре Дмитрий внедрил RAG\nи сократил время ответа на 40 %."


def answer(*quotes: str, name: str = "АЛОР Брокер", alias: str = "Алоре") -> ReadPart:
    return ReadPart(
        entities=[ReadEntity(name=name, type=EntityType.PROJECT, aliases=[alias])],
        facts=[ReadFact(entity=name, relation=Relation.PROJECT_ACHIEVEMENTS, quote=quote) for quote in quotes],
    )


def read(answer: ReadPart, text: str = TEXT, *, start: int = 0, known: tuple[str, ...] = ()) -> Extract:
    return checked(answer, ReadableText(text, NAMES), start=start, known=known)


def test_a_fact_is_its_quotation_and_stands_where_it_stands() -> None:
    (fact,) = read(answer("внедрил RAG и сократил время"), start=100).statements
    assert fact.text == "внедрил RAG и сократил время"
    assert fact.at == 100 + TEXT.index("внедрил")


def test_what_does_not_stand_in_the_part_is_thrown_away() -> None:
    assert read(answer("сократил время на 60 %", "", "  ")).statements == ()


def test_a_name_that_does_not_stand_there_needs_to_be_known() -> None:
    made_up = answer("внедрил RAG", name="Ромашка", alias="Лютик")
    assert read(made_up).mentions == ()
    (mention,) = read(made_up, known=("Ромашка",)).mentions
    assert mention.forms == ()


def test_a_fact_of_nobody_is_thrown_away() -> None:
    part = ReadPart(facts=[ReadFact(entity="Кто-то", relation=Relation.CONTACTS, quote="внедрил RAG")])
    assert read(part).statements == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Рашид Галимов", "в лице коммерческого директора Рашида Галимова заключили договор"),
        ("Марина Олеговна Ткаченко", "в лице директора Ткаченко Марины Олеговны"),
        ("Белкина", "у папы приём у кардиолога Белкиной"),
        ("Нижний Тагил", "до склада Покупателя в Нижнем Тагиле"),
        ("Договор № 8 от 11.11.2024", "долг составляет 300 руб. по договору № 8 от 11.11.2024"),
    ],
)
def test_a_name_that_stands_there_in_another_form_is_taken(name: str, text: str) -> None:
    part = ReadPart(entities=[ReadEntity(name=name, type=EntityType.THING)])
    assert [mention.of.name for mention in read(part, text).mentions] == [name]


def test_a_name_does_not_stand_in_the_middle_of_a_word() -> None:
    part = ReadPart(entities=[ReadEntity(name="Лим", type=EntityType.PERSON)])
    assert read(part, "Олимпиада прошла").mentions == ()


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ('ООО "Ромашка" - арендатор', "ООО «Ромашка» — арендатор"),
        ("с даты приемки", "с даты приёмки"),
        ("agents that can leverage LLMs", "agents that can lever- age LLMs"),
        ("chat-optimized models", "chat- optimized models"),
        ("- Ускорил ответы", "Ускорил ответы"),
        ("Phone | (425) 111", "Phone | (425) 111"),
        ("you're using Rust...", "you’re using Rust"),
    ],
)
def test_signs_are_forgiven_and_the_documents_own_are_kept(quote: str, text: str) -> None:
    (fact,) = read(answer(quote), f"В Алоре {text}.").statements
    assert fact.text == text


def test_an_answer_that_the_token_limit_cut_is_read_as_far_as_it_goes() -> None:
    whole = answer("внедрил RAG", "сократил время ответа").model_dump_json()
    begun = whole.index('"facts":[') + len('"facts":[')
    counts = {len(read_record(whole[:cut], ReadPart).facts) for cut in range(begun, len(whole))}
    assert counts == {0, 1, 2}
