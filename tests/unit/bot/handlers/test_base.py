"""Mode База: everything sent becomes rows of the queue before the handler returns."""

from typing import Any

import pytest

from domain.documents import DocumentStatus, Lane, SourceType
from domain.ids import BaseId
from domain.people import Mode
from tests.fakes.bot import GROUP, PERSON, Person
from tests.fakes.stores import Sent, now


async def in_base_mode(**changes: object) -> Person:
    anna = Person(**changes)  # type: ignore[arg-type] # fields of Person
    await anna.choose(Mode.DOCUMENTS)
    return anna


def kept(person: Person) -> list[Sent]:
    return list(person.stores.library.sent.values())


async def test_a_file_is_enqueued_and_everybody_woken() -> None:
    anna = await in_base_mode()
    await anna.send_file("Договор.pdf")
    (document,) = kept(anna)
    assert (document.source.type, document.source.identifier) == (SourceType.FILE, "Договор.pdf")
    assert anna.woken == 1


async def test_files_of_an_album_wait_a_moment_for_the_words_under_it() -> None:
    anna = await in_base_mode()
    await anna.send_file("план.pdf", media_group_id="дача")
    await anna.send_file("смета.pdf", media_group_id="дача", caption="Дача")
    await anna.send_file("без альбома.pdf")
    assert [document.run_after > now() for document in kept(anna)] == [True, False, False]


@pytest.mark.parametrize("said", ["какой код от домофона?", "ок", "Спасибо!", "привет"])
async def test_what_is_said_to_baza_is_kept_only_on_request(said: str) -> None:
    anna = await in_base_mode()
    number = await anna.say(said)
    assert not kept(anna)
    assert anna.last.buttons == {"Ответить": "answer", "Сохранить": "keep"}
    await anna.press("keep", original=anna.original(number, text=said))
    assert [document.source.text for document in kept(anna)] == [said]


async def test_a_letter_that_ends_with_a_question_is_a_document() -> None:
    anna = await in_base_mode()
    await anna.say("Добрый день! Прошу согласовать смету.\nКогда ответите?")
    assert len(kept(anna)) == 1


async def test_nothing_is_said_by_the_handler_itself() -> None:
    anna = await in_base_mode()
    await anna.send_file("Договор.pdf")
    assert anna.session.said == []


async def test_the_batch_knows_whom_to_answer() -> None:
    anna = await in_base_mode()
    number = await anna.send_file("Договор.pdf")
    (document,) = kept(anna)
    batch = document.batch
    assert (batch.chat_id, batch.message_id, batch.language) == (PERSON, number, "ru")


async def test_a_link_is_a_link_and_prose_is_a_note() -> None:
    anna = await in_base_mode()
    await anna.say("https://example.org/a")
    await anna.say("Штраф за просрочку составляет одну десятую процента в день.")
    assert [document.source.type for document in kept(anna)] == [SourceType.LINK, SourceType.NOTE]


async def test_a_file_over_the_limit_gets_the_sentence_about_telegram() -> None:
    anna = await in_base_mode()
    await anna.send_file("архив.zip", size=21 * 2**20)
    assert anna.last.text == (
        "архив.zip больше 20\u00a0МБ, Telegram не отдаёт такие файлы ботам. Разбейте его на части или пришлите ссылку."
    )
    assert not kept(anna)


HUGE = 21 * 2**20


async def test_the_words_under_a_refused_file_are_kept_without_it() -> None:
    anna = await in_base_mode()
    origin = {"type": "hidden_user", "date": 1_600_000_000, "sender_user_name": "Пётр"}
    await anna.send_file("фильм.mp4", size=HUGE, caption="Собрание в среду, приходите все.", forward_origin=origin)
    (note,) = kept(anna)
    assert (note.source.type, note.source.text) == (SourceType.NOTE, "Собрание в среду, приходите все.")
    assert note.source.author == "Пётр"
    assert anna.woken == 1
    assert anna.last.text.endswith("пришлите ссылку. Подпись под ним взял в базу.")


