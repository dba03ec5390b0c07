"""A model's files: those that are known to work, how they come from the hub, and what their folder says of itself.

In: a name on the hub, with a commit and the hashes of its weights where we know them; a folder in one of the usual
layouts (ONNX export beside the configuration, or in `onnx/`; sentence-transformers' `1_Pooling`). Out: the files in
a folder, each as its hash says; `ModelFiles` or `EncoderLayout`, and what identifies the model by its content;
LocalModelError otherwise. A broken transfer goes on where it stopped (HTTP Range), also in another process. It opens no
model.
"""

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

ONNX_FILES = ("*.json", "*/config.json", "model.onnx*", "onnx/model.onnx*")  # without the weights of other runtimes
SPEECH_FILES = ("*.json", "model.bin", "vocabulary.*")
BLOCK_BYTES = 1 << 20
TRIES, PAUSE_S, TIMEOUT_S = 5, 2.0, 60.0  # of one file
Told = Callable[[int, int], None]
"""Hears how many of how many bytes are there."""
GRAPHS = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "model_quantized.onnx")
TOKENIZER = "tokenizer.json"
LONGEST_VECTOR = 1024  # numbers: what the database keeps
UNKNOWN_CONTEXT_TOKENS = 512  # every encoder since BERT takes so many
LARGEST_CONTEXT_TOKENS = 1_000_000  # transformers writes 1e30 for "not known"
POSITIONS_AFTER_PADDING = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})
"""These count positions from the padding id + 1 on: of 514 positions 512 are left for tokens."""
SAMPLES, SAMPLE_BYTES = 64, 4096
"""Of each file, evenly spread, first and last bytes among them. Trained weights differ nearly everywhere; two models
that differ in fewer bytes than lie between two samples (1.6 % of the file) could be taken for one."""


class LocalModelError(Exception):
    """The model cannot be found, read or used; the message says which and what to do."""


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
    told: Told = lambda done, total: None,
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
    """The file is there under its name only when it is whole and as `digest` says: a SHA-256, or git's name of a small
    file. A damaged file is removed, and so fetched anew next time. Raises LocalModelError."""
    import httpx
    from huggingface_hub.utils.sha import git_hash

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
    if digest is not None:
        with part.open("rb") as file:
            found = git_hash(file.read()) if len(digest) == 40 else hashlib.file_digest(file, "sha256").hexdigest()
        if found != digest:
            part.unlink()
            raise LocalModelError(f"{part.stem} is not the file that it should be: {found}. Run the command again.")
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
        progress.add(0 if goes_on else -have)
        with part.open("ab" if goes_on else "wb") as file:
            for block in answer.iter_bytes(BLOCK_BYTES):
                file.write(block)
                progress.add(len(block))


class Pooling(StrEnum):
    """How the vectors of all tokens become one."""

    MEAN = "mean"
    CLS = "cls"  # the first token's: made for whole texts, so that chunks are embedded alone


@dataclass(frozen=True, kw_only=True)
class ModelFiles:
    name: str
    graph: Path
    tokenizer: Path
    context_tokens: int  # special tokens included
    pad_id: int


@dataclass(frozen=True, kw_only=True)
class EncoderLayout:
    files: ModelFiles
    pooling: Pooling
    question: str  # what stands before a question
    passage: str  # and before a passage


class _Config(BaseModel):
    """What is read of a folder's JSON files, of which each says some."""

    model_config = ConfigDict(extra="ignore")

    model_type: str = ""
    hidden_size: int | None = None
    max_position_embeddings: int | None = None
    pad_token_id: int | None = None
    model_max_length: float | None = None
    prompts: dict[str, str] | None = None
    pooling_mode: str | None = None  # newer files name the mode, older ones have a flag for each
    pooling_mode_cls_token: bool = False
    pooling_mode_mean_tokens: bool = False


E5_TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
FAMILIES = {
    "e5-large-instruct": (Pooling.MEAN, E5_TASK, ""),
    "e5": (Pooling.MEAN, "query: ", "passage: "),
    "bge": (Pooling.CLS, "", ""),
    "gte-multilingual": (Pooling.CLS, "", ""),
    "arctic-embed": (Pooling.CLS, "query: ", ""),
}
"""Pooling and prefixes, from the models' own cards, where the folder does not say. The first that is part of the
model's name applies."""
QUESTION_PROMPTS = ("query", "retrieval.query", "search_query")
PASSAGE_PROMPTS = ("passage", "document", "retrieval.passage", "search_document")


