"""Ties an answer to the passages that support it: its kind, its sources, and what documents disagree on.

In: a model's text, its prompt, the words that carry it. Out: its `ParsedAnswer` with the kind and sources that the
model left open, and `Citation`s. It does not judge the text. Pure; the bot decides how a source is shown.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from domain.documents import DocumentStatus
from domain.ids import ChunkId
from rag.answering.marks import ParsedAnswer, read
from rag.answering.prompt import AnswerPrompt
from rag.excerpts import find, quote
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.records import AnswerKind, Citation, Conflict, Passage, StillRead
from rag.words import Span, plain

_REFERENCE = re.compile(r"[\s*•-]*(?:\[\^?\d{1,3}\]|【\d{1,3}[^】]*】)[ ]*[:–—-](.{0,300})")
_BETWEEN = re.compile(r"[-*_]{3,}|")  # a rule, or nothing
# «Источник:», «**Sources**:», at the beginning of a line or after a sentence, and what stands below or beside it
_LABELLED = re.compile(r"(?:^|[.!?…\])](?=\s))[ \t(*_>]*[^\W\d_]+(?: [^\W\d_]+){0,2}[*_]*\Z", re.MULTILINE)
_MARK = re.compile(r"\[[\d, ]+\]")
_BESIDE_NAMES = re.compile(r"(?:\s|\b(?:и|and|file|note|web page|web site|(?:стр|с|pp?) \d+(?: \d+)?)\b)*")
_TOLD_BEFORE = 3  # words: a label that nearly begins the answer is its answer


Carried = Mapping[int, Sequence[str]]
"""By number of a fact: words of it that carry what the answer says."""


def understood(raw: str, prompt: AnswerPrompt) -> ParsedAnswer:
    """Without the list of references below it, which counts as its marks where it has no others."""
    own = read(without_references(raw, prompt.facts), passages=len(prompt.facts), complete=True)
    if not own.used:
        own = replace(read(raw, passages=len(prompt.facts), complete=True), text=own.text)
    return sober(own, prompt)


def sober(reading: ParsedAnswer, prompt: AnswerPrompt) -> ParsedAnswer:
    """Without facts an answer cannot be from the base, whatever the model claims: it becomes general knowledge."""
    claimed = reading.kind is AnswerKind.FROM_BASE and not prompt.facts
    return replace(reading, kind=AnswerKind.GENERAL) if claimed else reading


def citations_of(reading: ParsedAnswer, prompt: AnswerPrompt, carried: Carried | None = None) -> tuple[Citation, ...]:
    """The sources of an answer from the base. A passage cited for several facts is one source; where the words that
    carry the answer are not known, the quote is chosen by the answer, for facts other than passages by their text."""
    if reading.kind is not AnswerKind.FROM_BASE:
        return ()
    about = f"{prompt.assignment.question}\n{reading.text}"
    found: dict[ChunkId, Citation] = {}
    words: dict[ChunkId, list[str]] = {}
    for number in reading.used:
        fact, carrying = prompt.facts[number - 1], (carried or {}).get(number, ())
        own = about if fact.kind is FactKind.PASSAGE else fact.text
        passages = [each.passage for each in fact.passages]
        held = [each for each in passages if any(find(said, each.text) for said in carrying)]
        for passage in held or passages[:1]:
            said = words.setdefault(passage.chunk_id, [])
            said += carrying
            found[passage.chunk_id] = cite(passage, about=own, carrying=said)
    return tuple(found.values())


def with_sides(
    answer: str, cited: Sequence[Citation], conflicts: Sequence[Conflict]
) -> tuple[str, tuple[Citation, ...]]:
    """The answer and its sources. Where it cites one side of a disagreement between documents without the others, code
    tells all sides below it (issue 6, "Conflicts")."""
    sources = {citation.document_id for citation in cited}
    sides = [(each, {claim.passage.document_id for claim in each.claims}) for each in conflicts if each.told]
    lacking = [each for each, documents in sides if documents & sources and documents - sources]
    added = (cite(claim.passage, about=claim.value) for each in lacking for claim in each.claims)
    unique = {citation.chunk_id: citation for citation in (*added, *cited)}
    ordered = dict.fromkeys((*(each.chunk_id for each in cited), *unique))
    text = "\n\n".join((answer.rstrip(), *(each.told for each in lacking)))
    return text, tuple(unique[chunk] for chunk in ordered)


def still_read(payload: FactsPayload, citations: Sequence[Citation]) -> tuple[StillRead, ...]:
    """The answer's documents that were still being read; without sources all that were found."""
    used = {citation.document_id for citation in citations}
    passages = [fact.passage.passage for fact in payload.facts if fact.passage]
    unfinished = {
        passage.document_id: StillRead(
            name=passage.name,
            percent=min(100 * passage.searchable // max(passage.progress_total, 1), 99),
        )
        for passage in passages
        if passage.document_status is not DocumentStatus.READY and (not used or passage.document_id in used)
    }
    return tuple(unfinished.values())


def cite(passage: Passage, *, about: str, carrying: Sequence[str] = ()) -> Citation:
    """The passage as a source. Its quote is the words `carrying` the answer, as far as they stand in the passage; else
    the sentences closest to `about` (the answer, or the question)."""
    spans: list[Span] = []  # in order, those that touch joined
    for span in sorted(filter(None, (find(words, passage.text) for words in carrying)), key=lambda each: each.start):
        if spans and span.start <= spans[-1].end:
            spans[-1] = Span(start=spans[-1].start, end=max(spans[-1].end, span.end))
        else:
            spans.append(span)
    words = " … ".join(passage.text[span.start : span.end] for span in spans)
    stored, start = _piece_at(passage, spans[0].start if spans else 0)
    held = [span for span in spans if _piece_at(passage, span.start) == (stored, start)]
    return Citation(
        document_id=passage.document_id,
        chunk_id=passage.chunk_id,
        title=passage.title or passage.source_identifier,
        source_type=passage.source_type,
        source_identifier=passage.source_identifier,
        locator=passage.locator,
        quote=words or quote(passage.text, about=about),
        shown=stored if spans else None,
        carrying=tuple(Span(start=span.start - start, end=span.end - start) for span in held),
    )


def _piece_at(passage: Passage, place: int) -> tuple[ChunkId, int]:
    """The stored passage that holds this place of one that may have been merged, and where its text begins."""
    return next((piece for piece in reversed(passage.pieces) if piece[1] <= place), (passage.chunk_id, 0))


def without_references(raw: str, facts: Sequence[Fact], *, complete: bool = True) -> str:
    """A model's text without the sources that it names at its end, «[1] – Договор.pdf» or «Источник: Договор.pdf»
    (seed 4, section 8.2): code names them, and only those that were used. Where documents are listed, the last label
    stays. In a text that still grows (not `complete`), the last line is held back as long as it may become one."""
    own, names = raw, _all_names(facts)
    lines = raw.rstrip().splitlines(keepends=True)
    if len(lines) > 1 and (last := _REFERENCE.fullmatch(lines[-1].rstrip())):
        if not complete and any(name.startswith(plain(last[1])) for name in names):
            lines.pop()
        while len(lines) > 1 and (
            _BETWEEN.fullmatch(line := lines[-1].strip()) or (_REFERENCE.fullmatch(line) and _are_names(line, names))
        ):
            lines.pop()
        shorter = "".join(lines).rstrip()
        is_asked = shorter.rstrip("*_").endswith(":")  # after a colon such lines are a list that was asked for
        own = raw if is_asked or shorter == raw.rstrip() else shorter
    is_list = any(fact.kind is FactKind.DOCUMENT for fact in facts)
    return _without_source_line(own, names) if complete and not is_list else own


def _without_source_line(raw: str, names: Set[str]) -> str:
    """Without a label that only names of documents and marks follow, unless the answer is hardly more."""
    for colon in reversed([at for at, sign in enumerate(raw) if sign == ":"]):
        if not _are_names(raw[colon + 1 :], names):
            return raw
        if label := _LABELLED.search(raw[:colon].rpartition("\n\n")[2]):
            own = raw[: colon - len(label[0].lstrip(".!?…])"))].rstrip()
            return own if len(plain(own).split()) >= _TOLD_BEFORE else raw
    return raw


def _are_names(text: str, names: Set[str]) -> bool:
    """Whether a text is nothing but these names, marks, and places in documents."""
    left, is_named = f" {plain(_MARK.sub(' ', text))} ", bool(_MARK.search(text))
    for name in sorted(names, key=len, reverse=True):
        is_named = is_named or f" {name} " in left
        left = left.replace(f" {name} ", "  ")
    return is_named and _BESIDE_NAMES.fullmatch(left) is not None


def _all_names(facts: Sequence[Fact]) -> frozenset[str]:
    passages = [fact.passage.passage for fact in facts if fact.passage]
    named = [name for each in passages for name in (each.title, each.source_identifier, each.name)]
    return frozenset(filter(None, map(plain, (*named, *(name.partition("://")[2] for name in named)))))
