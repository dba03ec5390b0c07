"""The same base over HTTP, as a program that has a token reaches it."""

import asyncio
import base64
import hmac
import json
import os
import re
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import httpx2
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI, NotFoundError
from openai.types.chat import ChatCompletionMessageParam

from adapters.database.postgres import open_postgres
from adapters.database.stores.people import BaseStore, PeopleStore, TokenStore
from adapters.database.transport import ActingTransport
from bot.cli.content import add_to_base
from bot.cli.upkeep import add_token
from bot.settings import Settings
from domain.ids import ChatId, UserId
from domain.people import acting_for, new_token, token_hash
from tests import waiting
from tests.acceptance.conftest import Open, Start
from tests.ports import free_port
from tests.servers.llm import LlmServer, Streamed
from tests.servers.person import YOU, Person

CONTRACT = "Договор аренды склада\n\nШтраф за просрочку оплаты составляет 0,1 % от суммы за каждый день.\n"
QUESTION = "Какой штраф за просрочку оплаты?"
KEY = {"title": "Ключи", "text": "Ключ лежит под кирпичом."}
ANSWER = "[+] Штраф составляет **0,1 %** от суммы за каждый день [1]."


async def token_for(
    settings: Settings, capsys: pytest.CaptureFixture[str], name: str, *, is_read_only: bool = False
) -> tuple[str, str]:
    """A token and the id of its base, as the command line prints them."""
    capsys.readouterr()
    await add_token(settings, base_name=name, is_read_only=is_read_only, days=1, as_json=True)
    made = json.loads(capsys.readouterr().out)
    return made["token"], made["base"]


async def fill(settings: Settings, folder: Path, name: str = "work") -> None:
    """Puts the contract into the base."""
    contract = folder / "Договор.md"
    contract.write_text(CONTRACT, encoding="utf-8")
    assert await add_to_base(settings, [str(contract)], base_name=name, as_json=True) == 0


