"""The few calls of the kernel that Python has no function for, Landlock, and seccomp: what a process may still do.

In: files that a process may still open, which system calls it may make. Out: the kernel holds it to that for good. The
filter is a list of what is allowed: computing and files (Landlock says which), sockets that are open already, threads;
programs and processes only where asked for; never new sockets, ptrace, other processes' memory and signals, mounts,
namespaces, keys, bpf, io_uring. It also hides the secrets of this process's environment from others of the user.

Sources: Documentation/userspace-api/seccomp_filter.rst, bpf(4); numbers from arch/x86/entry/syscalls/syscall_64.tbl and
include/uapi/asm-generic/unistd.h. Why no library: docs/decisions.md.
"""

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from errno import ENOSYS, EPERM
from functools import cache
from pathlib import Path
from typing import Any

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
_RULE_PATH = 1
ENV_START, ENV_END = 47, 48  # after the program's name, which is in brackets: fields 50 and 51, counted from 3

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # include/uapi/linux/audit.h
_COLUMN = {"x86_64": 0, "aarch64": 1}
MACHINE = os.uname().machine

_NUMBERS = """
read=0,63 write=1,64 readv=19,65 writev=20,66 pread64=17,67 pwrite64=18,68 preadv=295,69 pwritev=296,70 lseek=8,62
close=3,57 close_range=436,436 fstat=5,80 newfstatat=262,79 stat=4,- lstat=6,- statx=332,291 access=21,-
faccessat=269,48 faccessat2=439,439 open=2,- openat=257,56 readlink=89,- readlinkat=267,78 getcwd=79,17 chdir=80,49
getdents64=217,61 statfs=137,43 fstatfs=138,44 mkdir=83,- mkdirat=258,34 unlink=87,- unlinkat=263,35 rmdir=84,-
rename=82,- renameat=264,38 renameat2=316,276 chmod=90,- fchmod=91,52 fchmodat=268,53 utimensat=280,88 umask=95,166
ftruncate=77,46 fallocate=285,47 fsync=74,82 fdatasync=75,83 dup=32,23 dup2=33,- dup3=292,24 flock=73,32
fadvise64=221,223 copy_file_range=326,285 sendfile=40,71 pipe=22,- pipe2=293,59 eventfd2=290,19 poll=7,- ppoll=271,73
select=23,- pselect6=270,72 epoll_create1=291,20 epoll_ctl=233,21 epoll_wait=232,- epoll_pwait=281,22 fcntl=72,25
mmap=9,222 munmap=11,215 mprotect=10,226 mremap=25,216 madvise=28,233 brk=12,214 mincore=27,232 msync=26,227
mlock=149,228 munlock=150,229
rt_sigaction=13,134 rt_sigprocmask=14,135 rt_sigreturn=15,139 rt_sigpending=127,136 rt_sigsuspend=130,133
rt_sigtimedwait=128,137 sigaltstack=131,132 pause=34,- alarm=37,- setitimer=38,103 getitimer=36,102
restart_syscall=219,128 nanosleep=35,101 clock_nanosleep=230,115 clock_gettime=228,113 clock_getres=229,114
gettimeofday=96,169 time=201,- times=100,153 getcpu=309,168
sched_yield=24,124 sched_getaffinity=204,123 sched_setaffinity=203,122 sched_getparam=143,121 sched_getscheduler=145,120
sched_get_priority_max=146,125 sched_get_priority_min=147,126 getpriority=140,141 getpid=39,172 getppid=110,173
gettid=186,178 getuid=102,174 geteuid=107,175 getgid=104,176 getegid=108,177 getgroups=115,158 getresuid=118,148
getresgid=120,150 getpgrp=111,- getpgid=121,155 getsid=124,156 getrlimit=97,163 setrlimit=160,164 getrusage=98,165
sysinfo=99,179 uname=63,160 getrandom=318,278 futex=202,98 futex_waitv=449,449 set_robust_list=273,99
get_robust_list=274,100 set_tid_address=218,96 rseq=334,293 membarrier=324,283 arch_prctl=158,- exit=60,93
exit_group=231,94 wait4=61,260 waitid=247,95
recvfrom=45,207 recvmsg=47,212 shutdown=48,210 getsockopt=55,209 setsockopt=54,208
getsockname=51,204 getpeername=52,205
"""
_PROGRAM = "execve=59,221"
_PROCESSES = "fork=57,- vfork=58,- socketpair=53,199"  # a pair reaches nobody else
_CHECKED = """
ioctl=16,29 prctl=157,167 prlimit64=302,261 clone=56,220 kill=62,129 tgkill=234,131 sendto=44,206 sendmsg=46,211
clone3=435,435
"""

_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # is it a terminal, how many bytes wait, blocking, CLOEXEC
_PRCTLS = (3, 15, 16, 23, 0x53564D41)  # names of threads and memory, and what only looks
_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020080  # CLONE_NEW*: user_namespaces(7), time_namespaces(7)
_MSG_FASTOPEN = 0x20000000  # sending that connects, where connect(2) is refused
_NEWEST = 450  # calls from this number on are unknown to us, and libraries know how to do without them
_X32 = 0x40000000  # the same calls under other numbers

_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_KILL, _ERROR = 0x80000000, 0x00050000
_NUMBER_AT, _ARCH_AT, _ARGUMENT_AT = 0, 4, 16  # offsets in struct seccomp_data; the low half of a 64-bit argument

Instruction = tuple[int, int, int, int]
_ALLOW: Instruction = (_RETURN, 0, 0, 0x7FFF0000)
_REFUSE: Instruction = (_RETURN, 0, 0, _ERROR | EPERM)


