"""What a turn takes: waiting that overlaps counts once."""

import asyncio
import time

import pytest

from rag.metering import Waiting, asking, begin_metering, note_usage, searching


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 10.0

    def __call__(self) -> float:
        return self.now


def test_calls_side_by_side_are_waited_for_once() -> None:
    clock = Clock()
    waiting = Waiting(clock=clock)
    with waiting.under_way():
        clock.now += 2
        with waiting.under_way():
            clock.now += 3
    clock.now += 100
    with waiting.under_way():
        clock.now += 1
    assert waiting.seconds == 6


def test_a_call_that_fails_was_waited_for_too() -> None:
    clock = Clock()
    waiting = Waiting(clock=clock)

    def fail() -> None:
        with waiting.under_way():
            clock.now += 4
            raise ValueError("away")

    with pytest.raises(ValueError, match="away"):
        fail()
    assert waiting.seconds == 4


def test_what_is_still_under_way_does_not_count_yet() -> None:
    clock = Clock()
    waiting = Waiting(clock=clock)
    with waiting.under_way():
        clock.now += 4
        assert waiting.seconds == 0


async def test_a_turns_meter_hears_the_tasks_that_it_began() -> None:
    usage = begin_metering()

    async def ask() -> None:
        with asking(), searching():
            await asyncio.sleep(0.01)
        note_usage(prompt_tokens=5, answer_tokens=1)

    began = time.monotonic()
    await asyncio.gather(asyncio.create_task(ask()), asyncio.create_task(ask()))
    assert (usage.calls, usage.tokens) == (2, 12)
    assert 0.005 < usage.models.seconds <= time.monotonic() - began
    assert usage.searching.seconds > 0.005


async def test_turns_do_not_hear_each_other() -> None:
    async def turn(tokens: int) -> int:
        usage = begin_metering()
        await asyncio.sleep(0)
        note_usage(prompt_tokens=tokens, answer_tokens=0)
        await asyncio.sleep(0)
        return usage.tokens

    tasks = [asyncio.create_task(turn(tokens)) for tokens in (1, 20, 300)]
    assert await asyncio.gather(*tasks) == [1, 20, 300]
