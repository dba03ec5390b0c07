"""What the API does where something is used up, or away."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import pytest
from openai import APIError, AsyncOpenAI

from bot.settings import Settings
from domain.errors import BaseClosed
from rag.records import AnswerKind, TextGrew, TurnEvent
from tests.acceptance.conftest import Open
from tests.acceptance.test_api import ANSWER, QUESTION, events_of, fill, token_for
from tests.servers.llm import LlmServer, Streamed


@pytest.fixture
async def filled(settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> tuple[str, str]:
    """A token, and the base that it opens, which holds the contract."""
    await fill(settings, tmp_path)
    return await token_for(settings, capsys, "work")


@dataclass
class Wire:
    """A way to the database that can be cut."""

    host: str
    port: int
    cut_at: bytes = b""  # once this is said, nobody gets through any more
    is_cut: bool = False
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _passing: set[asyncio.Task[None]] = field(default_factory=set)

    def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begins one connection."""
        self._passing.add(asyncio.create_task(self._pass_on(reader, writer)))

    async def close(self) -> None:
        """Cuts it for good."""
        self.cut()
        await asyncio.gather(*self._passing)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.close()
            return
        there, back = await asyncio.open_connection(self.host, self.port)
        self._writers |= {writer, back}
        await asyncio.gather(self._copy(reader, back), self._copy(there, writer))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while said := await reader.read(65536):
                if self.cut_at and self.cut_at in said:
                    self.cut()
                writer.write(said)
                await writer.drain()
        writer.close()

    def cut(self) -> None:
        """Everybody is cut off."""
        self.is_cut = True
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def wire_to(database_url: str) -> AsyncIterator[tuple[Wire, str]]:
    """The wire, and the address of the database over it."""
    parts = urlsplit(database_url)
    wire = Wire(host=str(parts.hostname), port=parts.port or 5432)
    server = await asyncio.start_server(wire.connect, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield wire, database_url.replace(f":{wire.port}/", f":{port}/")
    finally:
        server.close()
        await wire.close()


async def test_a_database_that_is_away_is_told_as_503_and_in_the_middle_of_a_stream_as_an_event(
    api: Open, filled: tuple[str, str], database_url: str
) -> None:
    token, base = filled
    asked = {"question": QUESTION}
    async with (
        wire_to(database_url) as (wire, address),
        api(token, DATABASE_URL=address, DATABASE_TIMEOUT_SECONDS="2") as client,
    ):
        assert (await client.post(f"/rags/{base}/chat", json=asked)).status_code == 200
        wire.cut_at = b"public.search("
        streamed = await client.post(f"/rags/{base}/chat", json={**asked, "stream": True})
        refused = [
            await client.get("/rags"),
            await client.post(f"/rags/{base}/chat", json=asked),
            await client.post(
                "/v1/chat/completions", json={"model": base, "messages": [{"role": "user", "content": "?"}]}
            ),
            await client.post(f"/rags/{base}/documents", files={"file": ("a.txt", b"words")}),
        ]
        wire.cut_at, wire.is_cut = b"", False
        async with asyncio.timeout(30):
            while (await client.post(f"/rags/{base}/chat", json=asked)).status_code != 200:
                await asyncio.sleep(0.2)
    (event, problem) = events_of(streamed.text)[-1]
    assert (event, problem["status"], problem["detail"]) == (
        "error",
        503,
        "База данных сейчас не отвечает. Повторите запрос через несколько секунд.",
    )
    assert [(each.status_code, each.headers["retry-after"]) for each in refused] == [(503, "5")] * 4
    assert all(each.headers["content-type"] == "application/problem+json" for each in refused)


@pytest.mark.parametrize(("error", "status"), [(RuntimeError("?"), 500), (BaseClosed("search"), 404)])
async def test_what_breaks_after_the_first_byte_of_a_stream_is_told_in_it(
    api: Open,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
) -> None:
    async def break_off(*_: object, **__: object) -> AsyncGenerator[TurnEvent, None]:
        yield TextGrew(text="Штраф составляет ", kind=AnswerKind.FROM_BASE)
        raise error

    monkeypatch.setattr("rag.conversation.Conversation.answer", break_off)
    token, base = await token_for(settings, capsys, "work")
    async with api(token) as client, AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key=token) as openai:
        streamed = await client.post(f"/rags/{base}/chat", json={"question": QUESTION, "stream": True})
        pieces = await openai.chat.completions.create(
            model="work", messages=[{"role": "user", "content": QUESTION}], stream=True
        )
        with pytest.raises(APIError) as caught:
            [piece async for piece in pieces]
    (name, problem) = events_of(streamed.text)[-1]
    assert (name, problem["status"]) == ("error", status)
    assert caught.value.message == problem["detail"]


