"""Reports a document's stages to the queue, and its progress about once a second.

In: the stage's own counts, as often as it likes. Out: `WorkQueue.report` calls. When the database does not answer, a
report is dropped and the work goes on; a lost lease stops the work.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

import structlog

from domain.documents import DocumentStatus
from domain.errors import DatabaseAway
from ingestion.ports import WorkMeter, WorkQueue
from ingestion.records import ClaimedDocument

REPORT_EVERY_S = 1.0  # Telegram lets a bot edit a chat's messages about once a second


@dataclass
class Progress:
    """Reports one document's progress through its stages."""

    queue: WorkQueue
    document: ClaimedDocument
    clock: Callable[[], float] = field(default=monotonic, kw_only=True)
    meter: WorkMeter = field(default_factory=WorkMeter, kw_only=True)
    is_muted: bool = False  # of a part of the document, such as a file of an archive: only the whole is reported

    def __post_init__(self) -> None:
        self._status = DocumentStatus.FETCHING  # the status that `claim` sets
        self._reported_at = self._entered_at = self.clock()

    def muted(self) -> "Progress":
        """One for a part of the document."""
        return Progress(self.queue, self.document, is_muted=True)

    def entered(self, status: DocumentStatus) -> None:
        """Note a stage that another call has already told the queue of."""
        self._reported_at = self.clock()
        if status is not self._status:
            self.meter.stage_ended(self._status, self._reported_at - self._entered_at)
            self._status, self._entered_at = status, self._reported_at

    def close(self) -> None:
        """Meter the stage that was running."""
        self.meter.stage_ended(self._status, self.clock() - self._entered_at)

    async def report(self, status: DocumentStatus, *, done: int = 0, total: int = 0) -> None:
        """Report a new stage at once, and progress within a stage once a second. Raises LeaseLost."""
        is_soon = status is self._status and self.clock() - self._reported_at < REPORT_EVERY_S
        if self.is_muted or is_soon:
            return
        self.entered(status)
        try:
            await self.queue.report(self.document, status=status, done=done, total=total)
        except DatabaseAway as error:
            structlog.get_logger().warning("progress_lost", document=self.document.id, reason=str(error))
