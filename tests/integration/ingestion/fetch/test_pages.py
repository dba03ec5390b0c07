"""Real pages over a real socket, through the fetcher, the parsing process and the whole pipeline."""

import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from domain.documents import SourceType
from ingestion.errors import FailureCode, SourceError
from ingestion.fetch.fetchers import Fetchers, FetchLimits, open_fetchers
from ingestion.parsers.process import ParseProcess
from ingestion.pipeline import ChunkLimits, IngestionPipeline
from ingestion.reading.reader import FileReader
from ingestion.records import Source
from tests.fakes.ingestion import FakeEmbedder, FakeQueue, WordAnalyzer, claimed, progress_of
from tests.servers.web import Reply, WebServer, serve_web

DATA = Path(__file__).parents[5] / "shared/data/html"
WANTED_SHARE = 0.9  # of all 56 pages 156 of 170 sentences when this was written
UNWANTED_SHARE = 0.08  # 13 of 167
PARAGRAPH = "<p>Арендатор вносит плату не позднее пятого числа каждого месяца, начиная с первого месяца аренды.</p>"


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    """A site on loopback."""
    async with serve_web() as server:
        yield server


@pytest.fixture
async def fetchers(web: WebServer) -> AsyncIterator[Fetchers]:
    """The worker's own fetchers, allowed to reach the scripted site and nothing else inside."""
    limits = FetchLimits(file_bytes=10**7, page_bytes=10**7, page_s=10, allow_hosts=frozenset({web.host}))
    async with open_fetchers(limits, files=None) as opened:
        yield opened


@pytest.fixture
async def parser() -> AsyncIterator[ParseProcess]:
    """The worker's own parsing process."""
    async with ParseProcess(timeout_s=30, memory_mb=1024) as process:
        yield process


def _pipeline(fetchers: Fetchers, parser: ParseProcess, queue: FakeQueue, scratch: Path) -> IngestionPipeline:
    return IngestionPipeline(
        fetchers=fetchers,
        reader=FileReader(parser=parser, pictures=None, recordings=None),
        embedder=FakeEmbedder(),
        analyzer=WordAnalyzer(),
        queue=queue,
        limits=ChunkLimits(chunk_tokens=300, overlap_tokens=40),
        scratch=scratch,
    )


def _link(address: str) -> Source:
    return Source(type=SourceType.LINK, identifier=address)


async def test_a_link_becomes_published_passages(
    web: WebServer, fetchers: Fetchers, parser: ParseProcess, tmp_path: Path
) -> None:
    page = f"<!doctype html><title>Правила</title><article><h1>Правила аренды</h1>{PARAGRAPH * 5}</article>"
    web.replies["/rules"] = Reply(
        body=page.encode("cp1251"), headers=(("Content-Type", "text/html; charset=windows-1251"),)
    )
    queue = FakeQueue()
    await _pipeline(fetchers, parser, queue, tmp_path).run(claimed(_link(web.url("/rules"))))
    assert queue.parsed is not None
    assert (queue.parsed.title, queue.parsed.language) == ("Правила аренды", "ru")
    assert queue.published == [len(queue.chunks)]
    assert "пятого числа" in queue.chunks[0].chunk.text


async def test_a_page_that_only_a_script_can_fill_is_told_so(
    web: WebServer, fetchers: Fetchers, parser: ParseProcess, tmp_path: Path
) -> None:
    body = b"<!doctype html><div id=app></div><noscript>Please enable JavaScript.</noscript>"
    web.replies["/app"] = Reply(body=body)
    with pytest.raises(SourceError) as caught:
        await _pipeline(fetchers, parser, FakeQueue(), tmp_path).run(claimed(_link(web.url("/app"))))
    assert (caught.value.code, caught.value.params) == (FailureCode.PAGE_WITHOUT_TEXT, {"host": "127.0.0.1"})


async def test_saved_pages_give_their_main_text_and_little_else(
    web: WebServer, fetchers: Fetchers, parser: ParseProcess, tmp_path: Path
) -> None:
    if not DATA.exists():
        pytest.skip(f"{DATA} is not there")
    wanted: list[bool] = []
    unwanted: list[bool] = []
    pages = list(json.loads((DATA / "segments.json").read_text()).values())
    for page in pages[::2]:  # half of them: a minute on a busy machine is enough
        path = f"/{page['file']}"
        web.replies[path] = Reply(body=gzip.decompress((DATA / "pages" / f"{page['file']}.gz").read_bytes()))
        fetched = await fetchers.fetch(claimed(_link(web.url(path))), tmp_path)
        parsed = await parser.parse(fetched, progress_of(FakeQueue()))
        text = " ".join(" ".join(block.text for block in parsed.blocks).split())
        wanted += [" ".join(sentence.split()) in text for sentence in page["with"]]
        unwanted += [" ".join(sentence.split()) in text for sentence in page["without"]]
    assert sum(wanted) >= WANTED_SHARE * len(wanted)
    assert sum(unwanted) <= UNWANTED_SHARE * len(unwanted)
