"""The page in a browser: what a new user does in the first minute, and that nothing breaks or lags."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiogram import Bot
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup, KeyboardButton, ReplyKeyboardMarkup
from playwright.async_api import Browser, Page, expect

from localchat.server import LocalChat, serve_local_chat
from tests.integration.localchat.conftest import connect
from tests.servers.chromium import open_chromium
from tests.servers.person import PRIVATE

# One browser, hence one event loop, for the module: it takes seconds to start
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_chromium() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def chat(tmp_path: Path) -> AsyncIterator[LocalChat]:
    async with serve_local_chat(tmp_path / "chat") as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def bot(chat: LocalChat) -> AsyncIterator[Bot]:
    async with connect(chat) as connected:
        yield connected


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, chat: LocalChat) -> AsyncIterator[Page]:
    """A page on which no script fails and no rule of the security policy is broken."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, locale="ru-RU")
    opened = await context.new_page()
    troubles: list[str] = []
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
    await opened.goto(chat.page_url)
    await opened.wait_for_selector("body[data-live]")
    yield opened
    await context.close()
    assert troubles == []


def inline(text: str, data: str) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text=text, callback_data=data)]])


async def test_an_empty_chat_says_what_the_bot_can_do_and_how_to_begin(page: Page, bot: Bot) -> None:
    await expect(page.get_by_text("Это локальный чат, а не Telegram")).to_be_visible()
    await expect(page.get_by_text("Что умеет этот бот?")).to_be_visible()
    await page.get_by_role("button", name="Начать").click()
    await expect(page.locator(".message.mine .text")).to_contain_text("/start")
    (update,) = await bot.get_updates()
    assert update.message
    assert update.message.text == "/start"


async def test_digits_and_spaces_are_of_a_font_for_text(page: Page) -> None:
    """Fonts of emoji have them, too, twice as wide: where no font that is named is installed, they were taken."""
    widths = await page.evaluate(
        """[getComputedStyle(document.body).fontFamily, "sans-serif"].map(family => {
            const span = document.createElement("span");
            span.style.cssText = `position: absolute; white-space: pre; font: 20px ${family}`;
            span.textContent = "2 400 ";
            document.body.append(span);
            return span.getBoundingClientRect().width;
        })"""
    )
    assert widths[0] < 1.3 * widths[1]


async def test_a_message_is_written_with_enter_and_a_line_with_shift(page: Page, bot: Bot) -> None:
    field = page.get_by_label("Сообщение")
    await field.fill("первая")
    await field.press("Shift+Enter")
    await field.type("вторая")
    await field.press("Enter")
    await expect(page.locator(".message.mine .text")).to_contain_text("вторая")
    (update,) = await bot.get_updates()
    assert update.message
    assert update.message.text == "первая\nвторая"


async def test_a_pressed_button_waits_for_the_answer_and_shows_it(page: Page, bot: Bot) -> None:
    await bot.send_message(PRIVATE, "Выберите режим работы:", reply_markup=inline("📚 База", "base"))
    button = page.get_by_role("button", name="📚 База")
    await button.click()
    await expect(button).to_have_attribute("aria-busy", "true")
    (update,) = await bot.get_updates(timeout=50)
    assert update.callback_query
    await bot.answer_callback_query(update.callback_query.id, text="Режим «База»")
    await expect(page.get_by_text("Режим «База»")).to_be_visible()
    await expect(button).not_to_have_attribute("aria-busy", "true")


async def test_an_alert_waits_until_it_is_read(page: Page, bot: Bot) -> None:
    await bot.send_message(PRIVATE, "Удалить?", reply_markup=inline("Удалить всё", "yes"))
    await page.get_by_role("button", name="Удалить всё").click()
    (update,) = await bot.get_updates(timeout=50)
    assert update.callback_query
    await bot.answer_callback_query(update.callback_query.id, text="База пуста", show_alert=True)
    await expect(page.locator("#alert")).to_contain_text("База пуста")
    await page.get_by_role("button", name="Понятно").click()
    await expect(page.locator("#alert")).not_to_be_visible()


