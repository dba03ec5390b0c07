"""Passages as a model reads them: numbered, each between tags that no passage can close.

In: ranked passages and a budget in tokens. Out: the block, its fence word and the passages that fit, in the order of
their numbers. The same passages always give the same block.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.records import Passage, RankedPassage
from rag.tokens import estimate_tokens

_FENCE_DIGITS = 8
_SOURCE_WORDS = {"note": "note", "file": "file", "link": "web page", "path": "file"}  # as the prompt names them
_MIN_CUT_TOKENS = 50  # less than that of a first passage is not worth a model call


@dataclass(frozen=True, kw_only=True)
class PassagesBlock:
    """What goes into the prompt, and what its numbers mean."""

    fence: str
    text: str
    passages: tuple[RankedPassage, ...]  # number n is passages[n - 1]


def build_block(passages: Sequence[RankedPassage], *, tokens: int) -> PassagesBlock:
    """The best passages that fit into `tokens`; the first one is cut rather than left out."""
    fence = _fence(passages)
    texts: list[str] = []
    placed: list[RankedPassage] = []
    left = tokens
    for ranked in passages:
        fitting = ranked if placed else _cut(ranked, left)
        text = _tagged(fitting.passage, fence, number=len(placed) + 1)
        left -= estimate_tokens(text)
        if left < 0 and placed:
            break
        texts.append(text)
        placed.append(fitting)
    return PassagesBlock(fence=fence, text="\n\n".join(texts), passages=tuple(placed))


def _fence(passages: Sequence[RankedPassage]) -> str:
    """A word derived from the texts, so that none of them can have been written to contain it; checked all the same."""
    content = "\0".join(f"{each.passage.title}\0{each.passage.text}" for each in passages)
    fence, salt = "", 0
    while not fence or fence in content:
        digest = hashlib.sha256(f"{salt}\0{content}".encode(errors="replace")).hexdigest()
        fence, salt = f"material-{digest[:_FENCE_DIGITS]}", salt + 1
    return fence


def _tagged(passage: Passage, fence: str, *, number: int) -> str:
    lines = [
        f"<{fence} number={number}>",
        f"Document: {_one_line(passage.title or passage.source_identifier)} ({_SOURCE_WORDS[passage.source_type]})",
        *_place(passage),
        "Text:",
        passage.text.strip(),
        f"</{fence}>",
    ]
    return "\n".join(lines)


def _place(passage: Passage) -> list[str]:
    """Where it stands and of when it is, as far as that is known."""
    locator = passage.locator
    lines = []
    if locator.page is not None:
        pages = f"{locator.page}-{locator.page_end}" if locator.page_end else f"{locator.page}"
        lines.append(f"Page: {pages}")
    if locator.headings:
        lines.append(f"Section: {_one_line(' > '.join(locator.headings))}")
    if passage.published_at is not None:
        lines.append(f"Date: {passage.published_at.date().isoformat()}")
    return lines


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(ranked: RankedPassage, tokens: int) -> RankedPassage:
    """The passage with no more text than `tokens` allow."""
    text, allowed = ranked.passage.text, max(tokens, _MIN_CUT_TOKENS)
    if (needed := estimate_tokens(text)) <= allowed:
        return ranked
    return replace(ranked, passage=replace(ranked.passage, text=text[: len(text) * allowed // needed]))
