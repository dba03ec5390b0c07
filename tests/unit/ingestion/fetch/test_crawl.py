"""Which addresses belong to a section, and which of them are one page."""

import pytest

from ingestion.fetch.crawl import QUERIES_OF_A_PATH, Section, choose_section, page_key
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
    assert section.admit(*_links("/articles/1")) == f"{SITE}/articles/1"
    assert section.admit(*_links("/contacts", in_content=False)) is None


def _section(folder: str = "/docs/") -> Section:
    return Section(host="site.example", scheme="https", front=f"{SITE}{folder}", folder=folder)


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
        f"{SITE}/docs/" + "/".join("abcdefghijklmnop"),
    ],
)
def test_what_is_no_page_of_the_section_is_refused(url: str) -> None:
    assert _section().admit(Link(url=url, in_content=True)) is None


def test_a_document_may_stand_elsewhere_on_the_site_when_the_text_links_to_it() -> None:
    address = f"{SITE}/files/plan.PDF"
    assert _section().admit(Link(url=address, in_content=True)) == address
    assert _section().admit(Link(url=address, in_content=False)) is None
    assert _section().admit(Link(url=f"{SITE}/docs/plan.pdf", in_content=False))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        (f"{SITE}/docs/a", f"{SITE}/docs/a"),
        (f"{SITE}/docs", f"{SITE}/docs"),
        ("http://site.example/docs/a", f"{SITE}/docs/a"),  # the section's own scheme
        (f"{SITE}/docs/a?PHPSESSID=1&x=2", f"{SITE}/docs/a?x=2"),
        (f"{SITE}/docs/a;jsessionid=12AB?x=2", f"{SITE}/docs/a?x=2"),
        (f"{SITE}/docs/v1.2", f"{SITE}/docs/v1.2"),
    ],
)
def test_a_page_of_the_section_is_admitted_under_a_clean_address(url: str, address: str) -> None:
    assert _section().admit(Link(url=url, in_content=True)) == address


def test_one_path_has_no_endless_queries() -> None:
    section = _section()
    admitted = [section.admit(link) for link in _links(*(f"/docs/list?page={page}" for page in range(50)))]
    assert sum(address is not None for address in admitted) == QUERIES_OF_A_PATH


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a", "/a/"),
        ("/a/", "/a/index.html"),
        ("/a/Default.aspx", "/a"),
        ("/a?x=1&y=2", "/a?y=2&x=1"),
        ("/%D0%B0", "/а"),
        ("/a;jsessionid=1", "/a"),
    ],
)
def test_addresses_of_one_page_have_one_key(one: str, other: str) -> None:
    assert page_key(SITE + one) == page_key(SITE + other)


@pytest.mark.parametrize(("one", "other"), [("/a", "/b"), ("/a", "/A"), ("/a?x=1", "/a?x=2"), ("/a", "/a/b")])
def test_other_pages_have_other_keys(one: str, other: str) -> None:
    assert page_key(SITE + one) != page_key(SITE + other)