def events_of(body: str) -> list[tuple[str, dict[str, object]]]:
    """Server-sent events by their names."""
    blocks = [block.splitlines() for block in body.strip().split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


async def test_a_question_is_answered_with_its_sources_and_can_be_read_back(
    api: Open, settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    await fill(settings, tmp_path)
    token, base = await token_for(settings, capsys, "work")
    stranger, _ = await token_for(settings, capsys, "private")
    async with api(token) as client:
        (held,) = (await client.get("/rags")).json()
        assert (held["id"], held["name"], held["documents"]) == (base, "work", 1)
        found = (await client.post(f"/rags/{base}/search", json={"query": QUESTION, "limit": 1})).json()
        assert "0,1 %" in found[0]["text"]
        reply = (await client.post(f"/rags/{base}/chat", json={"question": QUESTION})).json()
        assert "0,1 %" in reply["answer"]
        assert [(each["number"], each["title"]) for each in reply["sources"]] == [(1, "Договор")]
        session = {"session_id": reply["session_id"]}
        asked, answered = (await client.get(f"/rags/{base}/chat/messages", params=session)).json()
        assert (asked["role"], asked["content"], answered["id"]) == ("user", QUESTION, reply["message_id"])
        assert answered["context_used"][0]["chunk_id"] == found[0]["chunk_id"]
        assert answered["sources"][0]["quote"] == reply["sources"][0]["quote"]
        (dialogue,) = (await client.get(f"/rags/{base}/chat/sessions")).json()
        assert dialogue == {"id": reply["session_id"], "title": QUESTION, "exchanges": 1}

        client.headers["Authorization"] = f"Bearer {stranger}"
        missing = (await client.get(f"/rags/{uuid.uuid4()}")).json()
        assert missing["status"] == 404
        for path in ("", "/chat/sessions", f"/chat/messages?session_id={reply['session_id']}"):
            assert (await client.get(f"/rags/{base}{path}")).json() == missing
        assert (await client.post(f"/rags/{base}/search", json={"query": QUESTION})).json() == missing


async def test_beside_the_local_chat_the_api_is_on_and_a_port_that_is_taken_stops_nothing(
    start: Start, tmp_path: Path
) -> None:
    port = free_port()
    with patch("bot.serving.API_PORT", port):
        async with start(API_PORT=""), httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            await until_there(client)
            assert (await client.get("/rags")).status_code == 401
            async with start(API_PORT="", BAZA_HOME=str(tmp_path / "another")) as page:
                assert page


async def until_there(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(60):
        while True:
            with suppress(httpx.ConnectError):
                await client.get("/")
                return
            await asyncio.sleep(0.1)


async def test_an_answer_streams_as_it_is_written(
    api: Open,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    llm: LlmServer,
    with_llm: dict[str, str],
) -> None:
    await fill(settings, tmp_path)
    token, base = await token_for(settings, capsys, "work", is_read_only=True)
    llm.script(Streamed(text=ANSWER, pause_s=0.05))
    async with api(token, **with_llm) as client:
        streamed = await client.post(f"/rags/{base}/chat", json={"question": QUESTION, "stream": True})
    events = events_of(streamed.text)
    (done,) = [data for name, data in events if name == "done"]
    deltas = [data["delta"] for name, data in events if name == "delta"]
    assert len(deltas) > 2
    assert "".join(map(str, deltas)) == done["answer"] == "Штраф составляет **0,1 %** от суммы за каждый день."
    assert done["kind"] == "from_base"


async def test_what_is_wrong_is_said_in_the_language_of_the_request(
    api: Open, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    token, base = await token_for(settings, capsys, "work")
    ask = f"/rags/{base}/chat"
    async with api(token, API_REQUESTS_PER_MINUTE="4") as client:
        unknown = await client.get("/rags", headers={"Authorization": "Bearer baza_other"})
        wrong = await client.post(ask, json={"question": " ", "depth": 3}, headers={"Accept-Language": "en-GB"})
        large = await client.post(ask, json={"question": "я" * 300_000})
        nowhere = await client.get("/nowhere", headers={"Accept-Language": "de, en;q=0.3, ru;q=0.7"})
        answers = [await client.get("/rags") for _ in range(9)]  # a minute may end among them
    assert (unknown.status_code, unknown.headers["www-authenticate"]) == (401, "Bearer")
    assert wrong.status_code == 422
    assert {each["field"] for each in wrong.json()["errors"]} == {"body.question", "body.depth"}
    assert (wrong.headers["content-language"], nowhere.headers["content-language"]) == ("en", "ru")
    assert (large.status_code, nowhere.status_code) == (413, 404)
    (late, *_) = [each for each in answers if each.status_code == 429]
    assert 0 < int(late.headers["retry-after"]) <= 60
    assert all(each.headers["content-type"] == "application/problem+json" for each in (unknown, wrong, large, late))


async def test_the_official_client_of_openai_works_unchanged(
    api: Open,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    llm: LlmServer,
    with_llm: dict[str, str],
) -> None:
    await fill(settings, tmp_path)
    token, base = await token_for(settings, capsys, "work")
    llm.script(ANSWER, Streamed(text=ANSWER, pause_s=0.05))
    asked: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Что в договоре?"},
        {"role": "assistant", "content": "Аренда склада."},
        {"role": "user", "content": QUESTION},
    ]
    async with api(token, **with_llm) as client, AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key=token) as openai:
        assert [model.id async for model in openai.models.list()] == ["work"]
        whole = await openai.chat.completions.create(model="work", messages=asked, temperature=0.3)
        stream = await openai.chat.completions.create(
            model=base, messages=asked, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
        with pytest.raises(NotFoundError):
            await openai.chat.completions.create(model="private", messages=asked)
        stored = (await client.get(f"/rags/{base}/chat/sessions")).json()
    message = whole.choices[0].message
    assert message.content == "Штраф составляет **0,1 %** от суммы за каждый день."
    assert [each.url_citation.title for each in message.annotations or []] == ["Договор"]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == message.content
    assert (chunks[-2].model_extra or {})["sources"] == (whole.model_extra or {})["sources"]
    told = [each.model_dump() for each in message.annotations or []]
    assert (chunks[-2].choices[0].delta.model_extra or {})["annotations"] == told
    assert chunks[-1].usage is not None
    assert [each.content for each in llm.requests[0].messages[1:3]] == ["Что в договоре?", "Аренда склада."]
    assert stored == []


async def test_the_examples_of_the_document_run(
    api: Open, settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    await fill(settings, tmp_path)
    token, base = await token_for(settings, capsys, "work")
    document = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    curls = re.findall(r"```sh\n(curl .*?)```", document, re.DOTALL)
    (tmp_path / "contract.md").write_text("# Хранение\n\nКлюч от склада у сторожа.", encoding="utf-8")
    async with api(token) as client:
        environment = {**os.environ, "BAZA_API": str(client.base_url), "BAZA_TOKEN": token, "BAZA_BASE": base}
        printed = [
            await asyncio.create_subprocess_exec(
                *command, env=environment, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
            )
            for command in ((sys.executable, "-c", program), *(("sh", "-c", curl) for curl in curls))
        ]
        outputs = [(await each.communicate())[0].decode() for each in printed]
    assert "1 Договор" in outputs[0]
    added, answered = map(json.loads, outputs[1:])
    assert (added["identifier"], added["has_original"]) == ("contract.md", True)
    assert answered["sources"][0]["title"] == "Договор"


async def test_documents_are_added_read_and_removed(
    api: Open, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    token, base = await token_for(settings, capsys, "work")
    reading, _ = await token_for(settings, capsys, "work", is_read_only=True)
    stranger, foreign = await token_for(settings, capsys, "private")
    async with api(token) as client:
        added = await client.post(
            f"/rags/{base}/documents", json={"title": "Ключи", "text": "Ключ лежит под кирпичом."}
        )
        assert added.status_code == 202
        place = f"/rags/{base}/documents/{added.json()['id']}"
        await until(client, place)
        (listed,) = (await client.get(f"/rags/{base}/documents")).json()
        assert (listed["title"], listed["status"], listed["passages"]) == ("Ключи", "ready", 1)
        assert (await client.get(f"{place}/content")).json()["text"] == "Ключ лежит под кирпичом."
        for wrong in ({}, {"text": "и", "url": "https://example.com"}, {"url": "file:///etc/passwd"}):
            assert (await client.post(f"/rags/{base}/documents", json=wrong)).status_code == 422
        only_read = {"Authorization": f"Bearer {reading}"}
        assert (await client.delete(place, headers=only_read)).status_code == 403
        theirs = {"Authorization": f"Bearer {stranger}"}
        hidden = place.replace(base, foreign)
        for method, path in (("GET", hidden), ("GET", f"{hidden}/content"), ("DELETE", hidden), ("DELETE", place)):
            assert (await client.request(method, path, headers=theirs)).status_code == 404
        again = (await client.post(f"/rags/{base}/documents", json=KEY)).json()["id"]
        await until(client, f"/rags/{base}/documents/{again}", "duplicate")
        twin = (await client.get(f"/rags/{base}/documents/{again}")).json()
        assert twin["duplicate_of"] == listed["id"]
        assert (await client.delete(place)).status_code == 204
        assert (await client.get(place)).status_code == 404


async def until(client: httpx.AsyncClient, place: str, status: str = "ready") -> None:
    """Waits for a worker."""
    async with asyncio.timeout(60):
        while (await client.get(place)).json()["status"] != status:
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_the_client_of_mcp_searches_fetches_asks_and_adds(
    api: Open, settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path, mode: str
) -> None:
    await fill(settings, tmp_path)
    token, base = await token_for(settings, capsys, "work")
    reading, _ = await token_for(settings, capsys, "work", is_read_only=True)

    async def found(mcp: Client, name: str, **arguments: object) -> dict[str, Any]:
        result = await mcp.call_tool(name, arguments)
        assert not result.is_error, result
        return dict(result.structured_content or {})

    async with api(token) as client:
        place = f"{client.base_url}/mcp"
        async with mcp_client(place, token, mode) as mcp:
            assert {each.name for each in (await mcp.list_tools()).tools} == {"search", "fetch", "ask", "add"}
            (passage,) = (await found(mcp, "search", query=QUESTION))["results"]
            fetched = await found(mcp, "fetch", id=passage["id"])
            assert fetched["text"] == "Договор аренды склада\n\n" + CONTRACT.splitlines()[2]
            assert "0,1 %" in (await found(mcp, "ask", question=QUESTION))["answer"]
            added = await found(mcp, "add", text="Ключ лежит под кирпичом.")
            await until(client, f"/rags/{base}/documents/{added['id']}")
            for name, arguments in (("fetch", {"id": str(uuid.uuid4())}), ("ask", {"question": " "}), ("no", {})):
                assert (await mcp.call_tool(name, arguments)).is_error
        async with mcp_client(place, reading, mode) as mcp:
            assert "add" not in {each.name for each in (await mcp.list_tools()).tools}
            assert (await mcp.call_tool("add", {"text": "Не будет добавлено."})).is_error


async def test_a_token_for_all_bases_names_the_base_to_the_tools(start: Start, database_url: str) -> None:
    port, token = free_port(), new_token()
    async with start(API_PORT=str(port)), open_postgres(database_url, pool_size=1, timeout_s=30) as transport:
        home = await PeopleStore(transport).open_base(ChatId(YOU), thread=None, member=UserId(YOU))
        await BaseStore(transport).make(UserId(YOU), "Работа")
        with acting_for(UserId(YOU)):
            tokens = TokenStore(ActingTransport(transport))
            await tokens.add(None, token_hash(token), is_read_only=False, days=None)
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers) as client,
            mcp_client(f"{client.base_url}/mcp", token, "auto") as mcp,
        ):
            told = {each.name: each.input_schema for each in (await mcp.list_tools()).tools}
            assert all(schema["properties"]["base"]["enum"] == [home, "Работа"] for schema in told.values())
            added = await mcp.call_tool("add", {"text": "Ключ лежит под кирпичом.", "base": "Работа"})
            work = next(each["id"] for each in (await client.get("/rags")).json() if each["name"] == "Работа")
            await until(client, f"/rags/{work}/documents/{(added.structured_content or {})['id']}")
            found = [
                (await mcp.call_tool("search", {"query": "ключ", **base})).structured_content
                for base in ({"base": "Работа"}, {"base": work}, {}, {"base": home})
            ]
            stranger = await mcp.call_tool("search", {"query": "ключ", "base": str(uuid.uuid4())})
    assert [len((each or {})["results"]) for each in found] == [1, 1, 0, 0]
    assert stranger.is_error


@asynccontextmanager
async def mcp_client(address: str, token: str, mode: str) -> AsyncIterator[Client]:
    """The client of the MCP SDK: `legacy` begins with `initialize`, a version asks without it, `auto` tries both."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


async def test_a_file_is_kept_with_its_document_and_no_longer(
    api: Open, settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    token, base = await token_for(settings, capsys, "work")
    stranger, _ = await token_for(settings, capsys, "private")
    first, second = CONTRACT.encode(), CONTRACT.replace("0,1 %", "0,2 %").encode()
    kept = settings.home / "files" / base
    async with api(token, MAX_FILE_MB="1") as client:
        place = f"/rags/{base}/documents"
        once = {"Idempotency-Key": "одно и то же".encode().hex()}
        added = [
            await client.post(place, files={"file": ("Договор.md", first, "text/markdown")}, headers=once)
            for _ in range(2)
        ]
        assert [each.status_code for each in added] == [202, 202]
        assert added[0].json() == added[1].json()
        other = await client.post(place, files={"file": ("Договор.md", second)}, headers=once)
        assert (other.status_code, other.json()["detail"][:18]) == (409, "С этим Idempotency")
        document = f"{place}/{added[0].json()['id']}"
        await until(client, document)
        assert len((await client.get(place)).json()) == 1
        original = await client.get(f"{document}/original")
        assert original.content == first
        assert original.headers["content-disposition"].startswith("attachment")
        theirs = {"Authorization": f"Bearer {stranger}"}
        assert (await client.get(f"{document}/original", headers=theirs)).status_code == 404

        newer = await client.put(document, files={"file": ("Договор.md", second)}, data={"title": "Договор 2"})
        await until(client, f"{place}/{newer.json()['id']}")
        current = (await client.get(document)).json()
        assert (current["version"], current["id"], current["has_original"]) == (2, newer.json()["id"], True)
        assert (await client.get(f"{document}/original")).content == second
        found = (await client.post(f"/rags/{base}/search", json={"query": QUESTION})).json()
        assert ["0,2 %" in each["text"] for each in found] == [True]

        again = (await client.post(place, files={"file": ("Договор 2.md", first)})).json()["id"]
        await until(client, f"{place}/{again}")
        for wrong in ({}, {"file": ("", b"x")}, {"file": ("a.txt", b"")}, {"a": ("a", b"1"), "b": ("b", b"2")}):
            sent = await client.post(place, files=wrong or {"x": (None, "y")})
            assert sent.status_code == 422, wrong
        large = await client.post(place, files={"file": ("a.txt", b"x" * (2**20 + 1))})
        assert large.status_code == 413
        assert len(list(kept.iterdir())) == 2
        note = (await client.post(place, json=KEY)).json()["id"]
        assert (await client.get(f"{place}/{note}/original")).status_code == 404
        for each in (current["id"], again):
            assert (await client.delete(f"{place}/{each}")).status_code == 204
    async with api(token):  # which looks once it begins
        async with asyncio.timeout(30):
            while kept.exists():
                await asyncio.sleep(0.1)


async def test_a_webhook_is_told_of_each_end_signed_and_again_until_it_answers(
    api: Open, settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token, base = await token_for(settings, capsys, "work")
    told: list[tuple[dict[str, str], str]] = []

    async def receive(request: web.Request) -> web.Response:
        told.append((dict(request.headers), await request.text()))
        return web.Response(status=500 if len(told) == 1 else 204)

    listening = web.Application()
    listening.router.add_post("/told", receive)
    async with TestServer(listening) as server:
        address, place = f"http://127.0.0.1:{server.port}/told", f"/rags/{base}/webhooks"
        monkeypatch.setattr("adapters.webhooks.AGAIN_S", (0.1, 0.1))
        async with api(token, FETCH_ALLOW_HOSTS=f"127.0.0.1:{server.port}") as client:
            for inside in ("http://127.0.0.1:1/told", "http://localhost/", "ftp://example.com/", "http://10.0.0.8/"):
                assert (await client.post(place, json={"url": inside})).status_code == 422
            made = (await client.post(place, json={"url": address})).json()
            (listed,) = (await client.get(place)).json()
            assert {**listed, "secret": made["secret"]} == made
            document = (await client.post(f"/rags/{base}/documents", json=KEY)).json()["id"]
            await waiting.until(lambda: len(told) >= 2)
            for _ in range(12):
                last = await client.post(place, json={"url": address})
            assert last.status_code == 409
            assert (await client.delete(f"{place}/{made['id']}")).status_code == 204
            assert (await client.delete(f"{place}/{made['id']}")).status_code == 404
    for headers, body in told[:2]:
        lower = {name.lower(): value for name, value in headers.items()}
        content = f"{lower['webhook-id']}.{lower['webhook-timestamp']}.{body}".encode()
        key = base64.b64decode(made["secret"].removeprefix("whsec_"))
        assert lower["webhook-signature"] == "v1," + base64.b64encode(hmac.digest(key, content, "sha256")).decode()
        event = json.loads(body)
        assert (event["type"], event["data"]["document"]) == ("document.ready", document)


async def test_the_bot_opens_the_original_of_what_came_over_http(start: Start, database_url: str) -> None:
    port, token = free_port(), new_token()
    async with start(API_PORT=str(port)) as page, Person(page) as you:
        await you.wait_for("Выберите режим", after=await you.say("/start"))
        async with open_postgres(database_url, pool_size=1, timeout_s=30) as transport:
            base = await PeopleStore(transport).open_base(ChatId(YOU), thread=None, member=UserId(YOU))
            await TokenStore(transport).add(base, token_hash(token), is_read_only=False, days=None)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
            place = f"/rags/{base}/documents"
            added = await client.post(place, files={"file": ("Договор.md", CONTRACT.encode())})
            await until(client, f"{place}/{added.json()['id']}")
        listed = await you.wait_for("Документы: 1", after=await you.say("/docs"))
        await you.press("1", listed)
        await you.press("Оригинал", await you.wait_for("добавлен"))
        original = await you.wait_for(lambda seen: seen.file_name == "Договор.md")
        assert (await you.download(original)).decode() == CONTRACT
