"""`baza reindex` from the command line, while the base is asked, added to, deleted from, and the command is killed.

The embedder goes from none to a Jina on loopback, then to a model in a folder. Who asks meanwhile does so over a
connection of their own, with the settings from before and with the new ones: no answer may be without its passage.
"""

import asyncio
import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from bot.app import Parts, open_parts
from bot.settings import Settings
from domain.ids import BaseId
from rag.records import Candidate, SearchQuery
from tests.onnx_models import TABLE, build_encoder
from tests.servers.jina import KEY, EmbeddingsRequest, JinaServer, serve_jina

_MODELS = "select model, bool_and(embedding is not null) from documents_chunks group by 1"
BASE = "работа"
JINA = "jina-embeddings-v3"
WAIT_S = 180.0
DOCUMENTS = 10
GONE = DOCUMENTS - 1  # the number of the one that is deleted meanwhile; nobody asks about it
PASSAGES_A_DOCUMENT = 10
LATE = 77  # of the one that is added
SLOWLY_S = 0.25  # each answer of Jina, so that there is time to ask, to add and to kill
LINE = re.compile(rf"{BASE}: фрагментов (\d+) из (\d+)")
TOPICS = ("диск", "сеть", "ключ", "пароль", "облако")


def text_of(number: int) -> str:
    """Some passages, each of which names the document's own number."""
    told = [
        f"Документ номер{number}, часть {part}: {TOPICS[part % len(TOPICS)]} проверяется раз в {part + 2} дня. " * 6
        for part in range(20)
    ]
    return "\n\n".join(told)


@dataclass(frozen=True, kw_only=True)
class Installed:
    """An installation that is used from the command line alone."""

    database_url: str
    home: Path
    models: Mapping[str, str] = field(default_factory=dict)  # settings of the embedder

    def with_models(self, **models: str) -> "Installed":
        return Installed(database_url=self.database_url, home=self.home, models=models)

    @property
    def environment(self) -> dict[str, str]:
        ours = {"BAZA_HOME": str(self.home), "DATABASE_URL": self.database_url, "DEFAULT_LANGUAGE": "ru"}
        return {**ours, **self.models}

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", *arguments,
            env={**os.environ, **self.environment}, start_new_session=True,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip

    async def run(self, *arguments: str) -> str:
        """What the command has printed; it must have gone well."""
        return await last_words(await self.start(*arguments))

    def ask(self, query: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database_url) as connection:
            return connection.execute(query.encode()).fetchall()

    def models_of_passages(self) -> dict[object, object]:
        """Model -> whether all of its passages have a vector."""
        with psycopg.connect(self.database_url) as connection:
            return dict(connection.execute(_MODELS).fetchall())

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Parts]:
        async with open_parts(Settings.read(self.environment)) as parts:
            yield parts


@dataclass(kw_only=True)
class Watcher:
    """Asks without end, and notes what it was answered."""

    parts: Parts
    base: BaseId
    empty: list[str] = field(default_factory=list)  # questions whose passage was not found
    asked: int = 0

    async def watch(self) -> None:
        retrieval = self.parts.retrieval()
        while True:
            question = f"номер{self.asked % GONE} {TOPICS[self.asked % len(TOPICS)]}"
            found = await retrieval.find(self.base, question)
            if not any(question.split()[0] in each.passage.text for each in found):
                self.empty.append(question)
            self.asked += 1
            await asyncio.sleep(0.02)


@asynccontextmanager
async def watched(*installed: Installed) -> AsyncIterator[list[Watcher]]:
    """A watcher for each."""
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(each.opened()) for each in installed]
        base = await opened[0].stores.people.open_named_base(BASE)
        watchers = [Watcher(parts=parts, base=base) for parts in opened]
        tasks = [asyncio.create_task(watcher.watch()) for watcher in watchers]
        try:
            yield watchers
            assert not [task for task in tasks if task.done()], [task.exception() for task in tasks if task.done()]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


@pytest.fixture
async def slow_jina() -> AsyncIterator[JinaServer]:
    async with serve_jina(delay_s=SLOWLY_S) as server:
        yield server


@pytest.fixture
async def plain(database_url: str, tmp_path: Path) -> Installed:
    """Ten documents in a base without vectors."""
    installed = Installed(database_url=database_url, home=tmp_path / "home")
    files = [tmp_path / f"документ{number}.md" for number in range(DOCUMENTS)]
    for number, file in enumerate(files):
        file.write_text(text_of(number), encoding="utf-8")
    await installed.run("add", *map(str, files), "--base", BASE)
    return installed


async def signal_after(process: asyncio.subprocess.Process, sent: signal.Signals, *, lines: int) -> str:
    """Sends it as soon as the command has printed so many lines, which are returned."""
    assert process.stdout
    told = [(await asyncio.wait_for(process.stdout.readline(), WAIT_S)).decode() for _ in range(lines)]
    os.killpg(process.pid, sent)
    return "".join(told)


async def last_words(process: asyncio.subprocess.Process) -> str:
    """What else it prints before it ends well."""
    out, problems = await asyncio.wait_for(process.communicate(), WAIT_S)
    assert process.returncode == 0, problems.decode()
    return out.decode()


