"""The inbox: order within a chat, exactly once, replay after a crash, drain at shutdown."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiogram import Bot, Dispatcher, F, Router
from aiogram.types import Message
from structlog.typing import EventDict

from bot.inbox import ATTEMPTS, Inbox, chat_of
from tests.fakes.inbox import MemoryInboxKeeper
from tests.waiting import until

BOT = "42:token"


def update(number: int, text: str, chat: int = 7) -> dict[str, Any]:
    """A private message as the Bot API sends it."""
    person = {"id": chat, "is_bot": False, "first_name": "А"}
    message = {"message_id": number, "date": 1, "chat": {"id": chat, "type": "private"}, "from": person, "text": text}
    return {"update_id": number, "message": message}


class Log:
    """A dispatcher whose handlers write down what happens; «slow» waits until `go` is set."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.go = asyncio.Event()
        router = Router()
        router.message(F.text == "slow")(self.slow)
        router.message(F.text == "released")(self.released)
        router.message()(self.quick)
        self.dispatcher = Dispatcher()
        self.dispatcher.include_router(router)

    async def slow(self, message: Message) -> None:
        await self.go.wait()
        self.events.append("slow")

    async def released(self, message: Message, done: asyncio.Event) -> None:
        done.set()
        await self.go.wait()
        self.events.append("released")

    async def quick(self, message: Message) -> None:
        self.events.append(message.text or "")


@asynccontextmanager
async def inbox_of(log: Log, keeper: MemoryInboxKeeper) -> AsyncIterator[Inbox]:
    bot = Bot(BOT)
    try:
        yield Inbox(bot, log.dispatcher, keeper)
    finally:
        await bot.session.close()


async def test_updates_of_one_chat_are_handled_in_order() -> None:
    log, keeper = Log(), MemoryInboxKeeper()
    async with inbox_of(log, keeper) as inbox:
        for number, text in enumerate(["slow", "a", "b"]):
            await inbox.accept(update(number, text))
        await asyncio.sleep(0.05)
        assert log.events == []

        log.go.set()
        await inbox.drain(60)

    assert log.events == ["slow", "a", "b"]
    assert keeper.waiting == {}


async def test_another_chat_does_not_wait() -> None:
    log = Log()
    async with inbox_of(log, MemoryInboxKeeper()) as inbox:
        await inbox.accept(update(1, "slow", chat=7))
        await inbox.accept(update(2, "b", chat=8))
        await until(lambda: log.events == ["b"])
        log.go.set()
        await inbox.drain(60)


async def test_a_handler_may_let_the_next_one_pass() -> None:
    log = Log()
    async with inbox_of(log, MemoryInboxKeeper()) as inbox:
        await inbox.accept(update(1, "released"))
        await inbox.accept(update(2, "b"))
        await until(lambda: log.events == ["b"])
        log.go.set()
        await inbox.drain(60)

    assert log.events == ["b", "released"]


async def test_a_redelivered_update_is_handled_once() -> None:
    log = Log()
    async with inbox_of(log, MemoryInboxKeeper()) as inbox:
        await inbox.accept(update(1, "a"))
        await inbox.accept(update(1, "a"))
        await inbox.drain(60)

    assert log.events == ["a"]


async def test_what_a_dead_process_left_is_handled_at_the_next_start() -> None:
    log, keeper = Log(), MemoryInboxKeeper()
    keeper.leave(1, update(1, "left"))
    async with inbox_of(log, keeper) as inbox, inbox.open(drain_s=60):
        pass

    assert log.events == ["left"]
    assert keeper.waiting == {}


async def restart(log: Log, keeper: MemoryInboxKeeper) -> None:
    """A process that replays what is there, and dies while it handles the first of it."""
    begun = keeper.begun.total()
    async with inbox_of(log, keeper) as inbox, inbox.open(drain_s=0.02):
        await until(lambda: keeper.begun.total() > begun)


async def test_an_update_that_ends_every_process_is_given_up_and_those_behind_it_are_handled() -> None:
    log, keeper = Log(), MemoryInboxKeeper()
    keeper.leave(1, update(1, "slow"))
    keeper.leave(2, update(2, "behind"))

    for _ in range(ATTEMPTS - 1):
        await restart(log, keeper)
        assert list(keeper.waiting) == [1, 2]
    async with inbox_of(log, keeper) as inbox, inbox.open(drain_s=60):
        pass

    assert log.events == ["behind"]
    assert keeper.waiting == {}


async def test_what_another_process_has_taken_over_is_handled_no_further(logged: list[EventDict]) -> None:
    log, keeper = Log(), MemoryInboxKeeper()
    async with inbox_of(log, keeper) as inbox:
        await inbox.accept(update(1, "slow"))
        await asyncio.sleep(0)
        keeper.held.clear()
        del keeper.waiting[1]
        await inbox.look()
        log.go.set()
        await inbox.drain(60)
    assert log.events == []
    assert [event["event"] for event in logged] == ["inbox.taken_over"]


async def test_a_handler_cut_off_at_shutdown_stays_for_the_next_start() -> None:
    log, keeper = Log(), MemoryInboxKeeper()
    async with inbox_of(log, keeper) as inbox:
        await inbox.accept(update(1, "slow"))
        await inbox.drain(0.05)

    assert list(keeper.waiting) == [1]


@pytest.mark.parametrize(
    ("content", "chat"),
    [
        ({"update_id": 1, "message": {"chat": {"id": 5}, "from": {"id": 9}}}, 5),  # the group, not the person
        ({"update_id": 1, "callback_query": {"from": {"id": 9}, "message": {"chat": {"id": 5}}}}, 5),
        ({"update_id": 1, "inline_query": {"from": {"id": 9}}}, 9),
        ({"update_id": 1, "poll": {"id": "x"}}, 0),
    ],
)
def test_an_update_belongs_to_its_chat(content: dict[str, Any], chat: int) -> None:
    assert chat_of(content) == chat


async def test_an_update_of_an_unknown_shape_is_finished_and_not_quoted_in_the_log(
    logged: list[EventDict],
) -> None:
    log, keeper = Log(), MemoryInboxKeeper()
    async with inbox_of(log, keeper) as inbox:
        await inbox.accept({"update_id": 1, "message": {"text": "секрет", "chat": 7}})
        await inbox.drain(60)
        assert keeper.waiting == {}
    assert [event["event"] for event in logged] == ["inbox.not_understood"]
    assert "секрет" not in str(logged)
