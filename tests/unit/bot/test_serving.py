"""What is said at the start of who may use the bot, and of what that may cost. A process that cannot go on ends itself,
and says why.
"""

import threading
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from bot import serving
from bot.serving import EXIT_STATUS, Watchdog, _announce, memory_bound, resident_bytes
from bot.settings import Settings
from tests.fakes.bot import texts

TOKEN = {"BOT_TOKEN": "1:a"}
WARNED = "бот отвечает всем"


@pytest.mark.parametrize(
    ("given", "is_said"),
    [(TOKEN, True), ({**TOKEN, "ALLOWED_USERS": "1"}, False), ({**TOKEN, "BASE_PASSAGES": "5000"}, False), ({}, False)],
    ids=["open", "closed", "open and bounded", "local chat"],
)
def test_a_bot_that_is_open_and_unbounded_is_named_with_its_settings(
    given: dict[str, str], is_said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    _announce(Settings.read(given), texts().for_language("ru"), "Telegram")
    printed = capsys.readouterr().out
    assert (WARNED in printed) is is_said
    assert ("PERSON_DAILY_QUESTIONS" in printed) is is_said


@pytest.mark.parametrize(
    ("given", "bounds"),
    [(TOKEN, "none of PERSON_DAILY_COST"), ({**TOKEN, "PERSON_DAILY_QUESTIONS": "20"}, "PERSON_DAILY_QUESTIONS=20")],
)
def test_the_log_says_what_bounds_an_open_bot(given: dict[str, str], bounds: str) -> None:
    with capture_logs() as logs:
        _announce(Settings.read(given), texts().for_language("ru"), "Telegram")
    (warning,) = [each for each in logs if each["event"] == "access.open"]
    assert bounds in str(warning["bounds"])


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
    monkeypatch.setattr(serving, "WATCH_EVERY_S", 0.01)
    monkeypatch.setattr(serving, "STILL_S", still_s)
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
