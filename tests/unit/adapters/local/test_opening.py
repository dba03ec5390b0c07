"""Where a model is looked for, and that a fetched one is there whole or not at all."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adapters.local.fetching import LocalModelError
from adapters.local.models import find_model, open_encoder, open_reranker
from tests.onnx_models import build_encoder, build_reranker


def never(name: str, folder: Path) -> None:
    raise AssertionError(f"{name} is not fetched")


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = build_encoder(tmp_path / "small")
    assert find_model(str(folder), tmp_path / "models", never) == folder


def test_a_name_may_be_a_folder_among_the_models(tmp_path: Path) -> None:
    folder = build_encoder(tmp_path / "models" / "owner" / "small")
    assert find_model("owner/small", tmp_path / "models", never) == folder


def test_a_model_is_fetched_once(tmp_path: Path) -> None:
    fetched: list[str] = []

    def fetch(name: str, folder: Path) -> None:
        fetched.append(name)
        build_encoder(folder)

    first = find_model("owner/small", tmp_path, fetch)
    assert find_model("owner/small", tmp_path, fetch) == first == tmp_path / "owner" / "small"
    assert fetched == ["owner/small"]


def test_two_that_start_at_once_fetch_a_model_once(tmp_path: Path) -> None:
    """A bot and a worker share a home: the second waits for the first, and takes what it has brought."""
    fetched: list[str] = []

    def fetch(name: str, folder: Path) -> None:
        fetched.append(name)
        time.sleep(0.3)
        build_encoder(folder)

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda _: find_model("owner/small", tmp_path, fetch), range(2)))
    assert found == [tmp_path / "owner" / "small"] * 2
    assert fetched == ["owner/small"]


def test_a_model_that_was_not_fetched_whole_is_not_there(tmp_path: Path) -> None:
    def fetch(name: str, folder: Path) -> None:
        (folder / "config.json").write_text("{}")
        raise LocalModelError("the line broke")

    with pytest.raises(LocalModelError, match="the line broke"):
        find_model("owner/small", tmp_path, fetch)
    assert not (tmp_path / "owner").exists()


@pytest.mark.parametrize("name", ["small", "./small", "/nowhere/small", "a/b/c"])
def test_what_is_neither_a_folder_nor_a_name_is_said_to_be_missing(tmp_path: Path, name: str) -> None:
    with pytest.raises(LocalModelError, match="There is no model"):
        find_model(name, tmp_path, never)


def test_encoder_and_reranker_open_without_loading(tmp_path: Path) -> None:
    for folder in (build_encoder(tmp_path / "encoder"), build_reranker(tmp_path / "reranker")):
        (folder / "model.onnx").write_bytes(b"not a model")
    assert open_encoder("encoder", models=tmp_path, context_tokens=512, threads=0).model.startswith("local/encoder@")
    open_reranker("reranker", models=tmp_path, threads=0)
