"""What late chunking changes against embedding each chunk alone, with a real encoder (all-MiniLM-L6-v2, English).

In: the folder of data and one for the exported model (`python -m benchmarks.late_chunking ../shared/data /tmp/minilm`).
Out: two tables. VK Cloud: its questions, sections found by their best chunk, a page's sections being one document.
Rust Book: a section's heading, or its first sentence, must find the other passages of that section; the passages that
hold the heading or the sentence itself are left out. Takes an hour on two cores; see `--every`.
"""

import argparse
import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np

from adapters.lexical import RussianEnglishAnalyzer
from adapters.local.models import LocalEncoder, open_encoder
from benchmarks.lexical import Bm25, Collection, Scores, measure, read_collection
from benchmarks.minilm import export
from benchmarks.offline import Legs, fuse_scores
from domain.locator import Locator
from ingestion.chunking.chunker import cut_chunks
from ingestion.chunking.passages import in_windows
from ingestion.chunking.sentences import split_sentences
from ingestion.parsers.markdown import parse_markdown
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind, Chunk, Document, Span, Window

CHUNK_TOKENS, OVERLAP_TOKENS = 300, 40  # as CHUNK_TOKENS and CHUNK_OVERLAP_TOKENS
CONTEXT_TOKENS = 512  # all that the model has positions for
WEIGHTS = (0.3, 0.5, 1.0, 1.5, 2.0, 3.0)  # of the vector leg; BM25 has 1
DEPTH = 10


@dataclass(frozen=True, kw_only=True)
class Way:
    """How chunks become vectors."""

    label: str
    windows: Callable[[Sequence[Chunk], int], Sequence[Window]]
    headings: bool  # before each chunk, those that it does not name itself


@dataclass(frozen=True, kw_only=True)
class Task:
    """One question to the Rust Book."""

    text: str
    relevant: frozenset[int]  # numbers of passages
    left_out: frozenset[int]  # that hold the question's own words


@dataclass(frozen=True, kw_only=True)
class Book:
    """Passages of all chapters, and what is asked of them."""

    chapters: tuple[tuple[Chunk, ...], ...]
    by_heading: tuple[Task, ...]
    by_sentence: tuple[Task, ...]


def alone(chunks: Sequence[Chunk], window_tokens: int) -> Sequence[Window]:
    """Each chunk is a window of its own."""
    return [Window(chunks=(chunk,), own_start=0, own_end=1) for chunk in chunks]


def together(chunks: Sequence[Chunk], window_tokens: int) -> Sequence[Window]:
    """Late chunking, as the product does it."""
    passages = in_windows(chunks, window_tokens=window_tokens)
    return tuple(map(passages.window, passages.windows))


WAYS = (
    Way(label="each passage alone", windows=alone, headings=False),
    Way(label="each passage alone, under its headings", windows=alone, headings=True),
    Way(label="late chunking", windows=together, headings=False),
    Way(label="late chunking, under its headings", windows=together, headings=True),
)


def embed(encoder: LocalEncoder, chunks: Sequence[Chunk], way: Way) -> Scores:
    """A row for each chunk."""
    given = chunks if way.headings else [replace(chunk, locator=Locator()) for chunk in chunks]
    windows = way.windows(given, encoder.window_tokens)
    vectors = asyncio.run(encoder.embed_windows(windows))
    return np.array([vector for own in vectors for vector in own], dtype=np.float32)


def ask(encoder: LocalEncoder, vectors: Scores, question: str) -> Scores:
    """The similarity of every row."""
    similarities: Scores = vectors @ np.array(asyncio.run(encoder.embed_query(question)), dtype=np.float32)
    return similarities


