"""Mode Чат: questions are answered, other things are not lost."""

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.home import is_first_time
from domain.documents import SourceType
from domain.errors import DatabaseAway
from domain.ids import BaseId, ChunkId, DocumentId
from domain.locator import Locator
from domain.people import Mode
from ingestion.errors import FailureCode, ServiceError, SourceError
from rag.metering import StepCounts
from rag.records import Answered, AnswerKind, Citation
from tests.fakes.bot import GROUP, PERSON, Person, plain_answer, turn_of


def citation(**changes: object) -> Citation:
    fields: dict[str, object] = {
        "document_id": DocumentId("d1"),
        "chunk_id": ChunkId(5),
        "title": "Договор аренды.pdf",
        "source_type": SourceType.FILE,
        "source_identifier": "Договор аренды.pdf",
        "locator": Locator(page=7),
        "quote": "0,1 % за каждый день",
    }
    return Citation(**(fields | changes))  # type: ignore[arg-type] # fields of Citation


async def in_chat_mode(**changes: object) -> Person:
    anna = Person(**changes)  # type: ignore[arg-type] # fields of Person
    await anna.choose(Mode.CHAT)
    return anna


async def test_a_question_is_answered() -> None:
    anna = await in_chat_mode()
    await anna.say("Привет")
    assert anna.conversation.questions[0].text == "Привет"
    assert anna.last.text == "Здравствуйте!"


async def test_an_answer_from_the_base_names_its_source() -> None:
    anna = await in_chat_mode()
    answer = plain_answer("Штраф **0,1 %**.", kind=AnswerKind.FROM_BASE, citations=(citation(),))
    anna.conversation.events = [Answered(answer=answer)]
    await anna.say("Какой штраф?")
    assert anna.last.text == "Штраф 0,1 %.\n\nИнформация взята из:\n📄 Договор аренды.pdf, стр. 7"
    assert anna.last.buttons == {"📄 стр. 7": "src:5", "👍": "rate:1", "👎": "rate:-1"}


NOTHING = Answered(answer=plain_answer("", kind=AnswerKind.NOTHING))


async def test_an_empty_base_is_not_blamed_on_the_words_of_the_question() -> None:
    anna = await in_chat_mode()
    anna.conversation.events = [NOTHING]
    await anna.say("Какой штраф?")
    assert anna.last.text.startswith("В базе пока пусто")
    assert "другими словами" not in anna.last.text


async def test_an_answer_without_words_is_given_when_the_base_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_: BaseId) -> bool:
        raise DatabaseAway("gone")

    anna = await in_chat_mode()
    monkeypatch.setattr(anna.services.stores.search, "holds_documents", fail)
    anna.conversation.events = [NOTHING]
    await anna.say("Какой штраф?")
    assert anna.last.text.startswith("В базе об этом ничего не нашлось.")


async def test_a_question_before_the_first_document_is_read_is_told_to_wait() -> None:
    anna = Person()
    await anna.choose(Mode.DOCUMENTS)
    await anna.send_file("договор.pdf")
    await anna.choose(Mode.CHAT)
    anna.conversation.events = [NOTHING]
    await anna.say("Какой штраф?")
    assert anna.last.text.startswith("Ещё читаю то, что вы прислали")


async def test_the_turn_is_noted() -> None:
    anna = await in_chat_mode()
    await anna.say("Привет")
    assert len(anna.stores.library.turns) == 1


SEED_3 = {"total_steps", "tokens_used", "rag_items_retrieved", "execution_time_ms"}
"""Its fields of an event; a step's own (`step_id`, `step_number`) are in the events of `rag.execution.executor`."""


