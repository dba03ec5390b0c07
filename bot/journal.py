"""The log: structured events with ids and durations.

In: structlog and standard logging calls. Out: lines of text or JSON in a file of the data folder, or on stderr.
Message bodies, document texts and secrets are never logged by our code; libraries that log addresses are quietened.
"""

import logging
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Literal

import structlog
from structlog.typing import Processor

FILE_BYTES = 5 * 2**20
FILES_KEPT = 3
QUIET = ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "aiohttp.access", "pypdf", "trafilatura", "hpack")
"""They log URLs (a bot token can be part of one) or a warning for every odd byte of a document."""


def configure_logging(
    folder: Path,
    *,
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"],
    style: Literal["text", "json"],
    destination: Literal["file", "stderr"],
) -> None:
    """Send every event of this process to `folder/baza.log` or to stderr."""
    handler = _handler(folder, destination)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
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


def _handler(folder: Path, destination: Literal["file", "stderr"]) -> logging.Handler:
    if destination == "stderr":
        return logging.StreamHandler(sys.stderr)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return RotatingFileHandler(
        folder / "baza.log", maxBytes=FILE_BYTES, backupCount=FILES_KEPT, encoding="utf-8", delay=True
    )
