"""BAZA_HOME is private: its folders are 0700 and its files 0600, whoever made them and under whatever umask.

In: the folder of the settings. Out: it exists, what this process makes is closed to others, and what an earlier version
(or a person who copied it) left open below it is closed, too. The mode of a folder that was there before Baza is not
changed, and only what carries our names is looked at: BAZA_HOME may be shared with other things. PostgreSQL closes its
cluster itself. A sign of life lies there, too: the processes with this home touch it while their event loops turn; and
the log, in which our code never writes message bodies, document texts or secrets. Libraries that log URLs are limited
to errors, and of foreign exceptions only the names are written.
"""

import asyncio
import logging
import os
import stat
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Literal

import structlog
from structlog.typing import ExcInfo, Processor

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


LOG_BYTES = 5 * 2**20
LOGS_KEPT = 3
# Loggers limited to errors: they log URLs (which may contain a bot token) or warn of every odd byte of a document.
QUIET = (
    "httpx", "httpx2", "httpcore", "httpcore2", "openai", "aiohttp.access", "pypdf", "trafilatura", "hpack",
    "pymorphy3",
)  # fmt: skip
OUR_MODULES = ("adapters.", "bot.", "domain.", "ingestion.", "prompts.", "rag.")
OF_PYTHON = (AttributeError, ImportError, NameError, NotImplementedError, RecursionError, TypeError)
"""Exceptions of coding mistakes; their messages quote code, not data."""


def configure_logging(
    folder: Path,
    *,
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"],
    style: Literal["text", "json"],
    destination: Literal["file", "stderr"],
) -> None:
    """Send every event of this process to `folder/baza.log` or to stderr."""
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if destination == "file":
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / "baza.log"
        handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8", delay=True)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(trace_without_texts),
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if style == "json"
        else structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"])
    )
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.ERROR)


def trace_without_texts(exc_info: ExcInfo) -> str:
    """The traceback, causes first. Foreign exceptions show only their name: PostgreSQL quotes rows in messages, JSON
    and pydantic quote their input, HTTP clients addresses with keys, providers prompts."""
    error: BaseException | None = exc_info[1]
    chain: dict[int, str] = {}
    while error is not None and id(error) not in chain:
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        is_told = kind.__module__.startswith(OUR_MODULES) or isinstance(error, OF_PYTHON)
        trace = "".join(traceback.format_tb(error.__traceback__))
        chain[id(error)] = f"{trace}{name}: {error}" if is_told else f"{trace}{name}"
        error = error.__cause__ if error.__suppress_context__ else error.__cause__ or error.__context__
    return "\n\nwhich led to:\n".join(reversed(chain.values()))
