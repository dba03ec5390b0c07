"""Which entities a question names."""

from collections.abc import Sequence

import pytest

from adapters.names import NameForms
from domain.ids import BaseId
from rag.entities import NamedEntity, RegistryResolver

BASE = BaseId("base")


def entity(name: str, key: str, *, weight: float = 1.0, as_name: bool = False, facts: int = 3) -> NamedEntity:
    """`name` is also the id's; its type is before the colon."""
    kind, shown = name.split(":")
    return NamedEntity(
        id=name,
        type=kind,
        name=shown,
        forms=(shown,),
        key=key,
        weight=weight,
        as_name=as_name,
        confidence=1.0,
        facts=facts,
    )


ALOR = (entity("project:АЛОР Брокер", "alor broker"), entity("project:АЛОР Брокер", "alor", weight=0.8))
CUSTOMER = entity("organization:АЛОР", "alor", facts=0)
DMITRY = tuple(
    entity("person:Дмитрий Иванов", key, weight=weight) for key, weight in (("dmitri ivanov", 1.0), ("dmitri", 0.8))
)


class Registry:
    """Entities by key; how often it was asked."""

    def __init__(self, *entities: NamedEntity) -> None:
        self._entities = entities
        self.asked = 0

    async def named(self, base: BaseId, keys: Sequence[str], *, limit: int) -> list[NamedEntity]:
        self.asked += 1
        return [each for each in self._entities if each.key in keys][:limit]


async def resolve(question: str, *entities: NamedEntity, earlier: str = "") -> list[tuple[str, float]]:
    registry = Registry(*entities)
    found = await RegistryResolver(registry, NameForms()).resolve(BASE, question, earlier=earlier)
    assert registry.asked <= 1
    return [(each.name, each.confidence) for each in found]


@pytest.mark.parametrize("form", ["АЛОР", "Алора", "в Алоре", "«Алор Брокер»", "alor-broker", "Alor Broker", "алор"])
async def test_every_form_leads_to_the_project(form: str) -> None:
    found = await resolve(f"Достижения на проекте {form}", *ALOR, CUSTOMER)
    assert found[0][0] == "АЛОР Брокер"


async def test_an_ambiguous_name_gives_several_with_their_confidence() -> None:
    assert await resolve("Что с АЛОР?", *ALOR, CUSTOMER) == [("АЛОР Брокер", 0.8), ("АЛОР", 0.7)]


async def test_a_longer_name_hides_what_its_words_mean_alone() -> None:
    assert await resolve("Достижения АЛОР Брокер", *ALOR, CUSTOMER) == [("АЛОР Брокер", 1.0)]


async def test_a_bare_first_name_is_the_person_of_whom_more_is_known() -> None:
    bare = entity("person:Дмитрий", "dmitri", facts=0)
    assert await resolve("Где работает Дмитрий?", *DMITRY, bare) == [("Дмитрий Иванов", 0.8)]


async def test_ordinary_words_match_only_as_names() -> None:
    cedar = entity("organization:Кедр", "kedr", as_name=True)
    assert await resolve("какой кедр растёт", cedar) == []
    assert await resolve("проекты в Кедре", cedar) == [("Кедр", 1.0)]
    assert await resolve("нет, я про другое", entity("technology:PRO-режим", "pro", weight=0.8)) == []


async def test_what_was_named_before_comes_after_and_is_less_sure() -> None:
    rag = entity("technology:RAG", "rag")
    assert await resolve("А где RAG?", *DMITRY, rag, earlier="Контакты Дмитрия") == [
        ("RAG", 1.0),
        ("Дмитрий Иванов", 0.4),
    ]


async def test_a_question_without_words_asks_nobody() -> None:
    assert await resolve("?!", *ALOR) == []
