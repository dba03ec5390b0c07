"""What is read out of a model's folder, in the layouts that models are published in."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.local.layout import LocalModelError, Pooling, identity_of, read_encoder, read_files
from tests.onnx_models import TABLE, build_encoder


def model_folder(parent: Path, files: Mapping[str, object] | None = None, *, name: str = "model") -> Path:
    """`files` by name; JSON for whatever is not bytes."""
    folder = parent / name
    for file, content in {"model.onnx": b"", "tokenizer.json": b"{}", **(files or {})}.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


@pytest.mark.parametrize(
    ("name", "pooling", "question", "passage"),
    [
        ("multilingual-e5-small", Pooling.MEAN, "query: ", "passage: "),
        ("bge-m3", Pooling.CLS, "", ""),
        ("all-MiniLM-L6-v2", Pooling.MEAN, "", ""),
    ],
)
def test_families_are_known_by_their_names(
    tmp_path: Path, name: str, pooling: Pooling, question: str, passage: str
) -> None:
    layout = read_encoder(model_folder(tmp_path, name=name))
    assert (layout.pooling, layout.question, layout.passage) == (pooling, question, passage)


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, Pooling.MEAN),
        ({"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}, Pooling.CLS),
        ({"pooling_mode": "cls"}, Pooling.CLS),
    ],
)
def test_the_pooling_that_the_folder_names_counts(tmp_path: Path, config: dict[str, object], pooling: Pooling) -> None:
    folder = model_folder(tmp_path, {"1_Pooling/config.json": config}, name="bge-m3")
    assert read_encoder(folder).pooling is pooling


def test_a_pooling_that_is_not_known_is_said_to_be_so(tmp_path: Path) -> None:
    folder = model_folder(tmp_path, {"1_Pooling/config.json": {"pooling_mode": "lasttoken"}})
    with pytest.raises(LocalModelError, match="neither mean nor cls"):
        read_encoder(folder)


def test_prompts_of_the_folder_go_before_those_of_the_family(tmp_path: Path) -> None:
    prompts = {"prompts": {"query": "Вопрос: ", "document": "Текст: "}}
    layout = read_encoder(model_folder(tmp_path, {"config_sentence_transformers.json": prompts}, name="e5"))
    assert (layout.question, layout.passage) == ("Вопрос: ", "Текст: ")


@pytest.mark.parametrize(
    ("config", "tokenizer", "tokens"),
    [
        ({"model_type": "bert", "max_position_embeddings": 512}, {}, 512),
        ({"model_type": "xlm-roberta", "max_position_embeddings": 8194, "pad_token_id": 1}, {}, 8192),
        ({"max_position_embeddings": 8192}, {"model_max_length": 512}, 512),
        ({}, {"model_max_length": 1e30}, 512),
    ],
)
def test_the_context_is_the_smallest_limit_that_is_named(
    tmp_path: Path, config: dict[str, object], tokenizer: dict[str, object], tokens: int
) -> None:
    folder = model_folder(tmp_path, {"config.json": config, "tokenizer_config.json": tokenizer})
    assert read_files(folder).context_tokens == tokens


def test_vectors_that_the_database_cannot_keep_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match="2560 numbers"):
        read_encoder(model_folder(tmp_path, {"config.json": {"hidden_size": 2560}}))


def test_the_graph_may_lie_in_a_folder_of_its_own(tmp_path: Path) -> None:
    folder = model_folder(tmp_path, {"onnx/model_quantized.onnx": b"", "onnx/model.onnx": b""})
    (folder / "model.onnx").unlink()
    assert read_files(folder).graph == folder / "onnx" / "model.onnx"


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_what_is_missing_is_named(tmp_path: Path, missing: str) -> None:
    folder = model_folder(tmp_path)
    (folder / missing).unlink()
    with pytest.raises(LocalModelError, match=missing):
        read_encoder(folder)


def test_a_broken_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match=r"config\.json cannot be read"):
        read_encoder(model_folder(tmp_path, {"config.json": b"{"}))


def identity(folder: Path) -> str:
    return identity_of(read_encoder(folder))


def test_an_encoder_of_the_first_release_keeps_its_identity(tmp_path: Path) -> None:
    """Else all vectors would have to be made anew."""
    assert identity(model_folder(tmp_path, name="e5")) == "c741dbc2"


def test_two_models_in_folders_of_the_same_name_are_two(tmp_path: Path) -> None:
    one, other = build_encoder(tmp_path / "a" / "small"), build_encoder(tmp_path / "b" / "small", table=TABLE * 2)
    assert identity(one) != identity(other)


def test_a_model_that_was_copied_or_moved_is_the_same(tmp_path: Path) -> None:
    folder = build_encoder(tmp_path / "small")
    before = identity(folder)
    copy = shutil.copytree(folder, tmp_path / "models" / "small")
    assert identity(copy) == before
    shutil.move(folder, tmp_path / "elsewhere")
    assert identity(tmp_path / "elsewhere") == before


def test_weights_beside_the_graph_count(tmp_path: Path) -> None:
    folder = build_encoder(tmp_path / "small")
    found = {identity(folder)}
    for weights in (b"a" * 9_000_000, b"a" * 8_999_999 + b"b", b"a" * 9_000_001):
        (folder / "model.onnx_data").write_bytes(weights)
        found.add(identity(folder))
    assert len(found) == 4


@pytest.mark.parametrize("name", ["tokenizer.json", "config_sentence_transformers.json"])
def test_another_tokenizer_or_prompt_makes_another_model(tmp_path: Path, name: str) -> None:
    folder = build_encoder(tmp_path / "small")
    before = identity(folder)
    tokenizer = folder / "tokenizer.json"
    (folder / name).write_text(
        '{"prompts": {"query": "q: "}}' if name != tokenizer.name else tokenizer.read_text() + " "
    )
    assert identity(folder) != before


def test_what_does_not_bear_on_vectors_does_not_count(tmp_path: Path) -> None:
    folder = build_encoder(tmp_path / "small")
    before = identity(folder)
    (folder / "README.md").write_text("about")
    assert identity(folder) == before


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    layout = read_encoder(build_encoder(tmp_path / "small"))
    layout.files.tokenizer.unlink()
    with pytest.raises(LocalModelError, match=r"tokenizer\.json cannot be read"):
        identity_of(layout)
