"""Finds a local model: a folder, a folder in BAZA_HOME/models, or a name on the hub that is fetched once.

In: what the settings name. Out: a `LocalEncoder` or `LocalReranker`, not yet loaded; LocalModelError when there is no
such model. A fetched model appears in BAZA_HOME/models whole or not at all.
"""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from adapters.local.encoder import LocalEncoder
from adapters.local.fetching import LocalModelError, fetch_from_hub
from adapters.local.layout import read_encoder, read_files
from adapters.local.reranker import LocalReranker

Fetch = Callable[[str, Path], None]
"""Puts the files of a named model into a folder. Raises LocalModelError."""


def open_encoder(
    name: str, *, models: Path, context_tokens: int, threads: int, late: bool | None = None
) -> LocalEncoder:
    """The encoder `name`; see `LocalEncoder` for the rest. Raises LocalModelError."""
    layout = read_encoder(find_model(name, models))
    return LocalEncoder(layout, context_tokens=context_tokens, threads=threads, late=late)


def open_reranker(name: str, *, models: Path, threads: int) -> LocalReranker:
    """The cross-encoder `name`. Raises LocalModelError."""
    return LocalReranker(read_files(find_model(name, models)), threads=threads)


def find_model(name: str, models: Path, fetch: Fetch | None = None) -> Path:
    """The folder of the model `name`. Raises LocalModelError."""
    given, kept = Path(name).expanduser(), models / name
    for folder in (given, kept):
        if folder.is_dir():
            return folder.resolve()
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        raise LocalModelError(f"There is no model {name}: neither a folder of that name, nor one in {models}.")
    unfinished = models / ".unfinished" / name
    with _alone(unfinished.with_name(f"{unfinished.name}.lock")):
        if kept.is_dir():  # another process, a worker beside the bot, has just fetched it
            return kept.resolve()
        unfinished.mkdir(parents=True, exist_ok=True)
        structlog.get_logger().info("local.fetching", model=name)
        (fetch or fetch_from_hub)(name, unfinished)
        kept.parent.mkdir(parents=True, exist_ok=True)
        return unfinished.rename(kept)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Waits until no other process holds the lock; that of a process that is killed ends with it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
