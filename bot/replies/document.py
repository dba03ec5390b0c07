"""One document in full: its text page by page, and its versions.

In: a card, its blocks, its versions. Out: HTML and buttons. It reads no store.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aiogram.types import InlineKeyboardMarkup

from bot.keyboards import OpenDocument, ReadDocument, button, rows
from bot.replies.html import to_html
from bot.replies.names import name_of, shortened, sign_of
from bot.replies.readings import TITLE_CHARACTERS, size_of
from bot.replies.rich import BOLD, rich
from bot.replies.split import split_rich
from bot.texts import Words
from domain.documents import DocumentCard
from ingestion.records import Block


@dataclass(frozen=True, kw_only=True)
class TextPage:
    """A message of a document's text."""

    html: str
    keyboard: InlineKeyboardMarkup | None


def text_page(card: DocumentCard, blocks: Sequence[Block], words: Words, *, part: int) -> TextPage:
    """The `part`-th message (from 0) that the whole text would take, with ‹ and › to its neighbours."""
    heading = rich(f"{sign_of(card)} {shortened(name_of(card), TITLE_CHARACTERS)}", BOLD)
    text = "\n\n".join(block.text for block in blocks) or words.plain("text-none")
    pieces = list(split_rich(heading + rich("\n\n" + text)))
    part = max(0, min(part, len(pieces) - 1))
    before = [button("‹", ReadDocument(document=card.id, part=part - 1))] if part else []
    after = [button("›", ReadDocument(document=card.id, part=part + 1))] if part + 1 < len(pieces) else []
    back = [button(words.plain("button-to-card"), OpenDocument(document=card.id))]
    return TextPage(html=to_html(pieces[part]), keyboard=rows([*before, *after], back))


def versions_html(versions: Sequence[DocumentCard], words: Words) -> str:
    """The newest first."""
    title = words("versions-title", title=shortened(name_of(versions[0]), TITLE_CHARACTERS))
    return "\n".join([title, *(_version_line(card, words) for card in versions)])


def _version_line(card: DocumentCard, words: Words) -> str:
    """A version's number, day and size. An earlier version has no passages, so its size is known only in pages, parts
    or minutes."""
    line = words("version-line", number=card.version, day=card.created_at)
    has_size = card.pages or card.parts or card.duration_s or card.chunks
    return f"{line} · {size_of(card, words)}" if has_size else line
