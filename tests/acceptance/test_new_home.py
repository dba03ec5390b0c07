"""A new data folder over a database that is older: the local chat begins anew, the base does not."""

from pathlib import Path

from tests.acceptance.running import running_baza
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.person import Person


async def test_what_is_said_in_a_new_chat_is_not_taken_for_what_was_said_in_the_old_one(
    database_url: str, tmp_path: Path
) -> None:
    for home, note in (("first", "Код от домофона 4512"), ("second", "Сверло лежит в синем ящике")):
        async with running_baza(tmp_path / home, database_url, {}) as page, Person(page) as you:
            await enter(you, "base")
            await you.say(note)
            await you.wait_for(f"✅ {note}", READ_S)
            shelf = await you.wait_for("Документы", after=await you.say("/docs"))
    assert "Документы: 2" in shelf.text
