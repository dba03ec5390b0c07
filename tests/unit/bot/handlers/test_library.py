"""The list of documents, cards, deleting, cleaning, sources and thumbs."""

import pytest

from bot.keyboards import CancelBatch, KeepBatch, KeepDocument
from domain.documents import DocumentStatus
from domain.ids import ChatId, ChunkId, MessageId, UserId
from domain.locator import Locator
from domain.people import Mode
from ingestion.records import Block, BlockKind
from rag.records import Answered, AnswerKind, Passage
from tests.fakes.bot import GROUP, PERSON, Person, plain_answer
from tests.fakes.stores import Sent

MENTION = [{"type": "mention", "offset": 0, "length": 9}]


async def with_documents(count: int) -> Person:
    anna = Person()
    await anna.choose(Mode.DOCUMENTS)
    for number in range(1, count + 1):
        await anna.send_file(f"Документ {number}.pdf")
    anna.session.calls.clear()
    return anna


def first(person: Person) -> Sent:
    return next(iter(person.stores.library.sent.values()))


def make_ready(row: Sent, text: str = "Штраф 0,1 % за каждый день.") -> None:
    row.passages.append(
        Passage(
            chunk_id=ChunkId(5),
            document_id=row.id,
            ordinal=0,
            title=row.title,
            source_type=row.source.type,
            source_identifier=row.source.identifier,
            text=text,
            locator=Locator(page=7),
        )
    )
    row.status = DocumentStatus.READY


async def test_the_list_shows_eight_to_a_page_and_the_way_on() -> None:
    anna = await with_documents(9)
    await anna.say("/docs")
    lines = anna.last.text.splitlines()
    assert lines[0] == "🗂 Документы: 9 · стр. 1 из 2"
    assert len(lines) == 10  # the title, a blank line, eight documents
    assert list(anna.last.buttons)[-1] == "›"


@pytest.mark.parametrize("label", ["🗂 Документы", "Документы", "🗂 Documents", "Documents"])
async def test_the_next_page_takes_the_place_of_the_first(label: str) -> None:
    anna = await with_documents(9)
    await anna.say(label)
    await anna.press(anna.last.buttons["›"])
    assert anna.last.name == "editMessageText"
    assert anna.last.text.splitlines()[2].startswith("9. 📄 Документ 1.pdf")


async def test_an_empty_list_says_what_to_do() -> None:
    anna = Person()
    await anna.say("/docs")
    assert anna.last.text.startswith("В базе пока пусто.")


async def test_a_card_leads_to_deleting_after_a_question() -> None:
    anna = await with_documents(1)
    await anna.say("/docs")
    await anna.press(anna.last.buttons["1"])
    await anna.press(anna.last.buttons["Удалить"])
    assert anna.last.text == "Удалить Документ 1.pdf? Вернуть его нельзя."
    assert anna.stores.library.sent
    await anna.press(anna.last.buttons["Да, удалить"])
    assert anna.last.text == "Удалено: Документ 1.pdf"
    assert not anna.stores.library.sent


async def open_first(anna: Person) -> None:
    await anna.say("/docs")
    await anna.press(anna.last.buttons["1"])


async def test_the_original_comes_as_a_copy_of_its_message() -> None:
    anna = await with_documents(1)
    await open_first(anna)
    await anna.press(anna.last.buttons["Оригинал"])
    (copied,) = anna.session.named("copyMessage")
    assert int(copied.params["message_id"]) == first(anna).batch.message_id


async def test_of_a_message_that_is_gone_the_text_comes_as_a_file() -> None:
    anna = await with_documents(1)
    make_ready(first(anna))
    first(anna).blocks = [Block(kind=BlockKind.PARAGRAPH, text="Штраф 0,1 %.")]
    await open_first(anna)
    anna.session.fail("copyMessage", description="Bad Request: message to copy not found")
    await anna.press(anna.last.buttons["Оригинал"])
    assert len(anna.session.named("sendDocument")) == 1


