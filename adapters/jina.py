"""Jina's API: embeddings (windows of documents with late chunking, and questions) and reranking.

In: calls of `ingestion.ports.Embedder`, `rag.ports.QueryEmbedder` and `rag.ports.Reranker`. Out: a vector for each
chunk and question, scores, or the errors of the package that asked. Of its replies nothing is believed: count, order,
size and finite numbers are checked. Documents are asked for side by side up to `concurrency` and no faster than the
account's tier allows (no 60 seconds ever hold more); questions never queue behind them. No text of a document gets into
a message: providers quote what they were sent, so quoted parts are left out.
"""

import asyncio
import base64
import json
import math
import random
import re
import time
from array import array
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

import httpx
import numpy as np
import numpy.typing as npt
import structlog
from pydantic import BaseModel

from domain.ending import together
from domain.errors import retry_after_s
from domain.locator import JsonValue
from ingestion.errors import FailureCode, ServiceError, WindowTooLarge
from ingestion.records import Vector, Window
from rag.metering import ask_leave, note_cost
from rag.ports import ModelAway, ModelError, ModelNonsense, ModelRefused
from rag.records import Passage

Vectors = npt.NDArray[np.float64]
DIMENSIONS = 1024  # what jina-embeddings-v3 makes and the database keeps
WINDOW_TOKENS = 7500  # of the API's 8192 for all inputs of a request; our count is an estimate and needs room
SERVICE = "Jina"
LONGEST_DETAIL = 200  # characters
_REFUSALS = frozenset({401, 402, 403})  # a spent balance comes as 403 AUTHZ_INSUFFICIENT_BALANCE
_AWAY = frozenset({408, 425, 429})  # and every 5xx
_LENGTH_REFUSALS = frozenset({400, 413, 422})
# "Single text cannot exceed 8192 tokens. N tokens given.", "input length is larger than the largest allowed size 2048"
_TOO_LONG = re.compile(r"\d+ tokens|too long|cannot exceed|larger than the largest|maximum (?:context|length)", re.I)
_QUOTED = re.compile(r"\"[^\"]*\"?|(?<!\w)'[^']*'?|«[^»]*»?|“[^”]*”?|`[^`]*`?")
MINUTE_S = 60.0
CHARS_A_TOKEN = 3  # of jina-embeddings-v3 in Russian: 3.3 to 4 in running text. Fewer characters: slower, never over
CONNECT_S = 10.0
FIRST_PAUSE_S = 0.5
ASKS = 2  # a reply that makes no sense is asked for once more
SILENCE_S = 60.0  # after a question that was not answered: further ones fail at once, until anything is answered
Read = TypeVar("Read")
Body = Mapping[str, JsonValue]


class Away(ModelAway):
    """Try again later; not before `retry_after_s`, if the service says so."""

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class Rejected(ModelRefused):
    """The request itself is wrong, or the model's name: until somebody mends it."""


class TooLong(Rejected):
    """Ask for less."""


def fault_of(response: httpx.Response) -> ModelError:
    status, said = response.status_code, explain(response.content)
    detail = f"{SERVICE}: HTTP {status} {said}".strip()
    if status in _REFUSALS:
        return ModelRefused(detail)
    if status in _AWAY or status >= 500:
        wait_s = retry_after_s(response.headers.get("Retry-After"), now=datetime.now(UTC))
        return Away(detail, retry_after_s=wait_s)
    return TooLong(detail) if status in _LENGTH_REFUSALS and _TOO_LONG.search(said) else Rejected(detail)


def as_ingestion_error(fault: ModelError) -> Exception:
    """WindowTooLarge, or a ServiceError: the document is kept and tried again."""
    if isinstance(fault, TooLong):
        return WindowTooLarge(str(fault))
    code, wait_s = FailureCode.SERVICE_AWAY, fault.retry_after_s if isinstance(fault, Away) else None
    if isinstance(fault, ModelRefused):
        code = FailureCode.INTERNAL if isinstance(fault, Rejected) else FailureCode.SERVICE_REFUSED
    return ServiceError(code, retry_after_s=wait_s, detail=str(fault), service=SERVICE)


