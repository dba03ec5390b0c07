"""From a window of chunks to rows of tokens for the encoder, and from token vectors back to a vector for each chunk.

In: a window, a tokenizer, the context's size. Out: `Reading`, which says what to run and pools the outputs. Pure but
for the tokenizer. The window's text is reassembled from the chunks' spans: what two chunks share (their overlap) is
encoded once, and belongs to both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adapters.local.stretches import Array, Offsets, Stretch, plan_stretches, pool_mean, token_span
from adapters.local.tokens import TokenRow, Vocabulary
from ingestion.records import Chunk, Window

OVERLAP_SHARE = 0.25
"""The share of the context that neighbouring stretches have in common; a token sees at least an eighth of the context
on both sides."""

CharSpan = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A text as the encoder gets it."""

    rows: list[TokenRow]  # one for each stretch
    stretches: list[Stretch]
    offsets: Offsets
    before: int  # tokens in each row before the text's own: special ones and the prefix
    after: int

    def join(self, outputs: Sequence[Array]) -> Array:
        """One vector for each token of the text, with those before it from the first row and after it from the last."""
        kept = [
            output[self.before + part.keeps_from - part.start : self.before + part.keeps_to - part.start]
            for output, part in zip(outputs, self.stretches, strict=True)
        ]
        return np.concatenate([outputs[0][: self.before], *kept, outputs[-1][len(outputs[-1]) - self.after :]])

    def pool(self, outputs: Sequence[Array], spans: Sequence[CharSpan], *, own: slice) -> Array:
        """The vectors of `spans[own]`. The first span has the tokens before the text too, the last those after it: a
        span that is the whole text gets the vector that the model gives to a text."""
        vectors = self.join(outputs)
        places = [token_span(self.offsets, start, end) for start, end in spans]
        placed = [(first + self.before, last + self.before) for first, last in places]
        placed[0] = (0, max(placed[0][1], 1))
        placed[-1] = (placed[-1][0], len(vectors))
        return pool_mean(vectors, placed[own])


def read_text(text: str, *, vocabulary: Vocabulary, prefix: str, context_tokens: int) -> Reading:
    """The rows for `text`: one, or overlapping stretches when it is longer than the context."""
    before, after = vocabulary.frame(prefix)
    tokens = vocabulary.split(text)
    size = context_tokens - len(before) - len(after)
    stretches = plan_stretches(len(tokens.ids), size=size, overlap=int(size * OVERLAP_SHARE))
    rows = [plain_row([*before, *tokens.ids[part.start : part.end], *after]) for part in stretches]
    return Reading(rows=rows, stretches=stretches, offsets=tokens.offsets, before=len(before), after=len(after))


def plain_row(ids: list[int]) -> TokenRow:
    """A row of a single text."""
    return TokenRow(ids=ids, types=[0] * len(ids))


def window_text(chunks: Sequence[Chunk]) -> tuple[str, list[CharSpan]]:
    """One text of all chunks, and where in it each stands.

    What two chunks share is there once. The headings that a chunk does not contain and the header of its table come
    before the part that this chunk alone has.
    """
    text = ""
    spans: list[CharSpan] = []
    places: list[tuple[int, int]] = []  # where each chunk's own part begins: in the document, and in `text`
    position = chunks[0].span.start
    for chunk in chunks:
        repeated = len(chunk.text) - (chunk.span.end - chunk.span.start)  # characters of a table's header
        shared = max(0, position - chunk.span.start)
        start = _place_of(chunk.span.start, places) if shared else len(text)
        lines = [*chunk.unnamed_headings, chunk.text[:repeated].rstrip()]
        text += "\n".join(["", *filter(None, lines), ""])
        places.append((chunk.span.start + shared, len(text)))
        text += chunk.text[repeated + shared :]
        position = max(position, chunk.span.end)
        spans.append((start, len(text)))
    return text, spans


def _place_of(offset: int, places: Sequence[tuple[int, int]]) -> int:
    """Where the character `offset` of the document stands in the text so far."""
    begins, place = next(pair for pair in reversed(places) if pair[0] <= offset)
    return place + offset - begins


def own_slice(window: Window) -> slice:
    """Which of the window's chunks get their vectors from it."""
    return slice(window.own_start, window.own_end)