async def test_the_words_under_what_cannot_be_read_are_kept_without_it() -> None:
    anna = await in_base_mode()
    await anna.send(paid_media={"star_count": 1, "paid_media": []}, caption="Смотрите https://example.org/a")
    assert anna.last.text.startswith("Такое сообщение прочитать не умею.")
    assert [document.source.text for document in kept(anna)] == ["Смотрите https://example.org/a"]


async def test_the_words_under_a_refused_file_of_an_album_are_those_of_the_others() -> None:
    anna = await in_base_mode()
    await anna.send_file("план.pdf", media_group_id="дача")
    await anna.send_file("фильм.mp4", size=HUGE, media_group_id="дача", caption="Дача в Комарово")
    await anna.send_file("смета.pdf", media_group_id="дача")
    assert len({document.batch_id for document in kept(anna)}) == 1
    assert [document.source.text for document in kept(anna)] == [None, "Дача в Комарово", None]


async def test_the_words_under_a_refused_file_go_on_with_no_earlier_note() -> None:
    anna = await in_base_mode()
    await anna.say("слово " * 680)
    await anna.send_file("фильм.mp4", size=HUGE, caption="и вот как это было")
    assert len(kept(anna)) == 2


async def test_with_a_server_of_ones_own_the_limit_is_not_called_telegrams() -> None:
    anna = Person(variables={"MAX_FILE_MB": "50", "TELEGRAM_API_URL": "http://127.0.0.1:8081"})
    await anna.choose(Mode.DOCUMENTS)
    await anna.send_file("малый.zip", size=49 * 2**20)
    assert len(kept(anna)) == 1
    await anna.send_file("архив.zip", size=51 * 2**20)
    assert (
        anna.last.text
        == "архив.zip больше 50\u00a0МБ, такой файл мне не прочитать. Разбейте его на части и пришлите их."
    )


@pytest.mark.parametrize(
    ("content", "beginning"),
    [
        ({"location": {"latitude": 1.0, "longitude": 2.0}}, "Место на карте"),
        ({"dice": {"emoji": "🎲", "value": 4}}, "Стикер в базу не положить."),
    ],
    ids=["location", "dice"],
)
async def test_what_cannot_be_kept_is_named(content: dict[str, object], beginning: str) -> None:
    anna = await in_base_mode()
    await anna.send(**content)
    assert anna.last.text.startswith(beginning)
    assert "Пришлите файл" in anna.last.text


FILE = {"file_id": "f", "file_unique_id": "u", "file_size": 10}
DAY = {"date": 1_780_000_000}  # 28 May 2026


@pytest.mark.parametrize(
    ("content", "title", "lane"),
    [
        ({"voice": {**FILE, "duration": 3}}, "Голосовое от 28 мая", Lane.LONG),
        ({"video_note": {**FILE, "duration": 3, "length": 1}}, "Видеосообщение от 28 мая", Lane.LONG),
        ({"audio": {**FILE, "duration": 3, "performer": "Цой", "title": "Кукушка"}}, "Цой – Кукушка", Lane.LONG),
        ({"photo": [{**FILE, "width": 9, "height": 9}]}, "Фото от 28 мая", Lane.QUICK),
        ({"document": FILE}, "Файл от 28 мая", Lane.QUICK),
        ({"document": {**FILE, "file_name": " \u202e\n"}}, "Файл от 28 мая", Lane.QUICK),
    ],
    ids=["voice", "video_note", "audio", "photo", "document", "document with a blank name"],
)
async def test_recordings_and_photos_get_a_name_for_people(content: dict[str, object], title: str, lane: Lane) -> None:
    anna = await in_base_mode()
    await anna.send(**content, **DAY)
    (document,) = kept(anna)
    source = document.source
    assert (source.type, source.title, source.lane, source.file_id) == (SourceType.FILE, title, lane, "f")


async def test_a_forwarded_recording_is_called_by_the_day_it_was_made() -> None:
    anna = await in_base_mode()
    origin = {"type": "hidden_user", "date": 1_685_800_000, "sender_user_name": "Пётр"}
    await anna.send(voice={"file_id": "v", "file_unique_id": "v", "duration": 3}, forward_origin=origin)
    (document,) = kept(anna)
    assert document.title.startswith("Голосовое от 3 июня 2023")


