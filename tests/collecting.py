"""Writes the functions that have changed since the last release as the next migration, for the Supabase CLI.

Run: `make migration NAME=…`. In: the folders of migrations and of functions, and `released.sha256` beside them, the
migrations that nobody edits any more (`make released`). Out: one more migration, or none.
"""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from adapters.database.migrate import CHECKOUT, Schema, read_folders, statements

_COLLECTED = "-- Functions as they were when this was collected by `make migration`: see supabase/schemas/functions.\n"
_RECORD = re.compile(r"^select baza_internal\.record_function_file\('(\w+)', '(\w+)'\);$", re.MULTILINE)
_DROP = re.compile(r"^select baza_internal\.drop_function_files\('\{(.*)\}'\);$", re.MULTILINE)


def released_functions(schema: Schema) -> dict[str, str]:
    """The digests of the function files that the migrations hold."""
    held: dict[str, str] = {}
    for migration in schema.migrations:
        for dropped in _DROP.findall(migration.text):
            held = {name: digest for name, digest in held.items() if name not in dropped.split(",")}
        held |= dict(_RECORD.findall(migration.text))
    return held


def collect(name: str, migrations: Path, functions: Path, *, now: datetime) -> Path | None:
    """Write the next migration, in place of an unreleased one. None when the migrations hold all functions as they
    are."""
    listed = migrations.parent / "released.sha256"
    released = listed.read_text(encoding="utf-8") if listed.exists() else ""
    for path in migrations.glob("*_*.sql"):
        if path.name not in released and path.read_text(encoding="utf-8").startswith(_COLLECTED):
            path.unlink()
    schema = read_folders(migrations, functions)
    changes = schema.changed(released_functions(schema))
    if not changes:
        return None
    path = migrations / f"{now:%Y%m%d%H%M%S}_{name}.sql"
    path.write_text(_COLLECTED + statements(changes) + "reset check_function_bodies;\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    made = collect(sys.argv[1], CHECKOUT / "migrations", CHECKOUT / "schemas" / "functions", now=datetime.now(UTC))
    sys.stdout.write(f"{made or 'The migrations hold all functions as they are.'}\n")