async def test_chosen_files_are_looked_over_and_sent(page: Page, bot: Bot, tmp_path: Path) -> None:
    (tmp_path / "Договор аренды.pdf").write_bytes(b"%PDF-1.7")
    await page.set_input_files("#file", str(tmp_path / "Договор аренды.pdf"))
    await page.get_by_label("Подпись").fill("мой договор")
    await page.locator("#sheet").get_by_role("button", name="Отправить").click()
    await expect(page.locator(".message.mine .file b")).to_have_text("Договор аренды.pdf")
    (update,) = await bot.get_updates(timeout=50)
    assert update.message
    assert update.message.document
    assert (update.message.document.file_name, update.message.caption) == ("Договор аренды.pdf", "мой договор")


async def test_a_dropped_file_opens_the_sheet_and_another_one_joins_it(page: Page) -> None:
    drop = """(name) => {
        const data = new DataTransfer();
        data.items.add(new File(["x"], name, {type: "text/plain"}));
        document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
    }"""
    await page.evaluate(drop, "брошен.txt")
    await page.get_by_label("Подпись").fill("оба")
    await page.evaluate(drop, "ещё.txt")
    await expect(page.locator("#sheet .picked li")).to_have_count(2)
    await page.locator("#sheet").get_by_role("button", name="Отправить").click()
    await expect(page.locator(".message.mine .file b")).to_have_text(["брошен.txt", "ещё.txt"])
    await expect(page.locator(".message.mine", has_text="оба")).to_have_count(1)


async def test_the_reply_keyboard_says_its_words(page: Page, bot: Bot) -> None:
    buttons = ReplyKeyboardMarkup(keyboard=[[KeyboardButton(text="💬 Чат"), KeyboardButton(text="📚 База ✓")]])
    await bot.send_message(PRIVATE, "меню", reply_markup=buttons)
    await page.locator("#keyboard").get_by_text("💬 Чат").click()
    await expect(page.locator(".message.mine .text")).to_contain_text("💬 Чат")
    await page.get_by_role("button", name="Клавиатура бота").click()
    await expect(page.locator("#keyboard")).not_to_be_visible()


async def test_a_draft_grows_and_becomes_the_message(page: Page, bot: Bot) -> None:
    await bot.send_message_draft(PRIVATE, draft_id=5, text="Штраф составляет")
    await expect(page.locator(".draft .text")).to_have_text("Штраф составляет")
    await bot.send_message_draft(PRIVATE, draft_id=5, text="Штраф составляет <b>0,1 %</b>", parse_mode="HTML")
    await expect(page.locator(".draft b, .draft strong")).to_have_text("0,1 %")
    await bot.send_message(PRIVATE, "Штраф составляет 0,1 %.")
    await expect(page.locator(".draft")).to_have_count(0)
    await expect(page.locator(".message")).to_have_count(1)


async def test_a_draft_that_is_stopped_stays_as_it_is_and_the_button_goes(page: Page, bot: Bot) -> None:
    await bot.send_message_draft(PRIVATE, draft_id=5, text="Штраф составляет", can_stop=True, keep_on_stop=True)
    await page.locator(".draft").get_by_role("button", name="Остановить").click()
    await expect(page.locator(".draft button")).to_have_count(0)
    await bot.send_message_draft(PRIVATE, draft_id=5, text="Штраф составляет 0,1 %", can_stop=True, keep_on_stop=True)
    await bot.send_chat_action(PRIVATE, "typing")
    await expect(page.locator(".draft .text")).to_have_text("Штраф составляет")
    (update,) = await bot.get_updates()
    assert update.stopped_message_generation


async def test_typing_is_shown_and_ends_with_the_message(page: Page, bot: Bot) -> None:
    await bot.send_chat_action(PRIVATE, "typing")
    await expect(page.locator("#chat-status")).to_contain_text("печатает")
    await bot.send_message(PRIVATE, "готово")
    await expect(page.locator("#chat-status")).to_have_text("бот")


