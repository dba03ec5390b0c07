"""Photos and scans as a person sends them: the words on them answer questions. No models configured but tesseract."""

import shutil
from pathlib import Path

from PIL import Image

from tests.acceptance.conftest import Start
from tests.acceptance.test_whole_way import enter
from tests.servers.llm import LlmServer
from tests.servers.person import Person

READ_S = 240.0  # recognising a page takes seconds, on a busy machine many
LEASE = Path(__file__).parents[1] / "integration" / "ingestion" / "scans" / "lease.png"
QUESTION = "До какого числа арендатор вносит плату?"


async def test_a_scan_answers_and_names_its_page(start: Start, tmp_path: Path) -> None:
    scan = tmp_path / "Аренда.pdf"
    with Image.open(LEASE) as page:
        page.convert("L").save(scan, "PDF", resolution=170)
    async with start() as page_url, Person(page_url) as you:
        await enter(you, "base")
        await you.send_file(scan)
        await you.wait_for("✅", READ_S)
        await enter(you, "chat")
        await you.say(QUESTION)
        answer = await you.wait_for("Информация взята из", READ_S)
    assert "не позднее пятого числа" in answer.text
    assert "Аренда.pdf" in answer.text


async def test_a_photo_answers(start: Start, tmp_path: Path) -> None:
    photo = tmp_path / "фото.png"
    shutil.copy(LEASE, photo)
    async with start() as page_url, Person(page_url) as you:
        await enter(you, "base")
        await you.send_file(photo)
        await you.wait_for("✅", READ_S)
        await enter(you, "chat")
        await you.say(QUESTION)
        answer = await you.wait_for("Информация взята из", READ_S)
    assert "не позднее пятого числа" in answer.text


async def test_a_photo_is_read_by_a_vision_model_where_that_is_chosen(
    start: Start, tmp_path: Path, llm: LlmServer, with_llm: dict[str, str]
) -> None:
    llm.script("## Договор\n\nКлюч лежит в комнате 214.")
    photo = tmp_path / "фото.png"
    shutil.copy(LEASE, photo)
    async with start(**with_llm, OCR="vision", VISION_MODEL="seer") as page_url, Person(page_url) as you:
        await enter(you, "base")
        await you.send_file(photo)
        await you.wait_for("✅", READ_S)
    assert [request.model for request in llm.requests] == ["seer"]


async def test_a_photo_without_words_is_kept_for_its_caption(start: Start, tmp_path: Path) -> None:
    cat = tmp_path / "фото.png"
    Image.new("RGB", (600, 400), "white").save(cat)
    async with start() as page_url, Person(page_url) as you:
        await enter(you, "base")
        await you.send_file(cat, "Мурка на даче у Петровых")
        await you.wait_for("✅", READ_S)
        await enter(you, "chat")
        await you.say("Где Мурка?")
        answer = await you.wait_for("Информация взята из", READ_S)
    assert "на даче у Петровых" in answer.text
