"""A process that cannot go on ends itself, and says why."""

import threading
from collections.abc import Callable

import pytest

from bot import watchdog
from bot.watchdog import EXIT_STATUS, Watchdog, memory_bound, resident_bytes

PATIENCE_S = 60.0


class Ended:
    """Stands for the end of the process."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.happened = threading.Event()

    def __call__(self, status: int) -> None:
        self.statuses.append(status)
        self.happened.set()


@pytest.mark.parametrize(
    ("memory_bytes", "still_s", "do", "reason"),
    [
        (1.0, 120.0, lambda _: None, "memory: "),
        (float("inf"), 0.0, lambda _: None, "stood still"),
        (float("inf"), 120.0, lambda dog: dog.expect_end(0.0), "shutdown"),
    ],
)
def test_a_process_that_cannot_go_on_ends_and_says_why(
    memory_bytes: float,
    still_s: float,
    do: Callable[[Watchdog], None],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(watchdog, "LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(watchdog, "STILL_S", still_s)
    monkeypatch.setattr("faulthandler.dump_traceback", lambda **_: None)
    ended = Ended()
    dog = Watchdog(memory_bytes=memory_bytes, end=ended)
    dog.start()
    do(dog)
    assert ended.happened.wait(PATIENCE_S)
    assert ended.statuses == [EXIT_STATUS]
    assert reason in capfd.readouterr().err


def test_the_bound_is_what_is_set_or_a_share_of_what_there_is() -> None:
    assert memory_bound(100) == 100 * 2**20
    assert resident_bytes() < memory_bound(0)