@pytest.mark.parametrize(
    ("counts", "event"),
    [(StepCounts(), "query.completed"), (StepCounts(planned=3, run=2, adapted=1), "complex_query.completed")],
)
async def test_the_end_of_a_turn_is_logged_as_seed_3_names_it(counts: StepCounts, event: str) -> None:
    anna = await in_chat_mode()
    turn = turn_of(AnswerKind.CONVERSATION, steps=counts)
    anna.conversation.events = [Answered(answer=plain_answer("Ответ.", turn=turn))]
    with capture_logs() as logs:
        await anna.say("Тайный вопрос?")
    (told,) = [each for each in logs if each["event"].endswith("query.completed")]
    assert told["event"] == event
    assert set(told) >= SEED_3 | {"plan", "steps_run", "adapted", "searching_ms", "models_ms", "rag_items_used"}
    assert "Тайный" not in str(logs)


TO_READ = ["Добавить в базу", "Только прочитать сейчас"]


async def test_a_link_alone_is_asked_about() -> None:
    anna = await in_chat_mode()
    number = await anna.say("https://example.org/a")
    assert anna.last.text == "Это вопрос или документ для базы?"
    assert anna.last.reply_to == number
    assert anna.conversation.questions == []


async def test_add_to_base_keeps_the_original_message() -> None:
    anna = await in_chat_mode()
    number = await anna.say("https://example.org/a")
    entities = [{"type": "url", "offset": 0, "length": 21}]
    await anna.press("keep", original=anna.original(number, text="https://example.org/a", entities=entities))
    (document,) = anna.stores.library.sent.values()
    assert (document.source.identifier, document.batch.message_id) == ("https://example.org/a", number)


async def test_only_read_keeps_the_original_message_for_a_day_and_the_person_in_chat() -> None:
    anna = await in_chat_mode()
    number = await anna.say("https://example.org/a")
    entities = [{"type": "url", "offset": 0, "length": 21}]
    original = anna.original(number, text="https://example.org/a", entities=entities)
    await anna.press(anna.last.buttons["Только прочитать сейчас"], original=original)
    (document,) = anna.stores.library.sent.values()
    assert (document.source.identifier, document.batch.message_id) == ("https://example.org/a", number)
    assert document.expires_at is not None
    assert timedelta(hours=23) < document.expires_at - document.created_at < timedelta(hours=25)
    assert [state.mode for state in anna.stores.people.states.values()] == [Mode.CHAT]


async def test_only_read_says_when_the_message_is_gone() -> None:
    anna = await in_chat_mode()
    await anna.say("https://example.org/a")
    await anna.press(anna.last.buttons["Только прочитать сейчас"])
    assert anna.popup.params["text"].startswith("Исходное сообщение не найдено")
    assert anna.stores.library.sent == {}


async def test_a_few_words_beside_a_link_can_be_answered_as_a_question() -> None:
    anna = await in_chat_mode()
    text = "https://example.org/a какой штраф?"
    number = await anna.say(text)
    assert list(anna.last.buttons) == ["Это вопрос", *TO_READ]
    await anna.press(anna.last.buttons["Это вопрос"], original=anna.original(number, text=text))
    assert [question.text for question in anna.conversation.questions] == [text]
    assert anna.stores.library.sent == {}
    assert len(anna.session.named("deleteMessage")) == 1  # what was asked back
    assert anna.done.is_set()  # the next message need not wait for the answer


async def test_a_question_is_answered_once_also_when_its_button_is_pressed_twice() -> None:
    anna = await in_chat_mode()
    text = "https://example.org/a какой штраф?"
    number = await anna.say(text)
    data, under = anna.last.buttons["Это вопрос"], anna.original(number, text=text)
    await anna.press(data, original=under)
    anna.session.fail("deleteMessage", description="Bad Request: message to delete not found")
    await anna.press(data, original=under)
    assert len(anna.conversation.questions) == 1
    anna.session.fail("deleteMessage", description="Bad Request: message can't be deleted for everyone")
    await anna.press(data, original=under)
    assert len(anna.conversation.questions) == 2


