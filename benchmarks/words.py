"""Search by words in one base that grows: its processor time, and what a passage costs on the disk and to be indexed.

In: the data folder and sizes (`python -m benchmarks.words ../shared/data 10000 100000 500000`). Out: for each size p50
and p95 in ms of a whole search by the clock, of the processor time of this process and PostgreSQL together and of
PostgreSQL alone, by words and by words and vectors, each question's best of five rounds; kB a passage on the disk;
PostgreSQL's ms a passage to store it and for segments.

The first 10,000 passages are those of `growing`, stored by the calls that a worker makes. The others are copies of
them, made in SQL: the rarer words of each begin with a letter of another alphabet in one of several ways, so that the
vocabulary grows with the root of the number of passages. Texts stay as they are; vectors are those of `synthetic`. With
--home FOLDER the base is kept and grows from where it was, so that a step can be interrupted. 500,000 take some 7 GB.
"""

import argparse
import asyncio
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time

import psycopg

from adapters.database.embedded import embedded_database
from benchmarks.growing import FREQUENT_SHARE, HEAPS, grown, known_texts
from benchmarks.notes import server_ms, server_seconds
from benchmarks.search import PASSAGES_A_DOCUMENT, add_document, read_texts
from benchmarks.synthetic import MODEL, Vectors, make_base, vector_rows
from bot.app import Parts, open_parts
from bot.home import configure_logging
from bot.settings import Settings
from domain.ids import BaseId
from rag.retrieval.search import Retrieval

ASKED = "vkcloud/ru"  # whose questions
QUESTIONS = 100
SEED = 10_000  # passages that are stored as a worker stores them
ROUNDS = 5  # of which the best of each question counts; the first warms up: plans, and what is read from the disk
VECTOR_WEIGHT = 1.5  # to 1 for the words, as for a local model
FIRST_LETTERS = "абвгдежзийклмнопрстуфхцчшщъыьэюяabcdefghijklmnopqrstuvwxyz0123456789"

_HELD = "select b.passages from bases b where b.id = %(base)s"
_SEED = """
create temp table seed as
select row_number() over (order by c.id) as place, c.* from (
  select * from documents_chunks x where x.base_id = %(base)s order by x.id limit %(seed)s) c
"""
_FREQUENT = """
create temp table frequent as
select left(t.term, 5) collate "C" as beginning from seed s join baza_internal.chunk_terms t on t.chunk_id = s.id
group by 1 having count(distinct t.chunk_id) >= %(least)s
"""
_BATCH = "insert into batches (id, base_id) values (%(batch)s, %(base)s)"
_DOCUMENTS = """
insert into documents (id, base_id, batch_id, position, user_id, source_type, source_identifier, title, names, status,
  visible, chunks, terms)
select md5(d.id::text || %(copy)s)::uuid, d.base_id, %(batch)s, row_number() over (), 0, d.source_type,
  d.source_identifier, d.title, d.names, 'ready', true, d.chunks, d.terms
from documents d where d.id in (select s.document_id from seed s)
"""
_PASSAGES = """
insert into documents_chunks (id, base_id, document_id, ordinal, text, span_start, span_end, length, model, embedding)
select (%(runs)s::bigint << 8) + s.id, s.base_id, md5(s.document_id::text || %(copy)s)::uuid, s.ordinal, s.text,
  s.span_start, s.span_end, s.length, %(model)s, v.embedding
from seed s join vector v using (place) order by s.place
"""
_POSTINGS = """
insert into posting_lists (base_id, term, run, postings)
select t.base_id, case when f.beginning is null
    then translate(left(t.term, 1), %(letters)s, (%(turned)s::text[])[1 + turn.way]) || substr(t.term, 2)
    else t.term end, %(runs)s + t.run, t.postings
from (select distinct s.id >> 8 as run from seed s) r join posting_lists t using (run)
left join frequent f on f.beginning = left(t.term, 5)
cross join lateral (
  select abs(hashtext(%(copy)s || left(t.term, 5))::bigint) %% cardinality(%(turned)s::text[]) as way) turn
order by 2, 3 on conflict do nothing
"""
_COUNT = """
update bases b set passages = b.passages + seeds.passages, terms = b.terms + seeds.terms
from (select count(*) as passages, sum(s.length) as terms from seed s) seeds where b.id = %(base)s
"""
_MOVE_ON = "select setval('baza_internal.passage_runs', (select max(id) >> 8 from documents_chunks))"
_SIZES = """
select sum(pg_total_relation_size(c.oid)) filter (where c.relname = 'posting_lists'),
  sum(pg_total_relation_size(c.oid)) filter (where c.relname like 'posting_segment%%' or n.nspname = 'segments'),
  sum(pg_total_relation_size(c.oid))
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname in ('public', 'segments')
"""


