"""`baza models`: what could be here, and how one command brings search by meaning, from a stand-in for the hub."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from dotenv import dotenv_values

from adapters.local import layout
from adapters.local.layout import KNOWN, Task
from bot.app import open_parts
from bot.cli import models
from bot.cli.content import add_to_base
from bot.home import SETTINGS
from bot.settings import Settings
from tests.onnx_models import build_encoder
from tests.servers.hub import COMMIT, Hub, serve_hub


@pytest.fixture
async def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hub]:
    """The only model that is known is the one that this hub serves."""
    known = tuple(replace(each, name="owner/small", commit=COMMIT, hashes={}) for each in KNOWN)
    monkeypatch.setattr(models, "KNOWN", known)
    async with serve_hub(build_encoder(tmp_path / "hub"), Hub()) as served:
        monkeypatch.setattr(layout, "fetch_from_hub", served.fetch)
        yield served


def settings(database_url: str, home: Path, **more: str) -> Settings:
    """With what `baza models` has written."""
    written = {name: value or "" for name, value in dotenv_values(home / SETTINGS).items()}
    return Settings.read({**written, "DATABASE_URL": database_url, "BAZA_HOME": str(home), "OCR": "off", **more})


async def test_one_command_brings_search_by_meaning(
    hub: Hub, database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, note = tmp_path / "home", tmp_path / "Заметка.txt"
    home.mkdir()
    note.write_text("Где диск и ключ: пароль от сети лежит в облаке.", encoding="utf-8")
    before = settings(database_url, home)
    await add_to_base(before, [str(note)], base_name="default", as_json=False)
    models.show_models(before)
    assert "baza models add search" in capsys.readouterr().out

    assert await models.add_model(before, Task.SEARCH) == 0

    after = settings(database_url, home)
    assert after.local.embedding_model == "owner/small"
    models.show_models(after)
    told = capsys.readouterr().out
    assert "поиск теперь по модели local/small@" in told
    assert "search: owner/small, 505 МБ, MIT, языки: ru, en, +92. Работает." in told
    async with open_parts(after) as parts:
        assert parts.embedder.model.startswith("local/small@")
        base = await parts.stores.people.open_named_base("default")
        found = await parts.retrieval().rank(base, "пароль от диска")
    assert found[0].passage.title.startswith("Заметка")


async def test_a_download_that_is_stopped_ends_at_once(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ended = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def endless(name: str, folder: Path, told: Callable[[int, int], None], **_: object) -> None:
        loop.call_soon_threadsafe(began.set)
        try:
            while not ended.wait(0.01):
                told(1, 100)
        finally:
            ended.set()

    monkeypatch.setattr(layout, "fetch_from_hub", endless)
    (tmp_path / "home").mkdir()
    adding = asyncio.create_task(models.add_model(settings(database_url, tmp_path / "home"), Task.SEARCH))
    await began.wait()
    adding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await adding
    assert await asyncio.to_thread(ended.wait, 5)


@pytest.mark.parametrize(
    ("given", "told"),
    [({"JINA_API_KEY": "k"}, "Но задан JINA_API_KEY"), ({"LOCAL_EMBEDDING_MODEL": "mine"}, "это важнее")],
)
async def test_what_stands_in_the_way_is_said(
    hub: Hub, database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], given: dict[str, str], told: str
) -> None:
    assert await models.add_model(settings(database_url, tmp_path, **given), Task.SEARCH) == 0
    assert told in capsys.readouterr().out


def test_what_is_known_may_be_used_and_is_pinned() -> None:
    assert {each.task for each in KNOWN} == set(Task)
    for each in KNOWN:
        assert each.licence in ("MIT", "Apache-2.0")
        assert (len(each.commit), {len(digest) for digest in each.hashes.values()}) == (40, {64})
