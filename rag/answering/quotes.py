"""The answer without a model: the best passages themselves.

In: ranked passages and the question. Out: their most relevant sentences as Markdown quotes, and the citations.
It writes no words of its own: the line above the quotes and the sources below are the bot's.
"""

import re
from collections.abc import Sequence

from rag.answering.citations import cite
from rag.records import Citation, RankedPassage

MAX_QUOTES = 3
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")


def choose(passages: Sequence[RankedPassage]) -> tuple[RankedPassage, ...]:
    """The best that are certain enough to be shown without anybody having judged them."""
    return tuple(each for each in passages if each.certain)[:MAX_QUOTES]


def quote_passages(passages: Sequence[RankedPassage], question: str) -> tuple[str, tuple[Citation, ...]]:
    """Markdown with a title and a quote for each, and the citations in the same order."""
    citations = tuple(cite(each.passage, about=question) for each in passages)
    return "\n\n".join(_block(citation) for citation in citations), citations


def _block(citation: Citation) -> str:
    title = _MARKDOWN.sub(r"\\\1", " ".join(citation.title.split()))
    lines = (f"> {line}".rstrip() for line in citation.quote.splitlines())
    return f"**{title}**\n" + "\n".join(lines)