def steps_in(printed: str) -> list[tuple[int, int]]:
    """(passages done, of how many)."""
    return [(int(done), int(total)) for done, total in LINE.findall(printed)]


def embedded(requests: list[EmbeddingsRequest]) -> list[str]:
    """The passages that Jina was sent, questions aside."""
    return [text for request in requests if request.task == "retrieval.passage" for text in request.input]


async def change_the_base(plain: Installed, folder: Path, watcher: Watcher) -> None:
    """Another process adds a document with the settings from before; one that is there is deleted."""
    late = folder / "поздний.md"
    late.write_text(text_of(LATE), encoding="utf-8")
    await plain.run("add", str(late), "--base", BASE)
    library = watcher.parts.stores.library
    (gone,) = await library.documents(watcher.base, limit=9, name_contains=f"документ{GONE}")
    assert await library.delete(watcher.base, gone.id)


async def nearest(installed: Installed, question: str) -> list[Candidate]:
    """What the vectors alone find."""
    async with installed.opened() as parts:
        base, model = await parts.stores.people.open_named_base(BASE), parts.embedder.model
        vector = await parts.embedder.embed_query(question)
        return await parts.stores.search.search(
            SearchQuery(base_id=base, vector=vector, model=model, terms=(), limit=30)
        )


async def test_a_base_is_searched_at_every_moment_while_it_is_moved_and_the_move_is_killed(
    plain: Installed, slow_jina: JinaServer, tmp_path: Path
) -> None:
    jina = plain.with_models(JINA_BASE_URL=slow_jina.url, JINA_API_KEY=KEY, JINA_CONCURRENCY="1")
    async with watched(plain, jina) as watchers:
        killed = await jina.start("reindex", "--base", BASE)
        first = steps_in(await signal_after(killed, signal.SIGKILL, lines=4))
        await killed.wait()
        assert plain.models_of_passages() == {"none": False}
        moving = await jina.start("reindex", "--base", BASE)
        printed = await signal_after(moving, signal.SIGSTOP, lines=2)
        await change_the_base(plain, tmp_path, watchers[0])
        os.killpg(moving.pid, signal.SIGCONT)
        printed += await last_words(moving)

    assert [watcher.empty for watcher in watchers] == [[], []]
    assert min(watcher.asked for watcher in watchers) >= 5  # on a slow machine too
    second = steps_in(printed)
    assert first[0][0] == 0 < first[-1][0] <= second[0][0]  # it goes on from there
    assert (first, second) == (sorted(first), sorted(second))
    assert printed.splitlines()[-2] == f"{BASE}: поиск теперь по модели {JINA}"
    assert "Перезапустите" in printed.splitlines()[-1]
    twice = Counter(embedded(slow_jina.embeddings)) - Counter(set(embedded(slow_jina.embeddings)))
    assert twice.total() <= PASSAGES_A_DOCUMENT  # what was on its way when the command was killed
    assert plain.models_of_passages() == {JINA: True}
    assert plain.ask("select count(*) from next_vectors") == [(0,)]
    found = {each.passage.title for each in await nearest(jina, f"номер{LATE} диск")}
    assert "поздний" in found
    assert f"документ{GONE}" not in found


async def test_a_mistyped_name_of_a_base_is_told(plain: Installed) -> None:
    told = {}
    for command in (("reindex",), ("docs",), ("ask", "номер3"), ("show", "0" * 32)):
        process = await plain.start(*command, "--base", "рабта")
        _, problems = await asyncio.wait_for(process.communicate(), WAIT_S)
        told[command[0]] = (
            process.returncode,
            f"There is no base 'рабта'. Bases with documents: '{BASE}'" in problems.decode(),
        )
    # Scripts may ask a base before something is in it: these go on.
    assert told == {"reindex": (1, True), "docs": (0, True), "ask": (0, True), "show": (1, True)}


async def test_a_base_goes_from_one_model_to_another_and_back_to_none(plain: Installed, tmp_path: Path) -> None:
    local = plain.with_models(LOCAL_EMBEDDING_MODEL=str(build_encoder(tmp_path / "small")))
    namesake = build_encoder(tmp_path / "other" / "small", table=TABLE[::-1])
    other = plain.with_models(LOCAL_EMBEDDING_MODEL=str(namesake), DEFAULT_LANGUAGE="en")
    assert re.search(rf"{BASE}: поиск теперь по модели local/small@\w+\n", await local.run("reindex"))
    assert await nearest(local, "диск и ключ")
    assert re.search(rf"{BASE}: searched by local/small@\w+ now\nA bot that runs now", await other.run("reindex"))
    assert (len(await nearest(other, "диск и ключ")), await nearest(local, "диск и ключ")) == (30, [])
    assert (await other.run("reindex")).startswith("Nothing to move: every passage has vectors of local/small@")

    sources = json.loads(await other.run("ask", "номер3 пароль", "--base", BASE, "--json"))["sources"]
    assert sources[0]["title"] == "документ3"
    assert f"{BASE}: поиск теперь по словам, без модели\n" in await plain.run("reindex")
    assert plain.models_of_passages() == {"none": False}
