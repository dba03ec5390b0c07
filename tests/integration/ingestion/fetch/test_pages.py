"""Real pages over a real socket, through the fetcher, the parsing process and the whole pipeline."""

import gzip
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from domain.documents import SourceType
from ingestion.chunking.passages import PassageSizes
from ingestion.errors import FailureCode, SourceError
from ingestion.fetch.download import DownloadLimits
from ingestion.fetch.fetchers import Fetchers, open_downloader
from ingestion.parsers.process import ParseProcess
from ingestion.pipeline import IngestionPipeline
from ingestion.reading.reader import FileReader
from ingestion.records import Source
from tests.fakes.ingestion import FakeEmbedder, FakeQueue, WordAnalyzer, claimed, progress_of
from tests.servers.sites import small_site
from tests.servers.web import Reply, WebServer, serve_web
from tests.unit.ingestion.parsers.files import p, write_docx

DATA = Path(__file__).parents[5] / "shared/data/html"
WANTED_SHARE = 0.94  # of all 56 pages 164 of 170 sentences when this was written; trafilatura alone 162
UNWANTED_SHARE = 0.08  # 10 of 167; trafilatura alone 15
SIZES = PassageSizes(chunk_tokens=300, overlap_tokens=40, window_tokens=1000)
PARAGRAPH = "<p>Арендатор вносит плату не позднее пятого числа каждого месяца, начиная с первого месяца аренды.</p>"


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    """A site on loopback."""
    async with serve_web() as server:
        yield server


@pytest.fixture
async def fetchers(web: WebServer) -> AsyncIterator[Fetchers]:
    """The worker's own fetchers, allowed to reach the scripted site and nothing else inside."""
    limits = DownloadLimits(total_s=60, page_bytes=10**7, file_bytes=10**7)
    async with open_downloader(limits, allow_hosts=frozenset({web.host})) as downloader:
        yield Fetchers(downloader=downloader)


@pytest.fixture
async def parser() -> AsyncIterator[ParseProcess]:
    """The worker's own parsing process."""
    async with ParseProcess(timeout_s=300, memory_mb=1024) as process:
        yield process


def _pipeline(fetchers: Fetchers, parser: ParseProcess, queue: FakeQueue, scratch: Path) -> IngestionPipeline:
    return IngestionPipeline(
        fetchers=fetchers,
        reader=FileReader(parser=parser, pictures=None, recordings=None, sizes=SIZES),
        cutter=parser,
        embedder=FakeEmbedder(),
        analyzer=WordAnalyzer(),
        queue=queue,
        sizes=SIZES,
        scratch=scratch,
    )


def _link(address: str) -> Source:
    return Source(type=SourceType.LINK, identifier=address)


def _section(address: str) -> Source:
    return Source(type=SourceType.SITE, identifier=address)


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
    assert (caught.value.code, caught.value.params) == (FailureCode.FILE_NEEDS_SCRIPT, {"name": "127.0.0.1"})


async def test_a_whole_section_becomes_one_document_of_pages(
    web: WebServer, fetchers: Fetchers, parser: ParseProcess, tmp_path: Path
) -> None:
    small_site(web)
    queue = FakeQueue()
    await _pipeline(fetchers, parser, queue, tmp_path).run(claimed(_section(web.url("/docs/"))))
    assert queue.parsed is not None
    assert (queue.parsed.title, queue.parsed.parts, queue.parsed.unread) == ("Документация", 4, ())
    assert queue.published == [len(queue.chunks)]
    cited = {indexed.chunk.locator.url for indexed in queue.chunks.values()}
    assert web.url("/docs/deep") in cited


async def test_a_section_without_words_says_so(
    web: WebServer, fetchers: Fetchers, parser: ParseProcess, tmp_path: Path
) -> None:
    web.replies["/docs/"] = Reply(body=b"<!doctype html><html><body><img src=a.png></body></html>")
    with pytest.raises(SourceError) as caught:
        await _pipeline(fetchers, parser, FakeQueue(), tmp_path).run(claimed(_section(web.url("/docs/"))))
    assert (caught.value.code, caught.value.params) == (FailureCode.SITE_WITHOUT_TEXT, {"host": "127.0.0.1"})


@pytest.mark.parametrize("make", [_link, _section])
async def test_only_a_page_that_says_something_new_has_another_hash(
    web: WebServer, fetchers: Fetchers, parser: ParseProcess, tmp_path: Path, make: Callable[[str], Source]
) -> None:
    hashes = []
    for counter, words in (("5 минут назад", "десяти"), ("3 часа назад", "десяти"), ("3 часа назад", "двадцати")):
        article = f"<p>{counter}</p>{PARAGRAPH * 3}<p>Пеня начисляется после {words} дней просрочки, не раньше.</p>"
        web.replies["/docs/"] = Reply(body=f"<!doctype html><title>a</title><article>{article}</article>".encode())
        queue = FakeQueue()
        await _pipeline(fetchers, parser, queue, tmp_path).run(claimed(make(web.url("/docs/"))))
        hashes += queue.hashes
    assert hashes[0] == hashes[1] != hashes[2]


async def test_a_document_behind_a_link_is_read_by_its_content(
    web: WebServer, fetchers: Fetchers, parser: ParseProcess, tmp_path: Path
) -> None:
    body = write_docx(tmp_path / "plan.docx", p("Арендатор вносит плату вперёд.")).read_bytes()
    disposition = ("Content-Disposition", "attachment; filename*=UTF-8''%D0%BF%D0%BB%D0%B0%D0%BD")
    web.replies["/get"] = Reply(body=body, headers=(("Content-Type", "text/html"), disposition))
    queue = FakeQueue()
    await _pipeline(fetchers, parser, queue, tmp_path).run(claimed(_link(web.url("/get"))))
    assert queue.parsed is not None
    assert queue.published == [len(queue.chunks)]


async def test_saved_pages_give_their_main_text_and_little_else(
    web: WebServer, fetchers: Fetchers, parser: ParseProcess, tmp_path: Path
) -> None:
    if not DATA.exists():
        pytest.skip(f"{DATA} is not there")
    quiet = progress_of(FakeQueue())
    wanted: list[bool] = []
    unwanted: list[bool] = []
    pages = list(json.loads((DATA / "segments.json").read_text()).values())
    for page in pages[::2]:  # half of them: a minute on a busy machine is enough
        path = f"/{page['file']}"
        web.replies[path] = Reply(body=gzip.decompress((DATA / "pages" / f"{page['file']}.gz").read_bytes()))
        fetched = await fetchers.fetch(claimed(_link(web.url(path))), tmp_path, quiet)
        parsed = await parser.parse(fetched, quiet)
        text = " ".join(" ".join(block.text for block in parsed.blocks).split())
        wanted += [" ".join(sentence.split()) in text for sentence in page["with"]]
        unwanted += [" ".join(sentence.split()) in text for sentence in page["without"]]
    assert sum(wanted) >= WANTED_SHARE * len(wanted)
    assert sum(unwanted) <= UNWANTED_SHARE * len(unwanted)
