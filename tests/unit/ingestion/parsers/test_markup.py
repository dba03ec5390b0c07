"""Markup that is all text: nothing is lost but what is never shown."""

import pytest

from ingestion.parsers.encodings import decode_page
from ingestion.parsers.markup import add_markup
from ingestion.parsers.outline import Outline
from ingestion.records import BlockKind


def _told(source: str) -> list[tuple[BlockKind, str]]:
    outline = Outline()
    add_markup(outline, source)
    return [(block.kind, block.text) for block in outline.finish()]


@pytest.mark.parametrize(
    ("source", "kind", "text"),
    [
        ("<h2>За <b>голо</b>вок</h2>", BlockKind.HEADING, "За головок"),
        ("<p>раз\n  <i>два</i><br>три</p>", BlockKind.PARAGRAPH, "раз два\nтри"),
        ("голый текст", BlockKind.PARAGRAPH, "голый текст"),
        (
            "<ul><li>раз<ul><li>внутри</li></ul></li><li><p>два</p></li></ul>",
            BlockKind.LIST,
            "- раз\n  - внутри\n- два",
        ),
        ("<ol start=3><li>раз</li><li>два<p>ещё</p></li></ol>", BlockKind.LIST, "3. раз\n4. два\n  ещё"),
        ("<pre>a\n  b</pre>", BlockKind.CODE, "a\n  b"),
        (
            "<table><tr><th>а<th>б<tr><td>1<td><p>2</p><p>3</p></table>",
            BlockKind.TABLE,
            "| а | б |\n| --- | --- |\n| 1 | 2 3 |",
        ),
        ("<p>видно<span style='display: none'>тайно</span><script>x</script></p>", BlockKind.PARAGRAPH, "видно"),
        ("<?xml version='1.0' encoding='utf-8'?><p>x</p>", BlockKind.PARAGRAPH, "x"),
    ],
)
def test_markup_becomes_what_it_looks_like(source: str, kind: BlockKind, text: str) -> None:
    assert _told(source) == [(kind, text)]


def test_tables_made_for_their_looks_are_opened() -> None:
    inner = "<table><tr><td>а</td><td>б</td></tr><tr><td>1</td><td>2</td></tr></table>"
    source = f"<table><tr><td><p>Здравствуйте!</p></td></tr><tr><td>{inner}</td></tr></table>"
    assert [kind for kind, _ in _told(source)] == [BlockKind.PARAGRAPH, BlockKind.TABLE]


def test_nothing_is_made_of_nothing() -> None:
    assert _told("  ") == []


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "utf-8"])
def test_the_declared_charset_is_used(encoding: str) -> None:
    assert decode_page(f"<?xml version='1.0' encoding='{encoding}'?><p>Ёлка".encode(encoding)).endswith("Ёлка")


def test_a_charset_that_lies_is_not_believed() -> None:
    assert decode_page("<?xml version='1.0' encoding='klingon'?><p>Ёлка и дом".encode()).endswith("Ёлка и дом")