async def test_of_a_live_photo_the_photo_is_kept() -> None:
    anna = await in_base_mode()
    live = {"file_id": "film", "file_unique_id": "film", "width": 9, "height": 9, "duration": 2}
    await anna.send(live_photo=live, photo=[{**FILE, "width": 9, "height": 9}], **DAY)
    assert [(document.source.title, document.source.file_id) for document in kept(anna)] == [("Фото от 28 мая", "f")]


async def test_what_is_new_in_telegram_is_not_passed_over_in_silence() -> None:
    anna = await in_base_mode()
    await anna.send(rich_message={"blocks": []})
    assert anna.last.text.startswith("Такое сообщение прочитать не умею.")


CELL = {"align": "left", "valign": "top"}


def paragraph(*text: Any) -> dict[str, Any]:
    return {"type": "paragraph", "text": list(text)}


async def test_a_rich_message_is_kept_as_what_it_says() -> None:
    anna = await in_base_mode()
    items = [{"label": f"{number}.", "blocks": [paragraph(word)]} for number, word in enumerate(("доски", "гвозди"), 1)]
    blocks = [
        {"type": "heading", "text": "Забор", "size": 1},
        {"type": "thinking", "text": "Думаю…"},
        paragraph("Нужны ", {"type": "bold", "text": ["доски ", {"type": "italic", "text": "и"}]}, " гвозди."),
        {"type": "list", "items": items},
        {
            "type": "table",
            "cells": [[{**CELL, "text": "доска"}, {**CELL, "text": "100"}], [{**CELL}, {**CELL, "text": "5"}]],
        },
        {"type": "photo", "photo": [], "caption": {"text": "Так он выглядит", "credit": "Пётр"}},
        {"type": "divider"},
    ]
    await anna.send(rich_message={"blocks": blocks}, forward_origin=HIDDEN)
    assert kept(anna)[0].source.text == (
        "Забор\n\nНужны доски и гвозди.\n\n1. доски\n2. гвозди\n\nдоска | 100\n | 5\n\nТак он выглядит Пётр"
    )


async def test_a_long_rich_message_does_not_go_on_in_the_next_one() -> None:
    anna = await in_base_mode()
    await anna.send(rich_message={"blocks": [paragraph("слово " * 680)]})
    await anna.say("и вот другая заметка, несколько слов.")
    assert [document.run_after > now() for document in kept(anna)] == [False, False]


async def test_a_list_of_tasks_is_kept_as_what_it_says() -> None:
    anna = await in_base_mode()
    await anna.send(checklist={"title": "Купить", "tasks": [{"id": 1, "text": "Доски"}, {"id": 2, "text": "Гвозди"}]})
    assert kept(anna)[0].source.text == "Купить\n- Доски\n- Гвозди"


async def test_of_a_photo_the_largest_size_is_kept() -> None:
    anna = await in_base_mode()
    small, large = {**FILE, "width": 90, "height": 90}, {**FILE, "file_id": "large", "width": 900, "height": 900}
    await anna.send(photo=[small, large])
    assert kept(anna)[0].source.file_id == "large"


async def test_a_poll_is_kept_as_what_it_says() -> None:
    anna = await in_base_mode()
    options = [
        {"text": "Да", "voter_count": 3, "persistent_id": "1"},
        {"text": "Нет", "voter_count": 0, "persistent_id": "2"},
    ]
    poll = {"id": "1", "question": "Едем?", "options": options, "total_voter_count": 3, "is_closed": False}
    poll |= {"is_anonymous": True, "type": "regular", "allows_multiple_answers": False, "allows_revoting": False}
    await anna.send(poll=poll | {"members_only": False})
    assert kept(anna)[0].source.text == "Едем?\n- Да: 3\n- Нет: 0"


async def test_a_post_of_a_public_channel_keeps_its_author_and_address() -> None:
    anna = await in_base_mode()
    channel = {"id": -1001, "type": "channel", "title": "Новости", "username": "news"}
    origin = {"type": "channel", "date": 1_700_000_000, "chat": channel, "message_id": 12, "author_signature": "Пётр"}
    await anna.say("Завтра дождь, послезавтра солнце, берите зонты с собой.", forward_origin=origin)
    source = kept(anna)[0].source
    assert (source.author, source.url) == ("Новости, Пётр", "https://t.me/news/12")


