"""Ties an answer to the passages that support it.

In: an answer's text and passages. Out: `Citation`s, and for an answer without marks the passages whose words it
repeats. Pure; the bot decides how a source is shown.
"""

import re
from collections.abc import Sequence, Set

from rag.execution.facts import Fact
from rag.records import Citation, Passage
from rag.words import Span, held, sentences, share, stems, union

QUOTE_CHARS = 400  # as much as a phone shows without scrolling; the source button shows the whole passage
_MAX_SUPPORTS = 3
_SUPPORT_SHARE = 0.6  # of the answer's own words; a passage about something else rarely holds a third
_MIN_OWN_WORDS = 3  # fewer words prove nothing
_REFERENCE = re.compile(
    r"[\s*•-]*(?:\[\^?\d{1,3}\]|【\d{1,3}[^】]*】)\s*[:–—-]\s*(.*?)"
    r"(?: \((?:file|note|web page|web site|photo|voice message|recording|video"
    r"|файл|заметка|фото|запись|видео)\))?(?:, (?:стр|с|p)\.? ?\d+)?"
)
# «Источник: Договор.pdf, стр. 1», also in italics or brackets.
_LABELLED = re.compile(
    r"[\s*_(]*(?:Источники?|Sources?)[*_]*:[*_]*\s*(\S.*?)(?:, (?:стр|с|p)\.? ?\d+)?[*_).]*", re.IGNORECASE
)
_LONGEST_REFERENCE = 500  # characters; backtracking grows with the square
_ENDING = re.compile(r"\.[a-z][a-z0-9]{1,4}$", re.IGNORECASE)
_BETWEEN = re.compile(r"[-*_]{3,}|")  # a rule, or nothing
_NAME_SIGNS = re.compile(r"\w+")


def cite(passage: Passage, *, about: str) -> Citation:
    """The passage as a source, with the quote closest to `about` (the answer, or the question)."""
    return Citation(
        document_id=passage.document_id,
        chunk_id=passage.chunk_id,
        title=passage.title or passage.source_identifier,
        source_type=passage.source_type,
        source_identifier=passage.source_identifier,
        locator=passage.locator,
        quote=quote(passage.text, about=about),
    )


def quote(text: str, *, about: str, limit: int = QUOTE_CHARS) -> str:
    """The run of whole sentences, within `limit` characters, that shares most words with `about`; verbatim.

    A single sentence over the limit is cut at a word border.
    """
    if len(text.strip()) <= limit:
        return text.strip()
    spans, wanted = sentences(text), stems(about)
    touched = [held(wanted, text[span.start : span.end]) for span in spans]
    runs = [(first, _end_of_run(spans, first, limit)) for first in range(len(spans))]
    first, end = max(runs, key=lambda run: (len(union(touched[slice(*run)])), -run[0]))
    piece = text[spans[first].start : spans[end - 1].end]
    return piece if len(piece) <= limit else piece[:limit].rsplit(maxsplit=1)[0]


def supports(answer: str, question: str, facts: Sequence[Fact]) -> tuple[int, ...]:
    """Numbers (from 1) of the facts that probably support an answer without marks; the strongest first.

    Only words that the answer adds to the question count: the question's own words are in everything that was found.
    """
    own = stems(answer) - stems(question)
    if len(own) < _MIN_OWN_WORDS:
        return ()
    shares = [share(own, union((held(own, fact.text), held(own, fact.title)))) for fact in facts]
    strongest = sorted(range(len(shares)), key=lambda index: -shares[index])
    return tuple(index + 1 for index in strongest[:_MAX_SUPPORTS] if shares[index] >= _SUPPORT_SHARE)


def without_references(raw: str, facts: Sequence[Fact], *, complete: bool = True) -> str:
    """A model's text without the lines «[1] – Договор.pdf» at its end (seed 4, section 8.2): code names the sources,
    and only those that were used. After a colon such lines are kept: they are a list that was asked for. In a text that
    still grows (not `complete`), the last line is also removed if it may be the beginning of such a line."""
    lines = raw.rstrip().splitlines(keepends=True)
    last = _reference(lines[-1]) if len(lines) > 1 else None
    if last is None:  # nearly always; saves the parsing of all facts' names
        return raw
    named = {name for fact in facts for name in _names(fact)}
    names = ({_plain(name) for name in named} | {_without_ending(name) for name in named}) - {""}
    if not complete and any(name.startswith(_plain(last[1])) for name in names):
        lines.pop()
    while len(lines) > 1 and (_BETWEEN.fullmatch(lines[-1].strip()) or _is_reference(lines[-1], names)):
        lines.pop()
    own = "".join(lines).rstrip()
    return raw if own.rstrip("*_").endswith(":") or own == raw.rstrip() else own


def _reference(line: str) -> re.Match[str] | None:
    if len(line) > _LONGEST_REFERENCE:
        return None
    return _REFERENCE.fullmatch(line.rstrip()) or _LABELLED.fullmatch(line.rstrip())


def _is_reference(line: str, names: Set[str]) -> bool:
    """Whether a line names a fact's document. Models know titles, not files: they shorten «Договор аренды от
    03.02.2026» and invent a file extension."""
    if (reference := _reference(line)) is None:
        return False
    named = _without_ending(reference[1])
    begins = " " in named and any(name.startswith(f"{named} ") for name in names)
    return _plain(reference[1]) in names or named in names or begins


def _names(fact: Fact) -> tuple[str, ...]:
    passage = fact.passage.passage if fact.passage else None
    if passage is None:
        return ()
    return (passage.title, passage.source_identifier, passage.name)


def _without_ending(name: str) -> str:
    return _plain(_ENDING.sub("", name.strip("«»“”\"' ")))


def _plain(name: str) -> str:
    return " ".join(_NAME_SIGNS.findall(name.casefold()))


def _end_of_run(spans: Sequence[Span], first: int, limit: int) -> int:
    """End (exclusive) of the run from `first`: as many sentences as fit, at least one."""
    end = first + 1
    while end < len(spans) and spans[end].end - spans[first].start <= limit:
        end += 1
    return end