def explain(body: bytes) -> str:
    """What an error's body says, in one line: `code`, `detail` (a sentence or FastAPI's list) or `error.message`."""
    try:
        parsed = json.loads(body)
    except ValueError:
        return ""
    if not isinstance(parsed, dict):
        return ""
    detail, error = parsed.get("detail"), parsed.get("error")
    if isinstance(detail, list):  # only places and messages: its `input` is the text that was sent
        problems = (problem for problem in detail if isinstance(problem, dict))
        detail = "; ".join(f"{'.'.join(map(str, each.get('loc', ())))}: {each.get('msg', '')}" for each in problems)
    words = (parsed.get("code"), detail, error.get("message") if isinstance(error, dict) else error)
    return _QUOTED.sub("…", " ".join(said for said in words if isinstance(said, str)))[:LONGEST_DETAIL]


@dataclass(frozen=True, kw_only=True)
class Tier:
    requests_a_minute: int
    tokens_a_minute: int
    concurrency: int  # requests at the same time


# As Jina published them in 2026 (its OpenAPI description; reference/apis.md, section 2).
TIERS = {
    "free": Tier(requests_a_minute=500, tokens_a_minute=1_000_000, concurrency=5),
    "paid": Tier(requests_a_minute=500, tokens_a_minute=10_000_000, concurrency=50),
    "premium": Tier(requests_a_minute=5_000, tokens_a_minute=100_000_000, concurrency=500),
}


