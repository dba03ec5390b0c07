"""A hundred clients that stream answers at once over the HTTP API: time to the first byte, and memory.

In: nothing but free ports (`python -m benchmarks.api_load --clients 100`): `baza api` as a process of its own over an
embedded database, a base of one document, and a model on loopback that begins after 0.3 s and writes thirty words in
three seconds. Out: seconds to the first byte and to the first word, to the end, beside one client alone; processor
seconds and memory of the API's process.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import httpx
from aiohttp import web

from tests.servers.llm import ChatRequest, plan_search

TEXT = "Договор аренды склада\n\nШтраф за просрочку оплаты составляет 0,1 % от суммы за каждый день.\n"
QUESTION = "Какой штраф за просрочку оплаты?"
THINKING_S = 0.3
WORDS = 30
WORD_S = 0.1
ANSWER = "[+] Штраф за просрочку оплаты составляет 0,1 % от суммы за каждый день просрочки [1]. "
BAZA = [sys.executable, "-m", "bot"]


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """One answer, in seconds from the request."""

    first_byte: float
    first_words: float
    end: float


async def complete(request: web.Request) -> web.StreamResponse:
    """A chat model: a plan of one search, and an answer to whoever streams."""
    asked = ChatRequest.model_validate(await request.json())
    await asyncio.sleep(THINKING_S)
    if not asked.stream:
        message = {"role": "assistant", "content": plan_search(asked) if asked.wants_plan else "{}"}
        return web.json_response({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    words = ANSWER.split(" ")
    for number in range(WORDS):
        delta = {"content": words[number % len(words)] + " "} if number < len(words) else {"content": ""}
        await response.write(f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n".encode())
        await asyncio.sleep(WORD_S)
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    await response.write(f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode())
    return response


@asynccontextmanager
async def model() -> AsyncIterator[str]:
    """Its address."""
    app = web.Application()
    app.router.add_post("/chat/completions", complete)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@contextmanager
def api(environment: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The address and the process id of `baza api`."""
    process = subprocess.Popen([*BAZA, "api"], env=environment, stdout=subprocess.PIPE, text=True)
    with process:
        line = process.stdout.readline() if process.stdout else ""
        try:
            yield line.removeprefix("API: ").strip().removesuffix("/docs"), process.pid
        finally:
            process.terminate()
            process.communicate()


async def ask(client: httpx.AsyncClient, base: str) -> Streamed:
    """Stream one answer."""
    began = time.perf_counter()
    first_byte = first_words = 0.0
    async with client.stream("POST", f"/rags/{base}/chat", json={"question": QUESTION, "stream": True}) as response:
        response.raise_for_status()
        async for piece in response.aiter_bytes():
            now = time.perf_counter() - began
            first_byte = first_byte or now
            first_words = first_words or (now if b"event: delta" in piece else 0.0)
            last = piece
    assert b"event: done" in last, last
    return Streamed(first_byte=first_byte, first_words=first_words, end=time.perf_counter() - began)


async def measure(address: str, token: str, base: str, clients: int) -> list[Streamed]:
    """All clients at once."""
    limits = httpx.Limits(max_connections=clients)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=address, headers=headers, limits=limits, timeout=120) as client:
        return await asyncio.gather(*(ask(client, base) for _ in range(clients)))


def memory_mb(process: int, name: str) -> float:
    """VmRSS (now) or VmHWM (the most so far)."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(name))


def processor_s(process: int) -> float:
    """Used so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def prepare(home: Path, environment: Mapping[str, str]) -> tuple[str, str]:
    """A base of one document: its token and id."""
    (home / "contract.md").write_text(TEXT, encoding="utf-8")
    run = {"env": environment, "check": True, "capture_output": True, "text": True}
    subprocess.run([*BAZA, "add", str(home / "contract.md"), "--base", "work"], **run)  # type: ignore[call-overload]
    made = subprocess.run([*BAZA, "token", "add", "--base", "work", "--json"], **run)  # type: ignore[call-overload]
    told = json.loads(made.stdout)
    return told["token"], told["base"]


async def main() -> None:
    """Print a line for one client, and one for all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=100)
    clients: int = parser.parse_args().clients
    with tempfile.TemporaryDirectory(prefix="baza-load-") as folder:
        async with model() as llm:
            await load(Path(folder), llm, (1, clients, clients))


async def load(folder: Path, llm: str, numbers: Sequence[int]) -> None:
    """So many clients at once, one number after the other."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    environment = {
        **kept, "BAZA_HOME": str(folder), "OCR": "off", "LLM_BASE_URL": llm, "API_PORT": "18291",
        "API_REQUESTS_PER_MINUTE": "100000", "ANSWER_CHECK": "rules", "ENTITY_MODEL": "false",
    }  # fmt: skip
    token, base = await asyncio.to_thread(prepare, folder, environment)
    with api(environment) as (address, process):
        print("clients   byte ~  byte 95  words ~ words 95   end 95  CPU s  MB")
        for number in numbers:
            began = processor_s(process)
            report(await measure(address, token, base, number), processor_s(process) - began, process)


def report(streamed: list[Streamed], used_s: float, process: int) -> None:
    """One line."""
    columns = [[each.first_byte for each in streamed], [each.first_words for each in streamed]]
    ends = [each.end for each in streamed]
    shown = [figure for column in columns for figure in (median(column), slow(column))]
    figures = " ".join(f"{figure:8.2f}" for figure in (*shown, slow(ends)))
    now, most = memory_mb(process, "VmRSS"), memory_mb(process, "VmHWM")
    print(f"{len(streamed):7} {figures} {used_s:6.1f} {now:.0f} (most {most:.0f})")


def slow(column: list[float]) -> float:
    """The 95th percentile."""
    return quantiles(column, n=20)[-1] if len(column) > 1 else column[0]


if __name__ == "__main__":
    asyncio.run(main())
