"""Pages: charsets, metadata, and pages that say nothing."""

from pathlib import Path

import pytest

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.registry import parse_file
from ingestion.records import BlockKind, Document

WORDS = "Арендатор вносит плату не позднее пятого числа каждого месяца, начиная с первого месяца аренды. "
ARTICLE = f"""<!doctype html><html lang="ru"><head><title>Правила аренды | Сайт</title>
<meta property="og:title" content="Правила аренды"><meta name="author" content="Анна Петрова">
<meta property="article:published_time" content="2026-05-12T10:00:00Z"></head><body>
<nav><a href="/">Главная</a> <a href="/shop">Магазин</a></nav><main><article><h1>Правила аренды</h1>
<p>{WORDS * 3}</p><h2>Оплата</h2><p>{WORDS * 3} Подробности <a href="https://e.org/x">в приложении</a>.</p>
<table><tr><th>Срок</th><th>Пеня</th></tr><tr><td>5 дней</td><td>100 ₽</td></tr></table>
<ul><li>наличными деньгами</li><li>переводом на счёт</li></ul></article></main>
<footer>Все права защищены</footer></body></html>"""


def _parse(tmp_path: Path, body: bytes) -> Document:
    path = tmp_path / "page"
    path.write_bytes(body)
    return parse_file(path, name="page.html", media_type="text/html")


def test_the_page_says_who_wrote_it_and_when(tmp_path: Path) -> None:
    document = _parse(tmp_path, ARTICLE.encode())
    assert (document.title, document.author, document.language) == ("Правила аренды", "Анна Петрова", "ru")
    assert document.published_at is not None
    assert document.published_at.date().isoformat() == "2026-05-12"


def test_the_main_text_comes_without_menus(tmp_path: Path) -> None:
    text = "\n".join(block.text for block in _parse(tmp_path, ARTICLE.encode()).blocks)
    assert "не позднее пятого числа" in text
    assert "в приложении" in text
    assert "Магазин" not in text
    assert "https://e.org" not in text


def test_headings_tables_and_lists_stay_what_they_are(tmp_path: Path) -> None:
    blocks = _parse(tmp_path, ARTICLE.encode()).blocks
    assert {BlockKind.HEADING, BlockKind.TABLE, BlockKind.LIST} <= {block.kind for block in blocks}
    (table,) = [block for block in blocks if block.kind is BlockKind.TABLE]
    assert table.locator.headings[-1] == "Оплата"


@pytest.mark.parametrize("charset", ["windows-1251", "koi8-r", "utf-8", "utf-16"])
@pytest.mark.parametrize("declared", [True, False])
def test_a_page_is_read_in_its_own_charset(tmp_path: Path, charset: str, declared: bool) -> None:
    meta = f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">' if declared else ""
    document = _parse(tmp_path, ARTICLE.replace("<head>", f"<head>{meta}").encode(charset, errors="ignore"))
    assert document.title == "Правила аренды"


@pytest.mark.parametrize(
    "body",
    [
        "<div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>",
        "<noscript>Для работы сайта включите JavaScript</noscript>",
        "<p>Мы используем файлы cookie.</p><button>Принять</button>",
        "<p>Checking your browser before accessing example.org</p>",
        "<script>document.write('x')</script>",
        "",
    ],
)
def test_a_page_that_says_nothing_of_its_own_has_no_text(tmp_path: Path, body: str) -> None:
    with pytest.raises(SourceError) as caught:
        _parse(tmp_path, f"<html><body>{body}</body></html>".encode())
    assert caught.value.code is FailureCode.FILE_WITHOUT_TEXT
