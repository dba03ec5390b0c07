"""The files of the schema: numbered migrations and functions."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.database import migrate
from adapters.database.migrate import read_folders
from tests.collecting import collect, released_functions

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


def _release(folders: tuple[Path, Path]) -> None:
    """As `make released` does."""
    listed = "".join(f"{'0' * 64}  migrations/{path.name}\n" for path in folders[0].glob("*.sql"))
    (folders[0].parent / "released.sha256").write_text(listed, encoding="utf-8")


def _change(folders: tuple[Path, Path], name: str, text: str) -> None:
    (folders[1] / f"{name}.sql").write_text(text, encoding="utf-8")


def test_all_functions_are_collected_once(folders: tuple[Path, Path]) -> None:
    text = _collected(folders, 1)
    assert text is not None
    assert _ONE in text
    assert _TWO in text
    _release(folders)
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
    _release(folders)
    _change(folders, "three", "select 3;")
    (folders[1] / "two.sql").unlink()
    text = _collected(folders, 2)
    assert text is not None
    assert "drop_function_files('{two,three}')" in text
    assert "select 3;" in text
    assert _ONE not in text
    assert released_functions(read_folders(*folders)).keys() == {"one", "three"}


def test_no_released_migration_of_ours_was_edited_or_lost() -> None:
    listed = (migrate.CHECKOUT / "released.sha256").read_text(encoding="utf-8").splitlines()
    assert listed
    for digest, name in (line.split("  ", 1) for line in listed):
        assert hashlib.sha256((migrate.CHECKOUT / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.parametrize(
    "recorded", ["create table a ();\ninsert into b values (1);", "create table a ()\n\n;insert into b values (1)"]
)
def test_the_digest_is_of_what_the_cli_records_too(recorded: str) -> None:
    text = "create table a ();\n\ninsert into b values (1);\n"
    mine, theirs = (migrate.Migration(version="1", name="a", text=each) for each in (text, recorded))
    assert mine.digest == theirs.digest
