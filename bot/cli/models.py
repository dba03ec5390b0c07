"""`baza models`: which models could run on this machine, and adding one.

In: settings. Out: a table; or the model's files in BAZA_HOME/models, its name in BAZA_HOME/settings.env, and for search
bases with its vectors. Each step can be stopped and repeated: it goes on where it was.
"""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

from dotenv import set_key

from adapters.local.fetching import KNOWN, KnownModel, Task
from adapters.local.models import find_model
from bot.cli.content import words_of
from bot.cli.errors import CommandError
from bot.cli.output import Bar, print_line
from bot.cli.reindexing import reindex_bases
from bot.home import SETTINGS
from bot.settings import Settings

MEGABYTE = 10**6


def show_models(settings: Settings) -> None:
    """A paragraph for each model."""
    words = words_of(settings)
    for model in KNOWN:
        is_here = (settings.home / "models" / model.name).is_dir()
        state = "used" if _used(settings, model) else "here" if is_here else "no"
        print_line(
            words.plain(
                "cli-model",
                task=model.task.value,
                name=model.name,
                megabytes=model.megabytes,
                licence=model.licence,
                languages=model.languages,
                brings=words.plain(f"cli-model-{model.task.value}"),
                state=state,
            )
        )


async def add_model(settings: Settings, task: Task) -> int:
    """`baza models add`. Raises LocalModelError when the files cannot be fetched or are damaged."""
    words = words_of(settings)
    model = next(each for each in KNOWN if each.task is task)
    print_line(words.plain("cli-model-fetching", name=model.name, megabytes=model.megabytes))
    with Bar(model.megabytes, "MB") as shown:

        def told(done: int, total: int) -> None:
            if shown.is_drawn:
                shown.reach(done // MEGABYTE, total // MEGABYTE)
            elif shown.grows(done, total):
                print_line(words.plain("cli-model-fetched", done=done // MEGABYTE, total=total // MEGABYTE))

        def fetch(name: str, folder: Path) -> None:
            model.fetch(name, folder, told)

        folder = await asyncio.to_thread(find_model, model.name, settings.home / "models", fetch)
    value = str(folder) if task is Task.SPEECH else model.name
    set_key(settings.home / SETTINGS, model.setting, value)
    print_line(words.plain("cli-model-set", name=model.setting, value=value, file=str(settings.home / SETTINGS)))
    if _named(settings, task) not in (None, value):
        print_line(words.plain("cli-model-overruled", name=model.setting))
    elif task is not Task.SPEECH and settings.jina.api_key:
        print_line(words.plain("cli-model-jina"))
    elif task is Task.SEARCH:
        local = settings.local.model_copy(update={"embedding_model": value})
        return await reindex_bases(settings.model_copy(update={"local": local}), name=None)
    else:
        print_line(words.plain("cli-model-restart"))
    return 0


async def adding_search(settings: Settings) -> AsyncIterator[str]:
    """The lines of `baza models add search`, which runs as a process of its own and is stopped with its listener.
    Raises CommandError with what it says when it fails."""
    command = (sys.executable, "-m", "bot", "models", "add", Task.SEARCH.value)
    environment = {**os.environ, "BAZA_HOME": str(settings.home)}
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=PIPE, stderr=PIPE)
    lines, problems = process.stdout, process.stderr
    if lines is None or problems is None:
        raise RuntimeError("the process has no pipes")
    try:
        async for line in lines:
            yield line.decode().strip()
        said = (await problems.read()).decode().strip()
        if await process.wait():
            raise CommandError(said.splitlines()[-1] if said else f"exit status {process.returncode}")
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def _named(settings: Settings, task: Task) -> str | None:
    """The model that the settings name for this task."""
    named = {
        Task.SEARCH: settings.local.embedding_model,
        Task.RERANK: settings.local.reranker_model,
        Task.SPEECH: settings.speech.model,
    }
    return named[task]


def _used(settings: Settings, model: KnownModel) -> bool:
    return (_named(settings, model.task) or "").endswith(model.name)
