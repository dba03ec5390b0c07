"""Baza as a newcomer tries it, with no model: it is spoken to before it is asked, and a question is asked politely."""

from pathlib import Path

from tests.acceptance.conftest import Start
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.person import Person, Seen

NOTE = "Договор аренды склада подписал Пётр Ильин двенадцатого мая"


async def test_who_is_spoken_to_answers_and_what_is_asked_is_found(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await you.wait_for("В базе пока пусто", after=await you.say("/chat"))
        await you.wait_for("^Здравствуйте! В базе пока пусто: пришлите", READ_S, after=await you.say("привет!!"))
        await enter(you, "base")
        await you.wait_for("✅", READ_S, after=await you.say(NOTE))
        await you.press("Сохранить", await you.wait_for("Это вопрос или заметка?", after=await you.say("Спасибо")))
        await you.wait_for("✅ Спасибо", READ_S)
        await enter(you, "chat")
        await you.wait_for("^Здравствуйте! Спрашивайте:", READ_S, after=await you.say("Привет"))
        await you.wait_for("^Пожалуйста!", READ_S, after=await you.say("спасибо 🙏"))
        answer = await you.wait_for("Информация", READ_S, after=await you.say("спасибо, а кто подписал договор?"))
    assert NOTE in answer.text


async def test_a_newcomer_chooses_no_mode(start: Start, tmp_path: Path) -> None:
    async with start() as page, Person(page) as you:
        upload = await you.send_file(write(tmp_path, "Аренда.md", "Арендная плата составляет 100 000 рублей в месяц."))
        await you.wait_for("✅ Аренда.md в базе", READ_S)
        await you.wait_for("Сохраняю, как в режиме «База»", after=upload)
        answer = await you.wait_for("Информация", READ_S, after=await you.say("Какая арендная плата?"))
        await you.wait_for("Отвечаю, как в режиме «Чат»", after=answer)
        note = await you.wait_for("✅ PID проекта mcs777", READ_S, after=await you.say("Запомни: PID проекта mcs777"))
        await you.press("Убрать", note)
        await you.wait_for("Удалено: ", READ_S)
    assert "100 000 рублей" in answer.text


async def test_one_document_is_asked_until_the_limit_is_taken_off(start: Start, tmp_path: Path) -> None:
    asked = "Какая арендная плата?"

    async def ask(you: Person, awaited: str) -> Seen:
        return await you.wait_for(awaited, READ_S, after=await you.say(asked))

    async with start() as page, Person(page) as you:
        await enter(you, "base")
        receipts = {}
        for name, sum_of in (("Ромашка", "100 000"), ("Василёк", "250 000")):
            path = write(tmp_path, f"{name}.md", f"Арендная плата составляет {sum_of} рублей в месяц.")
            receipts[name] = await you.wait_for(f"✅ {name}.md в базе", READ_S, after=await you.send_file(path))
        await you.press("Спросить о нём", receipts["Ромашка"])
        await you.wait_for("Отвечаю только по документу Ромашка.md")
        answer = await ask(you, "Информация")
        assert "100 000" in answer.text
        assert "250 000" not in answer.text
    async with start() as page, Person(page) as you:  # it outlives the process
        answer = await ask(you, "Информация")
        assert answer.buttons[-1] == ("Только: Ромашка.md ✕",)
        assert "250 000" not in answer.text
        elsewhere = await you.say("Что известно про Василёк?")
        await you.wait_for("В этом документе об этом ничего не нашлось", READ_S, after=elsewhere)
        await you.press("Только: Ромашка.md ✕", answer)
        assert await ask(you, "250 000")
        await you.press("Спросить о нём", receipts["Ромашка"])
        await you.press("Убрать", receipts["Ромашка"])
        await you.wait_for("Удалено: ", READ_S)
        assert await ask(you, "снова отвечаю по всем")
        assert await ask(you, "250 000")


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


async def test_a_follow_up_stays_with_the_document_of_the_answer(start: Start, tmp_path: Path) -> None:
    lease = "3.1. Арендная плата составляет 74 400 рублей в месяц.\n\n3.2. Плата вносится до седьмого числа."
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        for name, text in (("Аренда", lease), ("Планёрка", "Станок стоит 640 тысяч рублей. Решили взять в лизинг.")):
            path = write(tmp_path, f"{name}.md", text)
            await you.wait_for(f"✅ {name}.md в базе", READ_S, after=await you.send_file(path))
        await enter(you, "chat")
        await you.wait_for("седьмого числа", READ_S, after=await you.say("Когда вносится арендная плата?"))
        answer = await you.wait_for("Информация", READ_S, after=await you.say("а сколько это стоит?"))
    assert "640" not in answer.text.partition("74 400 рублей")[0]
    assert "74 400 рублей" in answer.text


CONTRACT = """ДОГОВОР ПОСТАВКИ № {number}/2025

ООО «{firm}», именуемое Поставщик, и ООО «Заказчик» заключили договор о поставке оборудования.

{filler}

Ответственность

За просрочку поставки Поставщик уплачивает неустойку {fine} % от цены за каждый день просрочки.
"""
FILLER = "Стороны действуют добросовестно и сообщают друг другу об изменении реквизитов. " * 30


async def test_which_of_alike_contracts_is_meant_is_asked_and_answered_after_a_restart(
    start: Start, tmp_path: Path
) -> None:
    firms = ("Лазурит", "Ромашка", "Кедр", "Полюс")
    paths = [tmp_path / f"{number}.txt" for number in range(len(firms))]
    for number, (firm, path) in enumerate(zip(firms, paths, strict=True)):
        path.write_text(CONTRACT.format(number=101 + number, firm=firm, filler=FILLER, fine=f"0,{number + 1}"))
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.wait_for("4 документа", READ_S, after=(await you.send_files(paths))[0])
        await enter(you, "chat")
        asked = await you.wait_for(
            "Какой вы имеете в виду", READ_S, after=await you.say("Какая неустойка за просрочку?")
        )
    labels = {button for line in asked.buttons for button in line}
    assert labels == {f"{101 + at}/2025 · {firm}" for at, firm in enumerate(firms)}
    async with start() as page, Person(page) as you:
        await you.press("103/2025 · Кедр", asked)
        answer = await you.wait_for("Информация", READ_S)
    assert "0,3 %" in answer.text
    assert "0,1 %" not in answer.text


async def test_documents_of_a_kind_are_counted_and_listed(start: Start, tmp_path: Path) -> None:
    firms = ("Лазурит", "Ромашка", "Кедр")
    paths = [tmp_path / f"scan_{number}.txt" for number in range(4)]
    for number, (firm, path) in enumerate(zip(firms, paths, strict=False)):
        path.write_text(CONTRACT.format(number=101 + number, firm=firm, filler=FILLER, fine=f"0,{number + 1}"))
    paths[3].write_text("СЧЁТ НА ОПЛАТУ № 7\n\nОснование: договор поставки 101/2025\n\nК оплате 5 000 руб.")
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.wait_for("4 документа", READ_S, after=(await you.send_files(paths))[0])
        await enter(you, "chat")
        counted = await you.wait_for("договоров поставки", after=await you.say("Сколько у меня договоров поставки?"))
        elsewhere = await you.wait_for("Информация", READ_S, after=await you.say("Сколько у меня к оплате по счёту 7?"))
    assert "(«договоров поставки»): 3" in counted.text
    assert [name in counted.text for name in ("scan_0", "scan_1", "scan_2", "scan_3")] == [True, True, True, False]
    assert "5 000 руб" in elsewhere.text