async def test_markup_in_a_text_stays_text(page: Page, bot: Bot) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    await bot.send_message(PRIVATE, evil)
    await expect(page.locator(".message .text")).to_contain_text(evil)
    assert await page.locator(".message img").count() == 0


async def test_the_two_thousandth_message_is_as_quick_as_the_first(page: Page, bot: Bot) -> None:
    ids: list[int] = []
    for start in range(0, 2000, 100):
        sent = await asyncio.gather(*(bot.send_message(PRIVATE, f"сообщение {start + place}") for place in range(100)))
        ids += sorted(message.message_id for message in sent)
    await expect(page.locator(f'.message[data-id="{ids[-1]}"]')).to_be_visible(timeout=60_000)
    assert await page.locator(".message").count() <= 400
    # Layout alone: how fast pictures are painted is the machine's affair
    times = await page.evaluate(
        """() => Array.from({length: 60}, () => {
            const box = document.getElementById("scroll"), began = performance.now();
            box.firstElementChild.lastElementChild.append(document.createElement("p"));
            box.getBoundingClientRect();
            return performance.now() - began;
        }).sort((one, other) => one - other)"""
    )
    assert times[0] < 16, f"the quickest of 60 changes takes {times[0]:.1f} ms, more than a frame"
    await page.evaluate("document.getElementById('scroll').scrollTop = 0")
    await expect(page.locator(f'.message[data-id="{ids[1789]}"]')).to_have_count(1)  # what was left out comes back


async def test_older_messages_come_when_one_scrolls_up(page: Page, bot: Bot) -> None:
    for number in range(150):
        await bot.send_message(PRIVATE, f"номер {number}")
    await page.reload()
    await expect(page.locator(".message").last).to_contain_text("номер 149")
    async with asyncio.timeout(60):
        while await page.locator(".message").count() < 150:
            await page.evaluate("document.getElementById('scroll').scrollTop = 0")
            await page.wait_for_timeout(150)
    await expect(page.locator(".message").first).to_contain_text("номер 0")
    await expect(page.locator(".message")).to_have_count(150)


async def test_a_phone_shows_one_pane_and_nothing_sticks_out(browser: Browser, chat: LocalChat, bot: Bot) -> None:
    await bot.send_message(PRIVATE, "длинноеслово" * 40, reply_markup=inline("Очень длинная надпись " * 5, "x"))
    context = await browser.new_context(viewport={"width": 390, "height": 844}, locale="ru-RU", color_scheme="dark")
    page = await context.new_page()
    await page.goto(chat.page_url)
    await expect(page.locator(".message")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    assert await page.evaluate("document.documentElement.dataset.theme") == "dark"
    await page.get_by_role("button", name="К списку чатов").click()
    await page.get_by_role("button", name="Группа").click()
    await expect(page.locator("#chat-name")).to_have_text("Группа")
    await context.close()


async def test_the_page_speaks_english_to_others(browser: Browser, chat: LocalChat) -> None:
    context = await browser.new_context(locale="en-US")
    page = await context.new_page()
    await page.goto(chat.page_url)
    await expect(page.get_by_text("This is a local chat, not Telegram.")).to_be_visible()
    await context.close()


async def test_a_message_is_forwarded_by_its_menu_as_from_a_channel(page: Page, chat: LocalChat) -> None:
    await page.locator("#text").fill("Собрание перенесли на вторник.")
    await page.locator("#text").press("Enter")
    await page.locator(".message.mine .bubble").click(button="right")
    await page.get_by_role("menuitem", name="Переслать").click()
    await page.get_by_label("Куда").select_option("Группа")
    await page.get_by_label("От кого").select_option("Канал")
    await page.get_by_label("Имя или название").fill("Наш двор")
    await page.get_by_role("button", name="Переслать").click()
    await expect(page.locator("#chat-name")).to_have_text("Группа")
    await expect(page.locator(".message.mine").last).to_contain_text("Переслано от Наш двор")
    await expect(page.locator(".message.mine").last).to_contain_text("на вторник")
