"""Figures, the whole way: /stats for a person, an admin and a stranger; /metrics for Prometheus."""

import asyncio
import socket
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.cli.output import CommandError
from tests.acceptance.conftest import Start
from tests.acceptance.test_models import ANSWER, QUESTION, keep_contract
from tests.acceptance.test_whole_way import READ_S
from tests.ports import free_port
from tests.servers.llm import LlmServer
from tests.servers.person import ANNA, GROUP, YOU, Person, Seen

Variables = dict[str, str]


async def ask_twice(you: Person) -> Seen:
    """Two answers in quotes; the second comes back."""
    for question in (QUESTION, "Сколько процентов за каждый день?"):
        said = await you.say(question)
        answer = await you.wait_for("Информация взята из", READ_S, after=said)
    return answer


async def test_a_person_sees_figures_and_a_picture_after_a_document_and_two_questions(
    start: Start, tmp_path: Path
) -> None:
    async with start() as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        answer = await ask_twice(you)
        await you.wait_for_answer(await you.press("👍", answer))
        figures = await you.wait_for("Ваша база", after=await you.say("/stats"))
        rest = await you.wait_for("Режим", after=await you.say("/base"))
        after = [seen for seen in await you.messages() if figures.message_id < seen.message_id < rest.message_id]
    lines = figures.text.splitlines()
    assert lines[1] == "1 документ, 1 фрагмент"
    assert "Вопросов за 7 дней: 2, за 30 дней: 2" in lines
    assert "🟪 цитатами 2" in lines
    assert "Оценки ответов: 👍 1 · 👎 0" in lines
    assert (figures.raw["photo"][-1]["width"], figures.raw["photo"][-1]["height"]) == (1080, 600)
    assert [seen for seen in after if seen.is_bot] == []


async def test_thumbs_and_figures_survive_a_restart(start: Start, tmp_path: Path) -> None:
    async with start() as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        answer = await ask_twice(you)
        await you.wait_for_answer(await you.press("👍", answer))
    async with start() as page, Person(page) as you:
        popup = await you.wait_for_answer(await you.press("👎", await you.wait_for("Информация взята из")))
        figures = await you.wait_for("Ваша база", after=await you.say("/stats"))
    assert popup.text
    assert "👍 0 · 👎 1" in figures.text
    assert "за 30 дней: 2" in figures.text


async def test_an_admin_sees_everybody_and_nobody_else_does(start: Start, tmp_path: Path) -> None:
    async with start(ADMIN_USERS=str(YOU)) as page, Person(page) as you, Person(page, ANNA, GROUP) as anna:
        await keep_contract(you, tmp_path)
        await ask_twice(you)
        groups = await anna.wait_for("База этой группы", after=await anna.say("/stats"))
        everybody = await you.wait_for("Все базы", after=await you.say("/stats"))
        picture = await you.wait_for("сколько людей спрашивало", after=everybody)
        await anna.wait_for("Режим", after=await anna.say("/base"))
        hers = [seen.text for seen in await anna.messages() if seen.is_bot]
    assert "0 документов" in groups.text
    assert "Вопросов за 30 дней не было" in groups.text
    assert "спрашивали: 1, баз: 2" in everybody.text
    assert "Вопросов: 2; из общих знаний 0, цитатами 2" in everybody.text
    assert "Документы: готовы 1" in everybody.text
    assert picture.text.splitlines()[2] == "2. Документы: 🟩 прочитаны, 🟥 не прочитаны"
    assert (picture.raw["photo"][-1]["width"], picture.raw["photo"][-1]["height"]) == (1080, 663)
    assert not any("Все базы" in text for text in hers)


async def test_a_stranger_sees_nothing(start: Start) -> None:
    only_you = {"ALLOWED_USERS": str(YOU), "ADMIN_USERS": str(YOU)}
    async with start(**only_you) as page, Person(page, ANNA, GROUP) as anna, Person(page, YOU, GROUP) as you:
        await anna.wait_for("избранного круга", after=await anna.say("/stats"))
        await anna.say("/stats")
        await you.wait_for("База этой группы", after=await you.say("/stats"))
        told = [seen.text for seen in await anna.messages() if seen.is_bot]
    assert len(told) == 2


async def scraped(port: int) -> dict[str, float]:
    """`name{value,value}` -> number, as Prometheus would read it."""
    url, rebound = f"http://127.0.0.1:{port}/metrics", {"Host": f"evil.example:{port}"}
    async with aiohttp.ClientSession() as session, session.get(url, headers=rebound) as refused:
        assert refused.status == 403
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        families = text_string_to_metric_families(await answer.text())
    return {
        f"{sample.name}{{{','.join(value for _, value in sorted(sample.labels.items()))}}}": sample.value
        for family in families
        for sample in family.samples
    }


async def test_prometheus_reads_a_question_and_a_document(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.script(ANSWER)
    port = free_port()
    async with start(**with_llm, METRICS_PORT=str(port)) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.break_method("sendMessage", error_code=429, retry_after=1, times=1)
        await you.say(QUESTION)
        await you.wait_for("Информация взята из", READ_S)
        async with asyncio.timeout(READ_S):  # the turn is counted after its answer was sent
            while "baza_turns_total{from_base}" not in (seen := await scraped(port)):
                await asyncio.sleep(0.05)
    assert seen["baza_turns_total{from_base}"] == 1
    assert seen["baza_documents_total{,ready}"] == 1
    assert seen["baza_bot_api_errors_total{TelegramRetryAfter,sendMessage}"] == 1
    assert seen["baza_search_seconds_count{}"] >= 1
    assert sum(value for name, value in seen.items() if name.startswith("baza_model_calls_total{")) >= 1
    assert seen["baza_model_tokens_total{prompt,answer}"] > 0
    assert 0 < seen["baza_turn_models_seconds_sum{}"] <= seen["baza_turn_seconds_sum{}"]
    assert seen["baza_document_stage_seconds_count{embedding}"] == 1
    assert (seen["baza_queue_documents{waiting}"], seen["baza_queue_documents{working}"]) == (0, 0)


async def test_a_taken_port_is_a_sentence_that_names_its_setting(start: Start) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with pytest.raises(CommandError, match="METRICS_PORT"):
            async with start(METRICS_PORT=port):
                pass
