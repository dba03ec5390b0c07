"""Small models for the tests of `adapters.local`: real ONNX graphs and tokenizers with random weights.

In: a folder, and what the model should be like. Out: the folder in the layout of a downloaded model. An encoder's
vector of a token is its row of a table plus half the mean of all rows in the text, so that its neighbours can be seen
in it and it can be computed by hand (`token_vectors`); a cross-encoder's score counts the question's words in the
passage.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WIDTH = 16  # numbers of a vector
NEIGHBOURS = np.float32(0.5)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
WORDS = (*SPECIAL, "query", "passage", ":", "и", "где", "диск", "сеть", "ключ", "пароль", "облако")
TABLE = np.random.default_rng(1).normal(size=(len(WORDS), WIDTH)).astype(np.float32)
TASKS = np.random.default_rng(2).normal(size=(5, WIDTH)).astype(np.float32)
INTEGERS = TensorProto.INT64
FLOATS = TensorProto.FLOAT


def build_encoder(
    folder: Path, *, config: Mapping[str, object] | None = None, tasks: bool = False, table: np.ndarray = TABLE
) -> Path:
    """An encoder; `tasks` gives it the input `task_id` of jina-embeddings-v3."""
    inputs = [_tokens("input_ids"), _tokens("attention_mask")]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=FLOATS),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["rows", "column"], ["read"]),
        helper.make_node("ReduceSum", ["read", "middle"], ["sum"], keepdims=1),
        helper.make_node("ReduceSum", ["column", "middle"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"]),
        helper.make_node("Mul", ["mean", "share"], ["context"]),
        helper.make_node("Add", ["rows", "context"], ["plain" if tasks else "last_hidden_state"]),
    ]
    if tasks:
        inputs.append(helper.make_tensor_value_info("task_id", INTEGERS, []))
        nodes.append(helper.make_node("Gather", ["tasks", "task_id"], ["task"]))
        nodes.append(helper.make_node("Add", ["plain", "task"], ["last_hidden_state"]))
    output = helper.make_tensor_value_info("last_hidden_state", FLOATS, ["batch", "tokens", table.shape[1]])
    constants: dict[str, npt.ArrayLike] = {
        "table": table.astype(np.float32),
        "tasks": TASKS,
        "share": NEIGHBOURS,
        "last": _axis(-1),
        "middle": _axis(1),
    }
    _save(folder, nodes, inputs, output, constants)
    _write(folder / "config.json", {"hidden_size": WIDTH, "pad_token_id": 0, **(config or {})})
    return folder


def build_reranker(folder: Path) -> Path:
    """A cross-encoder: the logit is 4 for each word of the question that stands in the passage, less 2."""
    nodes = [
        helper.make_node("Unsqueeze", ["input_ids", "last"], ["left"]),
        helper.make_node("Unsqueeze", ["input_ids", "middle"], ["right"]),
        helper.make_node("Equal", ["left", "right"], ["same"]),
        helper.make_node("Cast", ["same"], ["pairs"], to=FLOATS),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=FLOATS),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=FLOATS),
        helper.make_node("Sub", ["mask", "second"], ["first"]),
        helper.make_node("Greater", ["input_ids", "special"], ["is_word"]),
        helper.make_node("Cast", ["is_word"], ["word"], to=FLOATS),
        helper.make_node("Mul", ["first", "word"], ["asked"]),
        helper.make_node("Unsqueeze", ["asked", "last"], ["rows"]),
        helper.make_node("Unsqueeze", ["second", "middle"], ["columns"]),
        helper.make_node("Mul", ["rows", "columns"], ["across"]),
        helper.make_node("Mul", ["across", "pairs"], ["hits"]),
        helper.make_node("ReduceSum", ["hits", "both"], ["found"], keepdims=0),
        helper.make_node("Unsqueeze", ["found", "last"], ["column"]),
        helper.make_node("Mul", ["column", "four"], ["scaled"]),
        helper.make_node("Sub", ["scaled", "two"], ["logits"]),
    ]
    inputs = [_tokens(name) for name in ("input_ids", "attention_mask", "token_type_ids")]
    output = helper.make_tensor_value_info("logits", FLOATS, ["batch", 1])
    constants: dict[str, npt.ArrayLike] = {
        "last": _axis(-1), "middle": _axis(1), "both": np.array([1, 2]), "special": np.array(len(SPECIAL) - 1),
        "four": np.float32(4), "two": np.float32(2),
    }  # fmt: skip
    _save(folder, nodes, inputs, output, constants)
    _write(folder / "config.json", {"max_position_embeddings": 64, "pad_token_id": 0})
    return folder


def token_vectors(words: Sequence[str]) -> np.ndarray:
    """What the encoder makes of one row of tokens."""
    rows = np.stack([TABLE[WORDS.index(word) if word in WORDS else 1] for word in words])
    seen: np.ndarray = rows + NEIGHBOURS * rows.mean(axis=0)
    return seen


def direction(vector: np.ndarray) -> list[float]:
    """The vector with length 1."""
    return [float(number) for number in vector / np.linalg.norm(vector)]


def _tokens(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, INTEGERS, ["batch", "tokens"])


def _axis(number: int) -> np.ndarray:
    return np.array([number], dtype=np.int64)


def _save(
    folder: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    output: onnx.ValueInfoProto,
    constants: Mapping[str, npt.ArrayLike],
) -> None:
    used = {name for node in nodes for name in node.input}
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items() if name in used]
    graph = helper.make_graph(list(nodes), "small", list(inputs), [output], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / "model.onnx"))
    _save_tokenizer(folder)


def _save_tokenizer(folder: Path) -> None:
    """With a truncation and a padding that a reader must not fall for."""
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=128)
    tokenizer.save(str(folder / "tokenizer.json"))


def _write(path: Path, content: Mapping[str, object]) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")
