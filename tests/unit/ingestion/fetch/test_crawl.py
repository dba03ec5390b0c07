"""Which addresses belong to a section, and which of them are one page."""

import pytest

from ingestion.fetch.crawl import Section, choose_section, page_key
from ingestion.fetch.urls import Link

SITE = "https://site.example"


def _links(*paths: str, in_content: bool = True) -> list[Link]:
    return [Link(url=f"{SITE}{path}", in_content=in_content) for path in paths]


@pytest.mark.parametrize(
    ("start", "paths", "folder"),
    [
        ("/docs/", ["/docs/a", "/news/b"], "/docs/"),
        ("/blog", ["/blog/a", "/blog/b", "/about"], "/blog/"),
        ("/docs/intro", ["/docs/a", "/docs/b"], "/docs/"),
        ("/docs/intro", ["/docs/intro/print", "/docs/b"], "/docs/"),
        ("/docs/index.html", ["/docs/a.html"], "/docs/"),
        ("/", ["/a", "/b"], "/"),
        ("", ["/a", "/b"], "/"),
    ],
)
def test_a_section_is_the_narrowest_part_with_pages_in_it(start: str, paths: list[str], folder: str) -> None:
    section = choose_section(f"{SITE}{start}", _links(*paths))
    assert (section.folder, section.content_only) == (folder, False)


@pytest.mark.parametrize("start", ["/hub/town/", "/about"])
def test_a_list_whose_entries_stand_elsewhere_leads_to_them_and_not_to_the_menu(start: str) -> None:
    section = choose_section(f"{SITE}{start}", _links("/articles/1", "/articles/2"))
    assert section.admits(*_links("/articles/1"))
    assert not section.admits(*_links("/contacts", in_content=False))


def _section(folder: str = "/docs/") -> Section:
    return Section(host="site.example", front=f"{SITE}{folder}", folder=folder)


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example/docs/a",
        "https://sub.site.example/docs/a",
        "https://site.example:8443/docs/a",
        f"{SITE}/news/a",
        f"{SITE}/docsearch",
        f"{SITE}/docs/photo.JPG",
        f"{SITE}/docs/program.zip",
        "https://other.example/docs/plan.pdf",
        f"{SITE}/docs/a/b/a/b/a/b/a",
    ],
)
def test_what_is_no_page_of_the_section_is_refused(url: str) -> None:
    assert not _section().admits(Link(url=url, in_content=True))


def test_a_document_may_stand_elsewhere_on_the_site_when_the_text_links_to_it() -> None:
    address = f"{SITE}/files/plan.PDF"
    assert _section().admits(Link(url=address, in_content=True))
    assert not _section().admits(Link(url=address, in_content=False))
    assert _section().admits(Link(url=f"{SITE}/docs/plan.pdf", in_content=False))


@pytest.mark.parametrize("path", ["/docs/a", "/docs", "/docs/a?x=2", "/docs/v1.2"])
def test_a_page_of_the_section_is_admitted(path: str) -> None:
    assert _section().admits(*_links(path))
    assert _section().admits(Link(url=f"http://site.example{path}", in_content=True))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a", "/a/"),
        ("/a/", "/a/index.html"),
        ("/a/Default.aspx", "/a"),
        ("/a?x=1&y=2", "/a?y=2&x=1"),
        ("/%D0%B0", "/а"),
        ("/a;jsessionid=1", "/a"),
        ("/a?PHPSESSID=1&x=2", "/a?x=2"),
    ],
)
def test_addresses_of_one_page_have_one_key(one: str, other: str) -> None:
    assert page_key(SITE + one) == page_key(SITE + other)


@pytest.mark.parametrize(("one", "other"), [("/a", "/b"), ("/a", "/A"), ("/a?x=1", "/a?x=2"), ("/a", "/a/b")])
def test_other_pages_have_other_keys(one: str, other: str) -> None:
    assert page_key(SITE + one) != page_key(SITE + other)