async def test_documents_are_found_by_a_part_of_their_name() -> None:
    anna = await with_documents(12)
    await anna.say("/docs")
    await anna.press(anna.last.buttons["🔍"])
    await anna.say("мент 1")
    assert anna.last.text.splitlines()[0] == "🗂 Документы: 4 · «мент 1»"  # 1, 10, 11, 12


async def test_a_search_that_finds_nothing_says_so() -> None:
    anna = await with_documents(1)
    await anna.say("/docs устав")
    assert anna.last.text == "Документов с «устав» в названии нет. Поищите по другому слову."
    await anna.press(anna.last.buttons["‹ К списку"])
    assert anna.last.text.startswith("🗂 Документы: 1")


async def test_pages_of_a_search_stay_within_it() -> None:
    anna = await with_documents(12)
    await anna.say("/docs документ")
    await anna.press(anna.last.buttons["›"])
    assert anna.last.text.splitlines()[0] == "🗂 Документы: 12 · «документ» · стр. 2 из 2"


async def test_a_document_gets_another_name_by_the_next_words() -> None:
    anna = await with_documents(1)
    await open_first(anna)
    await anna.press(anna.last.buttons["Переименовать"])
    assert "force_reply" not in anna.last.params.get("reply_markup", {})  # the keyboard stays
    await anna.say("Аренда офиса")
    assert anna.last.text == "Теперь это Аренда офиса."
    assert first(anna).title == "Аренда офиса"


@pytest.mark.parametrize("name", [".", " — ", "\u200b\u202e"])
async def test_a_name_that_nobody_could_read_is_asked_for_once_more(name: str) -> None:
    anna = await with_documents(1)
    before = first(anna).title
    await open_first(anna)
    await anna.press(anna.last.buttons["Переименовать"])
    await anna.say(name)
    assert "хотя бы одна буква или цифра" in anna.last.text
    assert first(anna).title == before
    await anna.say("Аренда офиса")
    assert first(anna).title == "Аренда офиса"


@pytest.mark.parametrize("instead", ["/docs", "🗂 Документы", "💬 Чат", "nevermind", "a file", "a forwarded text"])
async def test_whatever_else_the_person_does_cancels_the_question_for_a_name(instead: str) -> None:
    anna = await with_documents(1)
    await open_first(anna)
    await anna.press(anna.last.buttons["Переименовать"])
    origin = {"type": "hidden_user", "sender_user_name": "Пётр", "date": 1_700_000_000}
    if instead == "nevermind":
        await anna.press(anna.last.buttons["Отмена"])
    elif instead == "a file":
        await anna.send_file("План.docx")
    elif instead == "a forwarded text":
        await anna.send(text="Новое имя", forward_origin=origin)
    else:
        await anna.say(instead)
    await anna.say("Аренда офиса")
    assert first(anna).title != "Аренда офиса"


async def test_in_a_group_the_question_opens_a_panel_for_the_person_alone() -> None:
    anna = Person(chat=GROUP)
    await anna.say("@baza_bot /base")
    await anna.send_file("Документ 1.pdf", caption="@baza_bot", caption_entities=MENTION)
    await anna.press(f"name:{first(anna).id}")
    assert anna.last.params["reply_markup"]["force_reply"]
    assert f"tg://user?id={anna.user}" in anna.last.html
    question = anna.session.message(max(anna.session.messages))
    await anna.say("Аренда офиса", reply_to_message=question)
    assert first(anna).title == "Аренда офиса"


async def test_the_text_of_a_document_can_be_paged_through() -> None:
    anna = await with_documents(1)
    make_ready(first(anna))
    first(anna).blocks = [Block(kind=BlockKind.PARAGRAPH, text=f"Абзац {n}. " + "слово " * 100) for n in range(20)]
    await open_first(anna)
    await anna.press(anna.last.buttons["Текст"])
    assert "Абзац 0." in anna.last.text
    await anna.press(anna.last.buttons["›"])
    assert "Абзац 0." not in anna.last.text
    assert list(anna.last.buttons) == ["‹", "›", "‹ К документу"]


