"""Reports a document's stages to the queue, and its progress about once a second.

In: the stage's own counts, as often as it likes. Out: `WorkQueue.report` calls. When the database does not answer, a
report is dropped and the work goes on; a lost lease stops the work.
"""

from collections.abc import Callable
from time import monotonic

import structlog

from domain.documents import DocumentStatus
from domain.errors import DatabaseAway
from ingestion.ports import WorkMeter, WorkQueue
from ingestion.records import ClaimedDocument

REPORT_EVERY_S = 1.0  # Telegram lets a bot edit a chat's messages about once a second


class Progress:
    """Reports one document's progress through its stages."""

    def __init__(
        self,
        queue: WorkQueue,
        document: ClaimedDocument,
        *,
        clock: Callable[[], float] = monotonic,
        meter: WorkMeter | None = None,
        is_muted: bool = False,
    ) -> None:
        """A muted one is of a part of the document, such as a file of an archive: only the whole is reported."""
        self._queue = queue
        self._document = document
        self._clock = clock
        self._meter = meter or WorkMeter()
        self._status = DocumentStatus.FETCHING  # the status that `claim` sets
        self._reported_at = self._entered_at = clock()
        self._is_muted = is_muted

    def muted(self) -> "Progress":
        """One for a part of the document."""
        return Progress(self._queue, self._document, is_muted=True)

    def entered(self, status: DocumentStatus) -> None:
        """Note a stage that another call has already told the queue of."""
        self._reported_at = self._clock()
        if status is not self._status:
            self._meter.stage_ended(self._status, self._reported_at - self._entered_at)
            self._status, self._entered_at = status, self._reported_at

    def close(self) -> None:
        """Meter the stage that was running."""
        self._meter.stage_ended(self._status, self._clock() - self._entered_at)

    async def report(self, status: DocumentStatus, *, done: int = 0, total: int = 0) -> None:
        """Report a new stage at once, and progress within a stage once a second. Raises LeaseLost."""
        is_soon = status is self._status and self._clock() - self._reported_at < REPORT_EVERY_S
        if self._is_muted or is_soon:
            return
        self.entered(status)
        try:
            await self._queue.report(self._document, status=status, done=done, total=total)
        except DatabaseAway as error:
            structlog.get_logger().warning("progress_lost", document=self._document.id, reason=str(error))
