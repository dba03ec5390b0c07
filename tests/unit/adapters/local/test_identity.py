"""A model is known by what lies in its folder."""

import shutil
from pathlib import Path

import pytest

from adapters.local.errors import LocalModelError
from adapters.local.identity import identity_of
from adapters.local.layout import read_encoder
from tests.onnx_models import TABLE, build_encoder


def identity(folder: Path) -> str:
    return identity_of(read_encoder(folder))


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
