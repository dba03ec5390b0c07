"""EPUB and FB2: chapters as headings, in the book's order and charset."""

from pathlib import Path

import pytest

from ingestion.errors import FailureCode
from ingestion.records import BlockKind
from tests.unit.ingestion.parsers.packages import write_epub, write_fb2
from tests.unit.ingestion.parsers.reading import read, refusal, told

PAGE = "<html><body>{}</body></html>"
POINT = '<navPoint><navLabel><text>{}</text></navLabel><content src="{}"/></navPoint>'
METADATA = "<dc:title>Каштанка</dc:title><dc:creator>Антон Чехов</dc:creator>"
NOTE = '<section id="n1"><title><p>1</p></title><p>Помесь.</p></section>'


def test_chapters_come_in_the_order_of_the_book(tmp_path: Path) -> None:
    chapters = {
        "z.xhtml": PAGE.format("<h1>Первая</h1><p>раз</p>"),
        "a.xhtml": PAGE.format("<h1>Вторая</h1><p>два</p>"),
    }
    document = read(write_epub(tmp_path / "a.epub", chapters, metadata=METADATA))
    assert [text for _, text in told(document)] == ["Первая", "раз", "Вторая", "два"]
    assert (document.title, document.author) == ("Каштанка", "Антон Чехов")


def test_a_chapter_without_a_heading_has_that_of_the_contents(tmp_path: Path) -> None:
    chapters = {"a.xhtml": PAGE.format("<p>текст</p>"), "b.xhtml": PAGE.format("<h2>Своя</h2>")}
    contents = POINT.format("Из оглавления", "a.xhtml#top") + POINT.format("Чужая", "b.xhtml")
    document = read(write_epub(tmp_path / "a.epub", chapters, contents=contents))
    assert [text for _, text in told(document)] == ["Из оглавления", "текст", "Своя"]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1251", "utf-16"])
def test_a_chapter_is_read_in_its_charset(tmp_path: Path, encoding: str) -> None:
    page = f'<?xml version="1.0" encoding="{encoding}"?>' + PAGE.format("<p>Ёлка&nbsp;и дом</p>")
    document = read(write_epub(tmp_path / "a.epub", {"a.xhtml": page.encode(encoding)}))
    assert document.blocks[0].text == "Ёлка\u00a0и дом"


def test_a_protected_book_is_refused_and_disguised_fonts_are_not(tmp_path: Path) -> None:
    hidden = "<encryption><EncryptedData><CipherReference URI='{}'/></EncryptedData></encryption>"
    chapters = {"a.xhtml": PAGE.format("<p>x</p>")}
    shop = write_epub(tmp_path / "a.epub", chapters, more=hidden.format("OPS/a.xhtml"))
    fonts = write_epub(tmp_path / "b.epub", chapters, more=hidden.format("OPS/font.ttf"))
    assert (refusal(shop), refusal(fonts)) == (FailureCode.FILE_ENCRYPTED, None)


def test_sections_of_fb2_are_headings(tmp_path: Path) -> None:
    inner = "<section><title><p>Глава</p></title><p>слова</p></section><section><p>без имени</p></section>"
    body = f"<section><title><p>Часть</p><p>первая</p></title>{inner}</section>"
    document = read(write_fb2(tmp_path / "a.fb2", body, about="<book-title>Каштанка</book-title>"))
    assert [(block.text, block.locator.headings) for block in document.blocks] == [
        ("Часть. первая", ()),
        ("Глава", ("Часть. первая",)),
        ("слова", ("Часть. первая", "Глава")),
        ("без имени", ("Часть. первая",)),
    ]


def test_verses_stay_in_lines_and_notes_follow_their_mark(tmp_path: Path) -> None:
    body = '<section><poem><stanza><v>раз</v><v>два</v></stanza></poem><p>такса<a l:href="#n1">[1]</a></p></section>'
    document = read(write_fb2(tmp_path / "a.fb2", body, after=f'<body name="notes">{NOTE}</body>'))
    assert [text for _, text in told(document)] == ["раз\nдва", "такса[1]", "[1] Помесь."]


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "koi8-r", "utf-16"])
def test_a_book_is_read_in_the_charset_that_it_states(tmp_path: Path, encoding: str) -> None:
    about = "<author><first-name>Антон</first-name><last-name>Чехов</last-name></author>"
    document = read(write_fb2(tmp_path / "a", "<section><p>Ёлка</p></section>", about=about, encoding=encoding))
    assert (told(document), document.author) == ([(BlockKind.PARAGRAPH, "Ёлка")], "Антон Чехов")


def test_names_of_characters_and_pictures_do_no_harm(tmp_path: Path) -> None:
    after = f'<binary id="a" content-type="image/png">{"QUJD" * 1000}</binary>'
    document = read(write_fb2(tmp_path / "a.fb2", "<section><p>а&nbsp;&mdash; б &amp; в</p></section>", after=after))
    assert document.blocks[0].text == "а — б & в"


def test_a_book_that_was_cut_off_is_damaged(tmp_path: Path) -> None:
    path = write_fb2(tmp_path / "a.fb2", "<section><p>слова</p></section>" * 9)
    path.write_bytes(path.read_bytes()[:-30])
    assert refusal(path) is FailureCode.FILE_DAMAGED
