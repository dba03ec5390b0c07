"""One entity for all names of a document, and facts with their passages."""

from collections.abc import Sequence

import pytest

from adapters.names import NameForms
from domain.ids import ChunkId
from domain.names import Relation
from ingestion.entities.merging import gather, merge, spellings
from ingestion.entities.records import (
    EntityName,
    EntityType,
    Extract,
    Mention,
    NewEntities,
    PassageSpan,
    RegisteredEntity,
    Statement,
)

NAMES = NameForms()
ALOR = EntityName(type=EntityType.PROJECT, name="АЛОР Брокер")
IVAN = EntityName(type=EntityType.PERSON, name="Иван Петров")
SPANS = (PassageSpan(chunk=ChunkId(7), start=0, end=50), PassageSpan(chunk=ChunkId(8), start=40, end=90))


def merged(*extracts: Extract, known: Sequence[RegisteredEntity] = ()) -> NewEntities:
    return merge(extracts, gather(extracts, NAMES), known=known, spans=SPANS, names=NAMES)


def mentioned(name: str, kind: EntityType = EntityType.PERSON, *, confidence: float = 1.0) -> Extract:
    return Extract(mentions=(Mention(of=EntityName(type=kind, name=name), at=0, confidence=confidence),))


def registered(canonical: str, name: str, key: str, *, weight: float) -> RegisteredEntity:
    return RegisteredEntity(id=canonical, type=EntityType.PERSON, name=name, key=key, weight=weight)


def achieved(text: str, at: int) -> Extract:
    statement = Statement(subject=ALOR, relation=Relation.PROJECT_ACHIEVEMENTS, text=text, at=at)
    return Extract(mentions=(Mention(of=ALOR, at=0),), statements=(statement,))


def test_forms_of_a_name_are_one_entity() -> None:
    found = merged(mentioned("Alor Broker", EntityType.PROJECT), mentioned("АЛОР Брокер", EntityType.PROJECT))
    assert [(entity.canonical, entity.count) for entity in found.entities] == [("project:alor-broker", 2)]


def test_a_guess_gives_way_to_what_the_structure_says() -> None:
    found = merged(achieved("Успех", 0), mentioned("АЛОР Брокер", EntityType.ORGANIZATION, confidence=0.7))
    assert [entity.canonical for entity in found.entities] == ["project:alor-broker"]


def test_what_may_be_anything_is_what_the_base_knows_under_the_name() -> None:
    known = registered("person:denis-shmygal", "Денис Шмыгаль", "smigal", weight=0.8)
    (open_one,) = merged(mentioned("Шмыгаль", EntityType.THING, confidence=0.5), known=[known]).entities
    assert (open_one.canonical, open_one.type) == ("person:denis-shmygal", EntityType.PERSON)
    (thing,) = merged(mentioned("Шмыгаль", EntityType.THING, confidence=0.7), known=[known]).entities
    assert (thing.canonical, thing.type) == ("thing:shmygal", EntityType.THING)


def test_what_may_be_anything_gives_way_to_what_is_told_elsewhere_in_the_document() -> None:
    found = merged(
        mentioned("Хиллс", EntityType.PLACE, confidence=0.5), mentioned("Хиллс", EntityType.THING, confidence=0.7)
    )
    assert [entity.canonical for entity in found.entities] == ["thing:hills"]


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


def test_an_ordinary_word_that_a_model_has_read_as_a_name_stays() -> None:
    found = merged(mentioned("Маяк", EntityType.PROJECT, confidence=0.9))
    assert [entity.canonical for entity in found.entities] == ["project:mayak"]
    assert all(alias.as_name for alias in found.aliases)


def test_a_name_with_and_without_what_it_is_is_one_entity() -> None:
    found = merged(
        mentioned("Кедр", EntityType.ORGANIZATION), mentioned("Студия «Кедр»", EntityType.ORGANIZATION, confidence=0.9)
    )
    assert [entity.canonical for entity in found.entities] == ["organization:kedr"]


PYTHON = EntityName(type=EntityType.TECHNOLOGY, name="Python")


def stated(text: str, at: int, *, confidence: float = 1.0, about: EntityName | None = None) -> Extract:
    statement = Statement(
        subject=ALOR, relation=Relation.PROJECT_TECH_STACK, text=text, at=at, object=about, confidence=confidence
    )
    mentions = tuple(Mention(of=name, at=0) for name in (ALOR, about) if name)
    return Extract(mentions=mentions, statements=(statement,))


def test_what_the_model_says_again_is_stored_once() -> None:
    line, sentence = "Помощник. Находит ответ в тарифах.", "находит ответ в тарифах"
    found = merged(stated(line, 0), stated(sentence, 10, confidence=0.9))
    assert [fact.text for fact in found.facts] == [line]


def test_an_item_of_a_list_stands_for_the_list_that_the_model_quotes() -> None:
    found = merged(stated("Python", 6, about=PYTHON), stated("Стек: Python, RAG", 0, confidence=0.9, about=PYTHON))
    assert [fact.text for fact in found.facts] == ["Python"]


def test_what_structure_says_is_never_left_out() -> None:
    found = merged(stated("Роль: разработчик", 0), stated("Роль: старший разработчик", 40))
    assert [fact.text for fact in found.facts] == ["Роль: разработчик", "Роль: старший разработчик"]


def test_one_sentence_about_two_is_a_fact_of_each() -> None:
    rag = EntityName(type=EntityType.TECHNOLOGY, name="RAG")
    sentence = "Python и RAG"
    found = merged(*(stated(sentence, 0, confidence=0.9, about=about) for about in (PYTHON, rag)))
    assert [fact.object for fact in found.facts] == ["technology:python", "technology:rag"]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("Договор аренды нежилого помещения № 17/А", "договору 17/А"),
        ("Договор поставки № 45-П/2025", "договор № 45"),
        ("Договор № 8 от 11.11.2024", "договор №8"),
    ],
)
def test_a_document_is_found_by_its_kind_and_number(name: str, asked: str) -> None:
    wanted = spellings(NAMES.words(asked))
    aliases = merged(mentioned(name, EntityType.PROJECT, confidence=0.9)).aliases
    assert {alias.key for alias in aliases} & set(wanted)


def test_a_kind_alone_finds_no_document() -> None:
    aliases = merged(mentioned("Договор № 8 от 11.11.2024", EntityType.PROJECT, confidence=0.9)).aliases
    assert not {alias.key for alias in aliases} & set(spellings(NAMES.words("договор №")))


def test_what_is_too_long_for_an_index_is_no_name() -> None:
    long = " ".join(f"слово{number}" for number in range(400))
    mention = Mention(of=IVAN, at=0, forms=(long,))
    found = merged(mentioned(long), Extract(mentions=(mention,)))
    assert [entity.name for entity in found.entities] == [IVAN.name]
    assert max(len(alias.form) for alias in found.aliases) == len(IVAN.name)
