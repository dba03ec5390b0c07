"""What counts as found."""

import pytest

from rag.records import Fit
from rag.retrieval.ranking import fit_of, is_noise
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


EQUAL = dict.fromkeys(("срок", "аренда", "склад", "продление"), 1.0)


@pytest.mark.parametrize(
    ("asked", "held", "similarity", "model", "fit"),
    [
        (EQUAL, {"срок", "аренда"}, None, None, Fit.CERTAIN),  # two terms of four
        (EQUAL, {"срок"}, None, None, Fit.RELATED),
        (EQUAL, {"ремонт"}, None, None, Fit.CHANCE),
        (EQUAL, {"срок"}, 0.6, "jina-embeddings-v3", Fit.CERTAIN),  # said in other words
        (EQUAL, {"срок"}, 0.9, "offline-2", Fit.RELATED),  # letters alone vouch for nothing
        ({"кто": 0.5, "такой": 1.0, "наполеон": 6.0}, {"кто", "такой"}, None, None, Fit.CHANCE),  # who is not there
        ({"какой": 0.5, "срок": 1.0, "ротонда": 6.0}, {"ротонда"}, None, None, Fit.CERTAIN),  # the rare word is
    ],
)
def test_rare_words_of_the_question_or_a_near_meaning_tell_how_a_passage_fits(
    asked: dict[str, float], held: set[str], similarity: float | None, model: str | None, fit: Fit
) -> None:
    assert fit_of(asked, held, similarity=similarity, model=model) is fit


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

    assert fit_of(dict.fromkeys(asked, 1.0), held, similarity=None, model=None, spellings=spellings) is Fit.CERTAIN


def test_a_part_of_a_word_that_does_not_stand_there_does_not_count() -> None:
    asked = {"таймаут": 1.0, "тайм": 1.0, "аут": 1.0}

    assert fit_of(asked, {"аут"}, similarity=None, model=None) is not Fit.CERTAIN


def test_a_short_word_that_only_sounds_alike_does_not_count() -> None:
    asked = ["дочь", "алсу"]

    spellings = other_spellings(asked, {"алсу"})

    assert fit_of(dict.fromkeys(asked, 1.0), {"doc"}, similarity=None, model=None, spellings=spellings) is Fit.CHANCE
