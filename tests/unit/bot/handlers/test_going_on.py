"""Going on in Чат: choices of a question asked back, the rest of a list, earlier dialogues."""

import asyncio

import pytest

from bot.services import Turns
from domain.ids import DocumentId, ThreadId, UserId
from domain.people import Mode
from rag.records import Answered, AnswerKind, DocumentChoice
from tests.fakes.bot import PERSON, Person, plain_answer
from tests.fakes.tabulated import fact_table


async def in_chat_mode() -> Person:
    anna = Person()
    await anna.choose(Mode.CHAT)
    return anna


def said(anna: Person, question: str) -> None:
    """An exchange of the current dialogue, as a turn leaves it."""
    anna.stores.people.has_asked(UserId(PERSON), question)


async def test_the_choices_of_a_question_asked_back_are_buttons() -> None:
    anna = await in_chat_mode()
    asked_back = plain_answer("Какой договор?", choices=("Аренда", "Поставка"))
    anna.conversation.events = [Answered(answer=asked_back)]
    await anna.say("Какой срок?")
    assert anna.last.buttons == {"Аренда": "pick:0", "Поставка": "pick:1"}


async def test_what_is_said_after_a_question_back_answers_it_in_any_mode() -> None:
    anna = await in_chat_mode()
    anna.conversation.events = [Answered(answer=plain_answer("Какой договор?", choices=("Аренда", "Поставка")))]
    await anna.say("Какой срок?")
    await anna.stores.people.set_mode(UserId(PERSON), Mode.DOCUMENTS)
    anna.conversation.events = [Answered(answer=plain_answer("14 дней."))]
    for said in ("с Ромашкой", "Ещё одна заметка"):
        await anna.say(said)
    assert [asked.text for asked in anna.conversation.questions] == ["Какой срок?", "с Ромашкой"]
    assert [sent.title for sent in anna.stores.library.sent.values()] == ["Ещё одна заметка"]


async def test_a_choice_is_asked_as_the_person_would_say_it_and_made_once() -> None:
    anna = await in_chat_mode()
    anna.conversation.events = [Answered(answer=plain_answer("Какой договор?", choices=("Аренда", "Поставка")))]
    await anna.say("Какой срок?")
    asked_back = max(anna.session.messages)
    anna.conversation.events = [Answered(answer=plain_answer("14 дней."))]
    await anna.press("pick:1")
    assert anna.conversation.questions[-1].text == "Поставка"
    assert anna.last.text == "14 дней."
    (taken_away,) = anna.session.named("editMessageReplyMarkup")
    assert (int(taken_away.params["message_id"]), taken_away.buttons) == (asked_back, {})


LAZURIT, KEDR = (
    DocumentChoice(id=DocumentId(f"5f0c1c5e-0000-4000-8000-00000000000{number}"), label=label)
    for number, label in enumerate(("117 · Лазурит", "119 · Кедр"))
)


async def test_a_question_is_answered_from_the_document_on_the_pressed_button() -> None:
    """Also after a restart: the button knows the document, the dialogue the question."""
    anna = await in_chat_mode()
    anna.conversation.events = [Answered(answer=plain_answer("Какой договор?", alike=(LAZURIT, KEDR)))]
    await anna.say("Какая  неустойка?")
    said(anna, "Какая неустойка?")
    said(anna, "А срок?")
    pressed = anna.last.buttons["119 · Кедр"]
    assert len(pressed) <= 64
    await anna.press(pressed)
    asked = anna.conversation.questions[-1]
    assert (asked.text, asked.only, asked.chosen) == ("Какая неустойка?", (KEDR.id,), KEDR.label)


@pytest.mark.parametrize(
    ("words", "asked"), [("с Кедром", "Какая неустойка? с Кедром"), ("А какой срок?", "А какой срок?")]
)
async def test_words_after_the_question_which_document_belong_to_what_was_asked(words: str, asked: str) -> None:
    anna = await in_chat_mode()
    anna.conversation.events = [Answered(answer=plain_answer("Какой договор?", alike=(LAZURIT, KEDR)))]
    await anna.say("Какая неустойка?")
    said(anna, "Какая неустойка?")
    await anna.say(words)
    assert (anna.conversation.questions[-1].text, anna.conversation.questions[-1].only) == (asked, ())


async def test_a_question_that_the_dialogue_does_not_hold_any_more_is_asked_again() -> None:
    anna = await in_chat_mode()
    anna.conversation.events = [Answered(answer=plain_answer("Какой договор?", alike=(LAZURIT, KEDR)))]
    await anna.say("Какая неустойка?")
    await anna.press(anna.last.buttons["119 · Кедр"])
    assert anna.popup.text == "Этого вопроса в разговоре уже нет. Задайте его ещё раз."
    assert len(anna.conversation.questions) == 1


async def test_documents_that_fit_as_well_are_offered_below_an_answer() -> None:
    anna = await in_chat_mode()
    answer = plain_answer("0,1 % в день.", kind=AnswerKind.FROM_BASE, alike=(LAZURIT, KEDR))
    anna.conversation.events = [Answered(answer=answer)]
    await anna.say("Какая неустойка?")
    assert [*anna.last.buttons][:2] == ["117 · Лазурит", "119 · Кедр"]
    assert "подходят другие документы" in anna.last.text


async def test_the_rest_of_a_list_is_a_button_away() -> None:
    anna = await in_chat_mode()
    answer = plain_answer("- а\n- б", kind=AnswerKind.FROM_BASE, left_out=12)
    anna.conversation.events = [Answered(answer=answer)]
    await anna.say("Какие проекты?")
    assert anna.last.buttons["Показать ещё 12"] == "more"
    await anna.press("more")
    assert anna.conversation.questions[-1].text == "Выведи остальное, что не поместилось в список."