def read_pages(collection: Collection) -> Iterator[list[tuple[int, Chunk]]]:
    """For each page of VK Cloud its chunks, with the number of the section that each is part of."""
    for _, numbers in groupby(range(len(collection.ids)), key=lambda number: collection.ids[number].split("#")[0]):
        found: list[tuple[int, Chunk]] = []
        offset = 0
        for number in numbers:
            section = _section_of(collection.texts[number])
            for chunk in cut_chunks(section.blocks, chunk_tokens=CHUNK_TOKENS, overlap_tokens=OVERLAP_TOKENS):
                span = Span(start=chunk.span.start + offset, end=chunk.span.end + offset)
                found.append((number, replace(chunk, span=span, ordinal=len(found))))
            offset += len(BLOCK_SEPARATOR.join(block.text for block in section.blocks)) + 2
        yield found


def _section_of(text: str) -> Document:
    """«page.md / Heading / Subheading» and the words as the parser would hand them on."""
    title, words = text.split("\n", 1)
    headings = tuple(re.sub(r"^[^/]*\.md\b( / )?", "", title).split(" / ")) if " / " in title else ()
    blocks = (Block(kind=BlockKind.PARAGRAPH, text=words, locator=Locator(headings=headings)),)
    return Document(title=title, blocks=blocks)


def section_scores(collection: Collection, encoder: LocalEncoder, way: Way) -> Callable[[str], Scores]:
    """For a question the similarity of each section's best chunk."""
    pages = list(read_pages(collection))
    sections = np.array([number for page in pages for number, _ in page])
    vectors = np.concatenate([embed(encoder, [chunk for _, chunk in page], way) for page in pages])

    def score(question: str) -> Scores:
        best = np.zeros(len(collection.ids), dtype=np.float32)
        np.maximum.at(best, sections, ask(encoder, vectors, question))
        return best

    return score


def read_book(folder: Path, *, chunk_tokens: int) -> Book:
    """Every chapter in passages."""
    chapters: list[tuple[Chunk, ...]] = []
    tasks: dict[bool, list[Task]] = {False: [], True: []}
    size = 0
    for path in sorted(folder.glob("*.md")):
        document = parse_markdown(path.read_text(encoding="utf-8"), name=path.name)
        chunks = tuple(cut_chunks(document.blocks, chunk_tokens=chunk_tokens, overlap_tokens=OVERLAP_TOKENS))
        for by_sentence, found in tasks.items():
            found.extend(_tasks_of(document, chunks, by_sentence=by_sentence, first=size))
        chapters.append(chunks)
        size += len(chunks)
    return Book(chapters=tuple(chapters), by_heading=tuple(tasks[False]), by_sentence=tuple(tasks[True]))


def _tasks_of(document: Document, chunks: Sequence[Chunk], *, by_sentence: bool, first: int) -> Iterator[Task]:
    """For each section with passages beyond those that hold the question; `first` is the number of chunk 0."""
    text = BLOCK_SEPARATOR.join(block.text for block in document.blocks)
    for start, body, end in _sections(document):
        sentence = next(iter(split_sentences(text[body:end])), (0, 0))
        asked = (body + sentence[0], body + sentence[1]) if by_sentence else (start, body)
        inside = {chunk.ordinal for chunk in chunks if start <= chunk.span.start and chunk.span.end <= end}
        holding = {chunk.ordinal for chunk in chunks if chunk.span.start < asked[1] and chunk.span.end > asked[0]}
        if inside - holding and asked[0] < asked[1]:
            yield Task(
                text=text[asked[0] : asked[1]].strip(),
                relevant=frozenset(first + number for number in inside - holding),
                left_out=frozenset(first + number for number in holding),
            )


def _sections(document: Document) -> Iterator[tuple[int, int, int]]:
    """Where a heading begins, where it ends, where its section ends."""
    places: list[tuple[int, int]] = []
    offset = 0
    for block in document.blocks:
        if block.kind is BlockKind.HEADING:
            places.append((offset, offset + len(block.text)))
        offset += len(block.text) + 2
    for (start, body), (end, _) in pairwise([*places, (offset, offset)]):
        yield start, body, end


