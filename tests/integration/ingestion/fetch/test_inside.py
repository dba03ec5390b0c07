"""Addresses that lead inside, from every place that an address can come from: nothing inside is ever connected to.

In: the addresses of `../shared/data/ssrf` where it is, and more; sites on loopback that lead there by redirects, links,
rules for robots, films and names that change their answers. Out: assertions about whom the crawler has connected to.
"""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from domain.documents import SourceType
from ingestion.errors import FailureCode, IngestionError
from ingestion.fetch.crawl import CrawlLimits
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.video import VideoFetcher
from ingestion.records import Source
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.integration.ingestion.fetch.conftest import SITE_IP, Crawler
from tests.integration.ingestion.fetch.walking import SITE, crawl_site
from tests.servers.sites import page
from tests.servers.web import Reply, WebServer, serve_web

ROOT = Path(__file__).resolve().parents[4]
PAYLOADS = ROOT.parent / "shared" / "data" / "ssrf" / "payload_urls.txt"
INSIDE = ("169.254.169.254", "10.0.0.5", "127.0.0.1")
REFUSED = frozenset({FailureCode.PAGE_ADDRESS_FORBIDDEN, FailureCode.PAGE_ADDRESS_INVALID})
SITE_AT = f"{SITE_IP}:80"
DOORS = {
    "adapters/database/supabase.py",  # what follows leads where the settings say
    "adapters/database/postgres.py",
    "adapters/jina.py",
    "adapters/kept_files.py",
    "adapters/webhooks.py",  # through the crawler's guard
    "adapters/local/layout.py",
    "ingestion/fetch/guard.py",  # resolves names; the crawler's only one
    "sandbox/pool.py",  # a socket pair to a child
}
OPENING = re.compile(
    r"AsyncClient\(|HTTPTransport\(|AsyncConnectionPool\(|urlopen\(|urlretrieve\(|ClientSession\(|requests\.(get|post)\("
    r"|httpx\.stream\(|open_connection\(|create_connection\(|getaddrinfo\("
)


@pytest.fixture(scope="module")
def payloads() -> list[str]:
    """The 103 addresses, and a few more."""
    own = [f"http://{host}/latest" for host in INSIDE] + ["http://inside.example/", "//[::1]/", "file:///etc/passwd"]
    return own + (PAYLOADS.read_text().splitlines() if PAYLOADS.exists() else [])


@pytest.fixture
def trapped(crawler: Crawler) -> Crawler:
    """Of all names only the site's is a public one."""
    crawler.resolver = type(crawler.resolver)({"site.example": [[SITE_IP]]}, otherwise=[INSIDE[0]])
    return crawler


def _redirect(location: str, status: int = 302) -> Reply:
    return Reply(status=status, headers=(("Location", location.encode().decode("latin-1")),))  # as UTF-8


async def test_no_redirect_to_a_known_payload_is_followed(trapped: Crawler, payloads: list[str]) -> None:
    """Those without a scheme are paths of the same site, as in a browser."""
    for address in payloads:
        trapped.web.replies["/"] = _redirect(address)
        error = await trapped.failure(f"{SITE}/")
        is_path = "//" not in address
        assert error.code in REFUSED or (is_path and error.code is FailureCode.PAGE_STATUS), address
    assert set(trapped.connector.connected) == {SITE_AT}
    assert {asked.headers["host"] for asked in trapped.web.asked} == {"site.example"}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_chain_of_redirects_ends_inside(trapped: Crawler, status: int) -> None:
    trapped.web.replies |= {"/": _redirect("/b", status), "/b": _redirect("http://inside.example/", status)}
    assert (await trapped.failure(f"{SITE}/")).code is FailureCode.PAGE_ADDRESS_FORBIDDEN
    assert trapped.connector.connected == [SITE_AT] * 2


async def test_no_section_begins_at_a_payload(trapped: Crawler, payloads: list[str]) -> None:
    for address in payloads:
        with pytest.raises(IngestionError):
            await crawl_site(trapped, address)
    assert trapped.connector.connected == []


async def test_no_link_of_a_section_leads_inside(trapped: Crawler, payloads: list[str]) -> None:
    base = '<base href="http://inside.example/docs/"><link rel="canonical" href="http://inside.example/docs/">'
    trapped.web.replies |= {
        "/docs/": page("Раздел", links=(*payloads, "/docs/a", "/docs/based", "/docs/plan.pdf")),
        "/docs/a": _redirect("http://inside.example/docs/a"),
        "/docs/based": page("База", links=("b", "c"), head=base),
        "/docs/plan.pdf": _redirect("http://169.254.169.254/plan.pdf"),
    }
    walk = await crawl_site(trapped, limits=CrawlLimits(pages=200))
    assert "/docs/" in walk.paths
    assert set(trapped.connector.connected) == {SITE_AT}
    assert {asked.headers["host"] for asked in trapped.web.asked} == {"site.example"}