async def test_without_earlier_dialogues_this_is_said() -> None:
    anna = await in_chat_mode()
    said(anna, "Какой штраф?")
    await anna.say("/dialogs")
    assert anna.last.text == "Прежних разговоров нет. Этот начат заново или он первый."


async def test_an_earlier_dialogue_can_be_gone_on_with() -> None:
    anna = await in_chat_mode()
    said(anna, "Какой штраф?")
    first = anna.stores.people.states[PERSON].session_id  # type: ignore[index]  # a UserId is a number
    await anna.say("/new")
    said(anna, "Какой срок?")
    await anna.say("/dialogs")
    assert anna.last.buttons == {"Какой штраф?": f"talk:{first}"}
    await anna.press(f"talk:{first}")
    assert anna.last.text == "Продолжаем разговор «Какой штраф?». Спрашивайте."
    await anna.say("А если позже?")
    assert anna.conversation.questions[-1].session_id == first


async def test_the_dialogue_of_another_person_is_not_there() -> None:
    anna = await in_chat_mode()
    await anna.say("/new")
    await anna.press("talk:5f0c1c5e-0000-4000-8000-000000000001")
    assert anna.popup.text == "Этого разговора больше нет."


async def test_a_table_under_an_answer_comes_as_a_file() -> None:
    anna = await in_chat_mode()
    table = fact_table(("Аренда", "1 200"), ("Поставка", "300"))
    anna.conversation.events = [Answered(answer=plain_answer("Два.", kind=AnswerKind.FROM_BASE, table=table))]
    await anna.say("Какие договоры?")
    await anna.press(anna.last.buttons["Таблица XLSX"])
    (sent,) = anna.session.named("sendDocument")
    assert sent.params["document"]


async def test_a_table_goes_with_the_documents_it_was_made_of() -> None:
    anna = await in_chat_mode()
    table = fact_table(("Аренда", "1 200"))
    anna.conversation.events = [Answered(answer=plain_answer("Один.", kind=AnswerKind.FROM_BASE, table=table))]
    await anna.say("Какие договоры?")
    anna.stores.library.answer_tables.clear()
    await anna.press(anna.last.buttons["Таблица XLSX"])
    assert anna.popup.params["text"].startswith("Этой таблицы больше нет")


async def test_stopping_sets_the_running_turns_signal() -> None:
    anna = await in_chat_mode()
    anna.conversation.pause = asyncio.Event()
    turn = asyncio.create_task(anna.say("Сравни все договоры"))
    while anna.conversation.stop is None:
        await asyncio.sleep(0)
    await anna.press("enough")
    assert anna.conversation.stop.is_set()
    assert anna.popup.params["text"].startswith("Останавливаю")
    anna.conversation.pause.set()
    await turn


async def test_the_button_on_a_draft_sets_the_same_signal() -> None:
    anna = await in_chat_mode()
    anna.conversation.pause = asyncio.Event()
    turn = asyncio.create_task(anna.say("Какой штраф?"))
    while anna.conversation.stop is None:
        await asyncio.sleep(0)
    await anna.stop_draft()
    assert anna.conversation.stop.is_set()
    anna.conversation.pause.set()
    await turn


async def test_a_draft_that_is_stopped_too_late_stops_nothing() -> None:
    anna = await in_chat_mode()
    await anna.stop_draft()
    await anna.say("Какой штраф?")
    assert anna.conversation.stop
    assert not anna.conversation.stop.is_set()


async def test_an_answer_that_was_stopped_says_so_and_closes_its_marks() -> None:
    anna = await in_chat_mode()
    answer = plain_answer("Штраф **0,1", kind=AnswerKind.GENERAL, stopped=True, spent="stopped")
    anna.conversation.events = [Answered(answer=answer)]
    await anna.say("Какой штраф?")
    assert "Штраф <b>0,1</b>" in anna.last.params["text"]
    assert anna.last.text.count("Остановлено") == 1
    assert anna.last.text.endswith("Остановлено по вашей просьбе: ответ не дописан.")


async def test_an_answer_that_was_stopped_before_it_began_is_no_empty_base() -> None:
    anna = await in_chat_mode()
    anna.conversation.events = [Answered(answer=plain_answer("", kind=AnswerKind.NOTHING, stopped=True))]
    await anna.say("Какой штраф?")
    assert anna.last.text == "Остановлено по вашей просьбе: ответ не дописан."


async def test_stopping_what_has_ended_is_said() -> None:
    anna = await in_chat_mode()
    await anna.press("enough")
    assert anna.popup.params["text"] == "Ответ уже готов."


async def test_topics_of_one_group_neither_wait_for_nor_stop_each_other() -> None:
    dialogues, here, there = Turns(), (UserId(PERSON), ThreadId(7)), (UserId(PERSON), ThreadId(8))
    async with dialogues.order(here):
        with dialogues.stoppable(here, asker=UserId(PERSON)) as stop:
            assert not dialogues.order(there).locked()
            assert not dialogues.stop(there)
            assert not stop.is_set()


async def test_forgetting_the_conversation_ends_the_answer_that_is_being_written_first() -> None:
    dialogues, order, room = Turns(), list[str](), (UserId(PERSON), None)

    async def turn() -> None:
        async with dialogues.order(room):
            with dialogues.stoppable(room, asker=UserId(PERSON)) as stop:
                await stop.wait()
                order.append("answer kept")

    running = asyncio.create_task(turn())
    await asyncio.sleep(0)
    async with dialogues.at_rest(room):
        order.append("all forgotten")
    await running
    assert order == ["answer kept", "all forgotten"]
