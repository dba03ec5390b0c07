"""The answer without a model: the best passages themselves.

In: ranked passages and the question. Out: their most relevant sentences as Markdown quotes, and the citations.
It writes no words of its own: the bot adds the line above the quotes and the sources below.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from domain.documents import known_as
from rag.answering.citations import cite, quote
from rag.records import Citation, Passage, RankedPassage
from rag.words import Span, akin, sentences, stems

MAX_QUOTES = 3
EXCERPT_CHARS = 300  # three of them and their sources take little more than a phone's screen
_LIST_ITEM = re.compile(r"[-*•] |\d+[.)] ")
_SENTENCE_END = (".", "!", "?", "…")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")


@dataclass(frozen=True, kw_only=True)
class _Excerpt:
    text: str
    citation: Citation


def choose(passages: Sequence[RankedPassage]) -> tuple[RankedPassage, ...]:
    """The best MAX_QUOTES passages that are `certain`: no model has judged them."""
    return tuple(islice((each for each in passages if each.certain), MAX_QUOTES))


def quote_passages(passages: Sequence[RankedPassage], question: str) -> tuple[str, tuple[Citation, ...]]:
    """Markdown with the quotes, and the citations in the same order.

    Quotes of one document are grouped. The document is named above its quotes if there are several documents: a single
    one is named among the sources anyway.
    """
    excerpts = _excerpts(passages, question)
    groups: dict[str, list[_Excerpt]] = {}
    for excerpt in excerpts:
        groups.setdefault(excerpt.citation.document_id, []).append(excerpt)
    blocks = [_block(group, named=len(groups) > 1) for group in groups.values()]
    return "\n\n".join(blocks), tuple(excerpt.citation for group in groups.values() for excerpt in group)


def _excerpts(passages: Sequence[RankedPassage], question: str) -> list[_Excerpt]:
    """One excerpt for each passage, without duplicates: neighbouring passages overlap."""
    found: list[_Excerpt] = []
    for each in passages:
        text = _excerpt(each.passage, question)
        if not any(text in other.text for other in found):
            found.append(_Excerpt(text=text, citation=cite(each.passage, about=question)))
    return found


def _excerpt(passage: Passage, question: str) -> str:
    """The sentences that share words with the question and the one that follows them, which often holds the answer.

    If that sentence is an item of a list, the following items are included, too.
    """
    text = _without_title(passage)
    wanted = akin(stems(question), text)
    piece = quote(text, about=" ".join(wanted), limit=EXCERPT_CHARS)
    spans = sentences(piece)
    touching = [number for number, span in enumerate(spans) if stems(piece[span.start : span.end]) & wanted]
    if not touching:
        return piece
    last = min(touching[-1] + 1, len(spans) - 1)
    if _heads_the_next(piece, spans[touching[-1]], spans[last]):
        last = touching[-1]
    items = [_LIST_ITEM.match(piece, span.start) is not None for span in spans]
    while items[last] and last + 1 < len(spans) and items[last + 1]:
        last += 1
    return piece[spans[touching[0]].start : spans[last].end]


def _heads_the_next(piece: str, said: Span, after: Span) -> bool:
    """Whether `said` is a whole sentence at the end of its paragraph and the next line is no sentence: then that line
    is the heading of text that is not quoted. After a label («Телефон») such a line is the wanted value."""
    over = piece[said.start : said.end].endswith(_SENTENCE_END) and "\n" in piece[said.end : after.start]
    line = piece[after.start : after.end]
    return over and not line.endswith(_SENTENCE_END) and not _LIST_ITEM.match(line)


def _without_title(passage: Passage) -> str:
    """The text without its first line if that is the title, as on many pages: the title is shown beside the quote."""
    first, _, rest = passage.text.strip().partition("\n")
    is_title = _plain(first) == _plain(passage.title)
    return rest.strip() if is_title and rest.strip() else passage.text.strip()


def _plain(line: str) -> str:
    return " ".join(line.strip("#* ").casefold().split())


def _block(group: Sequence[_Excerpt], *, named: bool) -> str:
    quotes = "\n\n".join(_quoted(excerpt.text) for excerpt in group)
    return f"**{_name(group[0].citation)}**\n{quotes}" if named else quotes


def _name(citation: Citation) -> str:
    name = known_as(citation.source_type, citation.title, citation.source_identifier)
    return _MARKDOWN.sub(r"\\\1", " ".join(name.split()))


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
