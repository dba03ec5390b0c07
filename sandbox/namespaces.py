"""Namespaces of its own for a process and all that it forks: user, network, processes, IPC.

In: nothing. Out: the layers that this kernel grants, and the process itself as the first one of its process namespace:
when it ends, the kernel ends everything in it. Sources: unshare(2), user_namespaces(7), pid_namespaces(7).
"""

import os
import signal
from pathlib import Path

from sandbox import kernel
from sandbox.confinement import Layer

NEWIPC, NEWUSER, NEWPID, NEWNET = 0x08000000, 0x10000000, 0x20000000, 0x40000000


def enter_namespaces() -> frozenset[Layer]:
    """Call it in a process of one thread that nobody else waits for by its children: afterwards this is a child of the
    process that was started, which waits for it and ends as it does."""
    held = set()
    if os.geteuid() != 0:
        if not _own_users():
            return frozenset()
        held.add(Layer.USER)
    if _unshared(NEWNET | NEWIPC):
        held.add(Layer.NETWORK)
    if _unshared(NEWPID):
        _fork_first()
        held.add(Layer.PROCESSES)
    if Layer.USER in held:
        kernel.set_capabilities(0)  # those over the new namespaces are not needed any more
    return frozenset(held)


def _own_users() -> bool:
    """Our own user is the only one there; the files stay ours."""
    user, group = os.geteuid(), os.getegid()
    if not _unshared(NEWUSER):
        return False
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    return True


def _unshared(flags: int) -> bool:
    try:
        kernel.unshare(flags)
    except OSError:
        return False
    return True


def _fork_first() -> None:
    """Go on as the first process of the new namespace."""
    pid = os.fork()
    if pid == 0:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        return
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)
