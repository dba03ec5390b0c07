"""The main text of saved pages against trafilatura alone: sentences that must be found, and ones that must not.

In: the folder `html` of the data (`python -m benchmarks.page_text ../shared/data/html`). Out: a line for us and one for
each way of asking trafilatura, with seconds; `--misses` names what ours gets wrong. Soft hyphens and runs of white
space count for nothing on either side.
"""

import argparse
import gzip
import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from trafilatura import extract

from ingestion.errors import SourceError
from ingestion.parsers.encodings import decode_page
from ingestion.parsers.html import read_page

PEERS: Mapping[str, Callable[[bytes], str | None]] = {
    "trafilatura": extract,
    "trafilatura, for recall": partial(extract, favor_recall=True),
    "trafilatura, for precision": partial(extract, favor_precision=True),
    "trafilatura, no comments": partial(extract, include_comments=False),
}


@dataclass(kw_only=True)
class Score:
    """Sentences of all pages."""

    found: int = 0
    wanted: int = 0
    slipped: int = 0
    unwanted: int = 0
    misses: list[str] = field(default_factory=list)

    def add(self, file: str, text: str, *, wanted: list[str], unwanted: list[str]) -> None:
        """One page."""
        shown = _plain(text)
        missing = [sentence for sentence in wanted if _plain(sentence) not in shown]
        slipped = [sentence for sentence in unwanted if _plain(sentence) in shown]
        self.wanted += len(wanted)
        self.found += len(wanted) - len(missing)
        self.unwanted += len(unwanted)
        self.slipped += len(slipped)
        self.misses += [f"{file}: lacks {sentence!r}" for sentence in missing]
        self.misses += [f"{file}: has {sentence!r}" for sentence in slipped]


def ours(body: bytes) -> str:
    """As the worker reads a page; nothing where it refuses one."""
    try:
        document = read_page(decode_page(body), name="page.html")
    except SourceError:
        return ""
    return "\n".join(block.text for block in document.blocks)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    arguments = _arguments()
    pages = list(_pages(arguments.folder))
    for name, read in {"ours": ours, **PEERS}.items():
        began = time.perf_counter()
        score = Score()
        for page, body in pages:
            score.add(page["file"], read(body) or "", wanted=page["with"], unwanted=page["without"])
        seconds = time.perf_counter() - began
        print(
            f"{name:28} {score.found}/{score.wanted} found  {score.slipped}/{score.unwanted} slipped  {seconds:.1f} s"
        )
        if name == "ours" and arguments.misses:
            print(*score.misses, sep="\n")


def _pages(folder: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    for page in json.loads((folder / "segments.json").read_text()).values():
        yield page, gzip.decompress((folder / "pages" / f"{page['file']}.gz").read_bytes())


def _plain(text: str) -> str:
    return " ".join(text.replace("\u00ad", "").split())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--misses", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
