"""What a process may do, and the step after which it can do no more than that.

In: `Confinement`. Out: a process that has taken these limits on itself, and the layers that hold. A layer that this
kernel lacks is left out and named; none is asked for twice.
"""

import contextlib
import os
import resource
import sys
import sysconfig
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import sandbox
from sandbox import kernel
from sandbox.kernel import works

NOBODY = 65_534  # the user that owns nothing, by convention on every Linux
ROOM_TO_REPORT_BYTES = 64 * 1024 * 1024  # address space above the limit, for saying that it was reached

OWN_PACKAGES = ("adapters", "domain", "ingestion", "sandbox")  # beside them there may be a `.env`

SYSTEM_FILES = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/usr/share/zoneinfo", "/etc/localtime", "/etc/mime.types"),
    *("/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/X11/fonts"),  # for drawing pages of PDFs
    *("/dev/null", "/dev/zero", "/dev/urandom", "/sys/devices/system/cpu"),
)
LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")  # run before any program


class Layer(StrEnum):
    """A part of the confinement, by the name that `baza doctor` shows."""

    LIMITS = "limits"  # finite hard limits: memory, processor, file size, open files
    FILES = "landlock"
    CALLS = "seccomp"
    PRIVILEGES = "no_new_privs"
    UNDUMPABLE = "undumpable"  # no other process of the user reads its memory
    USER = "user"  # another one than the program's, or a namespace of its own
    NETWORK = "network"  # a namespace without any interface, not even loopback
    PROCESSES = "processes"  # a namespace in which it sees no process but those of its kind


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What a kind of process needs for one piece of work, beside Python and its libraries; paths are absolute."""

    reads: tuple[str, ...] = ()  # files, and folders with everything below
    writes: tuple[str, ...] = ()  # folders in which it makes files
    runs: tuple[str, ...] = ()  # programs that it may become
    may_fork: bool = False  # and start beside itself
    address_bytes: int | None = None  # of address space
    data_bytes: int | None = None  # of private memory, for programs that map more than they use
    cpu_s: int | None = None
    file_bytes: int = 0  # of each file that it writes
    open_files: int = 64
    niceness: int = 10


def confine(wanted: Confinement, *, inherited: frozenset[Layer] = frozenset()) -> frozenset[Layer]:
    """Take the limits of `wanted` on this process, for good; call it in a process of one thread. Returns the layers
    that hold, with those `inherited` from the process that this one was forked from."""
    os.nice(wanted.niceness)
    _limit_resources(wanted)
    ruleset = None
    with contextlib.suppress(OSError):  # now, while we still may look up paths
        ruleset = kernel.make_ruleset(
            reads=[*python_files(), *map(Path, wanted.reads)],
            writes=map(Path, wanted.writes),
            runs=map(Path, (*wanted.runs, *LOADERS) if wanted.runs else ()),
        )
    held = set(inherited) | {Layer.LIMITS}
    if os.geteuid() == 0 and works(lambda: _become_nobody(wanted)):
        held.add(Layer.USER)
    if works(lambda: kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)):
        held.add(Layer.PRIVILEGES)
    if ruleset is not None and works(lambda: kernel.restrict_self(ruleset)):
        held.add(Layer.FILES)
    if works(kernel.hide_process):
        held.add(Layer.UNDUMPABLE)
    if works(lambda: kernel.enter_filter(pid=os.getpid(), program=bool(wanted.runs), processes=wanted.may_fork)):
        held.add(Layer.CALLS)
    return frozenset(held)


def prepare() -> None:
    """Find out before a fork what is the same for all children."""
    python_files()
    works(lambda: kernel.filter_of_kind(program=False, processes=False))


def allow_reporting() -> None:
    """Raise the limit of address space by the room that is kept for saying that it was reached."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _limit_resources(wanted: Confinement) -> None:
    limits = (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, wanted.file_bytes, 0),
        (resource.RLIMIT_NOFILE, wanted.open_files, 0),
        (resource.RLIMIT_AS, wanted.address_bytes, ROOM_TO_REPORT_BYTES),
        (resource.RLIMIT_DATA, wanted.data_bytes, 0),
        (resource.RLIMIT_CPU, wanted.cpu_s, 1),  # first the signal that tells why
    )
    for limit, soft, more in limits:
        # A container or system may have set a lower hard limit, or (macOS) not know one; then that applies.
        with contextlib.suppress(ValueError, OSError):
            if soft is not None:
                resource.setrlimit(limit, (soft, soft + more))


@cache
def python_files() -> tuple[Path, ...]:
    """Where Python, its libraries and our packages lie, and what the system's libraries read."""
    folders = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {entry for entry in sys.path if "packages" in Path(entry).name or "lib-dynload" in entry}
    folders.add(str(Path(sys.base_prefix, "lib")))
    ours = Path(sandbox.__file__).parent.parent
    return (*map(Path, sorted(folders)), *(ours / name for name in OWN_PACKAGES), *map(Path, SYSTEM_FILES))


def _become_nobody(wanted: Confinement) -> None:
    """For root. What is left of its rights is reading: our own folders may be closed to others. Landlock says which."""
    for folder in wanted.writes:
        os.chown(folder, NOBODY, NOBODY)
    os.setgroups([])
    for capability in range(kernel.CAP_LAST + 1):
        with contextlib.suppress(OSError):
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    kernel.prctl(kernel.PR_SET_KEEPCAPS, 1)
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    kernel.set_capabilities(1 << kernel.CAP_DAC_READ_SEARCH)