def read_files(folder: Path) -> ModelFiles:
    """Raises LocalModelError."""
    config = _read(folder / "config.json")
    positions = config.max_position_embeddings
    if positions and config.model_type in POSITIONS_AFTER_PADDING:
        positions -= (1 if config.pad_token_id is None else config.pad_token_id) + 1
    limits = [positions, _read(folder / "tokenizer_config.json").model_max_length]
    tokenizer = folder / TOKENIZER
    if not tokenizer.is_file():
        raise LocalModelError(f"{folder} holds no {TOKENIZER}: the model's fast tokenizer belongs there.")
    graph = next((folder / name for name in GRAPHS if (folder / name).is_file()), None)
    if graph is None:
        raise LocalModelError(f"{folder} holds no model.onnx; export the model to ONNX, or take one that has it.")
    return ModelFiles(
        name=folder.name,
        graph=graph,
        tokenizer=tokenizer,
        context_tokens=min(
            (int(limit) for limit in limits if limit and limit < LARGEST_CONTEXT_TOKENS), default=UNKNOWN_CONTEXT_TOKENS
        ),
        pad_id=config.pad_token_id or 0,
    )


def read_encoder(folder: Path) -> EncoderLayout:
    """Raises LocalModelError."""
    size = _read(folder / "config.json").hidden_size or 0
    if size > LONGEST_VECTOR:
        raise LocalModelError(
            f"{folder.name} makes vectors of {size} numbers; Baza keeps {LONGEST_VECTOR} at the most."
        )
    known = (family for name, family in FAMILIES.items() if name in folder.name.lower())
    pooling, question, passage = next(known, (Pooling.MEAN, "", ""))
    prompts = _read(folder / "config_sentence_transformers.json").prompts or {}
    return EncoderLayout(
        files=read_files(folder),
        pooling=_pooling(folder) or pooling,
        question=next((prompts[name] for name in QUESTION_PROMPTS if prompts.get(name)), question),
        passage=next((prompts[name] for name in PASSAGE_PROMPTS if prompts.get(name)), passage),
    )


def _pooling(folder: Path) -> Pooling | None:
    """What sentence-transformers' files say; None when there are none. Raises LocalModelError for other ways."""
    path = next(folder.glob("*_Pooling/config.json"), None)
    if path is None:
        return None
    config = _read(path)
    flags = {Pooling.MEAN: config.pooling_mode_mean_tokens, Pooling.CLS: config.pooling_mode_cls_token}
    mode = config.pooling_mode or next((name for name, is_set in flags.items() if is_set), None)
    if mode not in list(Pooling):
        raise LocalModelError(
            f"{folder.name} pools its tokens in a way that Baza does not know (neither mean nor cls)."
        )
    return Pooling(mode)


def _read(path: Path) -> _Config:
    """The file as a record; its defaults when there is no such file."""
    try:
        return _Config.model_validate_json(path.read_bytes()) if path.is_file() else _Config()
    except ValidationError as error:
        raise LocalModelError(f"{path} cannot be read: {error.errors()[0]['msg']}.") from error


def identity_of(layout: EncoderLayout) -> str:
    """Eight hexadecimal digits. Raises LocalModelError."""
    files = layout.files
    digest = hashlib.blake2b(digest_size=4)
    sides = ", ".join(f"Side(prefix={prefix!r}, task=None)" for prefix in (layout.question, layout.passage))
    digest.update(f"({layout.pooling!r}, {sides})".encode())  # as 0.1.0 has named the vectors that it made
    try:
        # Weights above 2 GB lie beside the graph, as `model.onnx_data` or `model.onnx.data`.
        beside = sorted(path for path in files.graph.parent.iterdir() if path.name.startswith(files.graph.name))
        for path in (files.tokenizer, *beside):
            size = path.stat().st_size
            digest.update(str(size).encode())
            with path.open("rb") as file:
                places = [max(size - SAMPLE_BYTES, 0) * number // (SAMPLES - 1) for number in range(SAMPLES)]
                digest.update(b"".join([os.pread(file.fileno(), SAMPLE_BYTES, place) for place in places]))
    except OSError as error:
        raise LocalModelError(f"{error.filename} cannot be read: {error.strerror}.") from error
    return digest.hexdigest()
