"""The console command `baza`: every command and its options (DESIGN, section 5).

In: arguments, the environment and `.env`. Out: exit code 0, or one clear sentence on stderr and 1. The other modules of
this package do the work. External scripts rely on the names of commands, options and JSON keys.
"""

import asyncio
import gc
import os
import sys
from collections.abc import Coroutine, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from dotenv import dotenv_values

from adapters.local.layout import Task
from bot.home import SETTINGS, SILENT_S, configure_logging, open_home, silence_s
from bot.settings import Settings, SettingsError, home_of, secret_variables
from sandbox.kernel import forget_variables, hide_process, works

app = typer.Typer(
    name="baza",
    help="Baza: a Telegram bot that keeps documents and answers from them, with sources.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
evaluation = typer.Typer(help="Measure the quality of search.", no_args_is_help=True)
app.add_typer(evaluation, name="eval")
token = typer.Typer(help="Tokens of the HTTP API: each opens one base.", no_args_is_help=True)
app.add_typer(token, name="token")
local_models = typer.Typer(help="Models that run on this machine.")
app.add_typer(local_models, name="models")

# New objects between two collections. Python's default of 700 is too low: imports alone create millions that stay.
OBJECTS_A_COLLECTION = 50_000

BaseOption = Annotated[str, typer.Option("--base", help="Name of the base.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


@app.callback(invoke_without_command=True)
def everything(asks_version: Annotated[bool, typer.Option("--version", help="Print it.")] = False) -> None:
    """What holds for all commands."""
    if asks_version:
        typer.echo(f"baza {version('baza')}")
        raise typer.Exit


def main() -> None:
    """Run the command; expected errors end in one sentence instead of a traceback."""
    gc.set_threshold(OBJECTS_A_COLLECTION)
    try:
        app()
    except Exception as trouble:
        from bot.cli.output import EXPECTED, sentence

        if not isinstance(trouble, EXPECTED):
            raise
        sys.stderr.write(sentence(trouble) + "\n")
        sys.exit(1)


def read_settings() -> Settings:
    """Settings from the environment, which overrides `.env` of the current folder, which overrides what `baza models`
    has set; secrets then leave the environment. Raises SettingsError."""
    given = {**_filled(dotenv_values(".env")), **_filled(os.environ)}
    settings = Settings.read({**_filled(dotenv_values(home_of(given) / SETTINGS)), **given})
    forget_variables(secret_variables())
    works(hide_process)
    return settings


def _filled(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def start(work: Coroutine[Any, Any, int]) -> None:
    """Run `work` and exit with the code it returns."""
    raise typer.Exit(asyncio.run(work))


def prepare() -> Settings:
    """Read the settings and open the log, as every command does first. Raises SettingsError, also when BAZA_HOME is not
    writable."""
    settings = read_settings()
    log = settings.log
    try:
        open_home(settings.home)
        configure_logging(settings.home / "log", level=log.level, style=log.format, destination=log.destination)
    except OSError as error:
        reason = f"{error.filename or settings.home}: {error.strerror}"
        raise SettingsError(f"BAZA_HOME: nothing can be kept there ({reason}); choose another folder") from error
    return settings


@app.command()
def run() -> None:
    """Everything in one process: database, worker and bot; without BOT_TOKEN, on a local chat."""
    from bot.serving import serve_until_signal

    start(serve_until_signal(prepare(), with_bot=True, with_worker=True))


@app.command()
def page() -> None:
    """The address that opens the local chat, as `run` prints it."""
    from bot.cli.upkeep import show_page

    show_page(prepare())


@app.command()
def bot() -> None:
    """The bot alone; documents are read by `baza worker` elsewhere."""
    from bot.serving import serve_until_signal

    start(serve_until_signal(prepare(), with_bot=True, with_worker=False))


@app.command()
def worker() -> None:
    """A worker alone, as many as wanted."""
    from bot.serving import serve_until_signal

    start(serve_until_signal(prepare(), with_bot=False, with_worker=True))


@app.command()
def api() -> None:
    """The HTTP API alone, on API_HOST and API_PORT; documents are read by `baza worker` elsewhere."""
    from bot.serving import serve_api_until_signal

    start(serve_api_until_signal(prepare()))


@app.command()
def migrate() -> None:
    """Bring the database to this version."""
    from bot.cli.upkeep import apply_migrations

    start(apply_migrations(prepare()))


@app.command()
def reindex(
    base: Annotated[str | None, typer.Option("--base", help="Name of a base; without it all of them.")] = None,
) -> None:
    """Move bases to the configured embedder; they are searched as before until the new vectors are there."""
    from bot.cli.models import reindex_bases

    start(reindex_bases(prepare(), name=base))


@app.command()
def health() -> None:
    """Whether a process with this BAZA_HOME is alive, for supervisors: exit code 1 when none was for a minute."""
    silent = silence_s(read_settings().home)
    if silent is None or silent > SILENT_S:
        typer.echo(f"No sign of life {'yet' if silent is None else f'for {silent:.0f} s'}.", err=True)
        raise typer.Exit(1)
    typer.echo("alive")


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """What works, what is missing, and what to do about it."""
    from bot.cli.upkeep import examine

    start(examine(prepare(), as_json=as_json))


@app.command()
def add(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE...", help="Files, folders, patterns and web addresses.")
    ],
    base: BaseOption = "default",
    section: Annotated[bool, typer.Option("--section", help="Read the pages below an address too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Add files and links to a base, and wait until they are ready. Exit code 1 if any failed."""
    from bot.cli.content import add_to_base

    start(add_to_base(prepare(), sources, base_name=base, as_json=as_json, with_sections=section))


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(help="Without it: a dialogue, a line a question.")] = None,
    base: BaseOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Ask a base."""
    from bot.cli.content import ask_base

    start(ask_base(prepare(), question, base_name=base, as_json=as_json))


@app.command()
def docs(base: BaseOption = "default", as_json: JsonOption = False) -> None:
    """What a base holds."""
    from bot.cli.content import list_base

    start(list_base(prepare(), base_name=base, as_json=as_json))


@app.command()
def show(document: str, base: BaseOption = "default", as_json: JsonOption = False) -> None:
    """A document as it was read: its title and blocks. DOCUMENT is an id, as `add` and `docs` print it."""
    from bot.cli.content import show_document

    start(show_document(prepare(), document, base_name=base, as_json=as_json))


@local_models.callback(invoke_without_command=True)
def list_models(context: typer.Context) -> None:
    """Models that could run on this machine: size, licence, languages, what each brings."""
    if context.invoked_subcommand is None:
        from bot.cli.models import show_models

        show_models(prepare())


@local_models.command("add")
def add_model(task: Annotated[Task, typer.Argument(help="search, rerank or speech")]) -> None:
    """Download a model, name it in the settings; for search move all bases to it. Stop and repeat it as you like."""
    from bot.cli.models import add_model

    start(add_model(prepare(), task))


@token.command("add")
def add_token(
    base: BaseOption = "default",
    read_only: Annotated[bool, typer.Option("--read-only", help="It may ask, and add and delete nothing.")] = False,
    days: Annotated[int | None, typer.Option("--days", min=1, help="It ends after so many days.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token for a base. It is shown once."""
    from bot.cli.upkeep import add_token

    start(add_token(prepare(), base_name=base, is_read_only=read_only, days=days, as_json=as_json))


@token.command("list")
def list_tokens(base: BaseOption = "default", as_json: JsonOption = False) -> None:
    """The tokens of a base, without the tokens themselves."""
    from bot.cli.upkeep import list_tokens

    start(list_tokens(prepare(), base_name=base, as_json=as_json))


@token.command("revoke")
def revoke_token(number: Annotated[int, typer.Argument(metavar="ID")], base: BaseOption = "default") -> None:
    """End a token, and erase what was said with it."""
    from bot.cli.upkeep import revoke_token

    start(revoke_token(prepare(), number, base_name=base))


@evaluation.command()
def retrieval(
    corpus: Annotated[Path, typer.Option(help="JSON lines: id, title (optional), text.")],
    queries: Annotated[Path, typer.Option(help="JSON lines: id, text.")],
    qrels: Annotated[Path, typer.Option(help="TSV with a header: query-id, corpus-id, score.")],
    as_json: JsonOption = False,
) -> None:
    """Build a throw-away base from CORPUS and measure search with QUERIES and QRELS."""
    from bot.cli.measuring import measure_retrieval

    start(measure_retrieval(prepare(), corpus=corpus, queries=queries, qrels=qrels, as_json=as_json))
