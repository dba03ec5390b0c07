"""The whole way over Supabase's REST interface (@supabase/lite): no other way to the database is configured."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.database.migrate import MigrationError
from adapters.database.transport import DatabaseError
from tests.acceptance.conftest import Start
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.person import Person
from tests.servers.supabase_lite import SupabaseLite

Variables = dict[str, str]


@contextmanager
def supabase_settings(lite: SupabaseLite, database: str) -> Iterator[Variables]:
    """Settings that lead to the database through the REST interface alone."""
    yield {"DATABASE_URL": "", "SUPABASE_URL": lite.url(database), "SUPABASE_SERVICE_KEY": lite.secret}
    lite.forget(database)


@pytest.fixture
def on_supabase(lite_server: SupabaseLite, database: str) -> Iterator[Variables]:
    """A project with all migrations."""
    with supabase_settings(lite_server, database) as variables:
        yield variables


@pytest.fixture
def on_new_supabase(lite_server: SupabaseLite, empty_database: str) -> Iterator[Variables]:
    """A project that nobody has migrated."""
    with supabase_settings(lite_server, empty_database) as variables:
        yield variables


async def test_a_note_a_question_and_a_clean_up(start: Start, on_supabase: Variables, tmp_path: Path) -> None:
    async with start(**on_supabase) as page, Person(page) as you:
        await enter(you, "base")
        await you.say("Код от домофона 4512, подъезд третий")
        await you.wait_for("✅ Код от домофона", READ_S)

        await enter(you, "chat")
        await you.say("Какой код от домофона?")
        answer = await you.wait_for("Информация взята из", READ_S)
        assert "4512" in answer.text

        await you.say("/clean")
        await you.press("Базу", await you.wait_for("Что очистить"))
        await you.press("Удалить всё", await you.wait_for("Будет удалён 1 документ"))
        await you.wait_for(r"База пуста: удалён 1 документ")

    assert not (tmp_path / "home" / "postgres").exists()
    assert not (tmp_path / "home" / "postgres.id").exists()


async def test_a_project_without_the_migrations_is_refused_at_the_start(
    start: Start, on_new_supabase: Variables
) -> None:
    with pytest.raises(MigrationError, match="supabase db push"):
        async with start(**on_new_supabase):
            pass


async def test_the_publishable_key_is_refused_at_the_start(
    start: Start, on_supabase: Variables, lite_server: SupabaseLite
) -> None:
    with pytest.raises(DatabaseError):
        async with start(**{**on_supabase, "SUPABASE_SERVICE_KEY": lite_server.publishable}):
            pass
