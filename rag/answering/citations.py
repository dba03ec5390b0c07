"""Ties an answer to the passages that support it: its sources, and what documents disagree on.

In: a parsed answer, its prompt, the words that carry it. Out: `Citation`s. It does not judge the text. Pure; the bot
decides how a source is shown.
"""

from collections.abc import Mapping, Sequence

from domain.documents import DocumentStatus
from domain.ids import ChunkId
from rag.answering.marks import ParsedAnswer
from rag.answering.prompt import AnswerPrompt
from rag.excerpts import find, quote
from rag.execution.facts import FactKind, FactsPayload
from rag.records import AnswerKind, Citation, Conflict, Passage, StillRead
from rag.words import Span

Carried = Mapping[int, Sequence[str]]  # by number of a fact: words of it that carry what the answer says


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
