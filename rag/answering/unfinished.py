"""Finds the documents of an answer that were still being read when it was given.

In: the facts of a turn and the sources that its answer used. Out: those documents, with the share of each that was
read. For an answer without sources all found documents count: what is missing may be in their unread parts.
"""

from collections.abc import Sequence

from domain.documents import DocumentStatus
from rag.execution.facts import FactsPayload
from rag.records import Citation, Passage, StillRead

MOST_PERCENT = 99  # 100 would mean READY


def still_read(payload: FactsPayload, citations: Sequence[Citation]) -> tuple[StillRead, ...]:
    """Each document once, in the order of the facts."""
    used = {citation.document_id for citation in citations}
    passages = [fact.passage.passage for fact in payload.facts if fact.passage]
    unfinished = {
        passage.document_id: _still_read(passage)
        for passage in passages
        if passage.document_status is not DocumentStatus.READY and (not used or passage.document_id in used)
    }
    return tuple(unfinished.values())


def _still_read(passage: Passage) -> StillRead:
    percent = 100 * passage.searchable // max(passage.progress_total, 1)
    return StillRead(
        title=passage.title,
        source_type=passage.source_type,
        source_identifier=passage.source_identifier,
        percent=min(percent, MOST_PERCENT),
    )
