"""How soon `baza run` is ready: from the start of the process to its first line, which names the page to open.

In: nothing (`python -m benchmarks.start`). Out: seconds of cold starts, each in a fresh folder (initdb, migrations),
and of warm ones in the same folder, with their share of the limit. The environment holds no setting but the folder and
a free port; user time is that of the process and of the children that it waited for.
"""

import argparse
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

LIMIT_S = 10.0  # issue 2: ready in under 10 s after the install
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")


@dataclass(frozen=True, kw_only=True)
class Start:
    """One start, in seconds."""

    ready: float
    user: float


def start_once(home: Path) -> Start:
    """Start, wait for the first line, stop with SIGTERM. Raises RuntimeError when it ends without a line."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT_VARIABLES}
    environment = {**kept, "BAZA_HOME": str(home), "LOCALCHAT_PORT": str(_free_port())}
    user_before = _user_s()
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", "run"], stdout=subprocess.PIPE, env=environment, text=True, encoding="utf-8"
    )
    with process:
        line = process.stdout.readline() if process.stdout else ""
        ready = time.perf_counter() - began
        process.send_signal(signal.SIGTERM)
        process.communicate()
    if not line or process.returncode:
        raise RuntimeError(f"baza run ended with {process.returncode}")
    return Start(ready=ready, user=_user_s() - user_before)


def main() -> None:
    """Print a line for each start, and the median of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs: int = parser.parse_args().runs
    starts: dict[str, list[Start]] = {"cold": [], "warm": []}
    print(f"{'start':6} {'seconds':>8} {'of limit':>9} {'user s':>7}   load {os.getloadavg()[0]:.1f}")
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="baza-start-") as folder:
            for kind, measured in starts.items():
                measured.append(start_once(Path(folder) / "home"))
                _print(kind, measured[-1].ready, measured[-1].user)
    for kind, measured in starts.items():
        _print(f"{kind}~", median(start.ready for start in measured), median(start.user for start in measured))


def _print(kind: str, ready: float, user: float) -> None:
    print(f"{kind:6} {ready:8.2f} {ready / LIMIT_S:9.0%} {user:7.2f}", flush=True)


def _user_s() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
