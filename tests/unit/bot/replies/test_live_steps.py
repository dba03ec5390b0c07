"""The live list: one message, edited, gone when the answer comes; its troubles are nobody's."""

import asyncio

from bot.replies.sending import Place
from bot.replies.steps import live_steps
from domain.ids import ChatId
from rag.progress import StepState
from tests.fakes.bot import texts
from tests.fakes.tabulated import shown
from tests.fakes.telegram import RecordedBot
from tests.waiting import until

PLACE = Place(chat=ChatId(7))
RU = texts().for_language("ru")
SOON_S = 0.05


async def test_one_message_changes_and_goes() -> None:
    recorded = RecordedBot()
    async with live_steps(recorded.bot, PLACE, RU, pause_s=0.01) as steps:
        steps.show([shown("list_documents", StepState.RUNNING)])
        await until(lambda: len(recorded.session.messages) == 1)
        steps.show([shown("list_documents")])
        await until(lambda: len(recorded.session.said) == 2)
        assert [call.name for call in recorded.session.said] == ["sendMessage", "editMessageText"]
        assert recorded.session.said[0].buttons == {"Остановить": "enough"}
    assert not recorded.session.messages


async def test_a_question_without_steps_shows_no_list() -> None:
    recorded = RecordedBot()
    async with live_steps(recorded.bot, PLACE, RU, pause_s=0.01):
        await asyncio.sleep(SOON_S)
    assert not recorded.session.said


async def test_a_list_that_cannot_be_shown_troubles_nobody() -> None:
    recorded = RecordedBot()
    recorded.session.fail("sendMessage", 400, description="Bad Request: not enough rights")
    async with live_steps(recorded.bot, PLACE, RU, pause_s=0.01) as steps:
        steps.show([shown("list_documents")])
        await until(lambda: recorded.session.said)
        await asyncio.sleep(SOON_S)
    assert not recorded.session.messages