async def test_what_is_asked_wrongly_is_told_with_what_would_be_right(
    api: Open, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    token, base = await token_for(settings, capsys, "work")
    once = {"Idempotency-Key": "k"}
    async with api(token) as client:
        not_so = await client.put(f"/rags/{base}")
        no_json = [
            await client.post(f"/rags/{base}/chat", content=body, headers=headers)
            for body, headers in (
                (b'{"question": "?"}', {"Content-Type": "application/x-www-form-urlencoded"}),
                (b"{question}", {"Content-Type": "application/json"}),
            )
        ]
        sent = [
            await client.post(f"/rags/{base}/documents", json=json, headers=once)
            for json in ({"text": "Ключ", "title": "О ключе"}, {"title": "О ключе", "text": "Ключ"})
        ]
    assert (not_so.status_code, not_so.headers["allow"]) == (405, "DELETE, GET, PATCH")
    assert [each.status_code for each in no_json] == [422, 422]
    assert all("Content-Type: application/json" in each.json()["detail"] for each in no_json)
    assert sent[0].json()["id"] == sent[1].json()["id"]


async def test_what_a_token_may_cost_and_send_is_told_before_anything_is_done(
    api: Open,
    filled: tuple[str, str],
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    llm: LlmServer,
    with_llm: dict[str, str],
) -> None:
    token, base = filled
    other, _ = await token_for(settings, capsys, "work")
    llm.script(*[Streamed(text=ANSWER, cost=0.01)] * 2)
    bounds = {"API_DAILY_COST": "0.000001", "API_UPLOAD_MB_PER_DAY": "1", "MAX_FILE_MB": "2"}
    asked = {"question": QUESTION}
    completion = {"model": "work", "messages": [{"role": "user", "content": QUESTION}]}
    async with api(token, **with_llm, **bounds, ENTITY_MODEL="false") as client:
        first = await client.post(f"/rags/{base}/chat", json=asked)
        assert first.json()["usage"]["cost"] > 0
        spent = [
            await client.post(f"/rags/{base}/chat", json=asked),
            await client.post(f"/rags/{base}/chat", json={**asked, "stream": True}),
            await client.post("/v1/chat/completions", json=completion),
            await client.post(f"/rags/{base}/documents", json={"text": "Заметка"}),
        ]
        assert (await client.post(f"/rags/{base}/search", json={"query": QUESTION})).status_code == 200
        client.headers["Authorization"] = f"Bearer {other}"
        assert (await client.post(f"/rags/{base}/chat", json=asked)).status_code == 200
        place = urlsplit(f"{client.base_url}/rags/{base}/documents")
        unread = [await status_before_the_body(place, other, size) for size in (2**20 + 1, 2**22)]
    assert [each.status_code for each in spent] == [429] * 4
    assert all(0 < int(each.headers["retry-after"]) <= 86_400 for each in spent)
    assert "израсходовал" in spent[0].json()["detail"]
    assert unread == [429, 413]


async def test_a_hundred_questions_at_one_moment_pass_no_bound_together(
    api: Open, filled: tuple[str, str], llm: LlmServer, with_llm: dict[str, str]
) -> None:
    token, base = filled
    llm.reply = lambda _: Streamed(text=ANSWER, cost=0.01, pause_s=0.1)
    bounds = {"API_DAILY_COST": "0.045", "API_REQUESTS_PER_MINUTE": "1000", "ENTITY_MODEL": "false"}
    asked = {"question": QUESTION}
    completion = {"model": "work", "messages": [{"role": "user", "content": QUESTION}], "stream": True}
    async with api(token, **with_llm, **bounds) as client:
        assert (await client.post(f"/rags/{base}/chat", json=asked)).json()["usage"]["cost"] == 0.01
        replies = await asyncio.gather(
            *(client.post(f"/rags/{base}/chat", json={**asked, "stream": bool(n % 2)}) for n in range(50)),
            *(client.post("/v1/chat/completions", json=completion) for _ in range(50)),
        )
        refused = [each for each in replies if each.status_code == 429]
        assert len(refused) == 100 - 3  # with the first one 0.04
        assert {each.headers["retry-after"] for each in refused} == {"5"}
        assert "могут занять всё" in refused[0].json()["detail"]
        assert (await client.post(f"/rags/{base}/chat", json=asked)).status_code == 200  # the last may pass it
        assert (await client.post(f"/rags/{base}/chat", json=asked)).status_code == 429
    assert len(llm.requests) == 5


async def test_who_leaves_before_the_end_of_a_stream_has_spent_it(
    api: Open, filled: tuple[str, str], llm: LlmServer, with_llm: dict[str, str]
) -> None:
    token, base = filled
    llm.reply = lambda _: Streamed(text=ANSWER, cost=0.01, pause_s=0.05)
    asked = {"question": QUESTION}
    async with api(token, **with_llm, API_DAILY_COST="0.02", ENTITY_MODEL="false") as client:
        assert (await client.post(f"/rags/{base}/chat", json=asked)).status_code == 200
        async with client.stream("POST", f"/rags/{base}/chat", json={**asked, "stream": True}) as streamed:
            lines = (line async for line in streamed.aiter_lines() if "Штраф" in line)
            assert await anext(lines)
        async with asyncio.timeout(10):
            while (last := await client.post(f"/rags/{base}/chat", json=asked)).headers.get("retry-after") == "5":
                await asyncio.sleep(0.1)
    assert (last.status_code, "израсходовал" in last.json()["detail"]) == (429, True)


async def status_before_the_body(place: SplitResult, token: str, size: int) -> int:
    """What is answered to an upload of which only the headers have come."""
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    head = f"POST {place.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: {size}\r\n"
    writer.write(f"{head}Content-Type: multipart/form-data; boundary=b\r\n\r\n".encode())
    async with asyncio.timeout(30):
        line = await reader.readline()
    writer.close()
    return int(line.split()[1])


async def test_a_token_that_has_used_up_its_day_is_answered_without_a_model_and_uploads_no_more(
    api: Open,
    filled: tuple[str, str],
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    llm: LlmServer,
    with_llm: dict[str, str],
) -> None:
    token, base = filled
    other, _ = await token_for(settings, capsys, "work")
    llm.script(ANSWER)
    bounds = {"PERSON_DAILY_QUESTIONS": "1", "API_UPLOAD_MB_PER_DAY": "1", "API_KEPT_MB": "1", "MAX_FILE_MB": "1"}
    async with api(token, **with_llm, **bounds, ENTITY_MODEL="false") as client:
        kinds = [
            (await client.post(f"/rags/{base}/chat", json={"question": QUESTION})).json()["kind"] for _ in range(2)
        ]
        places = [f"/rags/{base}/documents"] * 3
        sent = [
            await client.post(place, files={"file": (f"{number}.txt", bytes([97 + number]) * 700_000)})
            for number, place in enumerate(places)
        ]
        client.headers["Authorization"] = f"Bearer {other}"
        more = await client.post(places[0], files={"file": ("more.txt", b"1" * 500_000)})
    assert kinds == ["from_base", "quotes"]
    assert [each.status_code for each in sent] == [202, 429, 429]
    assert 0 < int(sent[1].headers["retry-after"]) <= 86_400
    assert "слишком много" in sent[1].json()["detail"]
    assert (more.status_code, more.json()["detail"][:24]) == (413, "В этой базе кончилось ме")
