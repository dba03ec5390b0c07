"""The process that finds names: slovnet's recogniser over navec's vectors, as the wheel of natasha carries them (MIT).

In: `Text` records. Out: for each a `Spans` record. It imports nothing of natasha itself, which wants a pymorphy2 that
Python 3.11 does not run.
"""

import socket
from dataclasses import dataclass
from importlib.util import find_spec
from io import BufferedReader
from pathlib import Path

from sandbox.confinement import Confinement, Layer
from sandbox.records import LINE_BYTES, from_line, to_line

ENTRY = "adapters.entities.finding:serve"
NICENESS = 15  # questions and uploads go first
MEMORY_BYTES = 2**30  # it takes 265 MB
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True, kw_only=True)
class Text:
    """A text to find names in."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Spans:
    """The names, as (start, end, kind): PER, ORG, LOC."""

    spans: tuple[tuple[int, int, str], ...]


def data_folder() -> Path | None:
    """Where natasha keeps its models; None when it is not installed."""
    spec = find_spec("natasha")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) / "data" if folders else None


def confinement() -> Confinement:
    """It reads its models and nothing else."""
    folder = data_folder()
    return Confinement(reads=(str(folder),) if folder else (), data_bytes=MEMORY_BYTES, niceness=NICENESS)


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> None:
    """Answer until the other end is closed (`sandbox.forkserver.Serve`)."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("natasha is not installed")
    from navec import Navec
    from slovnet import NER

    recogniser = NER.load(folder / "model" / "slovnet_ner_news_v1.tar")
    recogniser.navec(Navec.load(folder / "emb" / "navec_news_v1_1B_250K_300d_100q.tar"))
    while line := stream.readline(LINE_BYTES):
        found = recogniser(from_line(line, Text).text)
        spans = tuple((int(span.start), int(span.stop), str(span.type)) for span in found.spans)
        connection.sendall(to_line(Spans(spans=spans)))
