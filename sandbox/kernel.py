"""The few calls of the kernel that Python has no function for, and Landlock.

In: what a process may still do: files that it may open, TCP ports it may connect to. Out: the kernel holds it to that,
as far as it can. It also hides the secrets of this process's environment from others of the same user.
"""

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_SECCOMP, PR_CAPBSET_DROP = 4, 8, 22, 24
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
CAP_DAC_READ_SEARCH = 2
CAP_LAST = 63  # the kernel refuses to drop those it does not know
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522
_libc = ctypes.CDLL(None, use_errno=True)
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
ENV_START, ENV_END = 47, 48  # after the program's name, which is in brackets: fields 50 and 51, counted from 3


def machine() -> str:
    """The architecture, as the kernel names it: x86_64, aarch64."""
    return os.uname().machine


def syscall(number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char]) -> int:
    """Raises OSError."""
    if sys.platform != "linux":
        raise OSError("not Linux")
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *words))


def prctl(option: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char]) -> int:
    """Raises OSError."""
    if sys.platform != "linux":
        raise OSError("not Linux")
    words = [ctypes.c_ulong(each) if isinstance(each, int) else each for each in arguments]
    words += [ctypes.c_ulong(0)] * (4 - len(words))
    return _checked(_libc.prctl(ctypes.c_int(option), *words))


def unshare(flags: int) -> None:
    """unshare(2). Raises OSError."""
    if sys.platform != "linux":
        raise OSError("not Linux")
    _checked(_libc.unshare(ctypes.c_int(flags)))


def set_capabilities(kept: int) -> None:
    """Permit and use the capabilities of the mask `kept`, inherit none. Raises OSError."""
    if machine() not in _CAPSET:
        raise OSError(f"no number of capset(2) for {machine()}")
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    low = kept & 0xFFFFFFFF
    syscall(_CAPSET[machine()], header, struct.pack("=6I", low, low, 0, kept >> 32, kept >> 32, 0))


def hide_process() -> None:
    """No process of the same user may read our memory, environment or open files, and no core is written."""
    prctl(PR_SET_DUMPABLE, 0)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


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
        hide_process()


def _overwrite(start: int, block: bytes, names: Collection[bytes]) -> None:
    at = 0
    for entry in block.split(b"\0"):
        name, _, value = entry.partition(b"=")
        if name in names:
            ctypes.memset(start + at + len(name) + 1, ord("x"), len(value))
        at += len(entry) + 1
