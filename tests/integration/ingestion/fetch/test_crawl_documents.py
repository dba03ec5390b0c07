"""Documents behind the links of a section, and what pages ask of robots."""

import asyncio

from ingestion.fetch.crawl import CrawlLimits
from tests.integration.ingestion.fetch.conftest import Crawler
from tests.integration.ingestion.fetch.walking import SITE, Walk, crawl_site
from tests.servers.sites import page
from tests.servers.web import Reply


def _asked(crawler: Crawler) -> list[str]:
    return [asked.path for asked in crawler.web.asked]


PDF = Reply(body=b"%PDF-1.7\n" + b"0" * 5000, headers=(("Content-Type", "application/pdf"),))


def _attached(walk: Walk) -> list[str]:
    return [(file.url or "").removeprefix(SITE) for file in walk.file.attached]


async def test_documents_that_pages_link_to_come_with_the_section(crawler: Crawler) -> None:
    crawler.web.replies |= {
        "/docs/": page("Начало", links=("/docs/plan.pdf", "/files/price.xlsx", "/docs/a")),
        "/docs/a": page("А", links=("/docs/get?id=7",), menu=("/files/elsewhere.pdf",)),
        "/docs/plan.pdf": PDF,
        "/files/price.xlsx": Reply(
            body=b"PK\x03\x04" + bytes(2000), headers=(("Content-Type", "application/vnd.ms-excel"),)
        ),
        "/docs/get?id=7": Reply(
            body=b"{\\rtf1 text}", headers=(("Content-Disposition", "attachment; filename=act.rtf"),)
        ),
        "/files/elsewhere.pdf": PDF,
    }
    walk = await crawl_site(crawler)
    assert walk.paths == ["/docs/", "/docs/a"]
    assert _attached(walk) == ["/docs/plan.pdf", "/files/price.xlsx", "/docs/get?id=7"]
    plan, _, act = walk.file.attached
    assert (plan.name, plan.size_bytes, plan.path.read_bytes()) == ("plan.pdf", 5009, PDF.body)
    assert act.name == "act.rtf"
    assert "/files/elsewhere.pdf" not in _asked(crawler)


async def test_pictures_recordings_archives_and_data_are_no_part_of_a_section(crawler: Crawler) -> None:
    heads = {"photo": b"\xff\xd8\xff\xe0", "song": b"ID3\x04", "zip": b"PK\x05\x06" + bytes(18), "data": b'{"a": 1}'}
    types = {
        "photo": "image/jpeg",
        "song": "application/octet-stream",
        "zip": "application/zip",
        "data": "application/json",
    }
    links = tuple(f"/docs/{name}" for name in heads)
    crawler.web.replies["/docs/"] = page("Начало", links=links)
    for name, head in heads.items():
        crawler.web.replies[f"/docs/{name}"] = Reply(body=head, headers=(("Content-Type", types[name]),))
    walk = await crawl_site(crawler)
    assert (walk.file.attached, walk.unread) == ((), [])


async def test_documents_count_as_pages_and_their_bytes_as_the_sections(crawler: Crawler) -> None:
    links = tuple(f"/docs/{number}.pdf" for number in range(10))
    crawler.web.replies |= {"/docs/": page("Начало", links=links)}
    for number, link in enumerate(links):
        crawler.web.replies[link] = Reply(body=PDF.body + bytes([number]), headers=PDF.headers)
    assert len((await crawl_site(crawler, limits=CrawlLimits(pages=4))).file.attached) == 3
    small = await crawl_site(crawler, limits=CrawlLimits(site_bytes=14_000))
    assert 1 <= len(small.file.attached) <= 3
    assert small.file.size_bytes <= 14_000 + 5_010


async def test_a_document_does_not_outlast_the_time_of_its_section(crawler: Crawler) -> None:
    slow = Reply(body=PDF.body, headers=PDF.headers, drip_s=0.01)
    crawler.web.replies |= {"/docs/": page("Начало", links=("/docs/slow.pdf",)), "/docs/slow.pdf": slow}
    async with asyncio.timeout(len(PDF.body) * slow.drip_s / 2):
        walk = await crawl_site(crawler, limits=CrawlLimits(total_s=5))
    assert (walk.file.attached, walk.unread) == ((), ["/docs/slow.pdf"])


async def test_one_document_under_two_addresses_comes_once(crawler: Crawler) -> None:
    crawler.web.replies |= {
        "/docs/": page("Начало", links=("/docs/a.pdf", "/docs/b.pdf")),
        "/docs/a.pdf": PDF,
        "/docs/b.pdf": PDF,
    }
    assert _attached(await crawl_site(crawler)) == ["/docs/a.pdf"]


async def test_a_document_that_leads_off_the_site_is_not_taken(crawler: Crawler) -> None:
    away = Reply(status=302, headers=(("Location", "http://other.example/plan.pdf"),))
    crawler.web.replies |= {
        "/docs/": page("Начало", links=("/docs/plan.pdf",)),
        "/docs/plan.pdf": away,
        "/plan.pdf": PDF,
    }
    walk = await crawl_site(crawler)
    assert (walk.file.attached, walk.unread) == ((), [])


async def test_the_page_that_a_person_named_is_kept_whatever_it_asks(crawler: Crawler) -> None:
    head = '<meta name="robots" content="noindex, nofollow">'
    crawler.web.replies |= {"/docs/": page("Начало", links=("/docs/a",), head=head), "/docs/a": page("А")}
    assert (await crawl_site(crawler)).paths == ["/docs/"]


async def test_the_address_of_a_document_is_a_section_of_that_document(crawler: Crawler) -> None:
    crawler.web.replies["/docs/plan.pdf"] = PDF
    walk = await crawl_site(crawler, f"{SITE}/docs/plan.pdf")
    assert (walk.paths, _attached(walk)) == ([], ["/docs/plan.pdf"])
