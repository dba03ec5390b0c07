"""The offline embedder: what is near, and that it never gives a vector that cannot be compared."""

import asyncio
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.lexical import RussianEnglishAnalyzer
from benchmarks.hashed import DIMENSIONS, MODEL, OfflineEmbedder
from ingestion.ports import Embedder
from ingestion.records import Vector
from rag.ports import QueryEmbedder
from tests.unit.adapters.windows import window_of

EMBEDDER = OfflineEmbedder(RussianEnglishAnalyzer())


def similarity(one: str, other: str) -> float:
    return float(np.dot(EMBEDDER.embed(one), EMBEDDER.embed(other)))


def test_it_meets_both_ports() -> None:
    for_documents: Embedder = EMBEDDER
    for_questions: QueryEmbedder = EMBEDDER
    assert for_documents.model == for_questions.model == MODEL


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("восстановелние сервера", "Восстановление сервера из копии"),  # a typo
        ("балансировщк нагрузки", "Создание балансировщика нагрузки"),  # a typo and another form
        ("kubernets", "Кластер Kubernetes"),  # a typo in a name
        ("автомасштаб", "Включите автомасштабирование"),  # the beginning of a word
    ],
)
def test_nearly_the_same_words_are_nearer_than_others(question: str, passage: str) -> None:
    assert similarity(question, passage) > similarity(question, "Оплата услуг банковской картой") + 0.1


def test_forms_of_a_word_are_near() -> None:
    assert similarity("виртуальная машина", "виртуальными машинами") > 0.7


def test_a_text_is_as_near_to_itself_as_can_be() -> None:
    assert similarity("База знаний", "База знаний") == pytest.approx(1)


async def test_own_chunks_of_a_window_get_vectors_as_alone() -> None:
    window = window_of("первый", "второй", "третий", own=(1, 3))
    assert await EMBEDDER.embed_windows([window]) == [[EMBEDDER.embed("второй"), EMBEDDER.embed("третий")]]


async def test_questions_are_embedded_like_passages() -> None:
    assert await EMBEDDER.embed_query("диск") == EMBEDDER.embed("диск")


def test_vectors_stay_what_they_are_between_versions() -> None:
    """A change here means that stored vectors no longer compare: raise the number in MODEL."""
    rounded = np.round(np.array(EMBEDDER.embed("База знаний, PG-15")), 4) + 0.0
    assert (MODEL, zlib.crc32(rounded.astype("<f4").tobytes())) == ("offline-2", 4103704039)


@given(st.text())
def test_any_text_has_a_vector_of_length_one(text: str) -> None:
    vector = EMBEDDER.embed(text)
    assert len(vector) == DIMENSIONS
    assert float(np.linalg.norm(vector)) == pytest.approx(1)


def test_many_threads_agree() -> None:
    async def embed_together() -> list[list[list[Vector]]]:
        windows = [window_of("общий текст", f"свой текст {number}") for number in range(4)]
        return await asyncio.gather(*(EMBEDDER.embed_windows(windows) for _ in range(4)))

    results = asyncio.run(embed_together())
    assert all(result == results[0] for result in results)
