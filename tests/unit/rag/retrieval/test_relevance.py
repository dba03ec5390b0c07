"""What counts as found."""

import pytest

from rag.retrieval.relevance import is_certain, is_noise
from rag.retrieval.spelling import other_spellings
from tests.fakes.rag import make_candidate


@pytest.mark.parametrize(
    ("bm25", "similarity", "model", "noise"),
    [
        (0.1, None, "jina-embeddings-v3", False),  # a word of the question stands in it
        (None, 0.1, "jina-embeddings-v3", True),
        (None, 0.3, "jina-embeddings-v3", False),
        (None, 0.04, "offline-2", True),
        (None, 0.2, "offline-2", False),
        (None, 0.05, "some-other-model", True),
        (None, None, None, True),
    ],
)
def test_noise_has_neither_words_nor_nearness(
    bm25: float | None, similarity: float | None, model: str | None, noise: bool
) -> None:
    assert is_noise(make_candidate("t", bm25=bm25, similarity=similarity), model=model) is noise


@pytest.mark.parametrize(
    ("held", "similarity", "model", "certain"),
    [
        ({"срок", "аренда"}, None, None, True),  # two terms of four
        ({"срок"}, None, None, False),
        ({"срок"}, 0.6, "jina-embeddings-v3", True),  # said in other words
        ({"срок"}, 0.9, "offline-2", False),  # letters alone vouch for nothing
    ],
)
def test_certain_is_half_of_the_terms_or_a_near_meaning(
    held: set[str], similarity: float | None, model: str | None, certain: bool
) -> None:
    asked = {"срок", "аренда", "склад", "продление"}

    assert is_certain(asked, held, similarity=similarity, model=model) is certain


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ({"вайфай"}, {"wifi", "wi", "fi", "роутер"}),  # the other alphabet
        ({"роутре", "офис"}, {"роутер", "этаж"}),  # a typo
        ({"таймаут", "тайм", "аут"}, {"таймаут", "соединение"}),  # «тайм-аут»: its parts are no words by themselves
        ({"pg-15", "pg", "15", "pg15"}, {"pg15", "бэкап"}),
        ({"айпи", "адрес"}, {"ip", "сеть"}),  # letters by their names, however short
    ],
)
def test_a_word_in_another_spelling_counts_as_standing_there(asked: set[str], held: set[str]) -> None:
    spellings = other_spellings(sorted(asked), asked)

    assert is_certain(asked, held, similarity=None, model=None, spellings=spellings)


def test_a_part_of_a_word_that_does_not_stand_there_does_not_count() -> None:
    assert not is_certain({"таймаут", "тайм", "аут"}, {"аут"}, similarity=None, model=None)


def test_a_short_word_that_only_sounds_alike_does_not_count() -> None:
    asked = ["дочь", "алсу"]

    assert not is_certain(set(asked), {"doc"}, similarity=None, model=None, spellings=other_spellings(asked, {"алсу"}))
