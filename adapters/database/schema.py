"""The schema as this code has it: numbered migrations that nobody edits once they are released, and function files.

In: `supabase/migrations` and `supabase/schemas/functions`. Out: their texts with digests, by which a database's are
compared; and, for the Supabase CLI, which knows migrations alone, the next migration with the functions that have
changed since the last release (`make migration NAME=…`; `make released` ends it). Nothing here speaks to a database.
"""

import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_HERE = Path(__file__).parent
_CHECKOUT = _HERE.parents[1] / "supabase"

_COLLECTED = "-- Functions as they were when this was collected by `make migration`: see supabase/schemas/functions.\n"

_SETTINGS = """
set search_path = public, baza_internal, extensions;
set check_function_bodies = off; -- functions call others that come later
"""
_RECORD = re.compile(r"^select baza_internal\.record_function_file\('(\w+)', '(\w+)'\);$", re.MULTILINE)
_DROP = re.compile(r"^select baza_internal\.drop_function_files\('\{(.*)\}'\);$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Migration:
    """One SQL file, `<version>_<name>.sql`."""

    version: str
    name: str
    text: str

    @property
    def digest(self) -> str:
        """Of what is applied. The Supabase CLI records statement by statement, without what stands between them."""
        return hashlib.md5(re.sub(r"[ \t\r\n;]", "", self.text).encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, kw_only=True)
class FunctionFile:
    """The functions, views and triggers of one subject."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """Of the text as it stands."""
        return hashlib.md5(self.text.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Schema:
    """All of it, in the order in which it is applied."""

    migrations: tuple[Migration, ...]
    functions: tuple[FunctionFile, ...]

    def changed(self, digests: Mapping[str, str | None]) -> tuple["Change", ...]:
        """What has to be done to the function files that a database, or a release, has with these digests."""
        mine = {file.name: file for file in self.functions}
        gone = tuple(Change(name=name, file=None) for name in sorted(digests.keys() - mine.keys()))
        return gone + tuple(
            Change(name=name, file=file) for name, file in mine.items() if digests.get(name) != file.digest
        )

    def released_functions(self) -> dict[str, str]:
        """The digests of the function files that the migrations hold."""
        held: dict[str, str] = {}
        for migration in self.migrations:
            for dropped in _DROP.findall(migration.text):
                held = {name: digest for name, digest in held.items() if name not in dropped.split(",")}
            held |= dict(_RECORD.findall(migration.text))
        return held


@dataclass(frozen=True, kw_only=True)
class Change:
    """A function file to be applied anew; None: one that is no longer there."""

    name: str
    file: FunctionFile | None


def read_schema() -> Schema:
    """From inside the package when it was installed as a wheel, else from the checkout."""
    packaged = _HERE / "migrations"
    if packaged.is_dir():
        return read_folders(packaged, _HERE / "functions")
    return read_folders(_CHECKOUT / "migrations", _CHECKOUT / "schemas" / "functions")


def read_folders(migrations: Path, functions: Path) -> Schema:
    """The schema of these two folders; without a migration it is empty."""
    return Schema(
        migrations=tuple(
            Migration(version=version, name=name, text=path.read_text(encoding="utf-8"))
            for path in sorted(migrations.glob("*_*.sql"))
            for version, name in [path.stem.split("_", 1)]
        ),
        functions=tuple(
            FunctionFile(name=path.stem, text=path.read_text(encoding="utf-8"))
            for path in sorted(functions.glob("*.sql"))
        ),
    )


def statements(changes: Sequence[Change]) -> str:
    """What applies these changes, in one transaction: drop what the files have made, make it anew, remember it."""
    names = ",".join(change.name for change in changes)
    parts = [f"select baza_internal.drop_function_files('{{{names}}}');\n"]
    parts += [
        f"{file.text}\nselect baza_internal.record_function_file('{file.name}', '{file.digest}');\n"
        for file in (change.file for change in changes)
        if file is not None
    ]
    return _SETTINGS + "\n".join(parts)


def edited(folder: Path) -> list[str]:
    """The released migrations whose files are no longer what was released (`released.sha256` beside their folder)."""
    return [name for name, digest in _released(folder).items() if _sha256(folder.parent / name) != digest]


def collect(name: str, migrations: Path, functions: Path, *, now: datetime) -> Path | None:
    """Write the functions that have changed since the last release as the next migration, in place of an unreleased
    one. None when the migrations hold all of them as they are."""
    for path in migrations.glob("*_*.sql"):
        if f"{migrations.name}/{path.name}" not in _released(migrations) and _is_collected(path):
            path.unlink()
    schema = read_folders(migrations, functions)
    changes = schema.changed(schema.released_functions())
    if not changes:
        return None
    path = migrations / f"{now:%Y%m%d%H%M%S}_{name}.sql"
    path.write_text(_COLLECTED + statements(changes) + "reset check_function_bodies;\n", encoding="utf-8")
    return path


def release(migrations: Path) -> None:
    """Note all migrations as released: from now on nobody edits them."""
    lines = [f"{_sha256(path)}  {migrations.name}/{path.name}\n" for path in sorted(migrations.glob("*_*.sql"))]
    _list_of(migrations).write_text("".join(lines), encoding="utf-8")


def _list_of(migrations: Path) -> Path:
    """As `sha256sum` writes it."""
    return migrations.parent / "released.sha256"


def _released(migrations: Path) -> dict[str, str]:
    listed = _list_of(migrations)
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else []
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def _sha256(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def _is_collected(path: Path) -> bool:
    return path.read_text(encoding="utf-8").startswith(_COLLECTED)


def _main(name: str) -> None:
    migrations = _CHECKOUT / "migrations"
    if name == "--release":
        release(migrations)
        return
    made = collect(name, migrations, _CHECKOUT / "schemas" / "functions", now=datetime.now(UTC))
    sys.stdout.write(f"{made or 'The migrations hold all functions as they are.'}\n")


if __name__ == "__main__":
    _main(sys.argv[1])
