"""Documents for the tests of chunking: a short way to write them, and hypothesis strategies that invent them.

In: nothing. Out: `Document`s. The texts are any Unicode that a parser may hand on, NUL and lone marks included.
"""

from hypothesis import strategies as st

from domain.locator import Locator
from ingestion.chunking.chunker import cut_chunks
from ingestion.chunking.pieces import Knife, Piece
from ingestion.chunking.windows import HUNDREDTHS
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind, Chunk, Document

WORDS = st.text(min_size=1, max_size=12)
HARD_PIECES = st.sampled_from(
    [
        "Привет!",
        "г.",
        "2024",
        "А. С. Пушкин",
        "👩‍👩‍👧",
        "e\u0301",
        "שלום",
        "\x00",
        "\u00a0",
        "| a | b |",
        "```",
        "x" * 70,
        "。",
    ]
)
TEXTS = st.lists(st.one_of(WORDS, HARD_PIECES, st.sampled_from([" ", "\n", "\n\n", ". ", "! "])), max_size=60).map(
    "".join
)


def document_of(*texts: str, kind: BlockKind = BlockKind.PARAGRAPH) -> Document:
    """Blocks of one kind, one after another."""
    return Document(title="t", blocks=tuple(Block(kind=kind, text=text) for text in texts))


def heading(text: str, *path: str, level: int = 1) -> Block:
    """A heading that stands under `path`."""
    return Block(kind=BlockKind.HEADING, text=text, level=level, locator=Locator(headings=path))


def paragraph(text: str, *path: str, page: int | None = None) -> Block:
    """A paragraph that stands under `path`."""
    return Block(kind=BlockKind.PARAGRAPH, text=text, locator=Locator(headings=path, page=page))


def table(rows: int, *, row: int | None = None, row_end: int | None = None, sheet: str = "") -> Block:
    """A table with a header and `rows` rows under it."""
    lines = ["| Товар | Цена |", "| --- | --- |", *(f"| Стол {number} | {number}00 |" for number in range(1, rows + 1))]
    locator = Locator(row=row, row_end=row_end, headings=(sheet,) if sheet else ())
    return Block(kind=BlockKind.TABLE, text="\n".join(lines), locator=locator)


TABLES = st.builds(table, st.integers(0, 30), row=st.none() | st.integers(1, 5), row_end=st.none() | st.integers(5, 35))
LOCATORS = st.builds(
    Locator,
    page=st.none() | st.integers(1, 9),
    slide=st.none() | st.integers(1, 3),
    member=st.sampled_from([None, None, "а.txt", "б.txt"]),
    headings=st.sampled_from([(), ("А",), ("А", "Б")]),
)
BLOCKS = st.builds(
    Block,
    kind=st.sampled_from(BlockKind),
    text=TEXTS,
    locator=LOCATORS,
)
DOCUMENTS = st.builds(Document, title=st.just("t"), blocks=st.lists(st.one_of(BLOCKS, TABLES), max_size=12).map(tuple))


def cut_document(document: Document, *, piece_tokens: int) -> list[Piece]:
    """All pieces of a document, none above `piece_tokens`."""
    knife = Knife(piece_tokens * HUNDREDTHS)
    return [piece for block in document.blocks for piece in knife.cut(block)]


def document_text(document: Document) -> str:
    """The text that spans refer to."""
    return BLOCK_SEPARATOR.join(block.text for block in document.blocks)


def chunk_document(document: Document, *, chunk_tokens: int, overlap_tokens: int) -> tuple[Chunk, ...]:
    """All passages of a document."""
    return tuple(cut_chunks(document.blocks, chunk_tokens=chunk_tokens, overlap_tokens=overlap_tokens))