def judge(tasks: Sequence[Task], score: Callable[[str], Scores]) -> tuple[float, float]:
    """nDCG@10 and recall@10, means over the tasks."""
    ndcg, recall = [], []
    for task in tasks:
        order = [int(at) for at in np.argsort(-score(task.text), kind="stable") if int(at) not in task.left_out]
        hits = [at in task.relevant for at in order[:DEPTH]]
        ideal = sum(1 / np.log2(place + 2) for place in range(min(len(task.relevant), DEPTH)))
        ndcg.append(sum(hit / np.log2(place + 2) for place, hit in enumerate(hits)) / ideal)
        recall.append(sum(hits) / len(task.relevant))
    return float(np.mean(ndcg)), float(np.mean(recall))


def report_book(data: Path, encoder: LocalEncoder) -> None:
    """A line for each size of passages and each way."""
    print(f"{'rustbook/en':48} {'heading':>8} {'recall':>7} {'sentence':>9} {'recall':>7}")
    for chunk_tokens in (CHUNK_TOKENS, CHUNK_TOKENS // 2):
        book = read_book(data / "rustbook/en", chunk_tokens=chunk_tokens)
        print(f"passages of {chunk_tokens} tokens, {len(book.by_heading)} and {len(book.by_sentence)} questions")
        for way in WAYS:
            vectors = np.concatenate([embed(encoder, chapter, way) for chapter in book.chapters])
            score = partial(ask, encoder, vectors)
            heading, sentence = judge(book.by_heading, score), judge(book.by_sentence, score)
            figures = f"{heading[0]:8.3f} {heading[1]:7.3f} {sentence[0]:9.3f} {sentence[1]:7.3f}"
            print(f"{way.label:48} {figures}", flush=True)


def thin_out(collection: Collection, *, every: int) -> Collection:
    """All pages that hold an answer, and of the others one in `every`, so that it takes no hours."""
    pages = [name.split("#")[0] for name in collection.ids]
    answering = {name.split("#")[0] for gains in collection.relevant.values() for name in gains}
    others = [page for page in dict.fromkeys(pages) if page not in answering]
    kept = answering.union(others[::every])
    return replace(
        collection,
        ids=tuple(name for name, page in zip(collection.ids, pages, strict=True) if page in kept),
        texts=tuple(text for text, page in zip(collection.texts, pages, strict=True) if page in kept),
    )


def report_cloud(data: Path, encoder: LocalEncoder, *, every: int) -> None:
    """A line for BM25 alone and each way, with what fusion with BM25 makes of it."""
    collection = thin_out(read_collection(data / "vkcloud/en"), every=every)
    analyzer = RussianEnglishAnalyzer()
    index = Bm25([analyzer.terms(text) for text in collection.texts])

    def lexical(text: str) -> Scores:
        return index.scores(analyzer.terms(text))

    print(f"{len(collection.ids)} sections, {len(collection.questions)} questions")
    print(f"{'vkcloud/en':48} {'nDCG@10':>8} {'recall':>7}  nDCG@10 with BM25 and this weight of the vectors")
    words = measure(collection, lexical)
    print(f"{'BM25 alone':48} {words.ndcg:8.3f} {words.recall:7.3f} ", *(f"{weight:5}" for weight in WEIGHTS))
    for way in WAYS:
        score = section_scores(collection, encoder, way)
        quality = measure(collection, score)
        legs = Legs(lexical=lexical, vector=score)
        fused = [measure(collection, fuse_scores(legs, weight)).ndcg for weight in WEIGHTS]
        print(f"{way.label:48} {quality.ndcg:8.3f} {quality.recall:7.3f} ", *map("{:.3f}".format, fused), flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds rustbook and vkcloud")
    parser.add_argument("model", type=Path, help="where the exported model is kept")
    parser.add_argument(
        "--every", type=int, default=1, help="of VK Cloud's pages without an answer take one in so many"
    )
    parser.add_argument("--only", choices=("book", "cloud"), help="one of the two tables")
    arguments = parser.parse_args()
    folder = export(arguments.model)
    encoder = open_encoder(str(folder), models=folder, context_tokens=CONTEXT_TOKENS, threads=0, late=True)
    if arguments.only != "cloud":
        report_book(arguments.data, encoder)
    if arguments.only != "book":
        report_cloud(arguments.data, encoder, every=arguments.every)


if __name__ == "__main__":
    main()
