"""One entity for all names of a document, and facts with their passages."""

from collections.abc import Sequence

from adapters.entities.names import NameForms
from domain.ids import ChunkId
from ingestion.entities.merging import gather, merge
from ingestion.entities.records import (
    EntityName,
    EntityType,
    Extract,
    Mention,
    NewEntities,
    PassageSpan,
    RegisteredEntity,
    Relation,
    Statement,
)

NAMES = NameForms()
ALOR = EntityName(type=EntityType.PROJECT, name="АЛОР Брокер")
SPANS = (PassageSpan(chunk=ChunkId(7), start=0, end=50), PassageSpan(chunk=ChunkId(8), start=40, end=90))


def merged(*extracts: Extract, known: Sequence[RegisteredEntity] = ()) -> NewEntities:
    return merge(extracts, gather(extracts, NAMES), known=known, spans=SPANS, names=NAMES)


def mentioned(name: str, kind: EntityType = EntityType.PERSON, *, confidence: float = 1.0) -> Extract:
    return Extract(mentions=(Mention(of=EntityName(type=kind, name=name), at=0, confidence=confidence),))


def registered(canonical: str, name: str, key: str, *, weight: float) -> RegisteredEntity:
    return RegisteredEntity(canonical=canonical, type=EntityType.PERSON, name=name, key=key, weight=weight)


def achieved(text: str, at: int) -> Extract:
    statement = Statement(subject=ALOR, relation=Relation.PROJECT_ACHIEVEMENTS, text=text, at=at)
    return Extract(mentions=(Mention(of=ALOR, at=0),), statements=(statement,))


def test_forms_of_a_name_are_one_entity() -> None:
    found = merged(mentioned("Alor Broker", EntityType.PROJECT), mentioned("АЛОР Брокер", EntityType.PROJECT))
    assert [(entity.canonical, entity.count) for entity in found.entities] == [("project:alor-broker", 2)]


def test_a_guess_gives_way_to_what_the_structure_says() -> None:
    found = merged(achieved("Успех", 0), mentioned("АЛОР Брокер", EntityType.ORGANIZATION, confidence=0.7))
    assert [entity.canonical for entity in found.entities] == ["project:alor-broker"]


def test_an_ordinary_word_that_is_guessed_to_be_a_name_is_dropped() -> None:
    assert merged(mentioned("Город", EntityType.PLACE, confidence=0.7)) == NewEntities()


def test_an_id_that_the_base_has_is_taken_over() -> None:
    known = registered("person:dmitry-ivanov", "Dmitry Ivanov", "dmitri ivanov", weight=1.0)
    assert merged(mentioned("Дмитрий Иванов"), known=[known]).entities[0].canonical == "person:dmitry-ivanov"


def test_a_first_name_is_the_only_person_of_that_name() -> None:
    one = registered("person:dmitrij-ivanov", "Дмитрий Иванов", "dmitri", weight=0.8)
    two = registered("person:dmitrij-petrov", "Дмитрий Петров", "dmitri", weight=0.8)
    guess = mentioned("Дмитрий", confidence=0.7)
    assert merged(guess, known=[one]).entities[0].canonical == "person:dmitrij-ivanov"
    assert merged(guess, known=[one, two]).entities[0].canonical == "person:dmitrij"


def test_beginnings_and_surnames_are_found_too_and_weigh_less() -> None:
    weights = {alias.key: alias.weight for alias in merged(mentioned("Дмитрий Иванов")).aliases}
    assert weights["dmitri ivanov"] == 1.0
    assert weights["dmitri"] == weights["ivanov"] < 1.0


def test_an_ordinary_word_is_no_beginning_and_counts_only_as_a_name() -> None:
    long, short = (
        merged(mentioned("Каталог запчастей", EntityType.PROJECT)),
        merged(mentioned("Кедр", EntityType.PROJECT)),
    )
    assert "katalog" not in {alias.key for alias in long.aliases}
    assert all(alias.as_name for alias in short.aliases)


def test_what_is_quoted_in_a_name_is_a_name() -> None:
    keys = {alias.key: alias.weight for alias in merged(mentioned("Студия «Кедр»", EntityType.ORGANIZATION)).aliases}
    assert keys["kedr"] == 1.0


def test_a_fact_has_the_first_passage_that_holds_it_and_is_said_once() -> None:
    found = merged(achieved("Успех", 45), achieved("успех", 60), achieved("Ещё", 89), achieved("Вне", 200))
    assert [(fact.text, fact.chunk) for fact in found.facts] == [("Успех", 7), ("Ещё", 8)]
