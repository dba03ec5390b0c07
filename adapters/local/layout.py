"""Reads what a model's folder says of itself: where its files are, how long a text it takes, how it pools and prompts.

In: a folder in one of the usual layouts (ONNX export beside the configuration, or in `onnx/`; sentence-transformers'
`modules.json`). Out: `ModelFiles` or `EncoderLayout`, and what identifies the model by its content; or LocalModelError.
It opens no model.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from adapters.local.fetching import LocalModelError

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
DIGEST_BYTES = 4


class Pooling(StrEnum):
    """How the vectors of all tokens become one."""

    MEAN = "mean"
    CLS = "cls"  # the first token's: made for whole texts, so that chunks are embedded alone


@dataclass(frozen=True, kw_only=True)
class Side:
    """What marks a text as a question or a passage."""

    prefix: str = ""
    task: int | None = None  # number of the adapter, for models that have an input `task_id`


@dataclass(frozen=True, kw_only=True)
class ModelFiles:
    """What any model has."""

    name: str
    graph: Path
    tokenizer: Path
    context_tokens: int  # special tokens included
    pad_id: int


@dataclass(frozen=True, kw_only=True)
class EncoderLayout:
    """A model that makes vectors."""

    files: ModelFiles
    pooling: Pooling
    question: Side
    passage: Side


class _Section(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Config(_Section):
    """`config.json`; the last three are jina-embeddings-v3's."""

    model_type: str = ""
    hidden_size: int | None = None
    max_position_embeddings: int | None = None
    pad_token_id: int | None = None
    lora_adaptations: list[str] | None = None
    task_instructions: dict[str, str] | None = None
    lora_prompts: dict[str, str] | None = None


class _TokenizerConfig(_Section):
    model_max_length: float | None = None


class _SentenceConfig(_Section):
    """`config_sentence_transformers.json`."""

    prompts: dict[str, str] | None = None


class _PoolingConfig(_Section):
    pooling_mode: str | None = None  # newer files name the mode, older ones have a flag for each
    pooling_mode_cls_token: bool = False
    pooling_mode_mean_tokens: bool = False


class _Module(_Section):
    type: str
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class _Family:
    """What models of a family need, and their folders do not always say."""

    in_name: str
    pooling: Pooling
    question: str = ""
    passage: str = ""


# From the models' own cards. The first whose `in_name` is part of the model's name applies.
FAMILIES = (
    _Family(
        in_name="e5-large-instruct",
        pooling=Pooling.MEAN,
        question="Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
    ),
    _Family(in_name="e5", pooling=Pooling.MEAN, question="query: ", passage="passage: "),
    _Family(in_name="bge", pooling=Pooling.CLS),
    _Family(in_name="gte-multilingual", pooling=Pooling.CLS),
    _Family(in_name="arctic-embed", pooling=Pooling.CLS, question="query: "),
)
OTHERS = _Family(in_name="", pooling=Pooling.MEAN)
TASKS = {"question": "retrieval.query", "passage": "retrieval.passage"}
PROMPT_NAMES = {
    "question": ("query", "retrieval.query", "search_query"),
    "passage": ("passage", "document", "retrieval.passage", "search_document"),
}
Section = TypeVar("Section", bound=_Section)


def read_files(folder: Path) -> ModelFiles:
    """The files that any model needs. Raises LocalModelError."""
    config = _read(folder / "config.json", _Config)
    tokenizer = folder / TOKENIZER
    if not tokenizer.is_file():
        raise LocalModelError(f"{folder} holds no {TOKENIZER}: the model's fast tokenizer belongs there.")
    return ModelFiles(
        name=folder.name,
        graph=find_graph(folder),
        tokenizer=tokenizer,
        context_tokens=_context_tokens(folder, config),
        pad_id=config.pad_token_id or 0,
    )


def read_encoder(folder: Path) -> EncoderLayout:
    """An encoder's folder. Raises LocalModelError."""
    config = _read(folder / "config.json", _Config)
    if (config.hidden_size or 0) > LONGEST_VECTOR:
        raise LocalModelError(
            f"{folder.name} makes vectors of {config.hidden_size} numbers; Baza keeps {LONGEST_VECTOR} at the most."
        )
    family = next((known for known in FAMILIES if known.in_name in folder.name.lower()), OTHERS)
    return EncoderLayout(
        files=read_files(folder),
        pooling=_pooling(folder) or family.pooling,
        question=_side("question", family.question, config, folder),
        passage=_side("passage", family.passage, config, folder),
    )