class Vector:
    """Meets `rag.ports.QueryEmbedder`: the vector of each question, whatever it says."""

    model = MODEL

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._known: dict[str, list[float]] = {}

    async def embed_query(self, text: str) -> list[float]:
        """Another one for each text."""
        return self._known.setdefault(text, self._vectors[len(self._known) % len(self._vectors)].tolist())


async def store_seed(parts: Parts, base: BaseId, texts: Sequence[str]) -> None:
    """The first passages, in documents."""
    rest = iter(texts)
    for number in range(len(texts) // PASSAGES_A_DOCUMENT):
        await add_document(parts, base, number, list(islice(rest, PASSAGES_A_DOCUMENT)))


@contextmanager
def grower(url: str, base: BaseId) -> Iterator[psycopg.Connection]:
    """A connection with the seed and its frequent beginnings."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("set synchronous_commit = off; set work_mem = '256MB'; set search_path = public, extensions")
        connection.execute(_SEED, {"base": base, "seed": SEED})
        connection.execute("create temp table vector (place bigint, embedding halfvec(1024))")
        connection.execute("analyze seed")
        connection.execute(_FREQUENT, {"least": SEED * FREQUENT_SHARE})
        connection.execute("analyze frequent")
        yield connection


def give_vectors(connection: psycopg.Connection) -> None:
    """The seed's passages have vectors of the model that the others have."""
    _read_vectors(connection, 0)
    connection.execute(
        "update documents_chunks c set embedding = v.embedding, model = %s from seed s join vector v using (place)"
        " where c.id = s.id",
        [MODEL],
    )


def copy_seed(connection: psycopg.Connection, base: BaseId, copy: int) -> None:
    """One more copy of the seed, whole or not at all."""
    ways = max(1, round((copy + 1) ** HEAPS))
    turned = [FIRST_LETTERS, *("".join(map(chr, _other_letters(way))) for way in range(1, ways))]
    with connection.transaction():
        _read_vectors(connection, copy)
        last = connection.execute("select max(id) >> 8 from documents_chunks").fetchone() or (0,)
        values = {
            "base": base,
            "batch": uuid.uuid4(),
            "copy": str(copy),
            "runs": last[0],
            "model": MODEL,
            "letters": FIRST_LETTERS,
            "turned": turned,
        }
        for statement in (_BATCH, _DOCUMENTS, _PASSAGES, _POSTINGS, _COUNT, _MOVE_ON):
            connection.execute(statement, values)


def _other_letters(way: int) -> range:
    """Of an alphabet that no text has: two beginnings of one passage never become the same."""
    return range(0x4E00 + way * len(FIRST_LETTERS), 0x4E00 + (way + 1) * len(FIRST_LETTERS))


def _read_vectors(connection: psycopg.Connection, copy: int) -> None:
    connection.execute("truncate vector")
    with connection.cursor() as cursor, cursor.copy("copy vector from stdin with (format binary)") as rows:
        for part in vector_rows(make_base(copy, SEED, questions=1)):
            rows.write(part)


async def grow(parts: Parts, url: str, base: BaseId, data: Path, size: int) -> None:
    """As many passages as wanted, if there are fewer."""
    home = parts.settings.home
    with psycopg.connect(url) as connection:
        held = (connection.execute(_HELD, {"base": base}).fetchone() or (0,))[0]
    if held < SEED:
        began = server_seconds(home)
        await store_seed(parts, base, list(grown(known_texts(data), SEED)))
        print(f"storing: PostgreSQL {(server_seconds(home) - began) / SEED * 1000:.2f} ms a passage", flush=True)
    await asyncio.to_thread(_grow, url, base, held, size)


def _grow(url: str, base: BaseId, held: int, size: int) -> None:
    with grower(url, base) as connection:
        if held < SEED:
            give_vectors(connection)
        for copy in range(max(held, SEED) // SEED, size // SEED):
            copy_seed(connection, base, copy)
        if held < size:
            connection.execute("vacuum analyze")


async def index(parts: Parts, size: int) -> None:
    """Counts and segments, as the worker makes them."""
    home = parts.settings.home
    began = server_seconds(home)
    await parts.stores.search.ensure_index()
    taken = server_seconds(home) - began
    print(f"counts and segments: PostgreSQL {taken:.1f} s, {taken / size * 1000:.2f} ms a passage", flush=True)
    await parts.mirror.refresh()


async def measure(parts: Parts, base: BaseId, questions: Sequence[str]) -> None:
    """A line for words, and one for words and vectors."""
    embedder = Vector(make_base(0, SEED, questions=QUESTIONS).questions)
    for name, weight in (("words", 0.0), ("words and vectors", VECTOR_WEIGHT)):
        retrieval = Retrieval(
            parts.stores.search,
            embedder,
            parts.analyzer,
            None,
            candidates=parts.settings.answer.candidates,
            passages=parts.settings.answer.passages,
            lexical_weight=1.0,
            vector_weight=weight,
        )
        rounds = [[await _ask(parts, retrieval, base, question) for question in questions] for _ in range(ROUNDS)]
        best = [[min(each) for each in zip(*of, strict=True)] for of in zip(*rounds, strict=True)]
        clock, whole, server = map(_times, zip(*best, strict=True))
        print(f"  {name:18} clock {clock}, processor {whole}, of it PostgreSQL {server} ms", flush=True)


async def _ask(parts: Parts, retrieval: Retrieval, base: BaseId, question: str) -> tuple[float, float, float]:
    """By the clock, of the processor, of PostgreSQL, in ms."""
    server, own, began = server_ms(parts.settings.home), process_time(), perf_counter()
    await retrieval.find(base, question)
    clock, own = perf_counter() - began, process_time() - own
    server = server_ms(parts.settings.home) - server
    return 1000 * clock, 1000 * own + server, server


def _times(taken: Sequence[float]) -> str:
    return f"{median(taken):5.1f} / {quantiles(taken, n=20)[-1]:5.1f}"


async def run(data: Path, home: Path, sizes: Sequence[int]) -> None:
    """Each size in turn."""
    settings = Settings.read({"BAZA_HOME": str(home)})
    configure_logging(settings.home / "log", level="WARNING", style="text", destination="file")
    questions = read_texts(data / ASKED, "queries.jsonl")[:QUESTIONS]
    async with embedded_database(settings.home) as url, open_parts(settings) as parts:
        base = await parts.stores.people.open_named_base("words")
        for size in sizes:
            await grow(parts, url, base, data, size)
            await index(parts, size)
            with psycopg.connect(url) as connection:
                postings, segments, whole = connection.execute(_SIZES).fetchone() or (0, 0, 0)
            parts_kb = [float(part or 0) / size / 1e3 for part in (postings, segments, whole)]
            print(
                f"{size:,} passages, kB: postings {parts_kb[0]:.1f}, segments {parts_kb[1]:.1f}, all {parts_kb[2]:.1f}"
            )
            await measure(parts, base, questions)


def main() -> None:
    """In a throw-away folder, or in one that is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="with vkcloud, xquad and rustbook")
    parser.add_argument("sizes", type=int, nargs="+", help=f"passages, ascending, multiples of {SEED:,}")
    parser.add_argument("--home", type=Path, help="keep the base here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="baza-words-") as folder:
        Path(folder).chmod(0o711)
        asyncio.run(run(given.data, given.home or Path(folder) / "home", given.sizes))


if __name__ == "__main__":
    main()
