"""Outcomes that are counted, and the meter for when nobody counts.

In: how stages and documents ended. Out: nothing; `bot.metrics` counts them where `/metrics` is on. It changes no work.
"""

from enum import StrEnum

from domain.documents import DocumentStatus


class Outcome(StrEnum):
    """How one attempt at a document ended."""

    READY = "ready"
    KNOWN = "known"  # the base has its content or its name, or it was a saved link: nothing was read
    FAILED = "failed"
    POSTPONED = "postponed"


class Unmetered:
    """Meets `ingestion.ports.WorkMeter`; ignores every call."""

    def stage_ended(self, status: DocumentStatus, seconds: float) -> None:
        """Does nothing."""

    def document_ended(self, outcome: Outcome, code: str = "") -> None:
        """Does nothing."""
