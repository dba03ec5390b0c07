"""`baza add` with many files: put into the queue some at a time, the largest first, each told once."""

import asyncio
from contextlib import aclosing
from pathlib import Path

from bot.app import open_parts
from bot.cli.content import TOGETHER, SourceMissing, add_sources
from bot.settings import Settings
from domain.documents import DocumentCard, DocumentStatus

SENTENCE = "Насос номер {number} стоит в цехе и проверяется каждую весну."


def make_files(folder: Path) -> list[str]:
    """More than go into the queue at once, each longer than the one before."""
    paths = [folder / f"{number}.txt" for number in range(TOGETHER + 3)]
    for number, path in enumerate(paths, start=1):
        path.write_text("\n\n".join([SENTENCE.format(number=number)] * number), encoding="utf-8")
    return [str(path) for path in paths]


async def test_the_largest_files_are_read_first_and_none_is_left_out(tmp_path: Path, database_url: str) -> None:
    files = make_files(tmp_path)
    missing = str(tmp_path / "missing.txt")
    settings = Settings.read({"BAZA_HOME": str(tmp_path), "DATABASE_URL": database_url, "WORKER_CONCURRENCY": "1"})
    async with open_parts(settings) as parts, parts.open_worker() as worker:
        base = await parts.stores.people.open_named_base("many")
        ended = [each async for each in add_sources(parts, worker, base, [*files, missing])]
    outcomes = dict(ended)
    assert isinstance(outcomes.pop(missing), SourceMissing)
    assert [name for name, _ in ended if name != missing] == files[::-1]
    assert {card.status for card in outcomes.values() if isinstance(card, DocumentCard)} == {DocumentStatus.READY}


async def test_a_folder_is_read_with_all_files_below_it_but_hidden_ones(tmp_path: Path, database_url: str) -> None:
    folder = tmp_path / "Насосы"
    names = ("Первый.txt", "ниже/Второй.txt", "ниже/ещё/Третий.txt", ".скрыт.txt", ".git/Скрыт.txt")
    for number, path in enumerate(folder / name for name in names):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SENTENCE.format(number=number), encoding="utf-8")
    (folder / "ниже" / "по кругу").symlink_to(folder)
    empty = tmp_path / "empty"
    empty.mkdir()
    settings = Settings.read({"BAZA_HOME": str(tmp_path), "DATABASE_URL": database_url})
    async with open_parts(settings) as parts, parts.open_worker() as worker:
        base = await parts.stores.people.open_named_base("folder")
        outcomes = dict([each async for each in add_sources(parts, worker, base, [str(folder), str(empty)])])
        pattern = str(folder / "**" / "Т*.txt")
        matched = [named async for named, _ in add_sources(parts, worker, base, [pattern])]
    assert matched == [str(folder / names[2])]
    assert isinstance(outcomes.pop(str(empty)), SourceMissing)
    assert set(outcomes) == {str(folder / name) for name in names[:3]}
    assert {card.status for card in outcomes.values() if isinstance(card, DocumentCard)} == {DocumentStatus.READY}


async def test_when_nobody_listens_any_more_nothing_goes_on(tmp_path: Path, database_url: str) -> None:
    files = make_files(tmp_path)
    settings = Settings.read({"BAZA_HOME": str(tmp_path), "DATABASE_URL": database_url, "WORKER_CONCURRENCY": "1"})
    async with open_parts(settings) as parts, parts.open_worker() as worker:
        base = await parts.stores.people.open_named_base("left")
        others = asyncio.all_tasks()
        async with aclosing(add_sources(parts, worker, base, files)) as ended:
            await anext(ended)
        assert not [task for task in asyncio.all_tasks() - others if "adding.py" in repr(task)]
