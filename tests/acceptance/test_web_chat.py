"""The web chat of the API in a real browser, at the size of a desk and of a phone."""

import os
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, ViewportSize, expect

from adapters.database.postgres import open_postgres
from adapters.database.stores.people import BaseStore, PeopleStore, TokenStore
from adapters.database.transport import ActingTransport
from bot.settings import Settings
from domain.bases import Role
from domain.ids import ChatId, UserId
from domain.people import acting_for, new_token, token_hash
from tests.acceptance.conftest import Start
from tests.acceptance.test_api import ANSWER, CONTRACT, QUESTION, fill, token_for
from tests.ports import free_port
from tests.servers.chromium import open_chromium
from tests.servers.llm import LlmServer, Streamed, serve_llm
from tests.servers.person import ANNA, YOU

Scheme = Literal["light", "dark"]
DESK = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)
SAID = "Штраф составляет 0,1 % от суммы за каждый день."
DROP = """async ({name, text}) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name, {type: "text/markdown"}));
  for (const kind of ["dragenter", "dragover", "drop"])
    document.getElementById("main").dispatchEvent(
      new DragEvent(kind, {dataTransfer: transfer, bubbles: true, cancelable: true}));
}"""
UNNAMED = """() => [...document.querySelectorAll("button, input:not([hidden]), textarea, summary, a, progress")]
  .filter((each) => each.checkVisibility() && !(each.textContent.trim() || each.getAttribute("aria-label")
    || each.labels?.[0]?.textContent.trim())).map((each) => each.outerHTML)"""
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"

# One browser, hence one event loop, for the module: it takes seconds to start
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_chromium() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def llm() -> AsyncIterator[LlmServer]:
    """A chat model whose answers the test writes."""
    async with serve_llm() as server:
        yield server


@asynccontextmanager
async def opened(
    browser: Browser, start: Start, size: ViewportSize, *, scheme: Scheme, **environment: str
) -> AsyncIterator[tuple[Page, list[str]]]:
    """The page, before anybody is here, and what went wrong in it (a broken policy, too)."""
    port, wrong = free_port(), list[str]()
    async with start(API_PORT=str(port), **environment):
        context = await browser.new_context(viewport=size, locale="ru-RU", color_scheme=scheme)
        page = await context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        await page.goto(f"http://127.0.0.1:{port}/")
        try:
            yield page, wrong
        finally:
            await context.close()


async def enter(page: Page, token: str) -> None:
    """Give the token."""
    await page.get_by_label("Токен").fill(token)
    await page.get_by_role("button", name="Войти").click()
    await expect(page.get_by_role("textbox", name="Вопрос")).to_be_focused()


async def ask(page: Page, text: str) -> None:
    """With the keyboard alone."""
    await page.keyboard.type(text)
    await page.keyboard.press("Enter")


async def picture(page: Page, name: str) -> None:
    """Into the folder BAZA_PICTURES."""
    folder = Path(os.environ.get("BAZA_PICTURES", tempfile.gettempdir()))
    await page.screenshot(path=folder / name)


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
async def test_a_question_is_asked_answered_and_there_again_after_a_reload(
    browser: Browser,
    start: Start,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    llm: LlmServer,
    with_llm: dict[str, str],
    size: ViewportSize,
    scheme: Scheme,
) -> None:
    await fill(settings, tmp_path)
    token, _ = await token_for(settings, capsys, "work")
    llm.script(Streamed(text=ANSWER, pause_s=0.05))
    async with opened(browser, start, size, scheme=scheme, **with_llm) as (page, wrong):
        await expect(page.get_by_label("Токен")).to_be_focused()
        await enter(page, token)
        await ask(page, QUESTION)
        await expect(page.locator(".message").last).to_contain_text(SAID)
        await expect(page.get_by_role("status").last).to_have_text(re.compile("Ответ готов. " + SAID))
        source = page.locator("summary", has_text="1. Договор")
        await source.focus()
        await page.keyboard.press("Enter")
        await expect(page.locator("blockquote")).to_be_visible()
        assert await page.locator("blockquote").inner_text() in CONTRACT
        await picture(page, f"web_chat_{scheme}.png")
        assert await page.evaluate(UNNAMED) == []
        assert await page.evaluate(WIDER) == 0

        await page.reload()
        await expect(page.locator(".message").first).to_contain_text(QUESTION)
        await expect(page.locator(".message").last).to_contain_text(SAID)
        await expect(page.locator("summary")).to_have_count(1)
        if size is PHONE:
            await page.get_by_role("button", name="Открыть список диалогов").click()
            await page.wait_for_timeout(300)
            await picture(page, "web_chat_dialogues.png")
        dialogue = page.get_by_role("navigation").get_by_role("button", name=QUESTION)
        await expect(dialogue).to_have_attribute("aria-current", "true")
        await page.get_by_role("button", name="Новый диалог").click()
        await expect(page.locator(".message")).to_have_count(0)
        await expect(page.get_by_role("textbox", name="Вопрос")).to_be_focused()
        assert wrong == []


