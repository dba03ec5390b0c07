"""Who watches over the work, when nobody does.

In: how stages and documents ended. Out: nothing; `bot.metrics` counts them where `/metrics` is on. It changes no work.
"""

from enum import StrEnum

from domain.documents import DocumentStatus


class Outcome(StrEnum):
    """How one attempt at a document ended."""

    READY = "ready"
    KNOWN = "known"  # the base has its content, or another of its name: nothing was read
    FAILED = "failed"
    POSTPONED = "postponed"


class Unmetered:
    """Meets `ingestion.ports.WorkMeter`; forgets what it hears."""

    def stage_ended(self, status: DocumentStatus, seconds: float) -> None:
        """Nothing."""

    def document_ended(self, outcome: Outcome, code: str = "") -> None:
        """Nothing."""
