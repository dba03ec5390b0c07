"""Ports for servers that are told theirs before they start.

In: nothing. Out: a number. What the system gives to outgoing connections begins at 32768: a port from there may be
some connection's own by the time it is listened on, or while a server that was killed starts again.
"""

import contextlib
import random
import socket

OURS = range(20_000, 32_000)
TRIES = 100


def free_port() -> int:
    """A port of this machine that nobody listens on, and that no connection is given."""
    for port in random.SystemRandom().sample(OURS, TRIES):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError(f"all of {TRIES} ports are taken")
