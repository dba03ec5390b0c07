"""Cuts a document into parts that a prompt can hold.

In: passages in order, a budget in tokens. Out: parts in order, each passage in one of them. A passage that is too long
for a part is cut into pieces. Nothing is left out. With `overlapping`, a part repeats the end of the one before. Pure.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from domain.ids import DocumentId
from rag.iterative.grounding import chunk_name
from rag.iterative.wire import Chunk
from rag.records import Passage
from rag.tokens import estimate_tokens

FEWEST_TOKENS = 50  # minimum budget of a part: smaller pieces cannot be understood
FRAME_TOKENS = 12  # for a chunk's id (up to ten digits) and punctuation


def chunk_of(passage: Passage) -> Chunk:
    """The passage as it goes into a prompt."""
    return Chunk(chunk_id=chunk_name(passage), chunk_text=passage.text)


def tokens_of(passage: Passage) -> int:
    """Tokens of the passage in a prompt, as a JSON string."""
    return estimate_tokens(json.dumps(passage.text, ensure_ascii=False)) + FRAME_TOKENS


def parts_of(passages: Sequence[Passage], *, tokens: int, each: int = 0) -> Iterator[tuple[Passage, ...]]:
    """Parts of at most `tokens`, filled greedily; `each` is the extra cost of a passage in the prompt."""
    part: list[Passage] = []
    left = allowed = max(tokens, FEWEST_TOKENS + each)
    for piece in (piece for passage in passages for piece in _pieces(passage, allowed - each)):
        size = tokens_of(piece) + each
        if part and size > left:
            yield tuple(part)
            part, left = [], allowed
        part.append(piece)
        left -= size
    if part:
        yield tuple(part)


def overlapping(parts: Iterable[tuple[Passage, ...]], *, tokens: int, each: int = 0) -> Iterator[tuple[Passage, ...]]:
    """Each part, preceded by up to `tokens` of the end of the part before if that is of the same document: whatever the
    cut goes through is then whole in one of the two. Pieces of one passage are joined again."""
    before: tuple[Passage, ...] = ()
    for part in parts:
        is_cut = bool(before) and before[-1].document_id == part[0].document_id
        end = _end_of(before, part[0].document_id, tokens, each) if is_cut else ()
        if end and end[-1].chunk_id == part[0].chunk_id:
            whole = replace(part[0], text=end[-1].text + part[0].text)
            yield (*end[:-1], whole, *part[1:])
        else:
            yield (*end, *part)
        before = part


def _end_of(part: Sequence[Passage], document: DocumentId, tokens: int, each: int) -> tuple[Passage, ...]:
    end: list[Passage] = []
    for passage in reversed(part):
        left = tokens - sum(tokens_of(kept) + each for kept in end) - each
        if passage.document_id != document or left <= FRAME_TOKENS:
            break
        if tokens_of(passage) <= left:
            end.append(passage)
            continue
        if tail := _tail(passage, left):
            end.append(replace(passage, text=tail))
        break
    return tuple(reversed(end))


def _tail(passage: Passage, tokens: int) -> str:
    """The end of the text that fits, from the beginning of a word if possible."""
    text = passage.text
    while text and (size := tokens_of(replace(passage, text=text))) > tokens:
        text = text[max(len(text) - len(text) * tokens // size, 1) :]
    between = text.find(" ") + 1
    return text[between:] if 0 < between < len(text) // 2 else text


def _pieces(passage: Passage, tokens: int) -> Iterator[Passage]:
    """The passage, or pieces of its text that fit, cut between words if possible."""
    text = passage.text
    while text and tokens_of(piece := replace(passage, text=text)) > tokens:
        shorter = _cut(piece, tokens)
        yield replace(passage, text=shorter)
        text = text[len(shorter) :]
    if text or not passage.text:
        yield replace(passage, text=text)


def _cut(passage: Passage, tokens: int) -> str:
    """The beginning of the text that fits, at least one character."""
    text = passage.text
    while len(text) > 1 and (size := tokens_of(replace(passage, text=text))) > tokens:
        text = text[: min(max(len(text) * tokens // size, 1), len(text) - 1)]
    between = text.rfind(" ") + 1
    return text[:between] if between > len(text) // 2 else text
