"""The notice loop keeps live messages in step, whatever happens to them."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from adapters.database.stores.intake import NoticeStore
from bot.notices import ATTEMPTS, NoticeLoop
from domain.documents import DocumentCard, DocumentStatus, Notice
from domain.errors import DatabaseAway
from domain.ids import BatchId, ChatId, MessageId
from ingestion.changes import Changes
from tests.fakes.bot import texts
from tests.fakes.cards import card, notice, ready
from tests.fakes.telegram import RecordedBot
from tests.waiting import until


class ScriptedNotices(NoticeStore):
    """Gives each list of notices once, when those before are confirmed; an exception in their place is raised."""

    def __init__(self, *due: list[Notice] | Exception, hold_ends: bool = False) -> None:
        self._due = list(due)
        self._hold_ends = hold_ends  # before the notices are shown: the next list comes at once
        self._given: set[tuple[BatchId, int]] = set()
        self._silent = 0  # looks that found nothing more to show
        self.attached: list[tuple[BatchId, MessageId]] = []
        self.confirmed: list[tuple[BatchId, int]] = []

    async def attach(self, batch: BatchId, message: MessageId) -> None:
        self.attached.append((batch, message))

    async def due(self, *, limit: int, hold_s: int) -> list[Notice]:
        if self._given - set(self.confirmed) and self._due and not self._hold_ends:
            return []
        self._silent += not self._due
        found = self._due.pop(0) if self._due else []
        if isinstance(found, Exception):
            raise found
        self._given |= {(notice.batch_id, notice.revision) for notice in found}
        return found

    async def confirm(self, batch: BatchId, *, revision: int) -> None:
        self.confirmed.append((batch, revision))

    @property
    def are_all_given(self) -> bool:
        """Nothing was due any more, more than once."""
        return self._silent > 1


class UnconfirmedNotices(ScriptedNotices):
    """One notice that is due until it is confirmed."""

    def __init__(self, one: Notice) -> None:
        super().__init__()
        self._notice = one

    async def due(self, *, limit: int, hold_s: int) -> list[Notice]:
        await super().due(limit=limit, hold_s=hold_s)
        if self.confirmed:
            return []
        self._silent = 0
        return [self._notice]


@pytest.fixture(autouse=True)
def paces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.notices.POLL_S", 0.01)
    monkeypatch.setattr("bot.notices.CHAT_PAUSE_S", 0.0)


async def run(
    bot: RecordedBot, notices: ScriptedNotices, *, changes: Callable[[DocumentCard], Awaitable[Changes]] | None = None
) -> None:
    stop = asyncio.Event()
    loop = NoticeLoop(bot.bot, notices, texts(), changes=changes)
    running = asyncio.create_task(loop.run(stop))
    await until(lambda: notices.are_all_given)
    stop.set()  # what is being shown then is finished
    await running


async def live(bot: RecordedBot) -> MessageId:
    """A message of the bot that is there already."""
    await bot.bot.send_message(7, "⏳", parse_mode="HTML")
    bot.session.calls.clear()
    return MessageId(max(bot.session.messages))


async def test_the_first_notice_is_sent_in_reply_and_attached() -> None:
    bot, notices = RecordedBot(), ScriptedNotices([notice(card())])
    await run(bot, notices)
    assert bot.session.said[0].reply_to == 1
    assert notices.attached == [("batch", max(bot.session.messages))]
    assert notices.confirmed == [("batch", 1)]


async def test_later_ones_edit_the_live_message() -> None:
    bot = RecordedBot()
    notices = ScriptedNotices([notice(ready(), message_id=await live(bot), revision=4)])
    await run(bot, notices)
    assert [call.name for call in bot.session.said] == ["editMessageText"]
    assert notices.confirmed == [("batch", 4)]


async def test_what_changed_nothing_visible_is_confirmed_too() -> None:
    bot = RecordedBot()
    message = await live(bot)
    same = [notice(card(), message_id=message, revision=number) for number in (2, 3)]
    notices = ScriptedNotices([same[0]], [same[1]])
    await run(bot, notices)
    assert notices.confirmed == [("batch", 2), ("batch", 3)]


async def test_a_deleted_live_message_comes_back_only_as_the_receipt() -> None:
    bot = RecordedBot()
    gone = MessageId(5)
    notices = ScriptedNotices(
        [notice(card(), message_id=gone, revision=2)], [notice(ready(), message_id=gone, revision=3)]
    )
    await run(bot, notices)
    assert [sent.text.startswith("✅") for sent in bot.session.messages.values()] == [True]
    assert notices.confirmed == [("batch", 2), ("batch", 3)]


async def test_a_promise_is_kept_by_a_new_message() -> None:
    bot = RecordedBot()
    message = await live(bot)
    notices = ScriptedNotices([notice(ready(waits_for_service=True), message_id=message, revision=9)])
    await run(bot, notices)
    assert bot.session.said[0].name == "sendMessage"
    assert message not in bot.session.messages


async def test_a_person_who_blocked_the_bot_is_not_tried_again() -> None:
    bot, notices = RecordedBot(), ScriptedNotices([notice(card())])
    bot.session.fail("sendMessage", 403, description="Forbidden: bot was blocked by the user")
    await run(bot, notices)
    assert notices.confirmed == [("batch", 1)]


async def test_a_lost_connection_leaves_the_notice_due() -> None:
    bot, notices = RecordedBot(), ScriptedNotices([notice(card())])
    bot.session.break_connection("sendMessage")
    await run(bot, notices)
    assert notices.confirmed == []


async def test_the_loop_outlives_a_database_that_is_away() -> None:
    bot, notices = RecordedBot(), ScriptedNotices(DatabaseAway("made up"), [notice(card())])
    await run(bot, notices)
    assert notices.confirmed == [("batch", 1)]


async def test_chats_do_not_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.notices.CHAT_PAUSE_S", 0.05)
    bot = RecordedBot()
    first = [notice(card(), batch_id=BatchId(name)) for name in ("a", "b")]
    other = notice(card(), batch_id=BatchId("c"), chat_id=ChatId(8))
    notices = ScriptedNotices([*first, other])
    await run(bot, notices)
    assert [batch for batch, _ in notices.confirmed] == ["a", "c", "b"]


async def test_a_notice_that_waits_longer_than_its_hold_is_shown_once_and_as_it_is_by_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.notices.CHAT_PAUSE_S", 0.1)
    bot = RecordedBot()
    first, waiting = (notice(card(), batch_id=BatchId(name)) for name in ("a", "b"))
    later = notice(ready(), batch_id=BatchId("b"), revision=2)
    notices = ScriptedNotices([first, waiting], [later], hold_ends=True)
    await run(bot, notices)
    assert [sent.text.startswith("✅") for sent in bot.session.messages.values()] == [False, True]
    assert notices.confirmed == [("a", 1), ("b", 2)]


async def test_what_was_removed_before_its_first_message_is_silently_confirmed() -> None:
    bot, notices = RecordedBot(), ScriptedNotices([notice(revision=7, removed=1)])
    await run(bot, notices)
    assert bot.session.calls == []
    assert notices.confirmed == [("batch", 7)]


async def test_a_live_message_says_that_its_documents_were_removed() -> None:
    bot = RecordedBot()
    notices = ScriptedNotices([notice(message_id=await live(bot), revision=7, removed=2)])
    await run(bot, notices)
    assert [(call.name, call.text, call.buttons) for call in bot.session.said] == [
        ("editMessageText", "2 документа удалены из базы.", {})
    ]
    assert notices.confirmed == [("batch", 7)]


async def test_a_live_message_that_is_gone_does_not_come_back_for_what_was_removed() -> None:
    bot, notices = RecordedBot(), ScriptedNotices([notice(message_id=MessageId(5), revision=7, removed=1)])
    await run(bot, notices)
    assert not bot.session.messages
    assert notices.confirmed == [("batch", 7)]


async def test_a_cancelled_document_says_so() -> None:
    bot = RecordedBot()
    cancelled = notice(card(status=DocumentStatus.CANCELLED), message_id=await live(bot))
    await run(bot, ScriptedNotices([cancelled]))
    assert bot.session.said[-1].text == "Отменено: Договор аренды.pdf"


async def break_off(_: DocumentCard) -> Changes:
    raise KeyError("of a newer version")


async def test_a_notice_that_breaks_does_not_hold_up_the_next_of_its_chat() -> None:
    bot = RecordedBot()
    broken, whole = notice(ready(version=2)), notice(card(), batch_id=BatchId("whole"))
    notices = ScriptedNotices([broken, whole], hold_ends=True)
    await run(bot, notices, changes=break_off)
    assert notices.confirmed == [("whole", 1)]


async def test_a_notice_that_breaks_each_time_is_tried_a_few_times() -> None:
    bot, tried = RecordedBot(), list[DocumentCard]()

    async def note_and_break(new: DocumentCard) -> Changes:
        tried.append(new)
        return await break_off(new)

    notices = UnconfirmedNotices(notice(ready(version=2), revision=4))
    await run(bot, notices, changes=note_and_break)
    assert (len(tried), notices.confirmed, bot.session.calls) == (ATTEMPTS, [("batch", 4)], [])


async def test_a_loop_that_breaks_ends_what_goes_on_beside_it() -> None:
    stop = asyncio.Event()
    loop = NoticeLoop(RecordedBot().bot, ScriptedNotices(KeyError("batch_id")), texts())
    with pytest.raises(KeyError, match="batch_id"):
        async with loop.showing(stop):
            await asyncio.wait_for(stop.wait(), 5)


async def test_a_loop_ends_with_what_goes_on_beside_it() -> None:
    stop, notices = asyncio.Event(), ScriptedNotices([notice(card())])
    async with NoticeLoop(RecordedBot().bot, notices, texts()).showing(stop):
        await until(lambda: notices.are_all_given)
    assert stop.is_set()
    assert notices.confirmed == [("batch", 1)]
