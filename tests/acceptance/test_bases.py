"""Several bases of a person, a base together, a base in a group: from /bases to what is found where."""

import re

import httpx

from tests.acceptance.conftest import Start
from tests.acceptance.test_api import until
from tests.acceptance.test_groups import ME, ask, keep, listed
from tests.acceptance.test_whole_way import READ_S, enter
from tests.ports import free_port
from tests.servers.person import ANNA, GROUP, YOU, Person, Seen

HOME = "Пароль от домашнего сейфа апельсин"
WORK = "Пароль от рабочего сейфа лимон"


async def make(person: Person, name: str) -> Seen:
    """A new base of theirs, which is open then."""
    said = await person.say("/bases")
    await person.press("➕ Новая", await person.wait_for("Ваши базы", after=said))
    await person.wait_for("Как назвать базу", after=said)
    named = await person.say(name)
    return await person.wait_for(f"Открыта база «{name}»", after=named)


async def then(person: Person, message: Seen, button: str, wanted: str) -> Seen:
    """The message as it is once its button was pressed."""

    def is_it(seen: Seen) -> bool:
        return seen.message_id == message.message_id and re.search(wanted, f"{seen.text} {seen.buttons}") is not None

    await person.press(button, message)
    return await person.wait_for(is_it)


async def opened(person: Person, line: str) -> Seen:
    """The base of this line of the list."""
    said = await person.say("/bases")
    shown = await person.wait_for("Ваши базы", after=said)
    (number,) = re.findall(rf"(?m)^(\d+)\. \S+ {line}", shown.text)
    return await then(person, shown, number, "‹ Базы")


async def link_to(owner: Person, base: str, *choices: str) -> tuple[str, Seen]:
    """A start parameter, and the message that shows it."""
    shown = await then(owner, await opened(owner, base), "🔗 Поделиться", "Что она разрешит")
    for choice in choices:
        shown = await then(owner, shown, choice, f"{choice} ✓")
    shown = await then(owner, shown, "Создать ссылку", "start=join-")
    (parameter,) = re.findall(r"start=(join-[\w-]+)", shown.text)
    return parameter, shown


