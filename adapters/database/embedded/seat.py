"""Where a home's cluster lives, and who runs it.

In: the home folder. Out: a `Seat`. The cluster is in the home itself, unless the server's account cannot reach it there
(a home under /root): then in /var/lib/baza/clusters, under an id kept in the home, so that a fresh home gets a fresh
cluster. No mode of an existing folder is changed.
"""

import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from adapters.database.embedded.account import STATE, Account, choose_account, make_state_folder, may
from adapters.database.embedded.programs import find_programs

SOCKET_PATH_BYTES = 107
"""sun_path of unix(7) without its closing zero."""

_SOCKET_NAME_BYTES = len("/.s.PGSQL.65535")
_CLUSTER_ID = "postgres.id"


@dataclass(frozen=True, kw_only=True)
class Seat:
    """A folder for the cluster and its locks, the programs, and the account that runs them (None: ours)."""

    folder: Path
    programs: Path
    account: Account | None

    @property
    def cluster(self) -> Path:
        """The data folder of the server."""
        return self.folder / "postgres"


def choose_seat(home: Path) -> Seat:
    """Make `home` when it is missing, and say where its cluster is. Raises EmbeddedDatabaseError."""
    made = not home.exists()
    home.mkdir(parents=True, exist_ok=True)
    home = home.resolve()
    if made:  # the account that root gives the server has to pass through, nobody needs to list
        home.chmod(0o711 if os.geteuid() == 0 else 0o700)
    account = choose_account(home)
    return Seat(folder=_folder(home, account), programs=find_programs(account), account=account)


def holds_socket(folder: Path) -> bool:
    """Whether a socket in `folder` can be named to a client: libpq cuts long paths and splits at commas."""
    return len(os.fsencode(folder)) + _SOCKET_NAME_BYTES <= SOCKET_PATH_BYTES and "," not in str(folder)


def _folder(home: Path, account: Account | None) -> Path:
    if account is None:
        return home
    outside = home / _CLUSTER_ID
    if not outside.exists() and may(account, "-x", home) and holds_socket(home / "postgres"):
        return home
    if not outside.exists():
        _name_cluster(outside)
    folder = STATE / "clusters" / str(uuid.UUID(outside.read_text(encoding="ascii").strip()))
    for place in (STATE, STATE / "clusters", folder):
        make_state_folder(place)
    (folder / "home").write_text(f"{home}\n", encoding="utf-8")  # so that the cluster of a deleted home can be told
    return folder


def _name_cluster(outside: Path) -> None:
    """Atomically, because another process may be doing the same; and without following a link that is there already."""
    draft = outside.with_name(f"{_CLUSTER_ID}.{os.getpid()}")
    with draft.open("x", encoding="ascii") as file:
        file.write(f"{uuid.uuid4()}\n")
    with suppress(FileExistsError):
        os.link(draft, outside)
    draft.unlink()
