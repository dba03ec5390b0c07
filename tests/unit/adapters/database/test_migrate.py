"""The files of the schema: numbered migrations and functions."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.database import migrate
from adapters.database.migrate import collect, edited, read_folders, release

_FIRST = "create table first (a int);"
_ONE, _TWO = "select 1; -- one", "select 2; -- two"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A migration and two files of functions."""
    migrations, functions = tmp_path / "migrations", tmp_path / "functions"
    for path, text in (
        (migrations / "1_first.sql", _FIRST),
        (functions / "one.sql", _ONE),
        (functions / "two.sql", _TWO),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return migrations, functions


def _collected(folders: tuple[Path, Path], day: int) -> str | None:
    path = collect("functions", *folders, now=datetime(2026, 12, day, tzinfo=UTC))
    return None if path is None else path.read_text(encoding="utf-8")


def _change(folders: tuple[Path, Path], name: str, text: str) -> None:
    (folders[1] / f"{name}.sql").write_text(text, encoding="utf-8")


def test_all_functions_are_collected_once(folders: tuple[Path, Path]) -> None:
    text = _collected(folders, 1)
    assert text is not None
    assert _ONE in text
    assert _TWO in text
    release(folders[0])
    assert _collected(folders, 2) is None


def test_what_was_collected_and_not_released_is_collected_anew(folders: tuple[Path, Path]) -> None:
    _collected(folders, 1)
    _change(folders, "two", "select 22;")
    text = _collected(folders, 2)
    assert text is not None
    assert _ONE in text
    assert "select 22;" in text
    assert [one.version for one in read_folders(*folders).migrations] == ["1", "20261202000000"]


def test_after_a_release_only_what_has_changed_or_gone_is_collected(folders: tuple[Path, Path]) -> None:
    _collected(folders, 1)
    release(folders[0])
    _change(folders, "three", "select 3;")
    (folders[1] / "two.sql").unlink()
    text = _collected(folders, 2)
    assert text is not None
    assert "drop_function_files('{two,three}')" in text
    assert "select 3;" in text
    assert _ONE not in text
    assert read_folders(*folders).released_functions().keys() == {"one", "three"}


def test_a_released_migration_that_was_edited_or_lost_is_named(folders: tuple[Path, Path]) -> None:
    _collected(folders, 1)
    assert edited(folders[0]) == []
    release(folders[0])
    assert edited(folders[0]) == []
    (folders[0] / "1_first.sql").write_text(f"{_FIRST} -- better", encoding="utf-8")
    (folders[0] / "20261201000000_functions.sql").unlink()
    assert edited(folders[0]) == ["migrations/1_first.sql", "migrations/20261201000000_functions.sql"]


def test_no_released_migration_of_ours_was_edited() -> None:
    assert edited(migrate._CHECKOUT / "migrations") == []


@pytest.mark.parametrize(
    "recorded", ["create table a ();\ninsert into b values (1);", "create table a ()\n\n;insert into b values (1)"]
)
def test_the_digest_is_of_what_the_cli_records_too(recorded: str) -> None:
    text = "create table a ();\n\ninsert into b values (1);\n"
    mine, theirs = (migrate.Migration(version="1", name="a", text=each) for each in (text, recorded))
    assert mine.digest == theirs.digest
