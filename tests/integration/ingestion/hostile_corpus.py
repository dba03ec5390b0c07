"""All hostile files that are made here, of all formats: bombs, deep nesting, sparse sheets, quirks of quoting, loops.

In: a folder. Out: the files in it (`python -m tests.integration.ingestion.hostile_corpus FOLDER`, for the benchmark).
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.integration.ingestion import hostile_packages, hostile_pages, hostile_texts
from tests.integration.ingestion.hostile_texts import Maker
from tests.integration.ingestion.test_hostile_files import BOMBS

CORPUS: Mapping[str, Maker] = {
    **BOMBS,
    **hostile_packages.FILES,
    **hostile_pages.FILES,
    **hostile_texts.FILES,
}


def build(folder: Path) -> list[Path]:
    """Every file, in order of their names."""
    for name, make in sorted(CORPUS.items()):
        make(folder / name)
    return [folder / name for name in sorted(CORPUS)]


if __name__ == "__main__":
    build(Path(sys.argv[1]))
