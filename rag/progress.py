"""How far a plan of several steps is, as a person sees it.

In: the course of its execution. Out: records for the live list and for `baza ask --json`. Nothing is decided here.
"""

from dataclasses import dataclass
from enum import StrEnum


class StepState(StrEnum):
    """How far a step of a plan has come."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SHORT = "short"  # it found less than it was to
    FAILED = "failed"
    STOPPED = "stopped"  # broken off, because the person had enough
    SKIPPED = "skipped"  # not needed any more, or no time for it
    IN_VAIN = "in_vain"  # a search that was not begun, because those before it brought nothing new


@dataclass(frozen=True, kw_only=True)
class StepShown:
    """A step as the person sees it."""

    id: str
    action: str
    about: str  # what is looked for, in the plan's words
    state: StepState
    done: int = 0  # documents, of a step that reads them
    total: int = 0
    is_empty: bool = False  # it has ended, and found nothing
