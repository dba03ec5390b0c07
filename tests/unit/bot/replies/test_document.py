"""A document's versions as a list."""

from bot.replies.document import versions_html
from domain.documents import DocumentStatus
from tests.fakes.bot import texts
from tests.fakes.cards import card, ready


def test_earlier_versions_are_not_said_to_hold_nothing() -> None:
    earlier = card(status=DocumentStatus.SUPERSEDED, chunks=0)
    current = ready(version=2, chunks=3, pages=None)
    lines = versions_html([current, earlier], texts().for_language("ru")).splitlines()
    assert lines[1].endswith("3 фрагмента")
    assert "фрагмент" not in lines[2]
