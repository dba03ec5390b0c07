"""Ends this process when it cannot go on: memory is used up, the event loop stands still, a shutdown does not end.

In: limits. Out: nothing, or one line in the log and on standard error, the stacks of all threads, and exit status 75,
at which whoever started it starts it again (docs/operations.md). Nothing is lost: updates and documents are under
leases. A thread watches, since a loop that hangs cannot. It frees nothing and repairs nothing.
"""

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import structlog

EXIT_STATUS = 75  # EX_TEMPFAIL of sysexits.h: try again
LOOK_EVERY_S = 0.5
STILL_S = 120.0  # no turn of the event loop takes so long, on any machine
SHARE_OF_MEMORY = 0.8  # of what the machine or the container has

log = structlog.get_logger()


class Watchdog:
    """Watches from `start` to the end of the process; `beat` has to be called from the event loop all the time."""

    def __init__(self, *, memory_bytes: float, end: Callable[[int], object] = os._exit) -> None:
        self._memory_bytes = memory_bytes
        self._end = end
        self._beaten_at = time.monotonic()
        self._ends_at = float("inf")

    def start(self) -> None:
        """Begin to watch."""
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def beat(self) -> None:
        """The event loop is alive."""
        self._beaten_at = time.monotonic()

    def expect_end(self, within_s: float) -> None:
        """A shutdown has begun, and has so many seconds."""
        self._ends_at = min(self._ends_at, time.monotonic() + within_s)

    def _watch(self) -> None:
        while (trouble := self._trouble()) is None:
            time.sleep(LOOK_EVERY_S)
        sys.stderr.write(f"Baza ends itself: {trouble}\n")
        faulthandler.dump_traceback(all_threads=True)
        log.critical("process.ends_itself", reason=trouble)
        self._end(EXIT_STATUS)

    def _trouble(self) -> str | None:
        now = time.monotonic()
        if (held := resident_bytes()) > self._memory_bytes:
            return f"memory: {held >> 20} MB of {int(self._memory_bytes) >> 20} that this process may hold"
        if now > self._ends_at:
            return "the shutdown did not end in time"
        return f"the event loop stood still for {STILL_S:.0f} s" if now - self._beaten_at > STILL_S else None


def resident_bytes() -> int:
    """Memory of this process; 0 where that is not known. proc_pid_statm(5)."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def memory_bound(megabytes: int) -> float:
    """Bytes that this process may hold: as set, else most of what the machine and the control group have (cgroups(7),
    versions 2 and 1)."""
    found: list[float] = []
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # ValueError: "max"
            found.append(int(Path(path).read_text(encoding="ascii")))
    with suppress(OSError, ValueError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return megabytes * 2**20 if megabytes else min(found, default=float("inf")) * SHARE_OF_MEMORY
