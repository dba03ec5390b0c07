"""A loopback stand-in for Jina's API, as strict as the real one (facts: reference/apis.md, section 2).

In: `async with serve_jina() as jina`, optionally `jina.script(...)` for the next answers. Out: `jina.url`,
`jina.requests`, and answers that are deterministic and meaningful: texts that share words are near.
Alone: `python -m tests.servers.jina --port 8091`.
"""

import argparse
import asyncio
import base64
import json
import re
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tests.servers.scripted import Scripted, listen, play, refusal

KEY = "jina_test_key"
MOST_TOKENS = 8192  # of one text; with late chunking of all inputs together
MOST_INPUTS = 2048
WINDOW_SHARE = 0.3  # of the window's mean in each late-chunked vector
RAW_LENGTH = 3.0  # of vectors that were not asked to be normalised
_WORD = re.compile(r"\w+")

UNAUTHORIZED = refusal(401, {"code": "AUTH_INVALID_API_KEY", "detail": "Invalid API key."})
PAYMENT_REQUIRED = refusal(402, {"error": {"message": "Payment required."}})
INSUFFICIENT_BALANCE = refusal(403, {"code": "AUTHZ_INSUFFICIENT_BALANCE", "detail": "Account balance not enough."})

Vectors = npt.NDArray[np.float32]


class EmbeddingsRequest(BaseModel):
    """The fields that the real API knows; any other is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str = Field(pattern=r"^jina-embeddings-v3$|^jina-embeddings-v4$|^jina-embeddings-v5-text-(small|nano)$")
    input: list[str] = Field(min_length=1)
    task: str | None = Field(
        None, pattern=r"^(retrieval\.query|retrieval\.passage|separation|classification|text-matching)$"
    )
    dimensions: int = Field(1024, ge=32, le=2048)
    normalized: bool = False
    embedding_type: str = Field("float", pattern=r"^(float|base64)$")
    late_chunking: bool = False
    truncate: bool = False


class RerankRequest(BaseModel):
    """The fields that the real API knows; any other is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str = Field(pattern=r"^jina-reranker-(v2-base-multilingual|v3|m0)$|^jina-colbert-v2$")
    query: str = Field(min_length=1)
    documents: list[str] = Field(min_length=1)
    top_n: int | None = Field(None, ge=1)
    return_documents: bool = True


@dataclass(frozen=True, kw_only=True)
class JinaRequest:
    """One request as it came, also one that was refused; `body` is None when it was not readable."""

    path: str
    body: EmbeddingsRequest | RerankRequest | None
    at_s: float  # on the loop's clock


@dataclass(frozen=True, kw_only=True)
class Spoiled:
    """The usual answer to an embeddings request, spoiled."""

    how: Callable[[Vectors], Vectors]


WRONG_COUNT = Spoiled(how=lambda vectors: vectors[:-1])
WRONG_DIMENSION = Spoiled(how=lambda vectors: vectors[:, :-1])
NOT_FINITE = Spoiled(how=lambda vectors: vectors * np.float32(np.nan))
ZEROS = Spoiled(how=lambda vectors: vectors * np.float32(0))


@dataclass(kw_only=True)
class JinaServer:
    """The running server."""

    key: str
    delay_s: float
    url: str = ""
    requests: list[JinaRequest] = field(default_factory=list)
    most_at_once: int = 0
    documents_go_on: asyncio.Event = field(default_factory=asyncio.Event)  # until it is cleared; questions always do
    _script: deque[Scripted | Spoiled] = field(default_factory=deque)
    _at_once: int = 0

    @property
    def embeddings(self) -> list[EmbeddingsRequest]:
        """Readable requests for embeddings, in order."""
        return [request.body for request in self.requests if isinstance(request.body, EmbeddingsRequest)]

    @property
    def reranks(self) -> list[RerankRequest]:
        """Readable requests for reranking, in order."""
        return [request.body for request in self.requests if isinstance(request.body, RerankRequest)]

    def script(self, *answers: Scripted | Spoiled) -> None:
        """What the next requests get, one each; then the usual answers again."""
        self._script.extend(answers)

    async def embed(self, request: web.Request) -> web.Response:
        """POST /v1/embeddings."""
        return await self._serve(request, EmbeddingsRequest)

    async def rerank(self, request: web.Request) -> web.Response:
        """POST /v1/rerank."""
        return await self._serve(request, RerankRequest)

    async def _serve(self, request: web.Request, shape: type[EmbeddingsRequest] | type[RerankRequest]) -> web.Response:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            answer = self._answer(request, shape, await request.read())
            body = self.requests[-1].body
            await asyncio.sleep(self.delay_s)
            if isinstance(body, EmbeddingsRequest) and body.task == "retrieval.passage":
                await self.documents_go_on.wait()
            return await play(answer)
        finally:
            self._at_once -= 1

    def _answer(
        self, request: web.Request, shape: type[EmbeddingsRequest] | type[RerankRequest], content: bytes
    ) -> Scripted:
        body, problem = _read(shape, content)
        self.requests.append(JinaRequest(path=request.path, body=body, at_s=asyncio.get_running_loop().time()))
        scripted = self._script.popleft() if self._script else None
        if isinstance(scripted, Scripted):
            return scripted
        if request.headers.get("Authorization") != f"Bearer {self.key}":
            return UNAUTHORIZED
        if body is None:
            return problem
        return _relevances(body) if isinstance(body, RerankRequest) else _embeddings(body, scripted)


