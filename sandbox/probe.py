"""Which layers of the confinement hold on this machine, for `baza doctor`.

In: nothing. Out: each layer, and whether a child process got it. A child is confined as a parser is, and says so.
"""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader

from sandbox.confinement import Confinement, Layer
from sandbox.pool import Pool, PoolDied
from sandbox.records import from_line, to_line

ENTRY = "sandbox.probe:serve"
ADDRESS_BYTES = 2**30


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the child got."""

    layers: tuple[Layer, ...]


def serve(connection: socket.socket, _stream: BufferedReader, layers: frozenset[Layer]) -> None:
    """See `sandbox.forkserver.Serve`."""
    connection.sendall(to_line(Report(layers=tuple(sorted(layers)))))


async def probe_layers() -> Mapping[Layer, bool]:
    """Every layer, and whether it holds; none does where no child could be confined."""
    async with Pool(entry=ENTRY) as pool:
        try:
            async with pool.child(Confinement(address_bytes=ADDRESS_BYTES)) as line:
                held = set(from_line(await line.read(), Report).layers)
        except (PoolDied, ConnectionError, ValueError):
            held = set()
    return {layer: layer in held for layer in Layer}
