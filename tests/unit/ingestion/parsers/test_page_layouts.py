"""Pages after the markup of sites that people send links to."""

from ingestion.parsers.html import read_page
from ingestion.records import BlockKind, Document
from tests.unit.ingestion.parsers.pages import (
    GITHUB_README,
    HABR_ARTICLE,
    SENTENCE,
    TELEGRAM_POST,
    TELEGRAM_PREVIEW,
    WIKIPEDIA_ARTICLE,
)


def _text(document: Document) -> str:
    return "\n".join(block.text for block in document.blocks)


def test_a_telegram_post_keeps_its_paragraphs_and_nothing_around_them() -> None:
    document = read_page(TELEGRAM_POST, name="x")
    assert _text(document).startswith(
        "Мост откроют в мае\nДвижение пустят по двум полосам, остальные достроят к осени."
    )
    assert "12.3K" not in _text(document)
    assert document.title == "Город и люди"
    assert document.published_at is not None
    assert document.published_at.date().isoformat() == "2026-05-03"


def test_a_telegram_page_without_the_post_gives_its_summary() -> None:
    assert _text(read_page(TELEGRAM_PREVIEW, name="x")) == "Мост откроют в мае. Движение пустят по двум полосам."


def test_an_article_of_habr_comes_with_code_table_and_author_and_without_comments() -> None:
    document = read_page(HABR_ARTICLE, name="x")
    assert (document.title, document.author) == ("Как мы считали мосты", "Анна Петрова")
    assert document.published_at is not None
    assert document.published_at.date().isoformat() == "2026-04-02"
    kinds = [block.kind for block in document.blocks]
    assert {BlockKind.CODE, BlockKind.TABLE, BlockKind.LIST, BlockKind.HEADING} <= set(kinds)
    (code,) = [block.text for block in document.blocks if block.kind is BlockKind.CODE]
    assert code == "def count(bridges):\n    return len(bridges)"
    assert "Первый!" not in _text(document)


def test_wikipedia_comes_without_its_tools() -> None:
    document = read_page(WIKIPEDIA_ARTICLE, name="x")
    text = _text(document)
    assert document.title == "Мост"
    assert SENTENCE.strip() in text
    assert "| Старый | 1900 |" in text
    assert not any(tool in text for tool in ("править", "[1]", "Содержание", "свободной энциклопедии", "Категория"))


def test_a_readme_of_github_comes_without_the_list_of_files() -> None:
    document = read_page(GITHUB_README, name="x")
    text = _text(document)
    assert "pip install bridges\nbridges --town Tver" in text
    assert "| --town | name of the town |" in text
    assert "12 stars" not in text
    assert document.published_at is None
