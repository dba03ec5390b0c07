"""Where a computation runs."""

import threading

from ingestion.computing import SHORT_CHARS, compute


async def test_what_is_short_stays_in_the_event_loop() -> None:
    assert await compute(threading.current_thread, characters=SHORT_CHARS) is threading.current_thread()


async def test_what_is_long_does_not_hold_the_event_loop_up() -> None:
    assert await compute(threading.current_thread, characters=SHORT_CHARS + 1) is not threading.current_thread()
