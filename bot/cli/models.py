"""`baza models`: which models could run on this machine, and adding one; `baza reindex`: bases with its vectors.

In: settings, optionally the name of a base. Out: a table; or the model's files in BAZA_HOME/models, its name in
BAZA_HOME/settings.env, and for search bases with its vectors; progress lines, exit code 0. Each step can be stopped at
any moment and repeated: it goes on where it was. Searching and adding documents continue meanwhile.
"""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator

from dotenv import set_key

from adapters.local.layout import KNOWN, KnownModel, Task
from adapters.local.models import fetched_model
from bot.app import open_parts
from bot.cli.content import words_of
from bot.cli.output import Bar, CommandError, no_such_base, print_line
from bot.home import SETTINGS
from bot.settings import Settings
from bot.texts import Words
from ingestion.errors import ServiceError, WindowTooLarge
from ingestion.indexing import OutdatedBase, Reindexer

MEGABYTE = 10**6


async def reindex_bases(settings: Settings, *, name: str | None) -> int:
    """Move all bases, or one, to the embedder. Raises CommandError when there is no such base, or when the embedder
    fails; the work done so far is kept."""
    words = words_of(settings)
    async with open_parts(settings) as parts:
        if name is not None and name not in (filled := await parts.stores.people.named_bases(name)):
            raise CommandError(no_such_base(name, filled))
        reindexer, model = Reindexer(parts.stores.next_vectors, parts.embedder), parts.embedder.model
        outdated = await reindexer.store.outdated_bases(model, name=name)
        last_line = words.plain("cli-reindexed-restart")
        if not outdated:
            last_line = words.plain("cli-nothing-to-reindex", model=model)
        while outdated:  # repeated for passages that a bot or worker with the old model has embedded meanwhile
            for base in outdated:
                called = base.name or words.plain("cli-own-base", id=base.id[:8])  # a person's own base has no name
                await _move(reindexer, base, called, words)
                print_line(words.plain("cli-reindexed", base=called, model=model))
            outdated = await reindexer.store.outdated_bases(model, name=name)
        await parts.stores.search.ensure_index()
    print_line(last_line)
    return 0


async def _move(reindexer: Reindexer, base: OutdatedBase, called: str, words: Words) -> None:
    """With a bar on a terminal; elsewhere a line for each further percent, however small the embedder's batches are."""
    with Bar(base.passages, called) as shown:

        def report(done: int) -> None:
            total = max(done, base.passages)
            shown.reach(done, total, lambda: words.plain("cli-reindexing", base=called, done=done, total=total))

        try:
            await reindexer.move(base, report)
        except (ServiceError, WindowTooLarge) as error:
            raise CommandError(
                f"The embedder failed ({error}). Run the command again: it goes on from here."
            ) from error


def show_models(settings: Settings) -> None:
    """A paragraph for each model."""
    words = words_of(settings)
    for model in KNOWN:
        is_here = (settings.home / "models" / model.name).is_dir()
        state = "used" if (_named(settings, model) or "").endswith(model.name) else "here" if is_here else "no"
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
            done, total = done // MEGABYTE, total // MEGABYTE
            shown.reach(done, total, lambda: words.plain("cli-model-fetched", done=done, total=total))

        folder = await fetched_model(model.name, settings.home / "models", model.fetch, told)
    value = str(folder) if task is Task.SPEECH else model.name
    set_key(settings.home / SETTINGS, model.setting, value)
    print_line(words.plain("cli-model-set", name=model.setting, value=value, file=str(settings.home / SETTINGS)))
    if _named(settings, model) not in (None, value):
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
            raise CommandError(said.splitlines()[-1] if said else words_of(settings).plain("cli-stopped"))
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def _named(settings: Settings, model: KnownModel) -> str | None:
    """What the settings name for its task."""
    named: dict[str, str | None] = settings.local.model_dump(by_alias=True) | settings.speech.model_dump(by_alias=True)
    return named[model.setting]
