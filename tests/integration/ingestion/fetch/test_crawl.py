"""Sections of sites over real sockets: what is read, in which order, and what brings the crawler to a stop."""

import asyncio

import pytest

from domain.documents import DocumentStatus
from ingestion.errors import FailureCode, IngestionError
from ingestion.fetch.crawl import CrawlLimits
from ingestion.files import SITE_TYPE
from tests.integration.ingestion.fetch.conftest import Crawler
from tests.integration.ingestion.fetch.walking import PAGE_LIMITS, SITE, crawl_site
from tests.servers.sites import page, robots, small_site
from tests.servers.web import Reply


async def _failure(crawler: Crawler, address: str = f"{SITE}/docs/") -> IngestionError:
    with pytest.raises(IngestionError) as caught:
        await crawl_site(crawler, address)
    return caught.value


def _asked(crawler: Crawler) -> list[str]:
    return [asked.path for asked in crawler.web.asked]


async def test_a_section_is_read_breadth_first_and_no_further_than_two_links(crawler: Crawler) -> None:
    small_site(crawler.web)
    walk = await crawl_site(crawler)
    assert walk.paths == ["/docs/", "/docs/start", "/docs/payment", "/docs/deep"]
    assert (walk.file.media_type, walk.file.name, walk.unread) == (SITE_TYPE, "site.example", [])


async def test_what_robots_txt_forbids_is_not_asked_for(crawler: Crawler) -> None:
    small_site(crawler.web)
    await crawl_site(crawler)
    assert _asked(crawler)[0] == "/robots.txt"
    assert "/docs/secret" not in _asked(crawler)
    assert all("Baza" in asked.headers["user-agent"] for asked in crawler.web.asked)


async def test_a_section_that_robots_txt_forbids_is_refused_with_that_reason(crawler: Crawler) -> None:
    small_site(crawler.web)
    crawler.web.replies["/robots.txt"] = robots("User-agent: baza", "Disallow: /docs/")
    error = await _failure(crawler)
    assert (error.code, error.params) == (FailureCode.SITE_FORBIDS, {"host": "site.example"})
    assert _asked(crawler) == ["/robots.txt"]


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_without_its_rules_a_site_in_trouble_gives_the_first_page_alone(crawler: Crawler, status: int) -> None:
    small_site(crawler.web)
    crawler.web.replies["/robots.txt"] = Reply(status=status)
    assert (await crawl_site(crawler)).paths == ["/docs/"]


@pytest.mark.parametrize("status", [404, 403])
async def test_a_site_without_rules_is_open(crawler: Crawler, status: int) -> None:
    small_site(crawler.web)
    crawler.web.replies["/robots.txt"] = Reply(status=status)
    assert "/docs/secret" in (await crawl_site(crawler)).paths


async def test_a_site_with_endless_rules_gives_the_first_page_alone(crawler: Crawler) -> None:
    small_site(crawler.web)
    text = (("Content-Type", "text/plain"),)
    crawler.web.replies["/robots.txt"] = Reply(body=b"# no end\n" * 200_000, headers=text)
    assert (await crawl_site(crawler)).paths == ["/docs/"]


async def test_a_crawl_delay_is_kept(crawler: Crawler) -> None:
    small_site(crawler.web)
    crawler.web.replies["/robots.txt"] = robots("User-agent: *", "Crawl-delay: 0.3")
    began = asyncio.get_running_loop().time()
    walk = await crawl_site(crawler)
    assert asyncio.get_running_loop().time() - began >= 0.3 * (len(walk.paths) - 1)


async def test_the_number_of_pages_is_bounded_and_progress_told_in_pages(crawler: Crawler) -> None:
    small_site(crawler.web)
    walk = await crawl_site(crawler, limits=CrawlLimits(pages=3))
    assert len(walk.paths) == 3
    assert walk.queue.reported[-1] == (DocumentStatus.FETCHING, 1, 3)


async def test_time_is_bounded_with_what_was_read_by_then(crawler: Crawler) -> None:
    small_site(crawler.web)
    crawler.web.replies["/docs/start"] = Reply(body=b"<html>", wait_s=3600)
    async with asyncio.timeout(PAGE_LIMITS.total_s / 2):  # the page alone would take all of it
        walk = await crawl_site(crawler, limits=CrawlLimits(total_s=5))
    assert walk.paths == ["/docs/", "/docs/payment"]
    assert walk.unread == ["/docs/start"]


