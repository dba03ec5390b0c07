"""Supabase's REST interface on loopback: one node process (supabase_lite.mjs) for any number of databases.

In: the address of a PostgreSQL server. Out: a `SupabaseLite`, whose `url(database)` supabase-py takes for a project's.
"""

import json
import os
import secrets
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = Path(__file__).with_suffix(".mjs")
_TESTS = Path(__file__).parents[1]
_NEEDED = ("@supabase/lite", "@hono/node-server", "postgres")

WHAT_TO_INSTALL = "the Supabase half needs Node 20 or newer and `npm ci --prefix tests`"


@dataclass(frozen=True, kw_only=True)
class SupabaseLite:
    """A running server and its two keys: `publishable` calls as anon, `secret` as service_role."""

    port: int
    publishable: str
    secret: str

    def url(self, database: str) -> str:
        """What SUPABASE_URL would be for `database`."""
        return f"http://127.0.0.1:{self.port}/{database}"

    def prepare(self, database: str) -> None:
        """Let the server do with `database` what it does before its first answer: it gives rights away."""
        request = urllib.request.Request(f"{self.url(database)}/rest/v1/bases", headers={"apikey": self.secret})
        urllib.request.urlopen(request, timeout=60).close()

    def forget(self, database: str) -> None:
        """Close the server's connections to `database`, so that it can be dropped."""
        request = urllib.request.Request(self.url(database), method="DELETE")
        urllib.request.urlopen(request, timeout=60).close()


def find_modules(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The node_modules that hold @supabase/lite; None when node or the package is missing."""
    chosen = environment.get("SUPABASE_LITE_HOME")
    homes = [Path(chosen)] if chosen else [_TESTS, _TESTS.parent]
    places = [home / "node_modules" for home in homes]
    found = [place for place in places if all((place / name).is_dir() for name in _NEEDED)]
    return found[0] if found and shutil.which("node") else None


@contextmanager
def supabase_lite(modules: Path, databases: str) -> Iterator[SupabaseLite]:
    """Serve the databases of `databases`, a URL without a database's name (`postgresql://…:5432/`)."""
    keys = {"publishable_key": f"sb_publishable_{_key()}", "secret_key": f"sb_secret_{_key()}"}
    process = subprocess.Popen(
        ["node", str(_SCRIPT), str(modules)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "LITE_TELEMETRY": "0"},
        text=True,
    )
    with process:  # leaving closes its input, which ends it, and waits
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"databases": databases, **keys}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line.strip().isdigit(), "supabase_lite.mjs did not start; its error is above"
        yield SupabaseLite(port=int(line), publishable=keys["publishable_key"], secret=keys["secret_key"])


def _key() -> str:
    return secrets.token_hex(20)
