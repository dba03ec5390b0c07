"""Rules for the engines of pages that people often send: which parts are furniture, and where posts are.

In: the tree of a page. Out: the tree without the furniture, or the text of its posts, for sites whose pages are too
short for trafilatura to find the text. Each rule is one line of data; most sites need none.
"""

from collections.abc import Iterator

from lxml.html import HtmlElement, fromstring  # type: ignore[import-untyped] # lxml brings no types

from ingestion.parsers.page_body import read_body
from ingestion.parsers.page_facts import PageFacts
from ingestion.records import Block, BlockKind

FURNITURE = (
    "//*[contains(concat(' ', @class, ' '), ' mw-editsection ')]",  # MediaWiki: "[edit]" beside headings
    "//sup[contains(concat(' ', @class, ' '), ' reference ')]",  # MediaWiki: "[1]"
    "//*[@id='toc' or @id='siteSub' or @id='catlinks']",  # MediaWiki: contents, "From Wikipedia", categories
    "//relative-time",  # GitHub: when a file was last changed, which is not the day of the page
)
POSTS = (
    "//div[contains(concat(' ', @class, ' '), ' tgme_widget_message_text ')]",  # Telegram: a channel's posts
)
SITES_OF_POSTS = frozenset({"Telegram"})  # if a page lacks the post itself, its summary has it

_VOCABULARY = {"br": "lb", "pre": "code", "blockquote": "quote"}
"""HTML tags -> trafilatura's, which `page_body` reads."""


def remove_furniture(tree: HtmlElement) -> None:
    """Remove the furniture in place."""
    for rule in FURNITURE:
        for element in tree.xpath(rule):
            if element.getparent() is not None:
                element.drop_tree()


def read_posts(tree: HtmlElement, facts: PageFacts) -> tuple[Block, ...]:
    """The posts of a page that consists of posts; empty for every other page."""
    posts = [post for rule in POSTS for post in tree.xpath(rule)]
    if posts:
        return tuple(block for post in posts for block in _blocks_of(post))
    if facts.site in SITES_OF_POSTS and facts.summary:
        return (Block(kind=BlockKind.PARAGRAPH, text=facts.summary),)
    return ()


def _blocks_of(post: HtmlElement) -> Iterator[Block]:
    body = fromstring("<div></div>")
    for element in post.iter():
        element.tag = _VOCABULARY.get(element.tag, element.tag)
    post.tag = "p"
    body.append(post)
    yield from read_body(body)
