"""The log: structured events with ids and durations.

In: structlog and standard logging calls. Out: lines of text or JSON in a file of the data folder, or on stderr.
Our code never logs message bodies, document texts or secrets. Libraries that log URLs are limited to errors, and of
foreign exceptions only the names are written.
"""

import logging
import sys
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Literal

import structlog
from structlog.typing import ExcInfo, Processor

FILE_BYTES = 5 * 2**20
FILES_KEPT = 3
# Loggers limited to errors: they log URLs (which may contain a bot token) or warn of every odd byte of a document.
QUIET = (
    "httpx", "httpx2", "httpcore", "httpcore2", "openai", "aiohttp.access", "pypdf", "trafilatura", "hpack",
    "pymorphy3",
)  # fmt: skip
OURS = ("adapters.", "bot.", "domain.", "ingestion.", "prompts.", "rag.")
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
        handler = RotatingFileHandler(path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT, encoding="utf-8", delay=True)
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
        is_told = kind.__module__.startswith(OURS) or isinstance(error, OF_PYTHON)
        trace = "".join(traceback.format_tb(error.__traceback__))
        chain[id(error)] = f"{trace}{name}: {error}" if is_told else f"{trace}{name}"
        error = error.__cause__ if error.__suppress_context__ else error.__cause__ or error.__context__
    return "\n\nwhich led to:\n".join(reversed(chain.values()))
