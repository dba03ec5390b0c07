"""Two processes serve one bot while one after the other is killed with kill -9: each update is handled, none twice, and
those of a chat in their order.

Telegram is played by the test: it sends an update again until some process has acknowledged it.
"""

import asyncio
import json
import random
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from adapters.database.postgres import PostgresTransport

SEED = 20261123
CHATS, UPDATES, KILLS = 4, 36, 3
SLOW_S = 7.0  # longer than a lease: it has to be renewed
PATIENCE_S = 120.0
UNFINISHED = "select count(*) from inbox where handled_at is null"


@dataclass(kw_only=True)
class Bots:
    """Two processes; a killed one is started anew."""

    url: str
    log: Path
    running: list[asyncio.subprocess.Process] = field(default_factory=list)
    killed: set[int] = field(default_factory=set)

    async def start(self) -> asyncio.subprocess.Process:
        command = (sys.executable, "-m", "tests.integration.bot.inbox_process", self.url, str(self.log))
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)

    async def kill(self, place: int) -> None:
        process = self.running[place]
        self.killed.add(process.pid)
        process.kill()
        await process.wait()
        self.running[place] = await self.start()

    async def send(self, update: object, place: int) -> None:
        """Until it is acknowledged."""
        while True:
            process = self.running[place]
            assert process.stdin
            assert process.stdout
            try:
                process.stdin.write(json.dumps(update).encode() + b"\n")
                await process.stdin.drain()
                if await process.stdout.readline():
                    return
            except ConnectionError:
                pass
            await asyncio.sleep(0.05)  # it was killed; the other one may be up
            place = 1 - place


@asynccontextmanager
async def two_bots(url: str, log: Path) -> AsyncIterator[Bots]:
    bots = Bots(url=url, log=log)
    try:
        bots.running = [await bots.start(), await bots.start()]
        yield bots
    finally:
        for process in bots.running:
            if process.returncode is None:
                process.kill()
            await process.wait()


def update(number: int, chat: int, seconds: float) -> dict[str, object]:
    person = {"id": chat, "is_bot": False, "first_name": "А"}
    where = {"chat": {"id": chat, "type": "private"}, "from": person}
    return {"update_id": number, "message": {"message_id": number, "date": 1, "text": str(seconds), **where}}


async def send_all(bots: Bots, chance: random.Random) -> None:
    for number in range(1, UPDATES + 1):
        seconds = SLOW_S if number in (1, 18) else chance.uniform(0, 0.3)
        await bots.send(update(number, number % CHATS + 1, seconds), chance.randrange(2))
        await asyncio.sleep(chance.uniform(0, 0.2))


async def kill_again_and_again(bots: Bots, chance: random.Random) -> None:
    for number in range(KILLS):
        await asyncio.sleep(chance.uniform(1.5, 4))
        await bots.kill(number % 2)


async def until_all_is_handled(url: str) -> None:
    async with asyncio.timeout(PATIENCE_S), await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while await (await connection.execute(UNFINISHED)).fetchone() != (0,):
            await asyncio.sleep(0.2)


def wrong_in(lines: Sequence[str], killed: set[int]) -> list[str]:
    """What was begun twice though nobody was killed, ended twice, not at all, or out of order."""
    begun: dict[int, list[int]] = defaultdict(list)
    ended: dict[int, list[int]] = defaultdict(list)
    running: dict[int, int] = {}  # chat -> the update that a living process is handling
    wrong = []
    for word, *rest in map(str.split, lines):
        number, chat, pid = map(int, rest)
        before = running.get(chat)
        if word == "end":
            ended[number].append(pid)
            running.pop(chat, None)
            continue
        if any(earlier not in killed for earlier in begun[number]):
            wrong.append(f"{number} was begun again")
        if before is not None and before != number:
            wrong.append(f"{number} began before {before} had ended")
        if any(later > number and later % CHATS + 1 == chat for later in begun):
            wrong.append(f"{number} began after a later one of its chat")
        begun[number].append(pid)
        running[chat] = number
    twice = [number for number, pids in ended.items() if any(pid not in killed for pid in pids[:-1])]
    missing = set(range(1, UPDATES + 1)) - ended.keys()
    return [*wrong, *(f"{number} ended twice" for number in twice), *(f"{number} was lost" for number in missing)]


async def test_no_update_is_lost_or_handled_twice(
    database_url: str, postgres_transport: PostgresTransport, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    async with two_bots(database_url, log) as bots:
        async with asyncio.TaskGroup() as storm:
            storm.create_task(send_all(bots, random.Random(SEED)))
            storm.create_task(kill_again_and_again(bots, random.Random(SEED + 1)))
        await until_all_is_handled(database_url)
    assert len(bots.killed) == KILLS
    assert wrong_in(log.read_text().splitlines(), bots.killed) == []