async def test_rules_for_robots_are_not_fetched_inside(trapped: Crawler) -> None:
    trapped.web.replies |= {"/robots.txt": _redirect("http://169.254.169.254/robots.txt"), "/docs/": page("Раздел")}
    with pytest.raises(IngestionError) as caught:
        await crawl_site(trapped)
    assert caught.value.code is FailureCode.PAGE_ADDRESS_FORBIDDEN
    assert trapped.connector.connected == [SITE_AT]


async def test_a_site_that_moves_inside_between_its_rules_and_its_page_is_refused(trapped: Crawler) -> None:
    trapped.resolver.answer("site.example", [SITE_IP], [SITE_IP, INSIDE[1]])
    trapped.web.replies["/docs/"] = page("Раздел")
    with pytest.raises(IngestionError) as caught:
        await crawl_site(trapped)
    assert caught.value.code is FailureCode.PAGE_ADDRESS_FORBIDDEN
    assert trapped.connector.connected == [SITE_AT]


@pytest.fixture
async def inside() -> AsyncIterator[WebServer]:
    """A server that only tests know to be harmless: no film may be fetched from it."""
    film = Reply(body=bytes(5000), headers=(("Content-Type", "video/mp4"),))
    async with serve_web() as web:
        web.replies = {"/film.mp4": film, "/ru.vtt": Reply(body=b"WEBVTT\n"), "/video": film}
        yield web


def _films(inside: WebServer) -> dict[str, Reply]:
    """Pages of a video host, each with another way inside."""
    tag = "<html><title>x</title><video><source src='{}' type='video/mp4'>{}</video>".format
    film, captions = inside.url("/film.mp4"), f"<track kind='captions' srclang='ru' src='{inside.url('/ru.vtt')}'>"
    playlist = f'#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="{film}"\n#EXTINF:9,\n{film}\n#EXT-X-ENDLIST\n'
    data = json.dumps({"@context": "https://schema.org", "@type": "VideoObject", "name": "x", "contentUrl": film})
    script = f"<html><title>x</title><script type='application/ld+json'>{data}</script>"
    return {
        "/redirect": _redirect(film),
        "/source": Reply(body=tag(film, "").encode()),
        "/captions": Reply(body=tag("/none.mp4", captions).encode()),
        "/moved-film": Reply(body=tag("/moved.mp4", "").encode()),
        "/moved.mp4": _redirect(film),
        "/playlist": Reply(body=tag("/list.m3u8", "").replace("video/mp4", "application/x-mpegURL").encode()),
        "/list.m3u8": Reply(body=playlist.encode(), headers=(("Content-Type", "application/vnd.apple.mpegurl"),)),
        "/embedded": Reply(body=script.encode()),
        "/refresh": Reply(body=f"<html><meta http-equiv='refresh' content='0;url={film}'>".encode()),
    }


@pytest.mark.parametrize(
    "path", ["/redirect", "/source", "/captions", "/moved-film", "/playlist", "/embedded", "/refresh"]
)
async def test_no_page_of_a_video_host_leads_inside(inside: WebServer, path: str, tmp_path: Path) -> None:
    async with serve_web() as web:
        web.replies = _films(inside)
        guard = AddressGuard(allow_hosts=frozenset({web.host}))
        fetcher = VideoFetcher(may_listen=True, total_s=60, size_bytes=10**6, sound_s=60, guard=guard)
        source = Source(type=SourceType.LINK, identifier=web.url(path))
        with pytest.raises(IngestionError):
            await fetcher.fetch(source, tmp_path, progress_of(FakeQueue()))
        assert [asked.path for asked in web.asked][:1] == [path]
    assert inside.asked == []


async def test_no_payload_is_a_video(payloads: list[str], tmp_path: Path) -> None:
    fetcher = VideoFetcher(may_listen=True, total_s=60, size_bytes=10**6, sound_s=60)
    names_alone = re.compile(r"https?://([\w-]+\.)+[a-z]{2,}(:80)?(/|$)")  # only their answers can be at fault
    for address in payloads:
        if not names_alone.match(address):
            with pytest.raises(IngestionError):
                await fetcher.fetch(
                    Source(type=SourceType.LINK, identifier=address), tmp_path, progress_of(FakeQueue())
                )


def test_no_other_module_opens_connections() -> None:
    packages = ("adapters", "api", "bot", "domain", "ingestion", "localchat", "prompts", "rag", "sandbox")
    modules = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    found = {str(path.relative_to(ROOT)) for path in modules if OPENING.search(path.read_text(encoding="utf-8"))}
    assert found == DOORS
