"""What pages ask of robots, in headers and meta elements."""

import pytest

from ingestion.fetch.links import scan_links
from ingestion.fetch.robot_tags import RobotTags, read_headers, read_tag

URL = "https://site.example/docs/"


@pytest.mark.parametrize(
    ("values", "follow", "index"),
    [
        ((), True, True),
        (("noindex",), True, False),
        (("NOINDEX, NoFollow",), False, False),
        (("none",), False, False),
        (("all",), True, True),
        (("noarchive", "nofollow"), False, True),
        (("otherbot: noindex, nofollow",), True, True),
        (("baza: noindex",), True, False),
        (("unavailable_after: 25 Jun 2030 15:00:00 GMT, noindex",), True, False),
        (("max-snippet:-1, nofollow",), False, True),
    ],
)
def test_a_header_is_kept_when_it_names_us_or_nobody(values: tuple[str, ...], *, follow: bool, index: bool) -> None:
    assert read_headers(values) == RobotTags(follow=follow, index=index)


def test_all_meta_elements_of_a_page_hold() -> None:
    html = '<meta name="robots" content="nofollow"><meta name=Baza content="noindex"><a href=a>x</a>'
    found = scan_links(html, url=URL)
    assert (found.tags, found.links) == (RobotTags(follow=False, index=False), ())


def test_a_page_that_does_not_want_to_be_kept_still_shows_the_way() -> None:
    found = scan_links('<meta name="robots" content="noindex"><a href=a>x</a>', url=URL)
    assert not found.tags.index
    assert [link.url for link in found.links] == [f"{URL}a"]


def test_wishes_of_other_kinds_change_nothing() -> None:
    assert read_tag("index, follow, max-image-preview:large") == RobotTags()
