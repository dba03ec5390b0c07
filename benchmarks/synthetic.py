"""Bases of made vectors, of any size, whose neighbourhoods are like those of a real encoder.

In: sizes of bases. Out: vectors and questions (numpy), and the same as rows of an embedded PostgreSQL that is migrated
already, copied straight into the tables. Made for measuring search by vector; no words are in these passages.
"""

import struct
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import psycopg
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Halves = NDArray[np.float16]

MODEL = "synthetic"
DIMENSIONS = 1024
PASSAGES_A_DOCUMENT = 20
PASSAGES_A_TOPIC = 200
ROWS_A_BATCH = 2_000
ROWS_A_DRAW = 10_000

# Set so that 2,829 passages and their questions are spread as the sections of the VK Cloud documentation and its
# questions are by all-MiniLM-L6-v2: cosine of a question to its nearest passage .57 (.63 there), to the thirtieth .37
# (.37), intrinsic dimension around a question 18 (18), around a passage 18 (10).
LATENT = 48
TOPIC, DOCUMENT, OWN, NOISE = 0.5, 0.5, 0.7, 0.4

_VECTOR_HEAD = struct.pack(">hh", DIMENSIONS, 0)


@dataclass(frozen=True, kw_only=True)
class MadeBase:
    """One owner's vectors, a row a passage, and questions about them; all of length 1, rounded as halfvec rounds. A
    million takes 2 GB."""

    id: uuid.UUID
    vectors: Halves
    questions: Vectors

    @property
    def size(self) -> int:
        """Passages."""
        return len(self.vectors)

    def nearest(self, count: int) -> list[list[int]]:
        """For each question the places of its `count` nearest passages, nearest first: the exact answer."""
        closeness = np.empty((len(self.questions), self.size), dtype=np.float32)
        for first in range(0, self.size, ROWS_A_DRAW):
            some = self.vectors[first : first + ROWS_A_DRAW].astype(np.float32)
            closeness[:, first : first + len(some)] = self.questions @ some.T
        return [_largest(each, count) for each in closeness]


def _largest(numbers: Vectors, count: int) -> list[int]:
    some = np.argpartition(-numbers, min(count, len(numbers)) - 1)[:count]
    return [int(place) for place in some[np.argsort(-numbers[some], kind="stable")]]


def make_base(number: int, size: int, *, questions: int) -> MadeBase:
    """The same for the same `number` and `size`."""
    generator = np.random.default_rng([number, size])
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((DIMENSIONS, LATENT)))[0].T.astype(np.float32)
    topics = _directions(generator, max(4, size // PASSAGES_A_TOPIC), LATENT)
    documents = DOCUMENT * _directions(generator, max(1, size // PASSAGES_A_DOCUMENT), LATENT)
    documents += TOPIC * topics[generator.integers(0, len(topics), len(documents))]

    def draw(count: int) -> Halves:
        place = documents[generator.integers(0, len(documents), count)] + OWN * _directions(generator, count, LATENT)
        return _unit(place @ axes + NOISE * _directions(generator, count, DIMENSIONS)).astype(np.float16)

    vectors = np.empty((size, DIMENSIONS), dtype=np.float16)
    for first in range(0, size, ROWS_A_DRAW):
        vectors[first : first + ROWS_A_DRAW] = draw(min(ROWS_A_DRAW, size - first))
    return MadeBase(
        id=uuid.UUID(int=number << 64 | size), vectors=vectors, questions=draw(questions).astype(np.float32)
    )


def _directions(generator: np.random.Generator, count: int, dimensions: int) -> Vectors:
    return _unit(generator.standard_normal((count, dimensions), dtype=np.float32))


def _unit(rows: Vectors) -> Vectors:
    lengths: Vectors = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths


def store_base(connection: psycopg.Connection, base: MadeBase) -> None:
    """Documents and passages of `base` in its own order, visible and ready."""
    batch = uuid.uuid5(base.id, "batch")
    documents = [uuid.uuid5(base.id, str(number)) for number in range(0, base.size, PASSAGES_A_DOCUMENT)]
    with connection.transaction():
        connection.execute("set local synchronous_commit = off")
        connection.execute(
            "insert into bases (id, kind, name, passages, terms) values (%s, 'named', %s, %s, %s)",
            [base.id, str(base.id), base.size, base.size],
        )
        connection.execute("insert into batches (id, base_id) values (%s, %s)", [batch, base.id])
        with connection.cursor() as cursor:
            cursor.executemany(
                "insert into documents (id, base_id, batch_id, position, user_id, source_type, source_identifier,"
                " title, status, visible, chunks) values (%s, %s, %s, %s, 0, 'note', %s, %s, 'ready', true, %s)",
                [
                    (
                        one,
                        base.id,
                        batch,
                        at,
                        str(at),
                        str(at),
                        min(PASSAGES_A_DOCUMENT, base.size - at * PASSAGES_A_DOCUMENT),
                    )
                    for at, one in enumerate(documents)
                ],
            )
        _copy_passages(connection, base, documents)


def _copy_passages(connection: psycopg.Connection, base: MadeBase, documents: Sequence[uuid.UUID]) -> None:
    columns = "base_id, document_id, ordinal, text, span_start, span_end, length, model, embedding"
    copying = f"copy documents_chunks ({columns}) from stdin with (format binary)"
    with connection.cursor() as cursor, cursor.copy(copying.encode()) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        for first in range(0, base.size, ROWS_A_BATCH):
            copy.write(b"".join(_rows(base, documents, first)))
        copy.write(b"\xff\xff")


def vector_rows(base: MadeBase) -> Iterator[bytes]:
    """`place bigint, embedding halfvec` from place 1, for a binary COPY."""
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    for first in range(0, base.size, ROWS_A_BATCH):
        halves = base.vectors[first : first + ROWS_A_BATCH].astype(">f2")
        yield b"".join(
            _row(struct.pack(">q", place), _VECTOR_HEAD + half.tobytes())
            for place, half in enumerate(halves, start=first + 1)
        )
    yield b"\xff\xff"


def _row(*fields: bytes) -> bytes:
    """In the binary form of COPY: how many fields, then each with its length before it."""
    return struct.pack(">h", len(fields)) + b"".join(struct.pack(">i", len(one)) + one for one in fields)


def _rows(base: MadeBase, documents: Sequence[uuid.UUID], first: int) -> Iterator[bytes]:
    halves = base.vectors[first : first + ROWS_A_BATCH].astype(">f2")
    for place, half in enumerate(halves, start=first):
        number, ordinal = divmod(place, PASSAGES_A_DOCUMENT)
        text = f"{place}".encode()
        yield _row(
            base.id.bytes,
            documents[number].bytes,
            struct.pack(">i", ordinal),
            text,
            struct.pack(">i", 0),
            struct.pack(">i", len(text)),
            struct.pack(">i", 1),
            MODEL.encode(),
            _VECTOR_HEAD + half.tobytes(),
        )