async def test_in_a_group_whoever_sent_a_document_deletes_it() -> None:
    anna = Person(chat=GROUP)
    await anna.say("@baza_bot /base")
    await anna.send_file("Документ 1.pdf", caption="@baza_bot", caption_entities=MENTION)
    assert anna.stores.library.sent
    await anna.say("/docs@baza_bot")
    await anna.press(f"del:{first(anna).id}:1:0")
    assert not anna.stores.library.sent


async def test_in_a_group_only_the_sender_and_administrators_change_a_document() -> None:
    anna = Person(chat=GROUP)
    await anna.say("@baza_bot /base")
    await anna.send_file("Документ 1.pdf", caption="@baza_bot", caption_entities=MENTION)
    eve = Person(user=8, chat=GROUP, stores=anna.stores)
    await eve.say("/docs@baza_bot")
    document, batch = first(anna).id, first(anna).batch_id
    of_one = [f"{what}:{document}" for what in ("name", "stop", "back")]
    of_all = [KeepBatch(batch=batch).pack(), CancelBatch(batch=batch).pack()]
    for press in (
        f"del:{document}:1:0",
        f"ver:{document}:replace",
        KeepDocument(document=document).pack(),
        *of_one,
        *of_all,
    ):
        await eve.press(press)
        assert eve.popup.params["text"].startswith("Это может сделать тот, кто прислал документ")
    assert anna.stores.library.sent
    eve.session.administrators.add(8)
    await eve.press(f"del:{document}:1:0")
    assert not anna.stores.library.sent


async def test_in_a_group_only_administrators_clean() -> None:
    eve = Person(user=8, chat=GROUP)
    await eve.say("/clean@baza_bot")
    for what in ("chat", "base"):
        await eve.press(f"clean:{what}:1")
        assert eve.popup.params["text"] == "В группе удалять могут только её администраторы."


@pytest.mark.parametrize("prefix", ["doc:{}:0", "del:{}:1:0", "orig:{}", "ask:{}"])
async def test_somebody_elses_document_does_not_open(prefix: str) -> None:
    anna = await with_documents(1)
    eve = Person(user=8, chat=8, stores=anna.stores)
    await eve.say("/docs")
    await eve.press(prefix.format(first(anna).id))
    assert "нет" in eve.popup.params["text"] or "не найдено" in eve.popup.params["text"]
    assert anna.stores.library.sent


async def test_cleaning_the_base_asks_and_reports() -> None:
    anna = await with_documents(2)
    make_ready(first(anna))
    await anna.say("/clean")
    await anna.press(anna.last.buttons["Базу"])
    assert anna.last.text.startswith("Очистить базу? Будут удалены 2 документа")
    await anna.press(anna.last.buttons["Удалить всё"])
    assert anna.last.text == "База пуста: удалены 2 документа (1 фрагмент)."
    assert not anna.stores.library.sent


@pytest.mark.parametrize("button", ["del:{}:1:0", "clean:base:1"])
async def test_live_messages_are_looked_at_when_something_was_removed(button: str) -> None:
    anna = await with_documents(1)
    await anna.say("/docs")
    woken = anna.woken
    await anna.press(button.format(first(anna).id))
    assert not anna.stores.library.sent
    assert anna.woken == woken + 1


async def test_cleaning_can_be_called_off() -> None:
    anna = await with_documents(1)
    await anna.say("/clean")
    await anna.press(anna.last.buttons["Базу"])
    await anna.press(anna.last.buttons["Отмена"])
    assert anna.last.text == "Ничего не удалено."
    assert anna.stores.library.sent