async def token_for_all(database_url: str) -> str:
    """Of somebody with two bases of their own, and one that they may only read; the contract lies in «Работа»."""
    token = new_token()
    async with open_postgres(database_url, pool_size=1, timeout_s=30) as transport:
        stores, people = BaseStore(transport), PeopleStore(transport)
        await people.open_base(ChatId(YOU), thread=None, member=UserId(YOU))
        await stores.make(UserId(YOU), "Работа")
        theirs = await people.open_base(ChatId(ANNA), thread=None, member=UserId(ANNA), name="Анна")
        await stores.rename(theirs, "Отдел")
        await stores.invite(theirs, token_hash("link"), role=Role.READER, once=True, days=None)
        await stores.accept(UserId(YOU), token_hash("link"), name="Вы")
        with acting_for(UserId(YOU)):
            await TokenStore(ActingTransport(transport)).add(None, token_hash(token), is_read_only=False, days=None)
    return token


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "dark"), (PHONE, "light")], ids=["desk", "phone"])
async def test_a_token_for_all_bases_chooses_among_them_and_the_browser_remembers(
    browser: Browser, start: Start, database_url: str, size: ViewportSize, scheme: Scheme
) -> None:
    async with opened(browser, start, size, scheme=scheme) as (page, wrong):
        token = await token_for_all(database_url)
        await enter(page, token)
        if size is PHONE:
            await page.get_by_role("button", name="Открыть список диалогов").click()
        choice = page.get_by_role("combobox", name="База", exact=True)
        assert await choice.locator("option").all_inner_texts() == ["База", "Работа", "Отдел (только чтение)"]
        await choice.focus()
        await page.keyboard.press("ArrowDown")  # with the keyboard alone
        await expect(page.get_by_role("status").last).to_have_text("Открыта «Работа». Документов: 0")
        await expect(choice).to_be_focused()
        await picture(page, f"web_chat_bases_{scheme}.png")
        assert await page.evaluate(UNNAMED) == []
        assert await page.evaluate(WIDER) == 0
        if size is PHONE:
            await page.keyboard.press("Escape")
        await page.evaluate(DROP, {"name": "Договор.md", "text": CONTRACT})
        await expect(page.locator("#uploads li")).to_contain_text("в базе")
        await page.get_by_role("textbox", name="Вопрос").focus()
        await ask(page, QUESTION)
        await expect(page.locator("summary")).to_contain_text("Договор")

        later = await page.context.new_page()  # another tab, another day
        await later.goto(page.url)
        await enter(later, token)
        await expect(later.locator("#base-counts")).to_have_text("Документов: 1")
        assert await later.locator("#bases").evaluate("each => each.selectedOptions[0].text") == "Работа"
        dialogue = later.get_by_role("button", name=QUESTION, include_hidden=True)
        await expect(dialogue).to_have_count(1)
        await later.locator("#bases").select_option(label="Отдел (только чтение)", force=True)
        await expect(dialogue).to_have_count(0)
        await expect(later.locator("#attach")).to_be_hidden()
        await later.get_by_role("textbox", name="Вопрос").focus()
        await ask(later, QUESTION)
        await expect(later.locator(".message").last).to_contain_text("ничего не нашлось")
        await page.reload()
        await expect(page.locator("#title")).to_contain_text("Отдел")  # the last choice of this browser
        await page.locator("#leave").evaluate("each => each.click()")  # on the phone it lies behind the menu
        assert await page.evaluate("sessionStorage.length") == 0  # no dialogue of any base is left to who comes next
        assert wrong == []


async def test_files_are_dropped_followed_and_downloaded(
    browser: Browser, start: Start, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    token, _ = await token_for(settings, capsys, "work")
    other = CONTRACT.replace("0,1 %", "0,2 %")
    async with opened(browser, start, DESK, scheme="light") as (page, wrong):
        await enter(page, token)
        await page.evaluate(DROP, {"name": "Договор.md", "text": CONTRACT})
        line = page.locator("#uploads li")
        await expect(line).to_contain_text("в базе")
        await expect(page.locator("#base-counts")).to_have_text("Документов: 1")
        await line.get_by_role("button", name="Убрать из списка").click()
        await page.evaluate(DROP, {"name": "Договор.md", "text": other})
        await expect(line).to_contain_text("файл с этим именем уже есть")
        await picture(page, "web_chat_choice.png")
        await line.get_by_role("button", name="Заменить").click()
        await expect(line).to_contain_text("в базе")
        await page.get_by_role("textbox", name="Вопрос").focus()
        await ask(page, QUESTION)
        await expect(page.locator(".message").last).to_contain_text("0,2 %")
        await page.locator("summary").first.click()
        async with page.expect_download() as downloading:
            await page.get_by_role("button", name="Скачать файл").click()
        saved = await (await downloading.value).path()
        assert saved.read_text(encoding="utf-8") == other
        assert wrong == []


async def test_what_a_document_says_is_never_a_script_and_a_token_that_ends_leads_back(
    browser: Browser, start: Start, settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    hostile = (
        "# <img src=x onerror=alert(1)>\n\nПароль <script>alert(2)</script> [сюда](javascript:alert(3)) лежит тут.\n"
    )
    await fill(settings, tmp_path)
    token, _ = await token_for(settings, capsys, "work")
    reading, _ = await token_for(settings, capsys, "work", is_read_only=True)
    async with opened(browser, start, DESK, scheme="light") as (page, wrong):
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        await page.get_by_label("Токен").fill("baza_нет такого")
        await page.get_by_role("button", name="Войти").click()
        await expect(page.get_by_role("alert").first).to_contain_text("Нужен действующий токен")
        wrong.clear()  # the browser notes each 401
        await enter(page, token)
        await page.evaluate(DROP, {"name": "Ключи.txt", "text": hostile})
        await expect(page.locator("#uploads li")).to_contain_text("в базе")
        await ask(page, "Где лежит пароль?")
        await expect(page.locator(".message").last).to_contain_text("лежит тут")
        assert await page.locator(".message img, .message script, a[href^=javascript]").count() == 0
        await page.get_by_role("button", name="Выйти").click()
        await enter(page, reading)
        await expect(page.get_by_role("button", name="Добавить файл")).to_be_hidden()
        assert wrong == []
