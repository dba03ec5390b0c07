"""The process that finds names: slovnet's recogniser over navec's vectors, as the wheel of natasha carries them (MIT).

In: a line of JSON with a text, on stdin. Out: a line of JSON with spans and their kinds (PER, ORG, LOC), on stdout. It
imports nothing of natasha itself, which wants a pymorphy2 that Python 3.11 does not run.
"""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

NICENESS = 15  # questions and uploads go first


def data_folder() -> Path | None:
    """Where natasha keeps its models; None when it is not installed."""
    spec = find_spec("natasha")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) / "data" if folders else None


def main() -> None:
    """Answer until stdin ends: the process that started this one has ended, or has no more texts."""
    os.nice(NICENESS)
    folder = data_folder()
    if folder is None:
        raise SystemExit("natasha is not installed")
    from navec import Navec
    from slovnet import NER

    recogniser = NER.load(folder / "model" / "slovnet_ner_news_v1.tar")
    recogniser.navec(Navec.load(folder / "emb" / "navec_news_v1_1B_250K_300d_100q.tar"))
    for line in sys.stdin.buffer:
        found = recogniser(json.loads(line))
        spans = [[span.start, span.stop, span.type] for span in found.spans]
        sys.stdout.buffer.write(json.dumps(spans).encode() + b"\n")
        sys.stdout.buffer.flush()