async def test_nofollow_is_kept_for_a_link_and_for_a_page(crawler: Crawler) -> None:
    head = '<meta name="robots" content="index, nofollow">'
    crawler.web.replies |= {
        "/docs/": Reply(body=b'<html><a href=/docs/a>a</a><a rel="nofollow" href=/docs/b>b</a>'),
        "/docs/a": page("А", links=("/docs/c",), head=head),
        "/docs/b": page("Б"),
        "/docs/c": page("В"),
    }
    assert (await crawl_site(crawler)).paths == ["/docs/", "/docs/a"]


async def test_one_page_under_many_addresses_is_read_once(crawler: Crawler) -> None:
    same = page("Одно", head='<link rel="canonical" href="/docs/one">')
    addresses = (
        "/docs/one",
        "/docs/one/",
        "/docs/one?utm_source=x",
        "/docs/one?PHPSESSID=1",
        "/docs/one#b",
        "/docs/uno",
    )
    crawler.web.replies |= {"/docs/": page("Начало", links=addresses), "/docs/one": same, "/docs/uno": same}
    assert (await crawl_site(crawler)).paths == ["/docs/", "/docs/one"]


async def test_pages_that_fail_are_named_and_dead_links_are_not(crawler: Crawler) -> None:
    crawler.web.replies |= {
        "/docs/": page("Начало", links=("/docs/broken", "/docs/gone", "/docs/good")),
        "/docs/broken": Reply(status=500),
        "/docs/good": page("Хорошо"),
    }
    walk = await crawl_site(crawler)
    assert (walk.paths, walk.unread) == (["/docs/", "/docs/good"], ["/docs/broken"])


async def test_a_redirect_out_of_the_section_is_not_kept(crawler: Crawler) -> None:
    crawler.web.replies |= {
        "/docs/": page("Начало", links=("/docs/away", "/docs/inside")),
        "/docs/away": Reply(status=302, headers=(("Location", "http://other.example/docs/x"),)),
        "/docs/inside": Reply(status=302, headers=(("Location", "http://169.254.169.254/latest/"),)),
        "/docs/x": page("Чужое"),
    }
    walk = await crawl_site(crawler)
    assert (walk.paths, walk.unread) == (["/docs/"], [])
    assert all(not target.startswith("169.") for target in crawler.connector.connected)


async def test_a_name_that_begins_to_lead_inside_is_refused_page_by_page(crawler: Crawler) -> None:
    small_site(crawler.web)
    public = ["93.184.216.34"]
    crawler.resolver.answer("site.example", public, public, ["10.0.0.5"])  # robots.txt, the first page, and then
    walk = await crawl_site(crawler)
    assert walk.paths == ["/docs/"]
    assert len(crawler.connector.connected) == 2


async def test_a_calendar_without_end_is_left(crawler: Crawler) -> None:
    for day in range(200):
        links = tuple(f"/docs/calendar?day={day + step}" for step in range(1, 40))
        crawler.web.replies[f"/docs/calendar?day={day}"] = page(f"День {day}", links=links)
    crawler.web.replies["/docs/"] = page("Начало", links=("/docs/calendar?day=0",))
    walk = await crawl_site(crawler)
    assert 2 < len(walk.paths) <= 11


async def test_a_page_with_a_million_links_costs_no_more_than_its_bounds(crawler: Crawler) -> None:
    links = b"".join(b"<a href=/docs/%d>x</a>" % number for number in range(60_000))
    crawler.web.replies["/docs/"] = Reply(body=b"<html>" + links)
    walk = await crawl_site(crawler, limits=CrawlLimits(pages=3))
    assert walk.paths == ["/docs/"]
    assert len(_asked(crawler)) <= 2 + 3 * 3 + 1  # two at a time


async def test_a_site_that_breaks_down_is_left_alone(crawler: Crawler) -> None:
    broken = tuple(f"/docs/{number}" for number in range(40))
    crawler.web.replies |= {"/docs/": page("Начало", links=broken)} | dict.fromkeys(broken, Reply(status=503))
    walk = await crawl_site(crawler)
    assert len(walk.unread) <= 8


async def test_the_same_site_gives_the_same_file_again(crawler: Crawler) -> None:
    small_site(crawler.web)
    first, second = await crawl_site(crawler), await crawl_site(crawler)
    assert first.file.sha256 == second.file.sha256


async def test_a_first_page_that_fails_is_the_sections_failure(crawler: Crawler) -> None:
    error = await _failure(crawler)
    assert (error.code, error.params["status"]) == (FailureCode.PAGE_STATUS, 404)


async def test_a_picture_is_no_section(crawler: Crawler) -> None:
    crawler.web.replies["/docs/"] = Reply(body=b"\xff\xd8\xff\xe0", headers=(("Content-Type", "image/jpeg"),))
    assert (await _failure(crawler)).code is FailureCode.PAGE_TYPE
