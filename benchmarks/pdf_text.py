"""How much of a PDF's text is found in its order, how fast, in how much memory, and how well pages are recognised.

In: `../shared/data` (`python -m benchmarks.pdf_text ../shared/data`). Out: three tables: text by our parser, by PDFium
and pypdf alone; a book of 1,000 pages through the parsing process; wrong letters of tesseract by resolution. PDFs are
those with gold text and, where `soffice` is installed, Russian and English documentation as LibreOffice prints it.
"""

import argparse
import asyncio
import io
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import mean

import pypdfium2 as pdfium
from markdown_it import MarkdownIt
from pypdf import PdfReader

from adapters.tesseract import TesseractRecognizer, find_tesseract
from benchmarks.word_order import compare_words
from ingestion.parsers.markdown import parse_markdown, split_front_matter, unwrap_template_marks
from ingestion.parsers.pdf import parse
from ingestion.parsers.process import ParseProcess
from ingestion.records import FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of

BOOK_PAGES = 1_000
RESOLUTIONS = (150, 200, 300)  # dots an inch
POINTS_AN_INCH = 72
KILOBYTES_A_MEGABYTE = 1024
CONVERSION_S = 300
PAGE_S = 120
FULL_PAGE_CHARS = 1_000
GOLD = (
    ("docs_mixed/markitdown/REPAIR-2022-INV-001_multipage.pdf", ".md"),
    ("docs_mixed/markitdown/movie-theater-booking-2024.pdf", ".md"),
    ("docs_mixed/markitdown/test.pdf", ".md"),
    ("pdf/pypdf_resources/crazyones.pdf", ".txt"),
)
STYLE = "<style>body{font:11pt serif} h1{font-size:18pt} h2{font-size:15pt}</style>"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A PDF, and what it should say."""

    path: Path
    gold: str


def by_ours(path: Path) -> str:
    """Our parser, layout and headings included."""
    document = parse(path, path.name)
    return "\n".join(block.text for block in document.blocks)


def by_pdfium(path: Path) -> str:
    """PDFium as it is."""
    with pdfium.PdfDocument(path) as document:
        return "\n".join(page.get_textpage().get_text_range() for page in document)


def by_pypdf(path: Path) -> str:
    """pypdf as it is."""
    return "\n".join(page.extract_text() for page in PdfReader(path).pages)


READERS: dict[str, Callable[[Path], str]] = {"ours": by_ours, "PDFium": by_pdfium, "pypdf": by_pypdf}


def gold_files(data: Path) -> list[Sample]:
    """PDFs that others have written the text of."""
    files = [(data / name, (data / name).with_suffix(ending)) for name, ending in GOLD]
    return [Sample(path=path, gold=gold.read_text()) for path, gold in files]


def printed_files(data: Path, folder: Path) -> list[Sample]:
    """Documentation in Markdown, printed by LibreOffice; none where that is missing."""
    sources = [*sorted((data / "vkcloud" / "raw_md").glob("*.md")), *sorted((data / "rustbook").rglob("ch01*.md"))]
    golds = dict(_write_pages(sources, folder))
    command = ["soffice", "--headless", "--convert-to", "pdf:writer_web_pdf_Export", "--outdir", str(folder)]
    try:
        subprocess.run([*command, *map(str, golds)], capture_output=True, timeout=CONVERSION_S, check=False)
    except FileNotFoundError:
        return []
    made = {page.with_suffix(".pdf"): gold for page, gold in golds.items()}
    return [Sample(path=path, gold=gold) for path, gold in made.items() if path.exists()]


def _write_pages(sources: Sequence[Path], folder: Path) -> Iterator[tuple[Path, str]]:
    for number, source in enumerate(sources):
        text = source.read_text()
        page = folder / f"{number}-{source.stem}.html"
        body = MarkdownIt("commonmark").enable("table").render(unwrap_template_marks(split_front_matter(text)[1]))
        page.write_text(f"<html><head><meta charset='utf-8'>{STYLE}</head><body>{body}</body></html>")
        yield page, "\n".join(block.text for block in parse_markdown(text, name=source.name).blocks)


def print_text(kind: str, samples: Sequence[Sample]) -> None:
    """A line for each reader."""
    pages = sum(len(pdfium.PdfDocument(sample.path)) for sample in samples)
    for name, read in READERS.items():
        began = time.perf_counter()
        texts = [read(sample.path) for sample in samples]
        seconds = time.perf_counter() - began
        found = [compare_words(sample.gold, text) for sample, text in zip(samples, texts, strict=True)]
        in_order, extra = mean(one.in_order for one in found), mean(one.extra for one in found)
        print(f"{kind:10}{name:8}{len(samples):6}{pages:7}{in_order:10.3f}{extra:8.3f}{1000 * seconds / pages:10.1f}")


async def print_book(samples: Sequence[Sample], folder: Path) -> None:
    """All of it together, again and again, until it has 1,000 pages."""
    book = pdfium.PdfDocument.new()
    while len(book) < BOOK_PAGES:
        for sample in samples:
            book.import_pages(pdfium.PdfDocument(sample.path))
    path = folder / "book.pdf"
    book.save(path)
    size = path.stat().st_size
    file = FetchedFile(path=path, name=path.name, media_type=None, size_bytes=size, sha256="")
    before_mb = _peak_mb(resource.RUSAGE_SELF)
    async with ParseProcess(timeout_s=600, memory_mb=1024) as parser:
        began = time.perf_counter()
        document = await parser.parse(file, progress_of(FakeQueue()))
        seconds = time.perf_counter() - began
    pages, here_mb = document.pages or 0, _peak_mb(resource.RUSAGE_SELF) - before_mb
    child_mb = _peak_mb(resource.RUSAGE_CHILDREN)
    print(f"\n{pages} pages, {size / 1e6:.0f} MB: {seconds:.1f} s, {pages / seconds:.0f} pages/s")
    print(f"peak of the parsing process {child_mb:.0f} MB; this process grew by {here_mb:.0f} MB")


def _peak_mb(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / KILOBYTES_A_MEGABYTE


async def print_recognition(samples: Sequence[Sample], *, pages: int) -> None:
    """A full page of each PDF, drawn and read again; the gold is the text that is in it."""
    tesseract = find_tesseract(("rus", "eng"))
    if tesseract is None:
        print("\ntesseract is not installed")
        return
    async with TesseractRecognizer(tesseract=tesseract, page_s=PAGE_S) as recognizer:
        await _print_resolutions(recognizer, samples, pages=pages)


async def _print_resolutions(recognizer: TesseractRecognizer, samples: Sequence[Sample], *, pages: int) -> None:
    print(f"\n{'dots an inch':14}{'pages':>6}{'wrong letters':>15}{'words in order':>16}{'s a page':>10}")
    for dpi in RESOLUTIONS:
        wrong, in_order, seconds = [], [], []
        for page, gold in islice(_full_pages(samples), pages):
            began = time.perf_counter()
            blocks = await recognizer.recognise(_jpeg(page, dpi))
            seconds.append(time.perf_counter() - began)
            read = _plain("\n".join(block.text for block in blocks))
            wrong.append(distance(gold, read) / max(len(gold), 1))
            in_order.append(compare_words(gold, read).in_order)
        print(f"{dpi:<14}{len(wrong):6}{mean(wrong):15.4f}{mean(in_order):16.3f}{mean(seconds):10.1f}")


def _full_pages(samples: Sequence[Sample]) -> Iterator[tuple[pdfium.PdfPage, str]]:
    """The first of each PDF that is not mostly white."""
    for sample in samples:
        for page in pdfium.PdfDocument(sample.path):
            gold = _plain(page.get_textpage().get_text_range())
            if len(gold) >= FULL_PAGE_CHARS:
                yield page, gold
                break


def _jpeg(page: pdfium.PdfPage, dpi: int) -> bytes:
    stream = io.BytesIO()
    page.render(scale=dpi / POINTS_AN_INCH, grayscale=True).to_pil().convert("L").save(stream, "JPEG", quality=92)
    return stream.getvalue()


def _plain(text: str) -> str:
    joined = re.sub(r"(?<=\w)[-\ufffe\x02]\s+(?=\w)|\ufffe", "", text)
    return " ".join(joined.split())


def distance(first: str, second: str) -> int:
    """Letters to put in, leave out or change (Levenshtein)."""
    row = list(range(len(second) + 1))
    for number, letter in enumerate(first, start=1):
        diagonal, row[0] = row[0], number
        for index, other in enumerate(second, start=1):
            diagonal, row[index] = row[index], min(row[index] + 1, row[index - 1] + 1, diagonal + (letter != other))
    return row[-1]


def main() -> None:
    """Read the arguments, make the files, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="../shared/data")
    parser.add_argument("--recognised", type=int, default=6, help="pages for the last table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gold, printed = gold_files(arguments.data), printed_files(arguments.data, Path(folder))
        print(f"{'files':10}{'reader':8}{'files':>6}{'pages':>7}{'in order':>10}{'extra':>8}{'ms a page':>10}")
        print_text("gold", gold)
        if printed:
            print_text("printed", printed)
        asyncio.run(print_book(printed or gold, Path(folder)))
        asyncio.run(print_recognition([*printed, *gold], pages=arguments.recognised))


if __name__ == "__main__":
    main()
