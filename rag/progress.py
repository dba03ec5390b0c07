"""The progress of a plan of several steps, as a person sees it.

In: the state of its execution. Out: records for the live list and for `baza ask --json`. Nothing is decided here.
"""

from dataclasses import dataclass
from enum import StrEnum


class StepState(StrEnum):
    """How far a step of a plan has come."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SHORT = "short"  # it found less than its success criterion asks
    FAILED = "failed"
    STOPPED = "stopped"  # cancelled, because the person pressed stop
    SKIPPED = "skipped"  # not needed any more, or no time for it
    IN_VAIN = "in_vain"  # a search that was not started, because earlier ones found nothing new


@dataclass(frozen=True, kw_only=True)
class StepShown:
    """A step as the person sees it."""

    id: str
    action: str
    about: str  # what is looked for, in the plan's words
    state: StepState
    done: int = 0  # documents read so far, for a step that reads them
    total: int = 0
    is_empty: bool = False  # the step has ended and found nothing
