"""RTF: letters of every charset, and what is no text."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.errors import FailureCode
from ingestion.records import BlockKind
from tests.unit.ingestion.parsers.reading import read_bytes, refusal, told

HEAD = r"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset204 Arial;}{\f1\fcharset0 Arial;}{\f2\fcharset238 Arial;}}"
STYLES = (
    r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 Title;}{\s2 heading 2;}{\s3 \'c7\'e0\'e3\'ee\'eb\'ee\'e2\'ee\'ea 3;}}"
)


def _told(folder: Path, body: str, head: str = HEAD) -> list[tuple[BlockKind, str]]:
    return told(read_bytes(folder, f"{head}{body}}}".encode("latin-1"), name="a.rtf"))


def _escaped(text: str, encoding: str = "cp1251") -> str:
    return "".join(f"\\'{byte:02x}" for byte in text.encode(encoding))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (_escaped("Ёлка") + r" \par", "Ёлка"),
        (r"\f2 " + _escaped("Žižka", "cp1250") + r"\f0 " + _escaped(" да"), "Žižka да"),
        (r"\u1041?\u1072?\par", "Ба"),
        (r"\u-10179?\u-8704?", "😀"),
        (r"\uc2\u1041 ab\u1072\'e0\'e0.", "Ба."),
        (r"{\uc0\u1041}\u1072?", "Ба"),
        (r"a\~b\emdash c\line d\tab e\{\}\\", "a\u00a0b—c\nd\te{}\\"),
        (r"one {\b bold} {\v hidden}two", "one bold two"),
        (r'{\field{\*\fldinst HYPERLINK "http://e.org"}{\fldrslt link}}', "link"),
        (r"text{\pict\pngblip 89504e47}{\*\unknown words}{\header top}", "text"),
        (r"a\bin5 {{{{{b", "ab"),
        ("a\r\nb", "ab"),
    ],
)
def test_letters_come_out_as_they_were_meant(tmp_path: Path, body: str, text: str) -> None:
    assert _told(tmp_path, body) == [(BlockKind.PARAGRAPH, text)]


def test_headings_are_known_by_level_or_by_the_name_of_their_style(tmp_path: Path) -> None:
    body = STYLES + r"\pard\s1 One\par\pard\s2 Two\par\pard\s3 Three\par\pard\s0 text\par"
    assert _told(tmp_path, body) == [
        (BlockKind.HEADING, "One"),
        (BlockKind.HEADING, "Two"),
        (BlockKind.HEADING, "Three"),
        (BlockKind.PARAGRAPH, "text"),
    ]


def test_items_keep_the_numbers_that_the_program_shows(tmp_path: Path) -> None:
    body = r"\pard{\listtext\pard 3.2.\tab}\ilvl0 one\par\pard{\listtext\pard\f1\'b7\tab}\ilvl1 two\par\pard three\par"
    assert _told(tmp_path, body) == [(BlockKind.LIST, "3.2. one\n  - two"), (BlockKind.PARAGRAPH, "three")]


def test_rows_are_tables(tmp_path: Path) -> None:
    row = r"\trowd\cellx1\cellx2\pard\intbl {}\cell {}\cell\row "
    body = row.format("a", "b") + row.format("c", r"d\par e") + r"\pard after\par"
    assert _told(tmp_path, body) == [
        (BlockKind.TABLE, "| a | b |\n| --- | --- |\n| c | d e |"),
        (BlockKind.PARAGRAPH, "after"),
    ]


def test_a_note_follows_its_paragraph(tmp_path: Path) -> None:
    body = r"word{\super 1{\footnote\pard{\super 1} the note}} goes on\par"
    assert [text for _, text in _told(tmp_path, body)] == ["word1 goes on", "1 the note"]


def test_title_and_author_are_stated(tmp_path: Path) -> None:
    info = r"{\info{\title " + _escaped("Договор") + r"}{\author " + _escaped("Анна") + r"}{\company ACME}}"
    document = read_bytes(tmp_path, f"{HEAD}{info}text\\par}}".encode(), name="a.rtf")
    assert (document.title, document.author, [block.text for block in document.blocks]) == ("Договор", "Анна", ["text"])


def test_a_file_that_was_cut_off_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_text(HEAD + r"{\rtlch text")
    assert refusal(path) is FailureCode.FILE_DAMAGED


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.rtf")
        path.write_bytes(HEAD.encode() + data)
        assert refusal(path) in (None, FailureCode.FILE_DAMAGED, FailureCode.FILE_WITHOUT_TEXT)


@pytest.mark.parametrize(("page", "text"), [(r"\mac", "é"), (r"\ansicpg99999", "Ž")])
def test_a_code_page_without_a_name_in_python_is_no_reason_to_refuse(tmp_path: Path, page: str, text: str) -> None:
    assert _told(tmp_path, r"\'8e", head=rf"{{\rtf1\ansi{page} ") == [(BlockKind.PARAGRAPH, text)]