def estimate_cost(texts: Sequence[str]) -> int:
    """Tokens of all texts, rather more than they will be."""
    return sum(len(text) // CHARS_A_TOKEN + 1 for text in texts)


class Pace:
    def __init__(self, tier: Tier, clock: Callable[[], float] = time.monotonic) -> None:
        self._tier = tier
        self._clock = clock
        self._asked: deque[tuple[float, int]] = deque()  # when, and how many tokens
        self._rests_until = 0.0

    async def wait(self, tokens: int) -> None:
        """Return when a request of so many tokens may be sent, and count it."""
        while (pause_s := self.pause_s(tokens)) > 0:  # noqa: ASYNC110 - others may have gone first, and nobody tells
            await asyncio.sleep(pause_s)
        self.count(tokens)

    def count(self, tokens: int) -> None:
        """Count a request that is being sent, whether there was room for it or not."""
        now = self._clock()
        while self._asked and self._asked[0][0] <= now - MINUTE_S:
            self._asked.popleft()
        self._asked.append((now, tokens))

    def rest(self, seconds: float) -> None:
        """Pause for so long, as the service has asked."""
        self._rests_until = max(self._rests_until, self._clock() + seconds)

    @property
    def rest_s(self) -> float:
        return max(0.0, self._rests_until - self._clock())

    def pause_s(self, tokens: int) -> float:
        """Seconds until there is room for so many tokens; 0 when there is now."""
        now, waited = self._clock(), 0.0
        requests, used = len(self._asked), sum(cost for _, cost in self._asked)
        for asked_at, cost in self._asked:
            if requests < self._tier.requests_a_minute and used + tokens <= self._tier.tokens_a_minute:
                break
            requests, used, waited = requests - 1, used - cost, asked_at + MINUTE_S - now
        return max(self.rest_s, waited)


@dataclass(frozen=True, kw_only=True)
class Patience:
    tries: int
    pauses_s: float  # all pauses between tries together; a longer Retry-After is passed on to the caller
    longest_try_s: float = math.inf  # shorter than the client's own timeout
    queues: bool = True  # takes one of the `concurrency` places, and its turn in the minute


DOCUMENT_PATIENCE = Patience(tries=3, pauses_s=30)
QUESTION_PATIENCE = Patience(tries=2, pauses_s=3, longest_try_s=10, queues=False)  # a person waits, words find too


class JinaClient:
    """One account at one address. Make it with `open_jina`."""

    def __init__(self, http: httpx.AsyncClient, *, timeout_s: float, concurrency: int, tier: Tier) -> None:
        self._http = http
        self._timeout_s = timeout_s
        self._places = asyncio.Semaphore(concurrency)
        self._pace = Pace(tier)
        self._silent_until: dict[str, float] = {}  # for questions: path -> time

    async def ask(
        self, path: str, body: Body, read: Callable[[bytes], Read], *, patience: Patience, tokens: int
    ) -> Read:
        """POST and read. `read` raises ValueError (pydantic's is one) for a reply that makes no sense. `tokens`: what
        the request costs, see `estimate_cost`. Raises ModelError."""
        tried, paused_s = 0, 0.0
        while True:
            tried += 1
            try:
                return read(await self._answer(path, body, patience, tokens))
            except ModelError as error:
                fault, tries = error, patience.tries if isinstance(error, ModelAway) else 1
            except ValueError as error:
                fault, tries = ModelNonsense(f"{SERVICE}: nonsense from {path} ({type(error).__name__})"), ASKS
            # What the server asks for, else 0.5, 1, 2 s ... give or take a quarter, so that callers fall out of step.
            pause_s = FIRST_PAUSE_S * 2.0 ** (tried - 1) * random.uniform(0.75, 1.25)  # noqa: S311 - guards nothing
            if isinstance(fault, Away) and fault.retry_after_s is not None:
                pause_s = fault.retry_after_s
            if tried >= tries or paused_s + pause_s > patience.pauses_s:
                raise fault
            structlog.get_logger().info("jina.retry", path=path, tried=tried, pause_s=pause_s, why=str(fault))
            await asyncio.sleep(pause_s)
            paused_s += pause_s

    async def _answer(self, path: str, body: Body, patience: Patience, tokens: int) -> bytes:
        async with AsyncExitStack() as stack:
            if not patience.queues:
                if (silence_s := self._silent_until.get(path, 0.0) - time.monotonic()) > 0:
                    raise Away(f"{SERVICE}: no answer to a question just now", retry_after_s=silence_s)
                self._pace.count(tokens)
            elif self._pace.rest_s > patience.pauses_s:  # the server has told another request to wait that long
                raise Away(f"{SERVICE}: asked to be left alone", retry_after_s=self._pace.rest_s)
            else:
                await stack.enter_async_context(self._places)
                await self._pace.wait(tokens)
            response = await self._post(path, body, patience)
        if response.is_success:
            return response.content
        fault = fault_of(response)
        if isinstance(fault, Away):
            self._pace.rest(fault.retry_after_s or 0.0)
        raise fault

    async def _post(self, path: str, body: Body, patience: Patience) -> httpx.Response:
        limit_s = min(self._timeout_s, patience.longest_try_s)
        started = time.monotonic()
        try:
            async with asyncio.timeout(limit_s):  # httpx's own is between bytes and never ends on a trickle
                response = await self._http.post(path, json=body)
        except (TimeoutError, httpx.TimeoutException) as error:
            if not patience.queues:
                self._silent_until[path] = time.monotonic() + SILENCE_S
            raise Away(f"{SERVICE}: no answer in {limit_s:g} s") from error
        except httpx.HTTPError as error:
            raise Away(f"{SERVICE}: {type(error).__name__}") from error
        self._silent_until.pop(path, None)
        seconds = round(time.monotonic() - started, 3)
        structlog.get_logger().debug("jina.answered", path=path, status=response.status_code, seconds=seconds)
        return response


@asynccontextmanager
async def open_jina(
    *, base_url: str, api_key: str, timeout_s: float, tier: Tier, concurrency: int | None = None
) -> AsyncIterator[JinaClient]:
    """A client for the time of the block. `timeout_s` bounds one try, `concurrency` the requests for documents (None:
    as many as the tier allows, less one for questions)."""
    async with httpx.AsyncClient(
        base_url=base_url,
        headers={"Authorization": f"Bearer {api_key}"},
        timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
    ) as http:
        places = concurrency or max(1, tier.concurrency - 1)
        yield JinaClient(http, timeout_s=timeout_s, concurrency=places, tier=tier)


class _Embedding(BaseModel):
    index: int
    embedding: str | list[float]  # base64 of little-endian float32, or numbers


class _Embeddings(BaseModel):
    data: list[_Embedding]


class _Relevance(BaseModel):
    index: int
    relevance_score: float


class _Relevances(BaseModel):
    results: list[_Relevance]


def read_embeddings(content: bytes, *, count: int, dimensions: int) -> Vectors:
    """`count` L2-normalised vectors in the order of the inputs, a row each. Raises ValueError."""
    found = sorted(_Embeddings.model_validate_json(content).data, key=lambda item: item.index)
    if [item.index for item in found] != list(range(count)):
        raise ValueError(f"{len(found)} vectors for {count} texts, or wrongly numbered")
    vectors = [
        np.array(item.embedding, dtype=np.float64)
        if isinstance(item.embedding, list)
        else np.frombuffer(base64.b64decode(item.embedding, validate=True), dtype="<f4").astype(np.float64)
        for item in found
    ]
    if any(len(vector) != dimensions for vector in vectors):
        raise ValueError(f"a vector that does not have {dimensions} numbers")
    stacked = np.stack(vectors)
    lengths = np.linalg.norm(stacked, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths < 1e-6).any():
        raise ValueError("a vector that is not finite, or has no length")
    # To length 1 to the last digit: float32, and servers that do not honour `normalized`, leave it elsewhere.
    normalised: Vectors = stacked / lengths
    return normalised


def read_relevances(content: bytes, *, count: int) -> list[tuple[int, float]]:
    """(index, relevance), best first, each index of `count` passages at most once. Raises ValueError."""
    results = _Relevances.model_validate_json(content).results
    pairs = [(result.index, result.relevance_score) for result in results]
    indices = {index for index, _ in pairs}
    if not pairs or len(indices) != len(pairs) or not indices <= set(range(count)):
        raise ValueError(f"indices that are not those of {count} passages")
    if not all(math.isfinite(score) for _, score in pairs):
        raise ValueError("a relevance that is not a finite number")
    return sorted(pairs, key=lambda pair: -pair[1])


class JinaEmbedder:
    window_tokens = WINDOW_TOKENS

    def __init__(self, client: JinaClient, *, model: str, million_cost: float = 0.0) -> None:
        """`model` is the name under which the vectors are stored. `million_cost`: of a million tokens, in US
        dollars."""
        self.model = model
        self._client = client
        self._million_cost = million_cost

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        if self._million_cost:
            await ask_leave()
        try:
            return await together(*map(self._embed_window, windows))
        except ModelError as fault:
            raise as_ingestion_error(fault) from fault

    async def _embed_window(self, window: Window) -> list[Vector]:
        texts = window.texts_together
        vectors = await self._embed(texts, "retrieval.passage", late_chunking=True, patience=DOCUMENT_PATIENCE)
        return [array("d", vector.tobytes()) for vector in vectors[window.own_start : window.own_end]]

    async def embed_query(self, text: str) -> list[float]:
        vectors = await self._embed([text], "retrieval.query", late_chunking=False, patience=QUESTION_PATIENCE)
        question: list[float] = vectors[0].tolist()
        return question

    async def _embed(self, texts: Sequence[str], task: str, *, late_chunking: bool, patience: Patience) -> Vectors:
        body: Body = {
            "model": self.model,
            "task": task,
            "late_chunking": late_chunking,
            "normalized": True,
            "dimensions": DIMENSIONS,
            "embedding_type": "base64",  # a third of the bytes and a tenth of the parsing of numbers
            "input": list(texts),
        }
        read = partial(read_embeddings, count=len(texts), dimensions=DIMENSIONS)
        tokens = estimate_cost(texts)
        vectors = await self._client.ask("embeddings", body, read, patience=patience, tokens=tokens)
        note_cost(tokens * self._million_cost / 1e6)
        return vectors


class JinaReranker:
    def __init__(self, client: JinaClient, *, model: str) -> None:
        self._client = client
        self._model = model

    async def rerank(self, query: str, passages: Sequence[Passage], *, top_n: int) -> list[tuple[int, float]]:
        if not passages or top_n < 1:
            return []
        texts: list[JsonValue] = [passage.under_title for passage in passages]
        body: Body = {
            "model": self._model,
            "query": query,
            "documents": texts,
            "top_n": min(top_n, len(passages)),
            "return_documents": False,  # the default sends every passage back
        }
        read = partial(read_relevances, count=len(passages))
        tokens = estimate_cost([f"{query}{text}" for text in texts])  # the question is read with each
        return (await self._client.ask("rerank", body, read, patience=QUESTION_PATIENCE, tokens=tokens))[:top_n]
