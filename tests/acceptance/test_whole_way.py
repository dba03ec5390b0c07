"""The whole way as a person sees it: menu, base, receipt, question, answer with its source; no models configured."""

from pathlib import Path

from tests.acceptance.conftest import Start
from tests.servers.person import Person
from tests.servers.web import Reply, serve_web

READ_S = 120.0
CONTRACT = "Договор аренды\n\nШтраф за просрочку оплаты составляет 0,1 % от суммы за каждый день.\n"
PAGE = """<!doctype html><html lang="ru"><head><meta charset="utf-8"><title>Правила парковки</title></head><body>
<article><h1>Правила парковки</h1><p>Во дворе можно оставить автомобиль не дольше двух часов подряд. Исключение
составляют жители дома, которые получили пропуск у управляющей компании.</p><p>За нарушение автомобиль увозят на
стоянку, и вернуть его можно после уплаты штрафа в пятьсот рублей.</p></article></body></html>"""


async def enter(person: Person, mode: str) -> None:
    """Choose a mode by the reply keyboard, as people do after the first minute."""
    said = await person.say(f"/{mode}")
    await person.wait_for("Режим", after=said)


async def test_the_menu_offers_both_modes_and_confirms_the_choice(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await you.say("/start")
        menu = await you.wait_for("Выберите режим работы")
        assert [text for row in menu.buttons for text in row] == ["💬 Чат", "📚 База"]

        await you.press("База", menu)

        await you.wait_for("Режим «База». Пришлите файл")
        assert "📚 База ✓" in [text for row in await you.keyboard() for text in row]


async def test_a_file_becomes_a_receipt_and_answers_with_its_source(start: Start, tmp_path: Path) -> None:
    contract = tmp_path / "Договор аренды.md"
    contract.write_text(CONTRACT, encoding="utf-8")
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(contract)
        receipt = await you.wait_for("✅ Договор аренды.* в базе", READ_S)
        assert "1 фрагмент" in receipt.text

        await enter(you, "chat")
        await you.say("Какой штраф за просрочку оплаты?")
        answer = await you.wait_for("Информация взята из", READ_S)

    assert "Вот что нашлось в базе" in answer.text
    assert "0,1 % от суммы" in answer.text
    assert "📄 Договор аренды" in answer.text


async def test_the_source_button_shows_the_passage_in_reply_to_the_upload(start: Start, tmp_path: Path) -> None:
    contract = tmp_path / "Договор.md"
    contract.write_text(CONTRACT, encoding="utf-8")
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        upload = await you.send_file(contract)
        await you.wait_for("✅", READ_S)
        await enter(you, "chat")
        await you.say("Какой штраф за просрочку оплаты?")
        answer = await you.wait_for("Информация взята из", READ_S)

        await you.press("📄", answer)
        passage = await you.wait_for("Штраф за просрочку", after=answer)

    assert passage.reply_to == upload.message_id


async def test_a_link_is_read_and_cited_by_its_site(start: Start) -> None:
    async with serve_web() as web:
        web.replies["/rules"] = Reply(body=PAGE.encode())
        async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
            await enter(you, "base")
            await you.say(web.url("/rules"))
            await you.wait_for("✅ Правила парковки в базе", READ_S)
            await enter(you, "chat")
            await you.say("Сколько можно стоять во дворе?")
            answer = await you.wait_for("Информация взята из", READ_S)

    assert "🔗 Правила парковки, 127.0.0.1" in answer.text


async def test_an_inside_address_is_refused(start: Start) -> None:
    async with serve_web() as web:
        web.replies["/rules"] = Reply(body=PAGE.encode())
        async with start() as page, Person(page) as you:
            await enter(you, "base")
            await you.say(web.url("/rules"))
            await you.wait_for("127.0.0.1", READ_S)
    assert web.asked == []


async def test_an_album_is_one_live_message(start: Start, tmp_path: Path) -> None:
    reports = [tmp_path / f"Отчёт {number}.txt" for number in (1, 2, 3)]
    for report in reports:
        report.write_text(f"{report.stem}: продажи выросли.", encoding="utf-8")
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        first, *_ = await you.send_files(reports, "за квартал")
        receipt = await you.wait_for("Всего 3 документа, в базе 3", READ_S)
        live = [seen for seen in await you.messages() if seen.is_bot and seen.message_id > first.message_id]

    assert [seen.message_id for seen in live] == [receipt.message_id]
    assert receipt.text.startswith("✅ Отчёт 1.txt · 1 фрагмент\n✅ Отчёт 2.txt · 1 фрагмент\n")
    assert receipt.reply_to == first.message_id


async def test_a_note_is_kept_and_the_same_note_is_recognised(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.say("Код от домофона 4512, подъезд третий")
        await you.wait_for("✅ Код от домофона", READ_S)

        again = await you.say("Код от домофона 4512, подъезд третий")

        await you.wait_for("уже есть в базе", READ_S, after=again)


async def test_what_cannot_be_read_says_why_and_what_to_do(start: Start, tmp_path: Path) -> None:
    (tmp_path / "пусто.txt").write_bytes(b"")
    (tmp_path / "данные.bin").write_bytes(bytes(range(256)) * 64)
    (tmp_path / "отчёт.pdf").write_bytes(b"%PDF-1.7\n" + b"\x00" * 100)
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        for name in ("пусто.txt", "данные.bin", "отчёт.pdf"):
            sent = await you.send_file(tmp_path / name)
            problem = await you.wait_for("^[^⏳]", READ_S, after=sent)
            assert "✅" not in problem.text
            assert problem.text.rstrip().endswith(".")


async def test_cleaning_the_base_asks_first_and_reports(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.say("Заметка о дороге в горы")
        await you.wait_for("✅", READ_S)

        await you.say("/clean")
        await you.press("Базу", await you.wait_for("Что очистить"))
        sure = await you.wait_for("Будет удалён 1 документ")
        await you.press("Удалить всё", sure)
        await you.wait_for(r"База пуста: удалён 1 документ \(1 фрагмент\)")

        await you.say("/docs")
        await you.wait_for("В базе пока пусто")


async def test_an_answer_survives_a_flood_limit(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await you.break_method("sendMessage", error_code=429, retry_after=1, times=1)
        await you.say("/start")
        await you.wait_for("Выберите режим работы", READ_S)
