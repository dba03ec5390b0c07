"""Reports a document's progress to the queue about once a second.

In: the stage's own counts, as often as it likes. Out: `WorkQueue.report` calls. When the database does not answer, a
report is dropped and the work goes on; a lost lease stops the work.
"""

import asyncio
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
        self._later: asyncio.TimerHandle | None = None
        self._telling: asyncio.Task[None] | None = None

    def muted(self) -> "Progress":
        """One for a part of the document."""
        return Progress(self._queue, self._document, is_muted=True)

    def entered(self, status: DocumentStatus) -> None:
        """Note a stage that another call has already told the queue of."""
        self._reported_at = self._clock()
        if status is not self._status:
            self._meter.stage_ended(self._status, self._reported_at - self._entered_at)
            self._status, self._entered_at = status, self._reported_at
        self._forget_later()

    def begin(self, status: DocumentStatus, *, total: int = 0) -> None:
        """Begin a stage that is reported only if it lasts a second: most stages of a short document do not."""
        if self._is_muted:
            return
        self.entered(status)
        self._later = asyncio.get_running_loop().call_later(REPORT_EVERY_S, self._tell_later, status, total)

    async def close(self) -> None:
        """Stop reporting, and meter the stage that was running."""
        self._meter.stage_ended(self._status, self._clock() - self._entered_at)
        await self.settled()

    async def settled(self) -> None:
        """Report no more of this stage, and wait for the report that is under way: coming after the call that tells of
        the next stage it would take that back."""
        self._forget_later()
        if self._telling is not None:
            await asyncio.gather(self._telling, return_exceptions=True)

    async def report(self, status: DocumentStatus, *, done: int = 0, total: int = 0) -> None:
        """Report a new stage at once, and progress within a stage once a second. Raises LeaseLost."""
        is_soon = status is self._status and self._clock() - self._reported_at < REPORT_EVERY_S
        if not self._is_muted and not is_soon:
            self.entered(status)
            await self._tell(status, done=done, total=total)

    def _forget_later(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None

    def _tell_later(self, status: DocumentStatus, total: int) -> None:
        """A lost lease meets the work itself at its next call, or it has ended already."""
        self._telling = asyncio.ensure_future(self._tell(status, done=0, total=total))

    async def _tell(self, status: DocumentStatus, *, done: int, total: int) -> None:
        try:
            await self._queue.report(self._document, status=status, done=done, total=total)
        except DatabaseAway as error:
            structlog.get_logger().warning("progress_lost", document=self._document.id, reason=str(error))
