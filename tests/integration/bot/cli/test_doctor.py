"""`baza doctor`, on a real database and without services."""

import json
from pathlib import Path

import pytest

from bot.cli.upkeep import examine
from bot.settings import Settings


def _states(printed: str) -> dict[str, str]:
    return {finding["service"]: finding["state"] for finding in json.loads(printed)}


async def test_what_is_there_works_and_what_is_not_set_up_is_missing(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings.read({"DATABASE_URL": database_url, "BAZA_HOME": str(tmp_path), "OCR": "off"})
    assert await examine(settings, as_json=True) == 0
    assert _states(capsys.readouterr().out) == {
        "data": "works",
        "sandbox": "works",
        "pictures": "missing",
        "speech": "missing",
        "telegram": "missing",
        "database": "works",
        "embedder": "missing",
        "reranker": "missing",
        "model": "missing",
    }


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({}, "access       missing  ALLOWED_USERS пуст: бот отвечает всем, и расходы на них ничем не ограничены"),
        (
            {"PERSON_DAILY_COST": "0.2"},
            "access       works    ALLOWED_USERS пуст: бот отвечает всем · PERSON_DAILY_COST=0.2",
        ),
        (
            {"ALLOWED_USERS": "1,2", "BASE_PASSAGES": "5000"},
            "access       works    ALLOWED_USERS: 2 · BASE_PASSAGES=5000",
        ),
    ],
    ids=["open", "open and bounded", "closed"],
)
async def test_whoever_opens_the_bot_is_told_what_bounds_its_costs(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], given: dict[str, str], line: str
) -> None:
    nowhere = {"BOT_TOKEN": "1:a", "TELEGRAM_API_URL": "http://127.0.0.1:1", "OCR": "off"}
    home = {"DATABASE_URL": database_url, "BAZA_HOME": str(tmp_path)}
    await examine(Settings.read({**nowhere, **home, **given}), as_json=False)
    assert any(said.startswith(line) for said in capsys.readouterr().out.splitlines())


async def test_a_local_model_that_is_not_there_is_a_line_of_the_table(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {"LOCAL_EMBEDDING_MODEL": str(tmp_path / "nowhere")}
    settings = Settings.read({"DATABASE_URL": database_url, "BAZA_HOME": str(tmp_path), "OCR": "off", **named})
    assert await examine(settings, as_json=False) == 1
    *before, last = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in before] == ["data", "sandbox", "pictures", "speech", "telegram"]
    assert last.startswith("local model  fails")
    assert "nowhere" in last


async def test_a_database_that_is_away_is_a_line_of_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    away = "postgresql://nobody@127.0.0.1:1/none"
    settings = Settings.read({"DATABASE_URL": away, "BAZA_HOME": str(tmp_path), "OCR": "off"})
    assert await examine(settings, as_json=True) == 1
    assert _states(capsys.readouterr().out)["database"] == "fails"
