"""Checks what late chunking pools: our vectors against a straightforward reference, on a real encoder.

In: the folder of data (`python -m benchmarks.pooling ../shared/data /tmp/minilm`), and one for the exported model. Out:
the largest difference between any two numbers, for windows that fit the encoder's context and for longer ones. The
reference runs torch on one stretch at a time, without padding, and adds up token vectors in a loop; it shares with
ours only the tokenizer's file and the rule which tokens are encoded together.
"""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer

from adapters.local.models import open_encoder
from benchmarks.minilm import export, load_torch
from domain.locator import Locator
from ingestion.chunking.chunker import cut_chunks
from ingestion.chunking.passages import in_windows
from ingestion.parsers.markdown import parse_markdown
from ingestion.records import BLOCK_SEPARATOR, Chunk, Document, Vector, Window

SOURCES = ("rustbook/ru", "rustbook/en", "vkcloud/raw_md")
CHUNK_TOKENS, OVERLAP_TOKENS = 120, 30  # small, so that there are many
FILES_A_SOURCE, CHUNKS_A_FILE, WINDOWS_A_FILE = 7, 12, 3  # so that the reference takes minutes, not hours
CONTEXT_TOKENS = 512
BOUND = 1e-5


@dataclass(frozen=True, kw_only=True)
class Token:
    """A token's place in the window's text, and its vector."""

    start: int
    end: int
    vector: torch.Tensor


class Reference:
    """Late chunking, written down as one would explain it."""

    def __init__(self, folder: Path, *, context_tokens: int) -> None:
        self._encoder = load_torch()
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._size = context_tokens - 2  # [CLS] and [SEP]

    def embed(self, window: Window) -> list[list[float]]:
        """A vector for each own chunk of the window."""
        text = _text_of(window)
        origin = window.chunks[0].span.start
        tokens = self._tokens(text)
        vectors = []
        for number, chunk in enumerate(window.chunks):
            start, end = chunk.span.start - origin, chunk.span.end - origin
            inside = [token.vector for token in tokens[1:-1] if token.start < end and token.end > start]
            if number == 0:
                inside.insert(0, tokens[0].vector)
            if number == len(window.chunks) - 1:
                inside.append(tokens[-1].vector)
            vectors.append(_direction(inside))
        return vectors[window.own_start : window.own_end]

    def _tokens(self, text: str) -> list[Token]:
        """[CLS], every token of the text, [SEP]."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        first, last = self._tokenizer.token_to_id("[CLS]"), self._tokenizer.token_to_id("[SEP]")
        found: list[Token] = []
        for start, end, keeps_from, keeps_to in _stretches(len(encoding.ids), self._size):
            ids = torch.tensor([[first, *encoding.ids[start:end], last]])
            with torch.no_grad():
                vectors = self._encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0]
            if start == 0:
                found.append(Token(start=0, end=0, vector=vectors[0]))
            for place in range(keeps_from, keeps_to):
                left, right = encoding.offsets[place]
                found.append(Token(start=left, end=right, vector=vectors[1 + place - start]))
        return [*found, Token(start=0, end=0, vector=vectors[-1])]


def _stretches(count: int, size: int) -> Iterator[tuple[int, int, int, int]]:
    """Evenly spread, a quarter in common, and a border in the middle of what two have in common."""
    shared = int(size * 0.25)
    parts = 1
    while size + (parts - 1) * (size - shared) < count:
        parts += 1
    starts = [int(part * (count - size) / (parts - 1)) for part in range(parts)] if parts > 1 else [0]
    for part, start in enumerate(starts):
        keeps_from = 0 if part == 0 else int((starts[part - 1] + size + start) / 2)
        keeps_to = count if part == parts - 1 else int((start + size + starts[part + 1]) / 2)
        yield start, min(start + size, count), keeps_from, keeps_to


def _text_of(window: Window) -> str:
    """Character by character: each at its place in the document, line ends where no chunk says anything."""
    origin = window.chunks[0].span.start
    characters = ["\n"] * (max(chunk.span.end for chunk in window.chunks) - origin)
    for chunk in window.chunks:
        for place, character in enumerate(chunk.text, start=chunk.span.start - origin):
            characters[place] = character
    return "".join(characters)


def _direction(vectors: Sequence[torch.Tensor]) -> list[float]:
    total = torch.zeros_like(vectors[0], dtype=torch.float64)
    for vector in vectors:
        total += vector
    mean = total / len(vectors)
    return list(map(float, mean / mean.norm()))


def _windows(data: Path, *, window_tokens: int) -> list[Window]:
    windows: list[Window] = []
    for source in SOURCES:
        for path in sorted((data / source).glob("*.md"))[:FILES_A_SOURCE]:
            document = parse_markdown(path.read_text(encoding="utf-8"), name=path.name)
            chunks = [
                _plain(chunk, BLOCK_SEPARATOR.join(block.text for block in document.blocks))
                for chunk in _chunk(document)[:CHUNKS_A_FILE]
            ]
            passages = in_windows(chunks, window_tokens=window_tokens)
            windows.extend(map(passages.window, passages.windows[:WINDOWS_A_FILE]))
    return windows


def _chunk(document: Document) -> Sequence[Chunk]:
    return tuple(cut_chunks(document.blocks, chunk_tokens=CHUNK_TOKENS, overlap_tokens=OVERLAP_TOKENS))


def _plain(chunk: Chunk, text: str) -> Chunk:
    """The document's own words alone: what the product puts before them is not what is compared here."""
    return replace(chunk, text=text[chunk.span.start : chunk.span.end], locator=Locator())


def _largest_difference(ours: Sequence[Sequence[Vector]], reference: Sequence[Sequence[Vector]]) -> float:
    return max(
        abs(one - other)
        for our_window, their_window in zip(ours, reference, strict=True)
        for our_vector, their_vector in zip(our_window, their_window, strict=True)
        for one, other in zip(our_vector, their_vector, strict=True)
    )


def main() -> None:
    """Print both differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds rustbook and vkcloud")
    parser.add_argument("model", type=Path, help="where the exported model is kept")
    arguments = parser.parse_args()
    folder = export(arguments.model)
    encoder = open_encoder(str(folder), models=folder, context_tokens=CONTEXT_TOKENS, threads=0, late=True)
    reference = Reference(folder, context_tokens=CONTEXT_TOKENS)
    for label, window_tokens in (("within the context", 300), ("longer than it", 1000)):
        windows = _windows(arguments.data, window_tokens=window_tokens)
        ours = asyncio.run(encoder.embed_windows(windows))
        difference = _largest_difference(ours, [reference.embed(window) for window in windows])
        passages = sum(len(window.own) for window in windows)
        verdict = "within" if difference <= BOUND else "OVER"
        print(f"windows {label}: {len(windows)} windows, {passages} passages,", end=" ")
        print(f"largest difference {difference:.2e} ({verdict} {BOUND:g})")


if __name__ == "__main__":
    main()
