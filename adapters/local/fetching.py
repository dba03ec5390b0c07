"""Models that are known to work, and how the files of a model come from the hub.

In: a name on the hub, with a commit and the hashes of its weights where we know them. Out: the files in a folder, each
as its hash says; LocalModelError otherwise. A broken transfer goes on where it stopped (HTTP Range), also in another
process.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

ONNX_FILES = ("*.json", "*/config.json", "model.onnx*", "onnx/model.onnx*")  # without the weights of other runtimes
SPEECH_FILES = ("*.json", "model.bin", "vocabulary.*")
BLOCK_BYTES = 1 << 20
TRIES, PAUSE_S, TIMEOUT_S = 5, 2.0, 60.0  # of one file
Told = Callable[[int, int], None]
"""Hears how many of how many bytes are there."""


class LocalModelError(Exception):
    """The model cannot be found, read or used; the message says which and what to do."""


def _ignore(_: int, __: int) -> None:
    """Nobody watches."""


class Task(StrEnum):
    """What a model is for, as `baza models add` names it."""

    SEARCH = "search"
    RERANK = "rerank"
    SPEECH = "speech"


@dataclass(frozen=True, kw_only=True)
class KnownModel:
    """A model that Baza was tried with; `hashes` are SHA-256 by file, at `commit`."""

    task: Task
    name: str
    commit: str
    megabytes: int
    licence: str
    languages: str
    setting: str  # the variable that names it
    hashes: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ONNX_FILES

    def fetch(self, name: str, folder: Path, told: Told) -> None:
        """Raises LocalModelError."""
        fetch_from_hub(name, folder, told, commit=self.commit, files=self.files, hashes=self.hashes)


KNOWN = (
    KnownModel(
        task=Task.SEARCH,
        name="intfloat/multilingual-e5-small",
        commit="614241f622f53c4eeff9890bdc4f31cfecc418b3",
        megabytes=505,
        licence="MIT",
        languages="ru, en, +92",
        setting="LOCAL_EMBEDDING_MODEL",
        hashes={"onnx/model.onnx": "ca456c06b3a9505ddfd9131408916dd79290368331e7d76bb621f1cba6bc8665"},
    ),
    KnownModel(
        task=Task.RERANK,
        name="cross-encoder/mmarco-mMiniLMv2-L12-H384-v1",
        commit="1427fd652930e4ba29e8149678df786c240d8825",
        megabytes=490,
        licence="Apache-2.0",
        languages="ru, en, +12",
        setting="LOCAL_RERANKER_MODEL",
        hashes={
            "onnx/model.onnx": "3e9a03ed1e966f7c5288dd4230e3d6a9bf5e3a170a06f1f4241c5bca12c6487c",
            "tokenizer.json": "62c24cdc13d4c9952d63718d6c9fa4c287974249e16b7ade6d5a85e7bbb75626",
        },
    ),
    KnownModel(
        task=Task.SPEECH,
        name="Systran/faster-whisper-small",
        commit="536b0662742c02347bc0e980a01041f333bce120",
        megabytes=486,
        licence="MIT",
        languages="ru, en, +97",
        setting="WHISPER_MODEL",
        hashes={"model.bin": "3e305921506d8872816023e4c273e75d2419fb89b24da97b4fe7bce14170d671"},
        files=SPEECH_FILES,
    ),
)


def fetch_from_hub(
    name: str,
    folder: Path,
    told: Told = _ignore,
    *,
    commit: str | None = None,
    files: tuple[str, ...] = ONNX_FILES,
    hashes: Mapping[str, str] | None = None,
    endpoint: str | None = None,
) -> None:
    """The model's files from the Hugging Face hub (HF_ENDPOINT and HF_TOKEN count). Raises LocalModelError.

    Its own client begins each file anew in another process, so only the list of files is asked of it.
    """
    import httpx
    from huggingface_hub import HfApi, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        model = HfApi(endpoint=endpoint).model_info(name, revision=commit, files_metadata=True)
        wanted = [file for file in model.siblings or () if any(fnmatch(file.rfilename, each) for each in files)]
        progress = _Progress(told=told, total=sum(file.size or 0 for file in wanted))
        for file in wanted:
            address = hf_hub_url(name, file.rfilename, revision=model.sha, endpoint=endpoint)
            known = (hashes or {}).get(file.rfilename, file.lfs.sha256 if file.lfs else file.blob_id)
            _fetch(address, folder / file.rfilename, known, progress)
    except (HfHubHTTPError, HFValidationError, httpx.HTTPError, OSError) as error:
        raise LocalModelError(
            f"The model {name} cannot be fetched ({type(error).__name__}). Run the command again, it goes on where it "
            f"stopped; or put the model into {folder.parents[2] / name}, or name a folder."
        ) from error


@dataclass(kw_only=True)
class _Progress:
    told: Told
    total: int  # bytes
    done: int = 0

    def add(self, count: int) -> None:
        self.done += count
        self.told(self.done, self.total)


def _fetch(address: str, path: Path, digest: str | None, progress: _Progress) -> None:
    """The file is there under its name only when it is whole and as its hash says."""
    import httpx

    if path.exists():
        progress.add(path.stat().st_size)
        return
    part = path.with_name(f"{path.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    part.touch()
    progress.add(part.stat().st_size)
    for left in reversed(range(TRIES)):
        try:
            _go_on(address, part, progress)
            break
        except httpx.TransportError:
            if not left:
                raise
            time.sleep(PAUSE_S)
    _check(part, digest)
    part.rename(path)


def _go_on(address: str, part: Path, progress: _Progress) -> None:
    """What is missing of the file; all of it from a server that does not give parts. Raises httpx.HTTPError."""
    import httpx
    from huggingface_hub import get_token

    have = part.stat().st_size
    headers = {"Accept-Encoding": "identity", "Range": f"bytes={have}-"}
    if token := get_token():
        headers["Authorization"] = f"Bearer {token}"
    with httpx.stream("GET", address, headers=headers, follow_redirects=True, timeout=TIMEOUT_S) as answer:
        if answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # it is whole already; its hash is looked at next
        answer.raise_for_status()
        goes_on = answer.status_code == httpx.codes.PARTIAL_CONTENT
        with part.open("ab" if goes_on else "wb") as file:
            progress.add(0 if goes_on else -have)
            for block in answer.iter_bytes(BLOCK_BYTES):
                file.write(block)
                progress.add(len(block))


def _check(path: Path, digest: str | None) -> None:
    """`digest`: a SHA-256, or git's name of a small file. A damaged file is removed, and so fetched anew next time.
    Raises LocalModelError."""
    if digest is None:
        return
    found = _git_name(path) if len(digest) == 40 else _sha256(path)
    if found != digest:
        path.unlink(missing_ok=True)
        raise LocalModelError(f"{path.stem} is not the file that it should be: {found}. Run the command again.")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(partial(file.read, BLOCK_BYTES), b""):
            digest.update(block)
    return digest.hexdigest()


def _git_name(path: Path) -> str:
    """https://git-scm.com/book/en/v2/Git-Internals-Git-Objects; git's choice, no protection against forgers."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