async def test_a_question_whose_original_is_gone_is_not_answered() -> None:
    anna = await in_chat_mode()
    number = await anna.say("https://example.org/a какой штраф?")
    for original in (None, anna.original(number)):
        await anna.press("answer", original=original)
    assert len(anna.session.named("answerCallbackQuery")) == 2
    assert anna.popup.params["text"].startswith("Исходное сообщение")
    assert anna.conversation.questions == []


HUGE = 21 * 2**20


async def test_the_words_under_a_file_that_cannot_be_read_are_answered() -> None:
    anna = await in_chat_mode()
    await anna.send_file("фильм.mp4", size=HUGE, caption="Когда собрание?")
    assert anna.session.said[0].text.startswith("фильм.mp4 больше 20")
    assert [question.text for question in anna.conversation.questions] == ["Когда собрание?"]
    assert anna.done.is_set()


async def test_a_link_under_a_file_that_cannot_be_read_is_asked_about() -> None:
    anna = await in_chat_mode()
    entities = [{"type": "url", "offset": 0, "length": 21}]
    content = {"caption": "https://example.org/a", "caption_entities": entities}
    number = await anna.send_file("фильм.mp4", size=HUGE, **content)
    assert list(anna.last.buttons) == TO_READ
    document = {"file_id": "f", "file_unique_id": "f", "file_name": "фильм.mp4", "file_size": HUGE}
    await anna.press("keep", original=anna.original(number, document=document, **content))
    (kept,) = anna.stores.library.sent.values()
    assert (kept.source.type, kept.source.identifier) == (SourceType.LINK, "https://example.org/a")


async def test_a_file_that_cannot_be_read_is_not_offered_to_be() -> None:
    anna = await in_chat_mode()
    await anna.send_file("фильм.mp4", size=HUGE)
    assert anna.last.text.startswith("фильм.mp4 больше 20")
    assert anna.last.buttons == {}
    assert anna.conversation.questions == []


async def test_a_contact_is_not_lost() -> None:
    anna = await in_chat_mode()
    contact = {"phone_number": "+79990000000", "first_name": "Иван"}
    number = await anna.send(contact=contact)
    assert list(anna.last.buttons) == TO_READ
    await anna.press("keep", original=anna.original(number, contact=contact))
    (document,) = anna.stores.library.sent.values()
    assert document.source.text == "Иван\n+79990000000"


async def test_a_bare_link_is_no_question() -> None:
    anna = await in_chat_mode()
    await anna.say("https://example.org/a")
    assert list(anna.last.buttons) == TO_READ


async def test_a_question_with_a_link_in_it_is_a_question() -> None:
    anna = await in_chat_mode()
    await anna.say("Что написано про сроки поставки на странице https://example.org/a ?")
    assert len(anna.conversation.questions) == 1


async def test_before_a_mode_is_chosen_a_question_is_answered_and_can_be_kept() -> None:
    anna = Person()
    number = await anna.say("Какой штраф?")
    assert anna.conversation.questions[0].text == "Какой штраф?"
    assert anna.last.buttons == {"📚 База": "for:documents"}
    await anna.press("for:documents", original=anna.original(number, text="Какой штраф?"))
    assert [row.title for row in anna.stores.library.sent.values()] == ["Какой штраф?"]


async def test_before_a_mode_is_chosen_a_file_is_kept_and_the_chat_offered_once() -> None:
    anna = Person()
    await anna.send_file("План.docx")
    keyboard = anna.last.params["reply_markup"]["keyboard"]
    assert [key["text"] for key in keyboard[0]] == ["💬 Чат", "📚 База", "🗂 Документы"]
    said = len(anna.session.said)
    await anna.send_file("Смета.docx")
    assert [row.title for row in anna.stores.library.sent.values()] == ["План.docx", "Смета.docx"]
    assert len(anna.session.said) == said


@pytest.mark.parametrize("said", ["Запомни: PID проекта mcs777", "запиши, что PID проекта mcs777"])
async def test_what_is_to_be_remembered_becomes_a_note(said: str) -> None:
    anna = await in_chat_mode()
    await anna.say(said)
    assert [row.title for row in anna.stores.library.sent.values()] == ["PID проекта mcs777"]
    assert not anna.conversation.questions


