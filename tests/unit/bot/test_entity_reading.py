"""What of a model's reading is taken: nothing that does not stand in the part."""

from bot.entity_reading import ReadEntity, ReadFact, ReadPart, checked
from ingestion.entities.records import EntityType, Relation

TEXT = "В Алоре Дмитрий внедрил RAG\nи сократил время ответа на 40 %."


def answer(*quotes: str, name: str = "АЛОР Брокер", alias: str = "Алоре") -> ReadPart:
    return ReadPart(
        entities=[ReadEntity(name=name, type=EntityType.PROJECT, aliases=[alias])],
        facts=[ReadFact(entity=name, relation=Relation.PROJECT_ACHIEVEMENTS, quote=quote) for quote in quotes],
    )


def test_a_fact_is_its_quotation_and_stands_where_it_stands() -> None:
    (fact,) = checked(answer("внедрил RAG и сократил время"), TEXT, start=100, known=()).statements
    assert fact.text == "внедрил RAG и сократил время"
    assert fact.at == 100 + TEXT.index("внедрил")


def test_what_does_not_stand_in_the_part_is_thrown_away() -> None:
    assert checked(answer("сократил время на 60 %", "", "  "), TEXT, start=0, known=()).statements == ()


def test_a_name_that_does_not_stand_there_needs_to_be_known() -> None:
    made_up = answer("внедрил RAG", name="Ромашка", alias="Лютик")
    assert checked(made_up, TEXT, start=0, known=()).mentions == ()
    (mention,) = checked(made_up, TEXT, start=0, known=("Ромашка",)).mentions
    assert mention.forms == ()


def test_a_fact_of_nobody_is_thrown_away() -> None:
    part = ReadPart(facts=[ReadFact(entity="Кто-то", relation=Relation.CONTACTS, quote="внедрил RAG")])
    assert checked(part, TEXT, start=0, known=()).statements == ()