async def test_each_base_of_a_person_keeps_what_was_put_into_it(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await keep(you, HOME)
        await make(you, "Работа")
        await keep(you, WORK)
        at_work = await ask(you, "Какой пароль от сейфа?")
        await opened(you, "Личная")
        shelf = await listed(you)
        at_home = await ask(you, "Какой пароль от сейфа?")
    assert "лимон" in at_work.text
    assert "апельсин" not in at_work.text
    assert "Документы: 1" in shelf.text
    assert "апельсин" in at_home.text
    assert "лимон" not in at_home.text


async def test_the_menu_shows_which_base_is_open_and_a_deleted_one_is_gone(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await make(you, "Работа")
        menu = await you.say("/start")
        assert "📚 База · Работа" in str((await you.wait_for("Выберите режим", after=menu)).buttons)
        await you.click("📚 База · Работа")
        await you.wait_for("Режим «База»")
        await you.press("✏️ Переименовать", await opened(you, "Работа"))
        named = await you.say("Служба")
        await you.wait_for("называется теперь «Служба»", after=named)
        sure = await then(you, await opened(you, "Служба"), "🗑 Удалить", "Удалить базу «Служба»")
        await then(you, sure, "Удалить базу", "«Служба» удалена")
        await you.wait_for("Открыта база «Личная»")
        said = await you.say("/bases")
        left = await you.wait_for("Ваши базы", after=said)
    assert "Служба" not in left.text


async def test_who_joins_to_read_reads_and_changes_nothing_until_taken_off(start: Start) -> None:
    async with start() as page, Person(page) as you, Person(page, ANNA) as anna:
        await make(you, "Работа")
        await keep(you, WORK)
        parameter, _ = await link_to(you, "Работа")
        await enter(anna, "base")
        joined = await anna.say(f"/start {parameter}")
        await anna.wait_for("Вы вошли в базу «Работа», её владелец", after=joined)
        answer = await ask(anna, "Какой пароль от сейфа?")
        await enter(anna, "base")
        said = await anna.say("Мой пароль вишня")
        offered = await anna.wait_for("вы читаете и спрашиваете", after=said)
        await anna.press("Личная", offered)
        await anna.wait_for("✅", READ_S, after=said)
        shelf = await listed(anna)
        card = await then(anna, shelf, "1", "Текст")
        members = await then(you, await opened(you, "Работа"), "👥 Участники", "Исключить")
        off = next(each for line in members.buttons for each in line if "Исключить" in each)
        await then(you, members, off, "никого нет")
        asked = await anna.say("Какой пароль от сейфа?")
        closed = await anna.wait_for("больше не открыта", after=asked)
        own = await listed(anna)
    assert "лимон" in answer.text
    assert not {"Удалить", "Переименовать"} & {word for line in card.buttons for each in line for word in each.split()}
    assert "Работа" in closed.text
    assert "Документы: 1" in own.text


async def test_a_link_for_one_lets_one_in_and_a_revoked_one_nobody(start: Start) -> None:
    async with start() as page, Person(page) as you, Person(page, ANNA) as anna:
        await make(you, "Работа")
        once, _ = await link_to(you, "Работа", "одному")

        async def follow(person: Person, parameter: str) -> str:
            said = await person.say(f"/start {parameter}")
            return (await person.wait_for("Вы вошли|не работает|собственную", after=said)).text

        assert "читать и спрашивать" in await follow(anna, once)
        assert "собственную" in await follow(you, (await link_to(you, "Работа", "одному"))[0])
        await make(you, "Ещё")
        assert "не работает" in await follow(anna, once)
        again, shown = await link_to(you, "Ещё", "и добавлять")
        await you.wait_for_answer(await you.press("Отозвать", shown))
        assert "не работает" in await follow(anna, again)


async def test_an_administrator_opens_a_base_of_theirs_in_a_group(start: Start) -> None:
    async with (
        start() as page,
        Person(page) as you,
        Person(page, YOU, GROUP) as ours,
        Person(page, ANNA, GROUP) as anna,
    ):
        await make(you, "Работа")
        await keep(you, WORK)
        await ours.say(f"Привет, {ME}")
        await ours.wait_for(".")
        groups = await then(you, await opened(you, "Работа"), "Открыть в группе", "В какой группе")
        await then(you, groups, groups.buttons[0][0], "открыта в группе")
        await ours.wait_for("открыта теперь база «Работа»")
        answer = await ask(anna, "Какой пароль от сейфа?")
    assert "лимон" in answer.text


async def test_a_document_is_moved_to_another_base_and_found_there(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await make(you, "Работа")
        await opened(you, "Личная")
        await keep(you, WORK)
        card = await then(you, await listed(you), "1", "В другую базу")
        where = await then(you, card, "📚 В другую базу", "Куда отправить")
        await then(you, where, "Переместить: Работа", "теперь в базе «Работа»")
        await opened(you, "Работа")
        answer = await ask(you, "Какой пароль от сейфа?")
        await opened(you, "Личная")
        left = await you.say("/docs")
        assert "пусто" in (await you.wait_for("пуст|Документы", after=left)).text
    assert "лимон" in answer.text


async def test_the_original_of_what_came_over_http_moves_along(start: Start) -> None:
    port, content = free_port(), "Ключ от склада у сторожа.\n".encode()
    async with start(API_PORT=str(port)) as page, Person(page) as you:
        await make(you, "Работа")
        token = await token_from(you, "и менять")
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=token) as client:
            there, home = sorted((await client.get("/rags")).json(), key=lambda each: each["name"] != "Работа")
            added = await client.post(f"/rags/{home['id']}/documents", files={"file": ("Ключи.txt", content)})
            await until(client, f"/rags/{home['id']}/documents/{added.json()['id']}")
            await opened(you, "Личная")
            card = await then(you, await listed(you), "1", "В другую базу")
            where = await then(you, card, "📚 В другую базу", "Куда отправить")
            await then(you, where, "Переместить: Работа", "теперь в базе «Работа»")
            (moved,) = (await client.get(f"/rags/{there['id']}/documents")).json()
            original = await client.get(f"/rags/{there['id']}/documents/{moved['id']}/original")
            left = await client.get(f"/rags/{home['id']}/documents/{added.json()['id']}/original")
    assert original.content == content
    assert left.status_code == 404


async def test_who_wants_to_be_forgotten_is(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await keep(you, HOME)
        await make(you, "Работа")
        await keep(you, WORK)
        asked = await you.wait_for("Что очистить", after=await you.say("/clean"))
        sure = await then(you, asked, "Всё обо мне", "базы: 2, документы в них: 2")
        await then(you, sure, "Удалить всё моё", "базы — 2, документы — 2")
        shelf = await listed(you)
        said = await you.say("/bases")
        bases = await you.wait_for("Ваши базы", after=said)
    assert "пусто" in shelf.text
    assert "Работа" not in bases.text


async def token_from(person: Person, label: str) -> dict[str, str]:
    """The header of a token that /api made."""
    said = await person.say("/api")
    await person.press(label, await person.wait_for("Доступ для программ", after=said))
    made = await person.wait_for("Новый токен", after=said)
    (token,) = re.findall(r"baza_[\w-]+", made.text)
    return {"Authorization": f"Bearer {token}"}


async def test_programs_of_a_person_reach_all_their_bases_and_no_other(start: Start) -> None:
    port = free_port()
    async with start(API_PORT=str(port)) as page, Person(page) as you, Person(page, ANNA) as anna:
        await keep(you, HOME)
        theirs = await token_from(anna, "и менять")
        mine = await token_from(you, "и менять")
        only = await token_from(you, "Открытая база: читать")
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            made = (await client.post("/rags", json={"name": "Работа"}, headers=mine)).json()
            renamed = await client.patch(f"/rags/{made['id']}", json={"name": "Служба"}, headers=mine)
            listed = (await client.get("/rags", headers=mine)).json()
            (home,) = [each["id"] for each in listed if each["id"] != made["id"]]
            refused = [
                (await client.request(method, path, headers=who, json=body)).status_code
                for who, method, path, body in (
                    (theirs, "GET", f"/rags/{home}", None),
                    (theirs, "POST", f"/rags/{home}/search", {"query": "пароль"}),
                    (theirs, "DELETE", f"/rags/{made['id']}", None),
                    (only, "GET", f"/rags/{made['id']}", None),
                    (only, "DELETE", f"/rags/{home}", None),
                    (only, "POST", "/rags", {"name": "Ещё"}),
                    (mine, "DELETE", f"/rags/{home}", None),
                    (mine, "GET", "/rags/nothing", None),
                )
            ]
            found = (await client.post(f"/rags/{home}/search", json={"query": "пароль от сейфа"}, headers=only)).json()
            gone = await client.delete(f"/rags/{made['id']}", headers=mine)
    assert (renamed.status_code, renamed.json()["name"]) == (200, "Служба")
    assert refused == [404, 404, 404, 404, 403, 403, 409, 404]
    assert "апельсин" in found[0]["text"]
    assert gone.status_code == 204
