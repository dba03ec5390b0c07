"""What is said at the start of who may use the bot, and of what that may cost."""

import pytest
from structlog.testing import capture_logs

from bot.serving import _announce
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
