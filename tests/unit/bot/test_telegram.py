"""Our small pieces around aiogram: repeated requests, downloads, the command menu."""

import shutil
from pathlib import Path

import pytest
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import TelegramNetworkError, TelegramRetryAfter

from bot.measures import Measures
from bot.telegram import COMMANDS, BotFiles, RetryRequests, announce_commands
from ingestion.errors import FailureCode, ServiceError, SourceError
from tests.fakes.bot import texts
from tests.fakes.telegram import RecordedBot


@pytest.fixture
def patient() -> RecordedBot:
    recorded = RecordedBot()
    recorded.session.middleware(RetryRequests(Measures(), first_pause_s=0))
    return recorded


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that would have been waited."""
    waited: list[float] = []

    async def note(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("bot.telegram.asyncio.sleep", note)
    return waited


async def send(recorded: RecordedBot) -> None:
    await recorded.bot.send_message(7, "x", parse_mode="HTML")


async def test_429_is_waited_out(patient: RecordedBot, no_waiting: list[float]) -> None:
    patient.session.fail("sendMessage", 429, retry_after=3)
    await send(patient)
    assert 3 in no_waiting
    assert len(patient.session.messages) == 1


async def test_a_long_429_is_handed_up(patient: RecordedBot) -> None:
    patient.session.fail("sendMessage", 429, retry_after=600)
    with pytest.raises(TelegramRetryAfter):
        await send(patient)


async def test_a_message_that_was_perhaps_sent_is_not_sent_again(patient: RecordedBot) -> None:
    patient.session.break_connection("sendMessage")
    with pytest.raises(TelegramNetworkError):
        await send(patient)
    assert len(patient.session.named("sendMessage")) == 1


async def test_what_does_no_harm_twice_is_repeated(patient: RecordedBot) -> None:
    patient.session.break_connection("getMe", times=2)
    assert (await patient.bot.get_me()).username == "baza_bot"


async def test_there_is_an_end_to_repeating(patient: RecordedBot) -> None:
    patient.session.break_connection("getMe", times=4)
    with pytest.raises(TelegramNetworkError):
        await patient.bot.get_me()


async def test_a_draft_is_never_repeated(patient: RecordedBot) -> None:
    patient.session.fail("sendMessageDraft", 429, retry_after=1)
    with pytest.raises(TelegramRetryAfter):
        await patient.bot.send_message_draft(7, draft_id=1, text="x", parse_mode="HTML")


def file_json(size: int) -> dict[str, object]:
    return {"file_id": "f", "file_unique_id": "f", "file_size": size, "file_path": "documents/f.pdf"}


async def test_a_file_is_downloaded(tmp_path: Path) -> None:
    recorded = RecordedBot()
    recorded.session.files["f"], recorded.session.contents["f.pdf"] = file_json(4), b"%PDF"
    await BotFiles(recorded.bot).download("f", tmp_path / "f", limit_bytes=10)
    assert (tmp_path / "f").read_bytes() == b"%PDF"


@pytest.mark.parametrize(("announced", "content"), [(11, b""), (4, b"x" * 11)], ids=["announced", "delivered"])
async def test_a_file_over_the_limit_is_refused(tmp_path: Path, announced: int, content: bytes) -> None:
    recorded = RecordedBot()
    recorded.session.files["f"], recorded.session.contents["f.pdf"] = file_json(announced), content
    with pytest.raises(SourceError) as caught:
        await BotFiles(recorded.bot).download("f", tmp_path / "f", limit_bytes=10)
    assert caught.value.code is FailureCode.FILE_TOO_LARGE


async def test_a_file_that_telegram_does_not_hand_out_is_too_large(tmp_path: Path) -> None:
    recorded = RecordedBot()
    recorded.session.fail("getFile", description="Bad Request: file is too big")
    with pytest.raises(SourceError) as caught:
        await BotFiles(recorded.bot).download("f", tmp_path / "f", limit_bytes=20 * 2**20)
    assert (caught.value.code, caught.value.params) == (FailureCode.FILE_TOO_LARGE, {"limit_mb": 20})


async def test_an_unknown_file_is_gone(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        await BotFiles(RecordedBot().bot).download("f", tmp_path / "f", limit_bytes=10)
    assert caught.value.code is FailureCode.FILE_GONE


async def test_a_lost_connection_is_a_service_that_is_away(tmp_path: Path) -> None:
    recorded = RecordedBot()
    recorded.session.break_connection("getFile")
    with pytest.raises(ServiceError) as caught:
        await BotFiles(recorded.bot).download("f", tmp_path / "f", limit_bytes=10)
    assert caught.value.params == {"service": "Telegram"}


def own_server(path: Path) -> RecordedBot:
    """A Bot API server of one's own that has the file at this place."""
    recorded = RecordedBot()
    recorded.session.api = TelegramAPIServer.from_base("http://127.0.0.1:8081")
    recorded.session.files["f"] = file_json(4) | {"file_path": str(path)}
    return recorded


async def test_a_file_that_a_server_of_ones_own_names_is_read_from_the_disk(tmp_path: Path) -> None:
    (tmp_path / "kept.pdf").write_bytes(b"%PDF")
    await BotFiles(own_server(tmp_path / "kept.pdf").bot).download("f", tmp_path / "f", limit_bytes=2**30)
    assert (tmp_path / "f").read_bytes() == b"%PDF"


async def test_a_server_on_another_machine_is_asked_for_the_file(tmp_path: Path) -> None:
    recorded = own_server(Path("/nowhere/f.pdf"))
    recorded.session.contents["f.pdf"] = b"%PDF"
    await BotFiles(recorded.bot).download("f", tmp_path / "f", limit_bytes=2**30)
    assert (tmp_path / "f").read_bytes() == b"%PDF"


async def test_a_path_of_telegrams_own_servers_is_none_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"ours")
    recorded = RecordedBot()
    recorded.session.files["f"] = file_json(4) | {"file_path": str(tmp_path / "secret")}
    recorded.session.contents["secret"] = b"%PDF"
    await BotFiles(recorded.bot).download("f", tmp_path / "f", limit_bytes=2**30)
    assert (tmp_path / "f").read_bytes() == b"%PDF"


async def test_a_file_that_may_not_be_read_waits_for_the_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(shutil, "copyfile", refuse)
    with pytest.raises(ServiceError):
        await BotFiles(own_server(tmp_path / "a").bot).download("f", tmp_path / "f", limit_bytes=2**30)


async def test_the_menu_is_announced_in_every_language() -> None:
    recorded = RecordedBot()
    await announce_commands(recorded.bot, texts())
    menus = recorded.session.named("setMyCommands")
    assert [call.params.get("language_code") for call in menus] == [None, "ru", "en"]
    assert tuple(entry["command"] for entry in menus[0].params["commands"]) == COMMANDS


async def test_a_refused_menu_does_not_stop_the_start() -> None:
    recorded = RecordedBot()
    recorded.session.fail("setMyCommands", 500)
    await announce_commands(recorded.bot, texts())
