"""What people send once more, or otherwise than expected: known files with words, albums, links kept as files."""

from pathlib import Path

from tests.acceptance.conftest import Start
from tests.acceptance.test_documents import FARE, FIRST, SECOND, send_two_versions, write
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.person import Person
from tests.servers.web import Reply, serve_web


async def test_a_link_that_could_not_be_refreshed_stays_one_document_and_says_so(start: Start) -> None:
    async with serve_web() as web:
        web.replies["/a"] = Reply(body=FARE.format("сорок").encode())
        async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
            await enter(you, "base")
            await you.say(web.url("/a"))
            await you.wait_for("✅ Цены в базе", READ_S)
            web.replies["/a"] = Reply(status=404)
            await you.say("/docs")
            await you.press("1", await you.wait_for("Документы: 1"))
            await you.press("Обновить", await you.wait_for("добавлен"))
            failed = await you.wait_for("нет такой страницы", READ_S)
            await you.say("/docs")
            await you.press("1", await you.wait_for("Документы: 1", after=failed))
            card = await you.wait_for(r"Последнее обновление не удалось\. .*нет такой страницы")
            web.replies["/a"] = Reply(body=FARE.format("пятьдесят").encode())
            await you.press("Обновить", card)
            await you.wait_for("✅ Цены: заменил", READ_S)


async def test_words_under_a_file_that_is_there_already_are_kept_with_it(start: Start, tmp_path: Path) -> None:
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(write(tmp_path / "a", FIRST))
        await you.wait_for("✅ План.md в базе", READ_S)
        await you.send_file(write(tmp_path / "b", FIRST), "Это смета для Кузнецова")
        await you.wait_for("✅ План.md уже был в базе: добавил к нему вашу подпись", READ_S)
        await you.say("/docs")
        await you.wait_for("Документы: 1")
        await enter(you, "chat")
        await you.say("Что за смета для Кузнецова?")
        answer = await you.wait_for("Информация взята из", READ_S)
    assert "смета для Кузнецова" in answer.text


async def test_the_same_new_content_asks_once(start: Start, tmp_path: Path) -> None:
    async with start() as page, Person(page) as you:
        await send_two_versions(you, tmp_path)
        await you.send_file(write(tmp_path / "c", SECOND))
        waiting = await you.wait_for("План.md уже ждёт вашего ответа", READ_S)
        await you.press("Показать", waiting)
        card = await you.wait_for("ждёт вашего выбора")
    assert "Заменить" in str(card.buttons)


async def test_every_file_of_an_album_is_found_by_the_words_under_it(start: Start, tmp_path: Path) -> None:
    texts = {"a.md": "Крыша покрыта железом.\n", "b.md": "Забор стоит вдоль реки.\n"}
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.send_files([write(tmp_path, text, name) for name, text in texts.items()], "Дача в Комарово")
        await you.wait_for("Всего 2 документа, в базе 2", READ_S)
        await enter(you, "chat")
        await you.say("Что есть про дачу в Комарово?")
        answer = await you.wait_for("Информация взята из", READ_S)
    assert all(name in answer.text for name in texts)


def write_huge(folder: Path, name: str = "фильм.bin") -> Path:
    """More than Telegram hands to bots, and nearly nothing on the disk."""
    path = folder / name
    with path.open("wb") as file:
        file.truncate(21 * 2**20)
    return path


async def test_the_words_of_an_album_outlive_the_file_that_is_refused(start: Start, tmp_path: Path) -> None:
    readable = write(tmp_path, "Крыша покрыта железом.\n", "a.md")
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        sent = await you.send_files([readable, write_huge(tmp_path)], "Дача в Комарово", captioned=1)
        await you.wait_for("фильм.bin больше 20(.|\n)*Подпись под ним взял в базу", after=sent[0])
        await you.wait_for("Всего 2 документа, в базе 2", READ_S)
        await enter(you, "chat")
        await you.say("Что есть про дачу в Комарово?")
        answer = await you.wait_for("Информация взята из", READ_S)
    assert "a.md" in answer.text


async def test_the_words_under_a_refused_file_are_kept_in_base_and_answered_in_chat(
    start: Start, tmp_path: Path
) -> None:
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(write_huge(tmp_path), "Собрание жильцов пройдёт в среду вечером.")
        await you.wait_for("✅ Собрание жильцов пройдёт в среду вечером", READ_S)
        await enter(you, "chat")
        asked = await you.send_file(write_huge(tmp_path), "Когда пройдёт собрание жильцов?")
        await you.wait_for("фильм.bin больше 20", after=asked)
        answer = await you.wait_for("Информация взята из", READ_S, after=asked)
    assert "в среду вечером" in answer.text


async def test_a_program_is_found_by_the_words_under_it(start: Start, tmp_path: Path) -> None:
    program = tmp_path / "setup.exe"
    program.write_bytes(b"MZ\x90\x00\x03" + bytes(2000))
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(program, "Программа для печати наклеек на банки")
        receipt = await you.wait_for("✅ setup.exe в базе", READ_S)
        assert "Не прочитано: setup.exe (не знаю такого формата)" in receipt.text
        alone = tmp_path / "alone.exe"
        alone.write_bytes(b"MZ\x90\x00\x04" + bytes(3000))
        await you.wait_for("alone.exe", READ_S, after=await you.send_file(alone))
        await enter(you, "chat")
        asked = await you.say("Чем печатать наклейки на банки?")
        answer = await you.wait_for("Информация взята из", READ_S, after=asked)
    assert "setup.exe" in answer.text


async def test_a_link_that_is_kept_as_a_file_is_read(start: Start, tmp_path: Path) -> None:
    async with serve_web() as web:
        web.replies["/a"] = Reply(body=FARE.format("сорок").encode())
        async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
            await enter(you, "base")
            await you.send_file(write(tmp_path, f"[InternetShortcut]\nURL={web.url('/a')}\n", "Цены.url"))
            await you.wait_for("✅ Цены в базе", READ_S)
            web.replies["/a"] = Reply(body=FARE.format("пятьдесят").encode())
            await you.say("/docs")
            await you.press("1", await you.wait_for("Документы: 1"))
            await you.press("Обновить", await you.wait_for("добавлен"))
            replaced = await you.wait_for("✅ Цены: заменил", READ_S)
            await you.say(web.url("/a"))
            await you.wait_for("уже есть в базе с", READ_S, after=replaced)
            await enter(you, "chat")
            await you.say("Сколько стоит проезд по городу?")
            answer = await you.wait_for("Информация взята из", READ_S)
    assert "пятьдесят рублей" in answer.text
