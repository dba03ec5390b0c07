"""How much of a document's text each parser finds, in its order, beside markitdown and xberg where installed.

In: `../shared/data` (`python -m benchmarks.text_quality ../shared/data`). Out: a table, a line for each format. DOCX
with gold Markdown is measured as it is; from Russian documentation in Markdown LibreOffice (`soffice`, when it is
there) makes the other formats, and sheets from a table that is made here. The gold is always what went in.
"""

import argparse
import asyncio
import csv
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from markdown_it import MarkdownIt

from benchmarks.word_order import Found, compare_words
from ingestion.errors import SourceError
from ingestion.parsers.markdown import parse_markdown, split_front_matter, unwrap_template_marks
from ingestion.parsers.registry import parse_file

TEXT_FORMATS = ("docx", "doc", "odt", "rtf", "epub")
SHEET_FORMATS = ("csv", "xlsx", "xls", "ods")
FILTERS = {"docx": "docx:MS Word 2007 XML", "doc": "doc:MS Word 97", "odt": "odt:writer8", "rtf": "rtf", "epub": "epub"}
SHEET_ROWS = 2_000
CITIES = ("Москва", "Казань", "Санкт-Петербург", "Нижний Новгород")
CONVERSION_S = 180

Reader = Callable[[Path], str]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A file, and what it should say."""

    kind: str
    path: Path
    gold: str


def read_ours(path: Path) -> str:
    """What our parsers tell; nothing of a file that they refuse."""
    try:
        document = parse_file(path, name=path.name, media_type=None)
    except SourceError:
        return ""
    return "\n".join(block.text for block in document.blocks)


def open_markitdown() -> Reader | None:
    """markitdown, if it is installed (not among our dependencies)."""
    try:
        from markitdown import MarkItDown, MarkItDownException  # type: ignore[import-not-found] # a peer
    except ImportError:
        return None
    converter = MarkItDown(enable_plugins=False)

    def read(path: Path) -> str:
        try:
            return str(converter.convert_local(path).text_content)
        except (MarkItDownException, ValueError, UnicodeError):
            return ""

    return read


def open_xberg() -> Reader | None:
    """xberg, which kreuzberg became, if it is installed (not among our dependencies). Its cache would write to disk."""
    try:
        from xberg import (  # type: ignore[import-not-found] # a peer
            ExtractInput,
            ExtractionConfig,
            XbergError,
            extract,
        )
    except ImportError:
        return None
    config = ExtractionConfig(use_cache=False, disable_ocr=True)

    def read(path: Path) -> str:
        try:
            found = asyncio.run(extract(ExtractInput(kind="uri", uri=str(path)), config))
            return "\n".join(str(document.content) for document in found.results)
        except XbergError:
            return ""

    return read


def gold_docx(data: Path) -> Iterator[Sample]:
    """Word files with Markdown made by people who wrote a converter (docling)."""
    for gold in sorted((data / "docs_mixed" / "docling_docx_gold").glob("*.docx.md")):
        if gold.with_suffix("").exists():
            text = gold.read_text().replace("<!-- image -->", "")
            yield Sample(kind="docx (docling's gold)", path=gold.with_suffix(""), gold=text)


def made_texts(data: Path, folder: Path) -> Iterator[Sample]:
    """Russian documentation, as pages, and as LibreOffice saves those."""
    for source in sorted((data / "vkcloud" / "raw_md").glob("*.md")):
        text = source.read_text()
        gold = "\n".join(block.text for block in parse_markdown(text, name=source.name).blocks)
        body = MarkdownIt("commonmark").enable("table").render(unwrap_template_marks(split_front_matter(text)[1]))
        page = folder / f"{source.stem}.html"
        page.write_text(f"<html><head><meta charset='utf-8'></head><body>{body}</body></html>")
        for kind in TEXT_FORMATS:
            made = _convert(page, kind)
            if made is not None:
                yield Sample(kind=f"{kind} (ru)", path=made, gold=gold)


def made_sheets(folder: Path) -> Iterator[Sample]:
    """One table in the formats of spreadsheets; the gold names the columns in every row, so it is compared by cells."""
    rows = [["Товар", "Город", "Количество", "Примечание"]]
    rows += [[f"Товар{n}", CITIES[n % len(CITIES)], str(n), f"Партия {n * 7}"] for n in range(SHEET_ROWS)]
    table = folder / "sheet.csv"
    with table.open("w", newline="") as target:
        csv.writer(target).writerows(rows)
    gold = "\n".join(" ".join(row) for row in rows)
    for kind in SHEET_FORMATS:
        made = table if kind == "csv" else _convert(table, kind)
        if made is not None:
            yield Sample(kind=f"{kind} (ru)", path=made, gold=gold)


def _convert(source: Path, kind: str) -> Path | None:
    """By LibreOffice; None where it is missing or cannot."""
    reading = ["--infilter=HTML (StarWriter)"] if source.suffix == ".html" else ["--infilter=CSV:44,34,76"]
    command = ["soffice", "--headless", *reading, "--convert-to", FILTERS.get(kind, kind)]
    try:
        subprocess.run(
            [*command, "--outdir", str(source.parent), str(source)],
            capture_output=True,
            timeout=CONVERSION_S,
            check=False,
        )
    except FileNotFoundError:
        return None
    made = source.with_suffix(f".{kind}")
    return made if made.exists() else None


def measure(samples: list[Sample], read: Reader) -> tuple[list[Found], float]:
    """Of each sample, and the seconds of all."""
    began = time.perf_counter()
    texts = [read(sample.path) for sample in samples]
    seconds = time.perf_counter() - began
    return [compare_words(sample.gold, _unmarked(text)) for sample, text in zip(samples, texts, strict=True)], seconds


def _unmarked(text: str) -> str:
    """Without addresses of links, which the gold does not have either."""
    return re.sub(r"\]\([^)\s]*\)|<!--.*?-->", " ", text)


def print_table(samples: list[Sample], readers: Mapping[str, Reader]) -> None:
    """A line for each format and reader."""
    print(f"{'format':24}{'reader':12}{'files':>6}{'words':>9}{'in order':>10}{'worst':>8}{'extra':>8}{'s':>8}")
    for kind in dict.fromkeys(sample.kind for sample in samples):
        group = [sample for sample in samples if sample.kind == kind]
        for name, read in readers.items():
            found, seconds = measure(group, read)
            shares = [one.in_order for one in found]
            extra = mean(one.extra for one in found)
            words = sum(one.words for one in found)
            print(
                f"{kind:24}{name:12}{len(group):6}{words:9}{mean(shares):10.3f}{min(shares):8.3f}{extra:8.3f}{seconds:8.2f}"
            )


def main() -> None:
    """Read the arguments, make the files, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="../shared/data")
    data: Path = parser.parse_args().data
    readers: dict[str, Reader] = {"ours": read_ours}
    peers = {"markitdown": open_markitdown(), "xberg": open_xberg()}
    readers.update({name: peer for name, peer in peers.items() if peer is not None})
    with tempfile.TemporaryDirectory() as folder:
        samples = [*gold_docx(data), *made_texts(data, Path(folder)), *made_sheets(Path(folder))]
        print_table(samples, readers)


if __name__ == "__main__":
    main()
