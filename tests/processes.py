"""The confined processes below a test's own, as /proc shows them.

In: the entry point of a pool (`sandbox.pool`). Out: pids. In a whole run this process has other children, the tests'
servers. Linux.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

PARSERS = "ingestion.parsers.registry:serve"


def children_of(pid: int) -> list[int]:
    """Of the main thread of a process; none of a process that is gone."""
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def forkservers(entry: str = PARSERS) -> list[int]:
    """The processes that children are forked from: in a process namespace of its own the child of the one started."""
    return [_innermost(child) for child in children_of(os.getpid()) if _is_forkserver(child, entry)]


def confined(entry: str = PARSERS) -> list[int]:
    """The children themselves; never a forkserver, however soon it is looked at: the first child of a process that
    makes a process namespace is one."""
    started = [pid for pid in children_of(os.getpid()) if _is_forkserver(pid, entry)]
    below_started = [child for pid in started for child in children_of(pid)]
    inner = [pid for pid in below_started if _levels(pid) > _levels(os.getpid())]
    return [child for pid in inner for child in children_of(pid)] + [pid for pid in below_started if pid not in inner]


def environment(pid: int) -> str:
    """As the process was started with."""
    return Path(f"/proc/{pid}/environ").read_text()


def below(pid: int) -> Iterator[int]:
    """All processes that this one has started, and theirs."""
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, listed.read_text().split()):
                yield child
                yield from below(child)


def _is_forkserver(pid: int, entry: str) -> bool:
    with contextlib.suppress(OSError):
        return entry.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _innermost(pid: int) -> int:
    """Whose process namespace has one level more than ours, if there is such a child."""
    first = next(iter(children_of(pid)), None)
    return first if first is not None and _levels(pid) == _levels(os.getpid()) < _levels(first) else pid


def _levels(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return len(line.split()) - 1
    return 0
