"""The list of documents and a document's card, as texts."""

from datetime import UTC, datetime

import pytest

from bot.replies.library import card_shown, page_shown, versions_html
from bot.texts import load_texts
from domain.documents import DocumentCard, DocumentStatus, Medium, Removed, SourceType, UnreadPart
from tests.fakes.bot import texts
from tests.fakes.cards import card, ready
from tests.fakes.telegram_html import read_html

WORDS = load_texts(today=lambda: datetime(2026, 6, 1, tzinfo=UTC).date()).for_language("ru")


def _line(document: DocumentCard) -> str:
    text, _ = page_shown([document], Removed(documents=1), WORDS, page=0)
    return read_html(text)[0].splitlines()[-1]


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (ready(), "1. 📄 Договор аренды.pdf · 48 стр. · 12 мая"),
        (ready(pages=None, chunks=3), "1. 📄 Договор аренды.pdf · 3 фрагмента · 12 мая"),
        (ready(pages=None, duration_s=252.0, medium=Medium.AUDIO), "1. 🎙 Договор аренды.pdf · 4:12 · 12 мая"),
        (
            ready(pages=None, parts=5, source_type=SourceType.SITE),
            "1. 🔗 Договор аренды.pdf · 5 страниц сайта · 12 мая",
        ),
        (ready(pages=None, parts=2), "1. 📄 Договор аренды.pdf · 2 файла · 12 мая"),
        (card(status=DocumentStatus.PARSING), "1. 📄 Договор аренды.pdf · читаю · 12 мая"),
        (card(status=DocumentStatus.CHOOSING), "1. 📄 Договор аренды.pdf · ждёт вашего выбора · 12 мая"),
        (ready(expires_at=datetime(2026, 6, 2, tzinfo=UTC)), "1. 📄 Договор аренды.pdf · 48 стр. · 12 мая · ⏱"),
    ],
)
def test_a_line_of_the_list_has_type_size_and_day(document: DocumentCard, line: str) -> None:
    assert _line(document) == line


def test_a_card_says_when_a_page_was_published_by_whom_and_where_it_stands() -> None:
    page = ready(
        source_type=SourceType.LINK,
        source_identifier="https://site.example/%D0%B0",
        title="Тарифы",
        author="Анна",
        published_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
    )
    lines = read_html(card_shown(page, WORDS, page=0)[0])[0].splitlines()
    assert "от 1 марта" in lines[1]
    assert lines[2:] == ["Автор: Анна", "https://site.example/а"]


def test_a_card_says_what_could_not_be_read_and_why() -> None:
    archive = ready(pages=None, parts=2, unread=(UnreadPart(name="тайна.pdf", code="file-encrypted"),))
    assert read_html(card_shown(archive, WORDS, page=0)[0])[0].endswith("⚠️ Не прочитано: тайна.pdf (под паролем)")


def test_a_card_of_what_is_still_being_read_says_so() -> None:
    lines = read_html(card_shown(card(status=DocumentStatus.EMBEDDING), WORDS, page=0)[0])[0].splitlines()
    assert lines[1].startswith("читаю · ")


def test_a_card_of_what_waits_for_a_choice_offers_it() -> None:
    _, keyboard = card_shown(card(status=DocumentStatus.CHOOSING), WORDS, page=0)
    assert keyboard
    first, second = keyboard.inline_keyboard[:2]  # three in one line are cut off on a phone
    assert [[each.text for each in line] for line in (first, second)] == [["Заменить"], ["Оставить оба", "Пропустить"]]


def test_earlier_versions_are_not_said_to_hold_nothing() -> None:
    earlier = card(status=DocumentStatus.SUPERSEDED, chunks=0)
    current = ready(version=2, chunks=3, pages=None)
    lines = versions_html([current, earlier], texts().for_language("ru")).splitlines()
    assert lines[1].endswith("3 фрагмента")
    assert "фрагмент" not in lines[2]


def test_files_that_wait_for_a_choice_are_not_said_to_be_read() -> None:
    html, _ = page_shown([ready()], Removed(documents=1, choosing=2, waiting=1), WORDS, page=0)
    title = read_html(html)[0].splitlines()[0]
    assert title == "🗂 Документы: 1 · ждут выбора: 2 · ещё читаю: 1"
