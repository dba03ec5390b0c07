"""Fetching a model by its name, from a stand-in for the hub on loopback."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from adapters.local import layout
from adapters.local.layout import LocalModelError, fetch_from_hub
from adapters.local.models import find_model, open_encoder
from tests.onnx_models import build_encoder
from tests.servers.hub import Hub, serve_hub


async def test_a_model_is_fetched_by_its_name_and_works(tmp_path: Path) -> None:
    async with serve_hub(build_encoder(tmp_path / "hub"), Hub()) as hub:
        folder = await asyncio.to_thread(find_model, "owner/small", tmp_path / "models", hub.fetch)
    assert sorted(hub.asked) == ["config.json", "model.onnx", "tokenizer.json"]
    encoder = open_encoder(str(folder), models=tmp_path, context_tokens=512, threads=1)
    assert len(await encoder.embed_query("диск")) == 16


async def test_a_transfer_that_broke_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "BLOCK_BYTES", 100)  # smaller than the model
    monkeypatch.setattr(layout, "TRIES", 1)  # as when the process was killed
    told: list[tuple[int, int]] = []
    async with serve_hub(build_encoder(tmp_path / "hub"), Hub(cut_at=700)) as hub:
        fetch = partial(hub.fetch, told=lambda done, total: told.append((done, total)))
        with pytest.raises(LocalModelError, match="goes on where it stopped"):
            await asyncio.to_thread(find_model, "owner/small", tmp_path / "models", fetch)
        folder = await asyncio.to_thread(find_model, "owner/small", tmp_path / "models", fetch)
    assert hub.ranges == ["bytes=700-"]
    assert (folder / "model.onnx").read_bytes() == (tmp_path / "hub" / "model.onnx").read_bytes()
    assert told[-1] == (told[-1][1],) * 2


async def test_damaged_weights_are_refused_and_fetched_anew(tmp_path: Path) -> None:
    async with serve_hub(build_encoder(tmp_path / "hub"), Hub(damages=True)) as hub:
        with pytest.raises(LocalModelError, match=r"model.onnx is not the file that it should be"):
            await asyncio.to_thread(find_model, "owner/small", tmp_path / "models", hub.fetch)
        assert not (tmp_path / "models" / "owner").exists()
        hub.damages = False
        folder = await asyncio.to_thread(find_model, "owner/small", tmp_path / "models", hub.fetch)
    assert (folder / "model.onnx").read_bytes() == (tmp_path / "hub" / "model.onnx").read_bytes()


async def test_the_hash_that_we_know_counts_more_than_what_the_hub_says(tmp_path: Path) -> None:
    async with serve_hub(build_encoder(tmp_path / "hub"), Hub()) as hub:
        fetch = partial(hub.fetch, hashes={"model.onnx": "0" * 64})
        with pytest.raises(LocalModelError, match=r"model.onnx is not the file"):
            await asyncio.to_thread(find_model, "owner/small", tmp_path / "models", fetch)


async def test_a_model_that_the_hub_does_not_have_is_said_to_be_missing(tmp_path: Path) -> None:
    async with serve_hub(build_encoder(tmp_path / "hub"), Hub()) as hub:
        with pytest.raises(LocalModelError, match="owner/other cannot be fetched"):
            await asyncio.to_thread(find_model, "owner/other", tmp_path / "models", hub.fetch)


async def test_a_hub_that_is_not_there_is_named_as_the_reason(tmp_path: Path, unused_tcp_port: int) -> None:
    fetch = partial(fetch_from_hub, endpoint=f"http://127.0.0.1:{unused_tcp_port}")
    with pytest.raises(LocalModelError, match="cannot be fetched"):
        await asyncio.to_thread(find_model, "owner/small", tmp_path / "models", fetch)