async def test_a_text_that_was_cut_in_two_is_one_document() -> None:
    anna = await in_base_mode()
    await anna.say("слово " * 680)
    await anna.say("и вот конец этого длинного текста, всего несколько слов.")
    (document,) = kept(anna)
    assert document.source.text is not None
    assert document.source.text.endswith("несколько слов.")


async def test_short_notes_after_each_other_are_two() -> None:
    anna = await in_base_mode()
    await anna.say("Первая заметка, совсем короткая, но со смыслом.")
    await anna.say("Вторая заметка, тоже короткая, но о другом.")
    assert len(kept(anna)) == 2


async def test_a_video_host_waits_in_the_long_lane() -> None:
    anna = await in_base_mode()
    await anna.say("https://www.youtube.com/watch?v=dQw4w9WgXcQ")
    assert kept(anna)[0].source.lane is Lane.LONG


async def test_service_messages_are_not_answered() -> None:
    anna = await in_base_mode()
    await anna.send(group_chat_created=True)
    assert anna.session.calls == []


async def test_a_forwarded_post_keeps_its_author() -> None:
    anna = await in_base_mode()
    origin = {"type": "hidden_user", "date": 1_600_000_000, "sender_user_name": "Пётр"}
    await anna.say("Собрание перенесли на вторник, приходите все.", forward_origin=origin)
    assert kept(anna)[0].source.author == "Пётр"


async def test_the_same_update_again_adds_nothing() -> None:
    anna = await in_base_mode()
    number = await anna.send_file("Договор.pdf")
    anna._update_id = number - 1
    await anna.send_file("Договор.pdf")
    assert len(kept(anna)) == 1


async def test_cancel_stops_the_document() -> None:
    anna = await in_base_mode()
    await anna.send_file("Договор.pdf")
    (document,) = kept(anna)
    await anna.say("/help")
    await anna.press(f"stop:{document.id}")
    assert document.status is DocumentStatus.CANCELLED
    assert anna.popup.params["text"] == "Отменено"


async def test_a_stranger_cannot_cancel() -> None:
    anna = await in_base_mode()
    await anna.send_file("Договор.pdf")
    (document,) = kept(anna)
    eve = Person(user=8, chat=8, stores=anna.stores)
    await eve.say("/help")
    await eve.press(f"stop:{document.id}")
    assert document.status is DocumentStatus.QUEUED


async def test_a_group_keeps_what_mentions_the_bot_in_its_own_base() -> None:
    anna = await in_base_mode(chat=GROUP)
    await anna.say("Это никому не предназначено, просто разговор в группе.")
    await anna.say("@baza_bot Сбор участников у входа в девять часов утра.")
    (document,) = kept(anna)
    assert document.source.text == "Сбор участников у входа в девять часов утра."
    assert document.base_id != await private_base(anna)


async def private_base(anna: Person) -> BaseId:
    from domain.ids import ChatId, UserId

    return await anna.stores.people.open_base(ChatId(PERSON), thread=None, member=UserId(PERSON))


HIDDEN = {"type": "hidden_user", "date": 1_700_000_000, "sender_user_name": "Иван"}


@pytest.mark.parametrize("text", ["/clean", "/start", "/stats", "/dialogs", "/nonsense", "💬 Чат", "🗂 Документы"])
async def test_a_forwarded_line_is_a_note_whatever_it_says(text: str) -> None:
    anna = await in_base_mode()
    await anna.say(text, forward_origin=HIDDEN)
    (document,) = anna.stores.library.sent.values()
    assert document.source.text == text


@pytest.mark.parametrize("caption", ["/clean", "/help как пользоваться", "💬 Чат"])
async def test_a_file_is_kept_whatever_its_caption_says(caption: str) -> None:
    anna = await in_base_mode()
    await anna.send_file("договор.pdf", caption=caption)
    (document,) = anna.stores.library.sent.values()
    assert document.source.identifier == "договор.pdf"
