"""`baza models`: which models could run on this machine, and adding one.

In: settings. Out: a table; or the model's files in BAZA_HOME/models, its name in BAZA_HOME/settings.env, and for search
bases with its vectors. Each step can be stopped and repeated: it goes on where it was.
"""

import asyncio
from pathlib import Path

from dotenv import set_key

from adapters.local.fetching import KNOWN, KnownModel, Task
from adapters.local.opening import find_model
from bot.cli.content import words_of
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

        def fetch(name: str, folder: Path) -> None:
            model.fetch(name, folder, lambda done, total: shown.reach(done // MEGABYTE, total // MEGABYTE))

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
