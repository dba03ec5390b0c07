"""Secrets leave this process's environment once they are read.

In: names of variables. Out: neither `os.environ` nor what /proc/<pid>/environ shows has them any more. Other processes
of the user could read them there, and children would inherit them. Source: proc_pid_stat(5), fields 50 and 51.
"""

import contextlib
import ctypes
import os
from collections.abc import Collection
from pathlib import Path

from sandbox import kernel

ENV_START, ENV_END = 47, 48  # after the program's name, which is in brackets: fields 50 and 51, counted from 3


def forget_variables(names: Collection[str]) -> None:
    """Remove the variables, and overwrite their values where the kernel put them when the process was started."""
    for name in names:
        os.environ.pop(name, None)
    with contextlib.suppress(OSError, ValueError, IndexError):  # not Linux
        fields = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        start, end = int(fields[ENV_START]), int(fields[ENV_END])
        _overwrite(start, ctypes.string_at(start, end - start), {name.encode() for name in names})


def hide_from_others() -> None:
    """No other process of the user may read this one's memory and environment (`kernel.hide_process`)."""
    with contextlib.suppress(OSError):
        kernel.hide_process()


def _overwrite(start: int, block: bytes, names: Collection[bytes]) -> None:
    at = 0
    for entry in block.split(b"\0"):
        name, _, value = entry.partition(b"=")
        if name in names:
            ctypes.memset(start + at + len(name) + 1, ord("x"), len(value))
        at += len(entry) + 1
