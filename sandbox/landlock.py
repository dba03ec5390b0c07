"""Landlock: which files a process may still open; it connects to no TCP port.

In: paths. Out: a ruleset that the process enters for good (`restrict_self`). Older kernels know fewer rights:
what they lack is left out. Source: Documentation/userspace-api/landlock.rst and include/uapi/linux/landlock.h.
"""

import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from sandbox.kernel import LANDLOCK_ADD_RULE, LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF, syscall

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_DIR, MAKE_REG = 1 << 7, 1 << 8
REFER, TRUNCATE = 1 << 13, 1 << 14
READING = READ_FILE | READ_DIR
WRITING = READING | WRITE_FILE | REMOVE_FILE | REMOVE_DIR | MAKE_DIR | MAKE_REG | TRUNCATE
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE  # the rights that a rule for a single file may have

FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # ABI -> how many rights it handles; later ones have no more
NET_ABI, SCOPE_ABI = 4, 6
BIND_TCP, CONNECT_TCP = 1, 2
ABSTRACT_SOCKETS, SIGNALS = 1, 2

_VERSION_FLAG = 1
_RULE_PATH = 1


def abi() -> int:
    """The version of Landlock in this kernel; 0 when there is none."""
    try:
        return syscall(LANDLOCK_CREATE_RULESET, 0, 0, _VERSION_FLAG)
    except OSError:
        return 0


def make_ruleset(*, reads: Iterable[Path], writes: Iterable[Path], runs: Iterable[Path]) -> int:
    """A descriptor of rules: `reads` and `writes` are files or folders with all below, `runs` programs.

    Paths that do not exist are left out. Raises OSError where there is no Landlock.
    """
    version = abi()
    handled = (1 << FILE_RIGHTS.get(version, 16)) - 1
    attributes = struct.pack("=Q", handled)
    if version >= NET_ABI:
        attributes += struct.pack("=Q", BIND_TCP | CONNECT_TCP)
    if version >= SCOPE_ABI:
        attributes += struct.pack("=Q", ABSTRACT_SOCKETS | SIGNALS)
    ruleset = syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    for paths, rights in ((reads, READING), (writes, WRITING), (runs, EXECUTE | READ_FILE)):
        for path in paths:
            _allow_path(ruleset, path, rights & handled)
    return ruleset


def restrict_self(ruleset: int) -> None:
    """Enter the ruleset, for good and with all processes to come; `no_new_privs` must be set. Raises OSError."""
    syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow_path(ruleset: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= OF_FILES
        syscall(LANDLOCK_ADD_RULE, ruleset, _RULE_PATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)