def find_graph(folder: Path) -> Path:
    """The ONNX file: by its usual name, or the only one there. Raises LocalModelError."""
    named = [folder / name for name in GRAPHS if (folder / name).is_file()]
    found = named or sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if not found:
        raise LocalModelError(f"{folder} holds no model.onnx; export the model to ONNX, or take one that has it.")
    if len(found) > 1 and not named:
        names = ", ".join(path.name for path in found)
        raise LocalModelError(f"{folder} holds several models ({names}); call the one to be used model.onnx.")
    return found[0]


def _context_tokens(folder: Path, config: _Config) -> int:
    """The smallest limit that the folder names."""
    positions = config.max_position_embeddings
    if positions and config.model_type in POSITIONS_AFTER_PADDING:
        positions -= (1 if config.pad_token_id is None else config.pad_token_id) + 1
    limits = [positions, _read(folder / "tokenizer_config.json", _TokenizerConfig).model_max_length]
    known = [int(limit) for limit in limits if limit and limit < LARGEST_CONTEXT_TOKENS]
    return min(known, default=UNKNOWN_CONTEXT_TOKENS)


def _pooling(folder: Path) -> Pooling | None:
    """What sentence-transformers' files say; None when there are none. Raises LocalModelError for other ways."""
    modules = folder / "modules.json"
    if not modules.is_file():
        return None
    try:
        listed = TypeAdapter(list[_Module]).validate_json(modules.read_bytes())
    except ValidationError as error:
        raise LocalModelError(f"{modules} cannot be read: {error.errors()[0]['msg']}.") from error
    path = next((module.path for module in listed if module.type.endswith("Pooling")), None)
    if path is None:
        return None
    config = _read(folder / path / "config.json", _PoolingConfig)
    if config.pooling_mode == Pooling.MEAN or (config.pooling_mode is None and config.pooling_mode_mean_tokens):
        return Pooling.MEAN
    if config.pooling_mode == Pooling.CLS or (config.pooling_mode is None and config.pooling_mode_cls_token):
        return Pooling.CLS
    raise LocalModelError(f"{folder.name} pools its tokens in a way that Baza does not know (neither mean nor cls).")


def _side(side: str, family_prefix: str, config: _Config, folder: Path) -> Side:
    prompts = {
        **(_read(folder / "config_sentence_transformers.json", _SentenceConfig).prompts or {}),
        **(config.lora_prompts or {}),
        **(config.task_instructions or {}),
    }
    given = next((prompts[name] for name in PROMPT_NAMES[side] if prompts.get(name)), family_prefix)
    tasks = config.lora_adaptations or []
    return Side(prefix=given, task=tasks.index(TASKS[side]) if TASKS[side] in tasks else None)


def _read(path: Path, section: type[Section]) -> Section:
    """The file as a record; its defaults when there is no such file."""
    if not path.is_file():
        return section()
    try:
        return section.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise LocalModelError(f"{path} cannot be read: {error.errors()[0]['msg']}.") from error


def identity_of(layout: EncoderLayout) -> str:
    """Eight hexadecimal digits. Raises LocalModelError."""
    files = layout.files
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    digest.update(repr((layout.pooling, layout.question, layout.passage)).encode())
    try:
        # Weights above 2 GB lie beside the graph, as `model.onnx_data` or `model.onnx.data`.
        beside = sorted(path for path in files.graph.parent.iterdir() if path.name.startswith(files.graph.name))
        for path in (files.tokenizer, *beside):
            digest.update(_sample(path))
    except OSError as error:
        raise LocalModelError(f"{error.filename} cannot be read: {error.strerror}.") from error
    return digest.hexdigest()


def _sample(path: Path) -> bytes:
    size = path.stat().st_size
    last = max(size - SAMPLE_BYTES, 0)
    with path.open("rb") as file:
        parts = [str(size).encode()]
        for number in range(SAMPLES):
            file.seek(last * number // (SAMPLES - 1))
            parts.append(file.read(SAMPLE_BYTES))
    return b"".join(parts)
