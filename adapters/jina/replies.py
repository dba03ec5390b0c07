"""Reads Jina's replies and believes nothing: count, order, size and finite numbers are checked.

In: bodies of 200 replies. Out: vectors, or (index, relevance) pairs; ValueError for whatever does not fit.
"""

import base64
import math

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

Vectors = npt.NDArray[np.float64]

_SHORTEST_LENGTH = 1e-6  # a vector of length 0 points nowhere


class _Embedding(BaseModel):
    index: int
    embedding: str | list[float]  # base64 of little-endian float32, or numbers


class _Embeddings(BaseModel):
    data: list[_Embedding]


class _Relevance(BaseModel):
    index: int
    relevance_score: float


class _Relevances(BaseModel):
    results: list[_Relevance]


def read_embeddings(content: bytes, *, count: int, dimensions: int) -> Vectors:
    """`count` L2-normalised vectors in the order of the inputs, a row each. Raises ValueError."""
    found = sorted(_Embeddings.model_validate_json(content).data, key=lambda item: item.index)
    if [item.index for item in found] != list(range(count)):
        raise ValueError(f"{len(found)} vectors for {count} texts, or wrongly numbered")
    vectors = [_decode(item.embedding) for item in found]
    if any(len(vector) != dimensions for vector in vectors):
        raise ValueError(f"a vector that does not have {dimensions} numbers")
    return _normalise(np.stack(vectors))


def _decode(embedding: str | list[float]) -> Vectors:
    if isinstance(embedding, list):
        return np.array(embedding, dtype=np.float64)
    return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float64)


def _normalise(vectors: Vectors) -> Vectors:
    """Length 1 to the last digit; float32 and servers that do not honour `normalized` leave it elsewhere."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths < _SHORTEST_LENGTH).any():
        raise ValueError("a vector that is not finite, or has no length")
    normalised: Vectors = vectors / lengths
    return normalised


def read_relevances(content: bytes, *, count: int) -> list[tuple[int, float]]:
    """(index, relevance), best first, each index of `count` passages at most once. Raises ValueError."""
    results = _Relevances.model_validate_json(content).results
    pairs = [(result.index, result.relevance_score) for result in results]
    indices = {index for index, _ in pairs}
    if not pairs or len(indices) != len(pairs) or not indices <= set(range(count)):
        raise ValueError(f"indices that are not those of {count} passages")
    if not all(math.isfinite(score) for _, score in pairs):
        raise ValueError("a relevance that is not a finite number")
    return sorted(pairs, key=lambda pair: -pair[1])