def _read(
    shape: type[EmbeddingsRequest] | type[RerankRequest], content: bytes
) -> tuple[EmbeddingsRequest | RerankRequest | None, Scripted]:
    """The request, or what FastAPI answers: a list of problems that quotes what was sent."""
    try:
        return shape.model_validate_json(content), Scripted()
    except ValidationError as error:
        return None, refusal(422, {"detail": json.loads(error.json(include_url=False))})


def count_tokens(text: str) -> int:
    """Roughly what jina-embeddings-v3's tokenizer makes of it: a token for every four letters begun of a word."""
    return sum(-(-len(word) // 4) for word in _WORD.findall(text))


def _embeddings(body: EmbeddingsRequest, spoiled: Spoiled | None) -> Scripted:
    counts = [count_tokens(text) for text in body.input]
    if len(body.input) > MOST_INPUTS:
        return refusal(400, {"detail": f"input length is larger than the largest allowed size {MOST_INPUTS}"})
    most = sum(counts) if body.late_chunking else max(counts)
    if most > MOST_TOKENS and not body.truncate:
        said = f"Single text cannot exceed {MOST_TOKENS} tokens. {most} tokens given."
        return refusal(400, {"detail": said})
    vectors = _vectors(body)
    data = [
        {"object": "embedding", "index": index, "embedding": _encode(vector, body.embedding_type)}
        for index, vector in enumerate(spoiled.how(vectors) if spoiled else vectors)
    ]
    usage = {"total_tokens": sum(counts), "prompt_tokens": sum(counts)}
    # Last first: the order of `data` is nowhere promised, only `index` is.
    return Scripted(body=json.dumps({"model": body.model, "object": "list", "usage": usage, "data": data[::-1]}))


def _vectors(body: EmbeddingsRequest) -> Vectors:
    vectors = np.stack([bag_of_words(text, body.dimensions) for text in body.input])
    if body.late_chunking:
        vectors = vectors + np.float32(WINDOW_SHARE) * vectors.mean(axis=0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    normalised: Vectors = (vectors / lengths).astype(np.float32)
    return normalised if body.normalized else normalised * np.float32(RAW_LENGTH)


def bag_of_words(text: str, dimensions: int) -> Vectors:
    """Words, cut to five letters so that word forms meet, hashed into a vector that is never zero."""
    vector = np.full(dimensions, 1e-3, dtype=np.float32)
    for word in _stems(text):
        vector[zlib.crc32(word.encode()) % dimensions] += 1
    return vector


def _stems(text: str) -> list[str]:
    return [word[:5] for word in _WORD.findall(text.lower()) if len(word) > 2]


def _encode(vector: Vectors, embedding_type: str) -> str | list[float]:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode() if embedding_type == "base64" else vector.tolist()


def _relevances(body: RerankRequest) -> Scripted:
    scores = [_overlap(body.query, document) for document in body.documents]
    best = sorted(range(len(scores)), key=lambda index: -scores[index])[: body.top_n]
    results = [
        {"index": index, "relevance_score": scores[index]}
        | ({"document": {"text": body.documents[index]}} if body.return_documents else {})
        for index in best
    ]
    return Scripted(body=json.dumps({"model": body.model, "usage": {"total_tokens": 1}, "results": results}))


def _overlap(query: str, document: str) -> float:
    asked, said = set(_stems(query)), set(_stems(document))
    return len(asked & said) / max(len(asked), 1)


@asynccontextmanager
async def serve_jina(*, key: str = KEY, delay_s: float = 0.0, port: int = 0) -> AsyncIterator[JinaServer]:
    """A running server; `url` is what JINA_BASE_URL takes. `delay_s` passes before each usual answer."""
    server = JinaServer(key=key, delay_s=delay_s)
    server.documents_go_on.set()
    application = web.Application(client_max_size=2**26)
    application.add_routes([web.post("/v1/embeddings", server.embed), web.post("/v1/rerank", server.rerank)])
    async with listen(application, port=port) as address:
        server.url = f"{address}/v1"
        yield server


async def _serve_for_ever(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8091)
    async with serve_jina(port=parser.parse_args(arguments).port) as server:
        print(f"JINA_BASE_URL={server.url} JINA_API_KEY={server.key}", flush=True)  # noqa: T201 - a command line
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve_for_ever())
