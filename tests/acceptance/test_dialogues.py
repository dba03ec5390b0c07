"""Dialogues over time: history survives a restart, «Новый диалог» begins without it, an earlier one is gone on with;
a vague question is asked back with buttons; a spoken question is shown as it was understood, and answered.
"""

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Start
from tests.acceptance.test_models import Variables
from tests.acceptance.test_whole_way import READ_S
from tests.fakes.speech_model import write_speech_model
from tests.fakes.voice import quiet, speak, write_recording
from tests.servers.llm import ChatRequest, LlmServer
from tests.servers.person import Person

FIRST, SECOND = "Меня зовут Вера, запомни", "Как меня зовут?"


@pytest.fixture
def with_llm(llm: LlmServer) -> Variables:
    """Settings that lead to a model which needs no base."""
    llm.planner = talk
    return {"LLM_BASE_URL": llm.url}


def talk(_: ChatRequest) -> str:
    """A plan that is answered from the dialogue."""
    return json.dumps({"question": "разговор", "intents": ["CONVERSATION"], "tool_calls": [], "confidence": 0.9})


def ask_back(_: ChatRequest) -> str:
    """A plan that does not know what is meant."""
    clarification = {"question": "Какой из договоров?", "choices": ["Аренда", "Поставка"]}
    return json.dumps({"question": "?", "intents": ["EXACT_VALUE"], "clarification": clarification, "confidence": 0.9})


async def begin_chat(you: Person) -> None:
    """Чат with nothing in the base."""
    await you.wait_for("В базе пока пусто", after=await you.say("/chat"))


async def converse(you: Person, question: str, answer: str) -> None:
    said = await you.say(question)
    await you.wait_for(answer, READ_S, after=said)


def asked_before(llm: LlmServer) -> list[str]:
    """What the model was shown of earlier questions with the last one."""
    return [message.content for message in llm.requests[-1].messages[1:-1] if message.role == "user"]


async def test_what_was_said_survives_a_restart(start: Start, llm: LlmServer, with_llm: Variables) -> None:
    llm.script("[-] Приятно познакомиться, Вера.", "[-] Вас зовут Вера.")
    async with start(**with_llm) as page, Person(page) as you:
        await begin_chat(you)
        await converse(you, FIRST, "Приятно познакомиться")
    async with start(**with_llm) as page, Person(page) as you:
        await converse(you, SECOND, "Вас зовут Вера")
    assert asked_before(llm) == [FIRST]


async def test_a_new_dialogue_knows_nothing_and_the_old_one_is_gone_on_with(
    start: Start, llm: LlmServer, with_llm: Variables
) -> None:
    llm.script("[-] Приятно познакомиться, Вера.", "[-] Не знаю.", "[-] Вас зовут Вера.")
    async with start(**with_llm) as page, Person(page) as you:
        await begin_chat(you)
        await converse(you, FIRST, "Приятно познакомиться")
        await you.wait_for("диалог", after=await you.say("/new"))
        await converse(you, SECOND, "Не знаю")
        assert asked_before(llm) == []
        offered = await you.wait_for(lambda seen: bool(seen.buttons), after=await you.say("/dialogs"))
        await you.press(FIRST, offered)
        await you.wait_for("Продолжаем разговор")
        await converse(you, SECOND, "Вас зовут Вера")
    assert asked_before(llm) == [FIRST]


async def test_a_vague_question_is_asked_back_with_buttons(start: Start, llm: LlmServer, with_llm: Variables) -> None:
    llm.script("[-] Понятно: аренда.")
    llm.planner = ask_back
    async with start(**with_llm) as page, Person(page) as you:
        await begin_chat(you)
        asked = await you.wait_for("Какой из договоров?", READ_S, after=await you.say("Какой срок?"))
        assert [text for row in asked.buttons for text in row][:2] == ["Аренда", "Поставка"]
        assert llm.requests == []
        llm.planner = talk
        await you.press("Аренда", asked)
        await you.wait_for("Понятно: аренда", READ_S, after=asked)
    assert "Аренда" in llm.requests[-1].last


async def test_a_spoken_question_is_shown_as_understood_and_answered(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.script("[-] Вас зовут Вера.")
    model = write_speech_model(tmp_path / "model", says=" Как меня зовут?")
    voice = write_recording(tmp_path / "голос.ogg", "libopus", speak(2.5), quiet(0.5))
    async with start(WHISPER_MODEL=str(model), **with_llm) as page, Person(page) as you:
        await begin_chat(you)
        said = await you.send_file(voice)
        understood = await you.wait_for("🎙 Как меня зовут?", READ_S, after=said)
        await you.wait_for("Вас зовут Вера", READ_S, after=understood)
    assert "Как меня зовут?" in llm.requests[-1].last
