"""Jina's replies: nothing in them is believed."""

import base64
import json

import numpy as np
import pytest

from adapters.jina.models import read_embeddings, read_relevances


def embeddings(*vectors: object, order: list[int] | None = None) -> bytes:
    indices = order or list(range(len(vectors)))
    data = [{"index": index, "embedding": vector} for index, vector in zip(indices, vectors, strict=True)]
    return json.dumps({"data": data}).encode()


def relevances(*pairs: tuple[int, float]) -> bytes:
    return json.dumps({"results": [{"index": index, "relevance_score": score} for index, score in pairs]}).encode()


def test_vectors_come_in_the_order_of_their_index() -> None:
    read = read_embeddings(embeddings([0, 1], [1, 0], order=[1, 0]), count=2, dimensions=2)
    assert read.tolist() == [[1, 0], [0, 1]]


def test_vectors_are_brought_to_length_one() -> None:
    assert read_embeddings(embeddings([3, 4]), count=1, dimensions=2).tolist() == [[0.6, 0.8]]


def test_base64_is_read_like_numbers() -> None:
    packed = base64.b64encode(np.array([3, 4], dtype="<f4").tobytes()).decode()
    assert read_embeddings(embeddings(packed), count=1, dimensions=2).tolist() == [[0.6, 0.8]]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        embeddings(),
        embeddings([1, 0], [1, 0], [1, 0]),  # one too many
        embeddings([1, 0], [1, 0], order=[0, 0]),  # the same twice
        embeddings([1, 0], [1, 0], order=[1, 2]),  # counted from 1
        embeddings([1, 0], [1, 0, 0]),  # a longer one
        embeddings([1, 0], [0, 0]),  # no direction
        embeddings([1, 0], [float("nan"), 1]),
        embeddings([1, 0], [float("inf"), 1]),
        embeddings([1, 0], "AAA"),  # no base64
        embeddings([1, 0], "AAAA"),  # no whole float
        embeddings([1, 0], None),
    ],
)
def test_embeddings_that_make_no_sense_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_embeddings(content, count=2, dimensions=2)


def test_relevances_come_best_first() -> None:
    assert read_relevances(relevances((1, 0.1), (0, 0.9)), count=2) == [(0, 0.9), (1, 0.1)]


@pytest.mark.parametrize(
    "content",
    [
        b"null",
        relevances(),
        relevances((2, 0.5)),  # no such passage
        relevances((-1, 0.5)),
        relevances((0, 0.5), (0, 0.4)),  # the same twice
        relevances((0, float("nan"))),
    ],
)
def test_relevances_that_make_no_sense_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_relevances(content, count=2)
