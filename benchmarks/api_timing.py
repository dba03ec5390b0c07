"""Whether the time of an answer tells that something exists in a base that the token does not open.

In: nothing but a free port (`python -m benchmarks.api_timing --requests 2000`): `baza api` as a process of its own, a
person with a token for all of their bases, and another person's base with a document, a dialogue, a webhook. Each
request asks for what is somebody else's, or for what is not there at all, in random order. Out: for each kind of
request the median of both, their difference, and how often the one was slower than the other: at .5 neither tells
anything. The standard error of that is .41 / sqrt(requests).
"""

import argparse
import asyncio
import os
import random
import tempfile
import time
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import httpx
import psycopg

from adapters.database.embedded import embedded_database
from benchmarks.api_load import api, prepare
from domain.people import new_token, token_hash

PERSON = 1001
Asked = tuple[str, str, object | None]  # method, path, body


def kinds(own: str, theirs: Mapping[str, str]) -> dict[str, tuple[Asked, Asked]]:
    """For each kind: what is somebody else's, and what nobody has."""
    nobody = {what: str(uuid.uuid4()) for what in theirs}

    def pair(method: str, path: str, body: object | None = None) -> tuple[Asked, Asked]:
        def filled(ids: Mapping[str, str]) -> Asked:
            said = {key: str(value).format(**ids) for key, value in body.items()} if isinstance(body, dict) else body
            return method, path.format(own=own, **ids), said

        return filled(theirs), filled(nobody)

    return {
        "a base": pair("GET", "/rags/{base}"),
        "its documents": pair("GET", "/rags/{base}/documents"),
        "search in it": pair("POST", "/rags/{base}/search", {"query": "штраф"}),
        "a document, in its base": pair("GET", "/rags/{base}/documents/{document}"),
        "a document, in one's own": pair("GET", "/rags/{own}/documents/{document}"),
        "its original": pair("GET", "/rags/{own}/documents/{document}/original"),
        "removing it": pair("DELETE", "/rags/{own}/documents/{document}"),
        "a webhook": pair("DELETE", "/rags/{own}/webhooks/{webhook}"),
        "a dialogue": pair("GET", "/rags/{own}/chat/messages?session_id={session}"),
        "a model": pair("GET", "/v1/models/{base}"),
    }


async def measure(client: httpx.AsyncClient, asked: tuple[Asked, Asked], requests: int) -> list[list[float]]:
    """Seconds of each, in random order."""
    taken: list[list[float]] = [[], []]
    turns = [0, 1] * requests
    random.Random(7).shuffle(turns)
    answers = set()
    for turn in turns:
        method, path, body = asked[turn]
        began = time.perf_counter()
        response = await client.request(method, path, json=body)
        taken[turn].append(time.perf_counter() - began)
        answers.add((response.status_code, response.text))
    assert len(answers) == 1, answers
    return taken


def slower(one: Sequence[float], other: Sequence[float]) -> float:
    """How often a time of the one is longer than a time of the other (half of equal ones)."""
    ordered = sorted(other)
    wins = sum(bisect_left(ordered, each) + bisect_right(ordered, each) for each in one)
    return wins / (2 * len(one) * len(other))


def hide(url: str, base: str) -> tuple[str, str, dict[str, str]]:
    """A token of the person, their base, and what is in the other one."""
    token = new_token()
    with psycopg.connect(url, autocommit=True) as connection:

        def ask(query: str, *given: object) -> str:
            found = connection.execute(query.encode(), given).fetchone()
            assert found
            return str(found[0])

        own = ask("select id from open_base(%s, null, %s, 'Анна')", PERSON, PERSON)
        ask("select make_base(%s, 'Работа')", PERSON)
        ask("select add_token(null, %s, false, null, %s)", token_hash(token), PERSON)
        webhook = ask("select id from add_webhook(%s, 'https://example.com', 'whsec_', 10)", base)
        document = ask("select id from documents where base_id = %s", base)
        session = str(uuid.uuid4())
        ask("select kept from insert_and_trim_pairs(5, %s, %s, 'Где?', 'Там.')", session, base)
    return token, own, {"base": base, "document": document, "webhook": webhook, "session": session}


async def compare(client: httpx.AsyncClient, asked_by_kind: dict[str, tuple[Asked, Asked]], requests: int) -> None:
    """A line for each kind."""
    print(f"{'':26}theirs ms  nobody's  difference  slower")
    for kind, asked in asked_by_kind.items():
        await measure(client, asked, 50)
        one, other = await measure(client, asked, requests)
        middle = [1000 * median(each) for each in (one, other)]
        figures = f"{middle[0]:9.3f} {middle[1]:9.3f} {middle[0] - middle[1]:11.4f}"
        print(f"{kind:26}{figures} {slower(one, other):7.3f}", flush=True)


async def main() -> None:
    """Print a line for each kind of request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000, help="of each of the two")
    requests: int = parser.parse_args().requests
    with tempfile.TemporaryDirectory(prefix="baza-timing-") as folder:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        environment = {
            **kept, "BAZA_HOME": folder, "OCR": "off", "API_PORT": "18292", "API_REQUESTS_PER_MINUTE": "10000000",
        }  # fmt: skip
        _, base = await asyncio.to_thread(prepare, Path(folder), environment)
        with api(environment) as (address, _):
            async with embedded_database(Path(folder)) as url:
                token, own, theirs = hide(url, base)
            headers = {"Authorization": f"Bearer {token}"}
            async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
                await compare(client, kinds(own, theirs), requests)


if __name__ == "__main__":
    asyncio.run(main())
