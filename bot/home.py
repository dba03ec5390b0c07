"""BAZA_HOME is private: its folders are 0700 and its files 0600, whoever made them and under whatever umask.

In: the folder of the settings. Out: it exists, what this process makes is closed to others, and what an earlier version
(or a person who copied it) left open below it is closed, too. The mode of a folder that was there before Baza is not
changed, and only what carries our names is looked at: BAZA_HOME may be shared with other things. PostgreSQL closes its
cluster itself. A sign of life lies there, too: the processes with this home touch it while their event loops turn.
"""

import asyncio
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PRIVATE_UMASK = 0o077
LOCALCHAT = "localchat"
ALIVE = "alive"
BEAT_S, SILENT_S = 10.0, 60.0  # between two signs of life; after which a process hangs
SETTINGS = "settings.env"  # what `baza models add` has set; read before `.env` and the environment
TOLD = "told"  # what need not be said twice, a file each
OURS = (LOCALCHAT, ALIVE, SETTINGS, TOLD, "files", "log", "models", "scratch", "postgres.*")


def open_home(home: Path) -> None:
    """Raises OSError when nothing can be kept there."""
    os.umask(PRIVATE_UMASK)
    if not home.exists():
        home.mkdir(parents=True)
        if os.geteuid() == 0:
            home.chmod(0o711)  # the account that runs root's PostgreSQL has to pass through, nobody needs to list
    for path in _ours(home):
        with suppress(FileNotFoundError, PermissionError):  # removed meanwhile; another user's, who closes it himself
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode) and mode & PRIVATE_UMASK:
                path.chmod(stat.S_IMODE(mode) & ~PRIVATE_UMASK)


def is_first_time(home: Path, what: str) -> bool:
    """True once in the life of this home; also where nothing can be written."""
    try:
        (home / TOLD).mkdir(exist_ok=True)
        (home / TOLD / what).touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


async def show_life(home: Path, stop: asyncio.Event) -> None:
    """Touch the sign of life until `stop`; where nothing can be written it grows old, which tells as much."""
    while not stop.is_set():
        with suppress(OSError):
            (home / ALIVE).touch()
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), BEAT_S)


def silence_s(home: Path) -> float | None:
    """How many seconds ago a process with this home gave a sign of life; None when none ever did."""
    try:
        return time.time() - (home / ALIVE).stat().st_mtime
    except FileNotFoundError:
        return None


def _ours(home: Path) -> Iterator[Path]:
    """Everything of ours and below it; links are named, not followed."""
    for pattern in OURS:
        for path in home.glob(pattern):
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from path.rglob("*")
