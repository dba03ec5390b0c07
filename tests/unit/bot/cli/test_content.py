"""The commands that fill and read a base."""

from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot import cli
from bot.cli import app
from bot.cli.content import ask_base
from bot.cli.output import CommandError
from bot.home import SETTINGS
from bot.settings import Settings


@pytest.mark.parametrize("question", ["", "  \n", "\u200b \ufeff"])
async def test_an_empty_question_is_refused_before_anything_is_opened(question: str) -> None:
    with pytest.raises(CommandError, match="The question is empty"):
        await ask_base(Settings.read({}), question, base_name="default", as_json=True)


def test_the_version_is_told() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"baza {version('baza')}\n"


def test_the_environment_overrides_env_which_overrides_what_models_has_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "hide_process", lambda: None)  # of the test run itself
    monkeypatch.chdir(tmp_path)
    (tmp_path / SETTINGS).write_text("WHISPER_MODEL=a\nLOCAL_EMBEDDING_MODEL=a\nLOCAL_RERANKER_MODEL=a\n")
    (tmp_path / ".env").write_text(
        f"BAZA_HOME={tmp_path}\nLOCAL_EMBEDDING_MODEL=b\nLOCAL_RERANKER_MODEL=b\nWHISPER_MODEL=\n"
    )
    monkeypatch.setenv("LOCAL_RERANKER_MODEL", "c")
    read = cli.read_settings()
    assert (read.speech.model, read.local.embedding_model, read.local.reranker_model) == ("a", "b", "c")
