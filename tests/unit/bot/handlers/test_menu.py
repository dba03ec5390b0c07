"""The first minute: /start, modes, languages, help."""

import pytest

from domain.documents import DocumentStatus
from domain.ids import UserId
from domain.people import Mode
from tests.fakes.bot import GROUP, PERSON, Person
from tests.fakes.telegram import BOT_NAME


async def mode_of(person: Person) -> Mode | None:
    base = await person.stores.people.open_named_base("any")
    return (await person.stores.people.state(UserId(person.user), base=base, language="ru")).mode


async def test_start_greets_and_asks_for_a_mode() -> None:
    anna = Person()
    await anna.say("/start")
    assert "Выберите режим работы:" in anna.last.text
    assert anna.last.buttons == {"💬 Чат": "chat", "📚 База": "documents"}


async def test_start_ticks_the_mode_that_is_on() -> None:
    anna = Person()
    await anna.choose(Mode.DOCUMENTS)
    await anna.say("/start")
    assert list(anna.last.buttons) == ["💬 Чат", "📚 База ✓"]


@pytest.mark.parametrize(("data", "mode"), [("chat", Mode.CHAT), ("documents", Mode.DOCUMENTS)])
async def test_a_mode_button_stores_the_mode(data: str, mode: Mode) -> None:
    anna = Person()
    await anna.say("/start")
    await anna.press(data)
    assert await mode_of(anna) is mode


async def test_the_keyboard_shows_the_current_mode() -> None:
    anna = Person()
    await anna.say("/start")
    await anna.press("documents")
    assert anna.last.keyboard == ["💬 Чат", "📚 База ✓", "🗂 Документы"]
    assert anna.popup.params["text"] == "Режим «База»"


@pytest.mark.parametrize("label", ["💬 Чат", "💬 Чат ✓", "💬 Chat", "💬 Chat ✓", "Чат", "Chat"])
async def test_the_keyboard_switches_in_every_wording(label: str) -> None:
    anna = Person()
    await anna.choose(Mode.DOCUMENTS)
    await anna.say(label)
    assert await mode_of(anna) is Mode.CHAT


async def test_chat_with_an_empty_base_says_so() -> None:
    anna = Person()
    await anna.say("/chat")
    assert anna.last.text.startswith("В базе пока пусто.")
    assert "из общих знаний" in anna.last.text


async def test_without_a_model_general_knowledge_is_not_promised() -> None:
    anna = Person(variables={"GENERAL_KNOWLEDGE": "false"})
    await anna.say("/chat")
    assert "из общих знаний" not in anna.last.text


async def test_chat_while_the_first_document_is_being_read_does_not_call_the_base_empty() -> None:
    anna = Person()
    await anna.choose(Mode.DOCUMENTS)
    await anna.send_file("договор.pdf")
    await anna.say("/chat")
    assert anna.last.text.startswith("Режим «Чат». Ещё читаю то, что вы прислали.")


async def test_a_base_whose_only_document_failed_is_not_said_to_be_read() -> None:
    anna = Person()
    await anna.choose(Mode.DOCUMENTS)
    await anna.send_file("договор.pdf")
    (document,) = anna.stores.library.sent.values()
    document.status = DocumentStatus.FAILED
    await anna.say("/chat")
    assert anna.last.text.startswith("В базе пока пусто.")


async def test_a_deep_link_chooses_the_mode() -> None:
    anna = Person()
    await anna.say("/start base")
    assert await mode_of(anna) is Mode.DOCUMENTS


async def test_the_language_changes_at_once() -> None:
    anna = Person()
    await anna.say("/language")
    await anna.press(anna.last.buttons["English"])
    assert anna.last.text == "I speak English now."
    await anna.say("/base")
    assert anna.last.keyboard == ["💬 Chat", "📚 Base ✓", "🗂 Documents"]


async def test_help_has_six_lines() -> None:
    anna = Person()
    await anna.say("/help")
    assert len(anna.last.text.splitlines()) == 6


async def test_a_new_dialogue_begins() -> None:
    anna = Person()
    await anna.say("/start")
    base = await anna.stores.people.open_named_base("any")
    before = await anna.stores.people.state(UserId(PERSON), base=base, language="ru")
    await anna.say("/new")
    after = await anna.stores.people.state(UserId(PERSON), base=base, language="ru")
    assert before.session_id != after.session_id


async def test_before_the_first_question_no_earlier_dialogue_is_promised() -> None:
    anna = Person()
    await anna.say("/new")
    assert "/dialogs" not in anna.last.text
    anna.stores.people.has_asked(UserId(PERSON), "Какой срок?")
    await anna.say("/new")
    assert "/dialogs" in anna.last.text


async def test_an_unknown_command_points_to_help() -> None:
    anna = Person()
    await anna.choose(Mode.DOCUMENTS)
    await anna.say("/abracadabra")
    assert "/help" in anna.last.text
    assert not anna.stores.library.sent


async def test_a_button_that_no_longer_works_gets_a_sentence() -> None:
    anna = Person()
    await anna.say("/start")
    await anna.press("something-old")
    assert anna.popup.params["text"].startswith("Эта кнопка уже не работает")


async def test_a_group_has_a_mode_of_its_own() -> None:
    anna = Person(chat=GROUP)
    await anna.say("/start@baza_bot")
    await anna.press("documents")
    assert list(anna.last.buttons) == ["💬 Чат", "📚 База ✓"]
    assert await mode_of(anna) is None
    assert await mode_of(Person(user=GROUP, stores=anna.stores)) is Mode.DOCUMENTS


async def test_a_press_that_is_handled_late_still_switches_the_mode() -> None:
    anna = Person()
    await anna.say("/start")
    anna.session.fail("answerCallbackQuery", description="Bad Request: query is too old and response timeout expired")
    await anna.press("documents")
    assert await mode_of(anna) is Mode.DOCUMENTS
    assert anna.last.text.startswith("Режим «База».")


@pytest.mark.parametrize("mode", [None, *Mode])
async def test_called_in_a_group_without_a_word_the_bot_says_who_it_is(mode: Mode | None) -> None:
    anna = Person(chat=GROUP)
    if mode:
        await anna.choose(mode)
    number = await anna.say(f"@{BOT_NAME}")
    assert anna.last.text.startswith("Здравствуйте! Я База")
    assert anna.last.reply_to == number


@pytest.mark.parametrize(("hear", "promised"), [(None, False), (object(), True)])
async def test_recordings_are_promised_only_where_they_are_heard(hear: object, promised: bool) -> None:
    anna = Person(changes={"hear": hear})
    for said in ("/start", "/help", "/base"):
        await anna.say(said)
        assert ("голосов" in anna.last.text) is promised
