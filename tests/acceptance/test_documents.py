"""What people do with documents: new versions, searching, renaming, originals, long pastes, photos, cancelling."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import Start
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.person import Person, Seen
from tests.servers.web import Reply, serve_web

FIRST = "# Цена\n\nОфис стоит 100 рублей в месяц, оплата до пятого числа.\n"
FARE = (
    "<html><head><title>Цены</title></head><body><article><h1>Цены</h1><p>Проезд по городу стоит {} рублей для "
    "взрослых, дети до семи лет ездят бесплатно, багаж оплачивается отдельно.</p></article></body></html>"
)
SECOND = "# Цена\n\nОфис стоит 120 рублей в месяц, оплата до пятого числа.\n\n# Сроки\n\nДоговор действует один год.\n"


def write(folder: Path, text: str, name: str = "План.md") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


async def send_two_versions(you: Person, tmp_path: Path) -> Seen:
    """The question that the second one brings."""
    await enter(you, "base")
    await you.send_file(write(tmp_path / "a", FIRST))
    await you.wait_for("✅ План.md в базе", READ_S)
    await you.send_file(write(tmp_path / "b", SECOND))
    return await you.wait_for("План.md уже есть, но содержание новое", READ_S)


async def test_a_new_version_takes_the_place_of_the_old_one_and_says_what_changed(start: Start, tmp_path: Path) -> None:
    async with start() as page, Person(page) as you:
        question = await send_two_versions(you, tmp_path)
        assert [text for row in question.buttons for text in row] == ["Заменить", "Оставить оба", "Пропустить"]
        await you.press("Заменить", question)
        receipt = await you.wait_for("✅ План.md: заменил", READ_S)
        assert "добавлен раздел «Сроки»" in receipt.text
        await enter(you, "chat")
        await you.say("Сколько стоит офис в месяц?")
        answer = await you.wait_for("Информация взята из", READ_S)
    assert "120 рублей" in answer.text
    assert "100 рублей" not in answer.text


async def test_both_versions_are_kept_side_by_side(start: Start, tmp_path: Path) -> None:
    async with start() as page, Person(page) as you:
        await you.press("Оставить оба", await send_two_versions(you, tmp_path))
        await you.wait_for("✅ План \\(2\\).md в базе", READ_S)
        await you.say("/docs")
        listed = await you.wait_for("Документы: 2")
    assert "План.md" in listed.text
    assert "План (2).md" in listed.text


async def test_the_second_of_a_name_is_found_by_its_number(start: Start, tmp_path: Path) -> None:
    texts = ("Забор чиним в мае.\n", "Крыльцо красим в июле, если не будет дождя, а то в августе.\n", "Сад сажаем.\n")
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(write(tmp_path, texts[0]))
        await you.wait_for("✅ План.md в базе", READ_S)
        for number in (2, 3):
            sent = await you.send_file(write(tmp_path, texts[number - 1]))
            await you.press("Оставить оба", await you.wait_for("План.md уже есть", READ_S, after=sent))
            await you.wait_for(f"✅ План \\({number}\\).md в базе", READ_S)
        found = await you.wait_for("План \\(2\\)", after=await you.say("/docs план (2)"))
        assert "Документы: 1" in found.text
        await enter(you, "chat")
        for number in (2, 3):
            asked = await you.say(f"Что в План ({number})?")
            answer = await you.wait_for("Информация взята из", READ_S, after=asked)
            assert f"Информация взята из:\n📄 План ({number}).md" in answer.text


async def test_a_skipped_version_leaves_the_old_one(start: Start, tmp_path: Path) -> None:
    async with start() as page, Person(page) as you:
        await you.press("Пропустить", await send_two_versions(you, tmp_path))
        await you.wait_for("Пропустил: в базе осталось прежнее", READ_S)
        await you.say("/docs")
        await you.wait_for("Документы: 1")


async def test_documents_are_searched_renamed_and_sent_back(start: Start, tmp_path: Path) -> None:
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        upload = await you.send_file(write(tmp_path, FIRST))
        await you.wait_for("✅ План.md в базе", READ_S)
        await you.say("/docs")
        await you.press("🔍", await you.wait_for("Документы: 1"))
        await you.wait_for("Какие слова есть в названии?")
        await you.say("план")
        found = await you.wait_for("«план»")
        await you.press("1", found)
        card = await you.wait_for("добавлен")
        await you.press("Переименовать", card)
        question = await you.wait_for("Как назвать План.md?")
    async with start() as page, Person(page) as you:  # what was asked outlives the process
        await you.say("Аренда офиса.md")
        await you.wait_for("Теперь это Аренда офиса.md")
        await you.press("Оригинал", card)
        copy = await you.wait_for(
            lambda seen: seen.message_id > question.message_id + 2 and seen.file_name == "План.md"
        )
    assert copy.message_id != upload.message_id


async def test_a_file_of_an_album_with_a_known_name_and_other_content_asks(start: Start, tmp_path: Path) -> None:
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(write(tmp_path, FIRST))
        await you.wait_for("✅ План.md в базе", READ_S)
        estimate = tmp_path / "Смета.md"
        estimate.write_text("Смета на ремонт склада: сорок тысяч рублей.", encoding="utf-8")
        sent = await you.send_files([write(tmp_path, SECOND), estimate])
        asked = await you.wait_for("План.md уже есть, но содержание новое", READ_S, after=sent[0])
        await you.press("Заменить: План.md", asked)
        await you.wait_for("Всего 2 документа, в базе 2", READ_S, after=sent[0])


async def test_a_text_of_two_messages_is_one_document(start: Start) -> None:
    paragraph = "Встреча прошла хорошо, договорились о сроках и цене, все были довольны и разошлись.\n"
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.say(paragraph * 60 + "Последнее решение: следующая встреча состоится в четверг на улице Мира.")
        receipt = await you.wait_for("✅ Встреча прошла хорошо", READ_S)
        await you.say("/docs")
        await you.wait_for("Документы: 1")
    assert "фрагмент" in receipt.text


async def test_a_link_is_refreshed_into_a_new_version(start: Start) -> None:
    async with serve_web() as web:
        web.replies["/a"] = Reply(body=FARE.format("сорок").encode())
        async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
            await enter(you, "base")
            await you.say(web.url("/a"))
            await you.wait_for("✅ Цены в базе", READ_S)
            web.replies["/a"] = Reply(body=FARE.format("пятьдесят").encode())
            await you.say("/docs")
            await you.press("1", await you.wait_for("Документы: 1"))
            await you.press("Обновить", await you.wait_for("добавлен"))
            receipt = await you.wait_for("✅ Цены: заменил", READ_S)
    assert "теперь «пятьдесят» вместо «сорок»" in receipt.text


async def test_a_link_that_is_sent_again_is_one_document(start: Start) -> None:
    async with serve_web() as web, start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
        await enter(you, "base")
        for price, receipt in (
            ("сорок", "✅ Цены в базе"),
            ("пятьдесят", "✅ Цены: заменил"),
            ("пятьдесят", "уже есть"),
        ):
            web.replies["/a"] = Reply(body=FARE.format(price).encode())
            await you.wait_for(receipt, READ_S, after=await you.say(web.url("/a")))
        await you.say("/docs")
        await you.wait_for("Документы: 1")


async def test_a_link_that_could_not_be_read_is_tried_again_by_its_card(start: Start) -> None:
    async with serve_web() as web:
        web.replies["/a"] = Reply(status=404)
        async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
            await enter(you, "base")
            await you.say(web.url("/a"))
            await you.wait_for("нет такой страницы", READ_S)
            web.replies["/a"] = Reply(body=FARE.format("сорок").encode())
            await you.say("/docs")
            await you.press("1", await you.wait_for("Не прочитаны: 1"))
            await you.press("Обновить", await you.wait_for("добавлен"))
            await you.wait_for("✅ Цены в базе", READ_S)
            await you.say("/docs")
            await you.wait_for("Документы: 1")


async def test_a_link_that_has_not_changed_says_so(start: Start) -> None:
    async with serve_web() as web:
        web.replies["/a"] = Reply(body=FARE.format("сорок").encode())
        async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
            await enter(you, "base")
            await you.say(web.url("/a"))
            await you.wait_for("✅ Цены в базе", READ_S)
            await you.say("/docs")
            await you.press("1", await you.wait_for("Документы: 1"))
            await you.press("Обновить", await you.wait_for("добавлен"))
            await you.wait_for("ничего не изменилось", READ_S)


async def test_a_batch_can_be_cancelled_as_a_whole(start: Start) -> None:
    async with serve_web() as web:
        addresses = [web.url(f"/{number}") for number in range(3)]
        for number in range(3):
            web.replies[f"/{number}"] = Reply(body=b"x", wait_s=60)
        async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
            await enter(you, "base")
            await you.say(" ".join(addresses))
            live = await you.wait_for("Готово 0 из 3", READ_S)
            await you.press("Отменить всё", live)
            await you.wait_for("Всего 3 документа, в базе 0", 45)  # before the pages could have come


async def test_a_file_that_telegram_does_not_hand_out_is_refused_at_once(start: Start, tmp_path: Path) -> None:
    archive = tmp_path / "архив.zip"
    with archive.open("wb") as file:
        file.truncate(21 * 2**20)
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(archive)
        refused = await you.wait_for("больше 20.МБ", READ_S)
    assert "Telegram не отдаёт такие файлы ботам" in refused.text
    assert "пришлите ссылку" in refused.text


@pytest.mark.parametrize("name", ["голос.ogg"])
async def test_where_no_speech_model_is_set_up_a_recording_says_so(start: Start, tmp_path: Path, name: str) -> None:
    recording = tmp_path / name
    recording.write_bytes(b"OggS" + bytes(200))
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(recording)
        failed = await you.wait_for("распознавание речи здесь не настроено", READ_S)
    assert "Голосовое от" in failed.text
