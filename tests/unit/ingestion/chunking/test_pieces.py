"""What is never cut, and what is cut as a last resort."""

from hypothesis import given

from ingestion.chunking.pieces import document_text
from ingestion.chunking.tokens import HUNDREDTHS, weigh_text
from ingestion.records import BlockKind, Document
from tests.unit.ingestion.chunking.documents import DOCUMENTS, cut_document, document_of

LIMIT_TOKENS = 16


def _texts(document: Document, tokens: int = LIMIT_TOKENS) -> list[str]:
    text = document_text(document)
    return [text[piece.start : piece.end] for piece in cut_document(document, piece_tokens=tokens)]


def test_a_paragraph_is_cut_into_sentences() -> None:
    assert _texts(document_of("Раз. Два! Три?")) == ["Раз.", "Два!", "Три?"]


def test_a_table_is_cut_between_rows() -> None:
    table = document_of("| a | b |\n| - | - |\n| 1 | 2 |", kind=BlockKind.TABLE)
    assert _texts(table, 40) == ["| a | b |\n| - | - |", "| 1 | 2 |"]


def test_a_list_is_cut_between_items_and_an_item_keeps_its_lines() -> None:
    items = document_of("- one\n  more of one\n- two\n  1. inner", kind=BlockKind.LIST)
    assert _texts(items) == ["- one\n  more of one", "- two", "1. inner"]


def test_code_that_fits_stays_whole() -> None:
    assert _texts(document_of("def f():\n    return 1", kind=BlockKind.CODE)) == ["def f():\n    return 1"]


def test_code_that_is_too_large_is_cut_between_lines() -> None:
    code = document_of("value = function(argument)\n" * 3, kind=BlockKind.CODE)
    assert _texts(code) == ["value = function(argument)"] * 3


def test_a_sentence_that_is_too_large_is_cut_between_words() -> None:
    assert _texts(document_of("слово " * 20)) == ["слово"] * 20


def test_one_visible_character_is_not_torn_apart() -> None:
    family = "👩‍👩‍👧"
    assert all(piece.replace(family, "") == "" for piece in _texts(document_of(family * 9)))


@given(DOCUMENTS)
def test_pieces_fit_and_leave_out_only_whitespace(document: Document) -> None:
    text = document_text(document)
    position = 0
    for piece in cut_document(document, piece_tokens=LIMIT_TOKENS):
        assert not text[position : piece.start].strip()
        assert piece.weight == weigh_text(text[piece.start : piece.end]) <= LIMIT_TOKENS * HUNDREDTHS
        assert piece.gap == weigh_text(text[position : piece.start])
        position = piece.end
    assert not text[position:].strip()