async def test_cleaning_the_chat_leads_back_to_the_menu() -> None:
    anna = Person()
    await anna.choose(Mode.CHAT)
    await anna.say("/clean")
    await anna.press(anna.last.buttons["Разговор"])
    assert anna.last.text == "Очистить чат? Я забуду разговор (документы останутся)."
    await anna.press(anna.last.buttons["Очистить"])
    assert anna.last.text.startswith("Разговор забыт: удалено 0 сообщений.")
    assert anna.last.text.endswith("Выберите режим работы:")
    assert list(anna.last.buttons.values()) == ["chat", "documents"]


async def test_a_source_button_quotes_the_passage_in_reply_to_the_upload() -> None:
    anna = await with_documents(1)
    make_ready(first(anna))
    await anna.say("/help")
    await anna.press("src:5")
    assert anna.last.html == (
        "<b>📄 Документ 1.pdf, стр. 7</b>\n<blockquote expandable>Штраф 0,1 % за каждый день.</blockquote>"
    )
    assert anna.last.reply_to == first(anna).batch.message_id


async def test_a_source_that_is_gone_says_so() -> None:
    anna = Person()
    await anna.say("/help")
    await anna.press("src:5")
    assert anna.popup.params["text"] == "Этого фрагмента больше нет в базе."


async def test_a_thumb_is_saved_and_ticked() -> None:
    anna = Person()
    await anna.choose(Mode.CHAT)
    anna.conversation.events = [Answered(answer=plain_answer("Париж", kind=AnswerKind.GENERAL))]
    await anna.say("Столица Франции?")
    message = MessageId(max(anna.session.messages))
    await anna.press("rate:1")
    assert anna.stores.library.ratings == {(UserId(PERSON), ChatId(PERSON), message): 1}
    ticked = anna.session.named("editMessageReplyMarkup")[-1]
    assert list(ticked.buttons) == ["👍 ✓", "👎"]


async def test_ask_about_goes_over_to_chat() -> None:
    anna = await with_documents(1)
    await anna.say("/help")
    await anna.press(f"ask:{first(anna).id}")
    assert anna.last.text.startswith("Режим «Чат». Отвечаю только по документу Документ 1.pdf.")
    assert anna.stores.people.states[UserId(PERSON)].only == first(anna).id
    assert anna.last.keyboard[0] == "💬 Чат ✓"


@pytest.mark.parametrize(
    ("count", "question"),
    [(1, "Будет удалён 1 документ"), (3, "Будут удалены 3 документа"), (5, "Будет удалено 5 документов")],
)
async def test_the_question_before_cleaning_agrees_with_its_number(count: int, question: str) -> None:
    anna = await with_documents(count)
    await anna.say("/clean")
    await anna.press(anna.last.buttons["Базу"])
    assert question in anna.last.text


@pytest.mark.parametrize(
    ("searched", "said"), [(True, "В базе об этом ничего не нашлось."), (False, "Ответить не получилось, и в базе я")]
)
async def test_where_nothing_was_searched_nothing_is_said_of_the_base(searched: bool, said: str) -> None:
    anna = await with_documents(1)
    make_ready(first(anna))
    await anna.choose(Mode.CHAT)
    anna.conversation.events = [Answered(answer=plain_answer("", kind=AnswerKind.NOTHING, searched=searched))]
    await anna.say("Спасибо!")
    assert anna.last.text.startswith(said)


async def test_what_could_not_be_read_is_listed_apart_and_can_be_dismissed() -> None:
    anna = await with_documents(3)
    first(anna).status = DocumentStatus.FAILED
    await anna.say("/docs")
    title, _, apart = anna.last.text.partition("\n\n")
    assert title == "🗂 Документы: 2"
    assert "Не прочитаны: 1" in apart
    await anna.press(anna.last.buttons["Убрать непрочитанные"])
    assert len(anna.stores.library.sent) == 2
    assert "Убрать непрочитанные" not in anna.last.buttons
