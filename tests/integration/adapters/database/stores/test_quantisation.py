"""Sketches of vectors keep neighbours together, also of a narrow model whose vectors all lean to one side."""

import uuid

import numpy as np
import psycopg
import pytest

from benchmarks.synthetic import DIMENSIONS, Halves, MadeBase, Vectors, make_base, store_base
from tests.database import Server

SIZE, WIDTH, NEAREST, CANDIDATES = 3_000, 384, 30, 200


def leaning_base() -> MadeBase:
    """As e5's vectors are: 384 numbers, and any two passages have a cosine of about .8."""
    base = make_base(1, SIZE, questions=20)
    lean = np.random.default_rng(2).standard_normal(WIDTH)
    lean *= 2 / np.linalg.norm(lean)

    def leaned(given: Vectors | Halves) -> Halves:
        rows = given.astype(np.float32)
        narrow = rows[:, :WIDTH] / np.linalg.norm(rows[:, :WIDTH], axis=1, keepdims=True) + lean
        narrow /= np.linalg.norm(narrow, axis=1, keepdims=True)
        padded: Halves = np.pad(narrow, ((0, 0), (0, DIMENSIONS - WIDTH))).astype(np.float16)
        return padded

    questions = leaned(base.questions).astype(np.float32)
    return MadeBase(id=uuid.uuid4(), vectors=leaned(base.vectors), questions=questions)


@pytest.fixture
def connection(database_server: Server, database: str) -> psycopg.Connection:
    """A superuser's, where every base of more than a thousand passages gets a segment."""
    connection = psycopg.connect(database_server.superuser_url(database), autocommit=True)
    connection.execute("set search_path = public, baza_internal, extensions")
    connection.execute(
        "create or replace function baza_internal.exact_scan_limit() returns int language sql as 'select 1000'"
    )
    return connection


def test_the_nearest_passages_are_among_the_nearest_by_their_bits(connection: psycopg.Connection) -> None:
    base = leaning_base()
    with connection:
        store_base(connection, base)
        connection.execute("select ensure_vector_segments()")
        stored = connection.execute("select id from documents_chunks where base_id = %s order by id", [base.id])
        ids = [row[0] for row in stored]
        held = [
            len(near(connection, base, number) & {ids[place] for place in best}) / NEAREST
            for number, best in enumerate(base.nearest(NEAREST))
        ]
    assert np.mean(held) >= 0.99


def near(connection: psycopg.Connection, base: MadeBase, number: int) -> set[int]:
    vector = str(base.questions[number].tolist())
    scan = "scan_segment(base_id, name, quantised(v, thresholds), v, model, null, %s, 1000)"
    asked = f"select chunk_id from (select %s::halfvec v) q, vector_segments, {scan} where base_id = %s"
    return {row[0] for row in connection.execute(asked.encode(), [vector, CANDIDATES, base.id])}
