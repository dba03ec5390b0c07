"""The few calls of the kernel that Python has no function for.

In: numbers and buffers. Out: results; OSError with the kernel's reason. Sources: prctl(2), capset(2), syscall(2),
landlock(7); the numbers of landlock are the same on every architecture (include/uapi/asm-generic/unistd.h).
"""

import ctypes
import os
import struct
import sys

PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_SECCOMP, PR_CAPBSET_DROP = 4, 8, 22, 24
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
CAP_DAC_READ_SEARCH = 2
CAP_LAST = 63  # the kernel refuses to drop those it does not know

_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


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
