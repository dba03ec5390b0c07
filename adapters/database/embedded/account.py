"""As which system account the embedded server runs.

In: the folder that Baza keeps its data in. Out: an `Account`, or None to run the server as ourselves. PostgreSQL
refuses to run as root, so root gives the server an account of its own. The mode of an existing folder is never changed.
"""

import os
import pwd
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from adapters.database.embedded.errors import EmbeddedDatabaseError

ACCOUNT = "baza-postgres"
STATE = Path("/var/lib/baza")
"""Where root keeps what the server's account cannot reach where it is (Filesystem Hierarchy Standard, /var/lib)."""

_ADD_ACCOUNT = ("useradd", "--system", "--user-group", "--no-create-home", "--home-dir", str(STATE))
_KEPT_BYTES = 16 * 2**20

_ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C",
    "MALLOC_TRIM_THRESHOLD_": str(_KEPT_BYTES),
    "MALLOC_TOP_PAD_": str(2**20),
}
"""All that a child needs; inherited variables such as PGPORT would change what it does. By default glibc returns free
memory at the end of its heap to the system from 128 kB on (mallopt(3)): a search that adds up vectors of 32 kB got and
returned pages a thousand times, which took a third of its processor time."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """A system account that a child process is run as."""

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
    return _find() or _add()


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


def _add() -> Account:
    try:
        reason = run_as(None, *_ADD_ACCOUNT, ACCOUNT).stdout.strip()
    except EmbeddedDatabaseError as exc:
        reason = str(exc)
    # Another process may have made it at the same moment, so what counts is whether it is there.
    if account := _find():
        return account
    raise EmbeddedDatabaseError(
        f"The embedded PostgreSQL does not run as root, and the account {ACCOUNT} could not be made ({reason}). "
        "Run Baza as an ordinary user, or set DATABASE_URL."
    )
