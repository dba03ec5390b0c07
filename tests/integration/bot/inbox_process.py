"""A bot that only handles updates: one of the two processes of `test_two_bots`.

In: on standard input an update's JSON a line, as a webhook brings them. Out: on standard output the number of each
update as it is acknowledged; in the log a line `begin` and a line `end` for each that it handles, with its own number.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from adapters.database.postgres import open_postgres
from adapters.database.stores.intake import InboxStore
from bot.serving import built_when_used

with built_when_used():  # as a bot has it: the models take seconds
    from aiogram import Bot, Dispatcher, Router
    from aiogram.types import Message

    import bot.inbox

bot.inbox.LEASE_S, bot.inbox.LOOK_EVERY_S = 6.0, 0.3  # a busy machine may hold a process up for some seconds


def handlers(log: Path) -> Router:
    """The text of a message is how many seconds it takes."""
    router = Router()

    def write(word: str, message: Message) -> None:
        with log.open("a") as file:  # one short write: lines of two processes do not mix
            file.write(f"{word} {message.message_id} {message.chat.id} {os.getpid()}\n")

    @router.message()
    async def handle(message: Message) -> None:
        write("begin", message)
        await asyncio.sleep(float(message.text or 0))
        write("end", message)

    return router


async def main(url: str, log: Path) -> None:
    """Until standard input ends."""
    dispatcher = Dispatcher()
    dispatcher.include_router(handlers(log))
    client = Bot("42:token")
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with open_postgres(url, pool_size=4, timeout_s=30) as transport:
        inbox = bot.inbox.Inbox(client, dispatcher, InboxStore(transport))
        async with inbox.open(drain_s=60):
            while line := await lines.readline():
                update = json.loads(line)
                await inbox.accept(update)
                sys.stdout.write(f"{update['update_id']}\n")
                sys.stdout.flush()
    await client.session.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