def _called(function: Any, *arguments: int | bytes | ctypes.Array[ctypes.c_char]) -> int:
    if sys.platform != "linux":
        raise OSError("not Linux")
    result = int(function(*(ctypes.c_ulong(each) if isinstance(each, int) else each for each in arguments)))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def works(step: Callable[[], object]) -> bool:
    """Whether the kernel grants it."""
    try:
        step()
    except OSError:
        return False
    return True


def syscall(number: int, *arguments: int | bytes) -> int:
    """Raises OSError."""
    return _called(_libc.syscall, number, *arguments)


def prctl(option: int, *arguments: int | bytes) -> int:
    """Raises OSError."""
    return _called(_libc.prctl, *(option, *arguments, 0, 0, 0, 0)[:5])


def unshare(flags: int) -> None:
    """unshare(2). Raises OSError."""
    _called(_libc.unshare, flags)


def set_capabilities(kept: int) -> None:
    """Permit and use the capabilities of the mask `kept` (of the first 32), inherit none. Raises OSError."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    syscall(_CAPSET.get(MACHINE, -1), header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def hide_process() -> None:
    """No process of the same user may read our memory, environment or open files, and no core is written."""
    prctl(PR_SET_DUMPABLE, 0)


def abi() -> int:
    """The version of Landlock in this kernel; 0 when there is none."""
    with contextlib.suppress(OSError):
        return syscall(LANDLOCK_CREATE_RULESET, 0, 0, 1)  # LANDLOCK_CREATE_RULESET_VERSION
    return 0


def make_ruleset(*, reads: Iterable[Path], writes: Iterable[Path], runs: Iterable[Path]) -> int:
    """A descriptor of rules: `reads` and `writes` are files or folders with all below, `runs` programs; those that do
    not exist are left out. Raises OSError where there is no Landlock."""
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
        at, end = int(fields[ENV_START]), int(fields[ENV_END])
        for entry in ctypes.string_at(at, end - at).split(b"\0"):
            key, _, value = entry.partition(b"=")
            if key.decode(errors="replace") in names:
                ctypes.memset(at + len(key) + 1, ord("x"), len(value))
            at += len(entry) + 1


def enter_filter(*, pid: int, program: bool, processes: bool) -> None:
    """Allow this thread and all that it starts only the calls named above, `program` to become another program,
    `processes` to start processes, and signals (abort(3)) to `pid`, its own. Raises OSError."""
    kind, number = filter_of_kind(program=program, processes=processes), _numbers(_CHECKED)
    ours = (each for name in ("kill", "tgkill") for each in _when(number[name], _one_of((pid,), argument=0)))
    end = [*ours, (_AT_LEAST, 0, 1, _NEWEST), (_RETURN, 0, 0, _ERROR | ENOSYS), _REFUSE]
    code = kind + _encode(end)
    buffer = ctypes.create_string_buffer(code, len(code))
    prctl(PR_SET_SECCOMP, 2, struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer)))


@cache
def filter_of_kind(*, program: bool, processes: bool) -> bytes:
    """All of a filter but its end, which depends on the process. Raises OSError where the numbers of this machine's
    system calls do not stand here."""
    if MACHINE not in _AUDIT_ARCH:
        raise OSError(ENOSYS, MACHINE)
    names = _NUMBERS + _PROGRAM * (program or processes) + " " + _PROCESSES * processes
    number = _numbers(_CHECKED)
    is_thread = [_load(0), (_AND, 0, 0, _CLONE_THREAD), (_EQUAL, 1, 0, 0), _ALLOW, _REFUSE]
    checked = {
        "ioctl": _one_of(_IOCTLS, argument=1),
        "prctl": _one_of(_PRCTLS, argument=0),
        "prlimit64": _one_of((0,), argument=0),  # of itself
        "clone": _without(_CLONE_NAMESPACES, argument=0) if processes else is_thread,
        "sendto": _without(_MSG_FASTOPEN, argument=3),
        "sendmsg": _without(_MSG_FASTOPEN, argument=2),
        "clone3": [(_RETURN, 0, 0, _ERROR | ENOSYS)],  # its flags are in memory; libraries then use clone
    }
    return _encode(
        [
            *((_LOAD, 0, 0, _ARCH_AT), (_EQUAL, 1, 0, _AUDIT_ARCH[MACHINE]), (_RETURN, 0, 0, _KILL)),
            *((_LOAD, 0, 0, _NUMBER_AT), (_AT_LEAST, 0, 1, _X32), _REFUSE),
            *(each for allowed in _numbers(names).values() for each in _when(allowed, [_ALLOW])),
            *(each for name, then in checked.items() for each in _when(number[name], then)),
        ]
    )


def _when(number: int, then: Sequence[Instruction]) -> list[Instruction]:
    return [(_EQUAL, 0, len(then), number), *then]


def _one_of(values: Sequence[int], *, argument: int) -> list[Instruction]:
    return [_load(argument), *(each for value in values for each in ((_EQUAL, 0, 1, value), _ALLOW)), _REFUSE]


def _without(flags: int, *, argument: int) -> list[Instruction]:
    return [_load(argument), (_AND, 0, 0, flags), (_EQUAL, 0, 1, 0), _ALLOW, _REFUSE]


def _load(argument: int) -> Instruction:
    return _LOAD, 0, 0, _ARGUMENT_AT + 8 * argument


def _numbers(names: str) -> dict[str, int]:
    """`"open=2,-"`: the number on x86_64 and on aarch64; `-` where there is no such call."""
    named = {
        name: numbers.split(",")[_COLUMN[MACHINE]]
        for name, _, numbers in (each.partition("=") for each in names.split())
    }
    return {name: int(number) for name, number in named.items() if number != "-"}


def _encode(instructions: Sequence[Instruction]) -> bytes:
    return b"".join(struct.pack("HBBI", *each) for each in instructions)