async def test_a_question_about_remembering_is_a_question() -> None:
    anna = await in_chat_mode()
    await anna.say("Запомнил мой PID?")
    await anna.say("Запомни, ты знаешь PID?")
    assert len(anna.conversation.questions) == 2


async def test_a_failure_is_one_sentence_with_a_number() -> None:
    anna = await in_chat_mode()
    anna.conversation.error = ZeroDivisionError("made up")
    await anna.say("Привет")
    assert anna.last.text.startswith("Что-то сломалось у меня, не у вас.")


async def test_a_group_question_is_asked_without_the_mention_and_answered_in_reply() -> None:
    anna = await in_chat_mode(chat=GROUP)
    number = await anna.say("@baza_bot какой штраф?")
    assert anna.conversation.questions[0].text == "какой штраф?"
    assert anna.conversation.questions[0].user_id == GROUP
    assert anna.session.named("sendMessage")[0].reply_to == number
    assert anna.session.named("sendMessageDraft") == []


@pytest.mark.parametrize("told", [{"ADMIN_USERS": str(PERSON)}, {"BOT_TOKEN": ""}])
async def test_who_can_set_a_model_is_told_once(told: dict[str, str], tmp_path: Path) -> None:
    once = partial(is_first_time, tmp_path)
    anna = await in_chat_mode(changes={"is_first_time": once}, variables={"LLM_API_KEY": "", **told})
    answer = plain_answer("**t**\n> q", kind=AnswerKind.QUOTES, citations=(citation(),))
    anna.conversation.events = [Answered(answer=answer)]
    await anna.say("Раз")
    await anna.say("Два")
    assert sum("LLM_API_KEY" in call.text for call in anna.session.said) == 1


async def test_add_to_base_pressed_twice_keeps_it_once() -> None:
    anna = await in_chat_mode()
    number = await anna.send_file("План.docx")
    original = anna.original(
        number, document={"file_id": "f", "file_unique_id": "f", "file_name": "План.docx", "file_size": 10}
    )
    question = max(anna.session.messages)
    shown = anna.session.messages[question]
    await anna.press("keep", under=question, original=original)
    anna.session.messages[question] = shown
    anna.session.fail("deleteMessage", description="Bad Request: message to delete not found")
    await anna.press("keep", under=question, original=original)
    assert len(anna.stores.library.sent) == 1
    assert not any("сломалось" in call.text for call in anna.session.said)


VOICE = {"voice": {"file_id": "v", "file_unique_id": "v", "duration": 3}}


async def test_a_spoken_question_is_shown_as_understood_and_answered() -> None:
    async def hear(file_id: str) -> str:
        return f"Какой штраф? ({file_id})"

    anna = await in_chat_mode(changes={"hear": hear})
    number = await anna.send(**VOICE)
    understood = anna.session.named("sendMessage")[0]
    assert (understood.text, understood.reply_to) == ("🎙 Какой штраф? (v)", number)
    assert anna.conversation.questions[0].text == "Какой штраф? (v)"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SourceError(FailureCode.FILE_WITHOUT_SPEECH), "Не расслышал вопроса."),
        (ServiceError(FailureCode.SERVICE_AWAY), "Не получается послушать прямо сейчас."),
    ],
)
async def test_what_could_not_be_heard_is_said(error: Exception, said: str) -> None:
    async def hear(file_id: str) -> str:
        raise error

    anna = await in_chat_mode(changes={"hear": hear})
    await anna.send(**VOICE)
    assert anna.last.text.startswith(said)
    assert anna.conversation.questions == []


async def test_without_a_speech_model_a_spoken_question_is_asked_for_in_words() -> None:
    anna = await in_chat_mode()
    await anna.send(**VOICE)
    assert anna.last.text.startswith("Голосовые вопросы здесь не слушаю")
