"""Tables of WordprocessingML as rows of cells.

In: a table element. Out: texts, a merged cell's text in its first place only; a table inside a cell becomes lines of
that cell. What the rows look like is `tables`'.
"""

from collections.abc import Iterator

from ingestion.parsers.docx_package import Element, attribute, child, children, local_name, value_of
from ingestion.parsers.docx_text import TABLE, body_elements, paragraph_text, text_boxes

WIDEST_SPAN = 100  # columns; a damaged file may claim any number


def table_rows(table: Element) -> list[list[str]]:
    """One list of texts a row; cells that a merge covers are empty."""
    return [list(_row_cells(row)) for row in _rows(table)]


def _rows(table: Element) -> Iterator[Element]:
    for element in table:
        name = local_name(element)
        if name == "tr":
            yield element
        elif name in ("sdt", "sdtContent", "ins", "customXml"):
            yield from _rows(element)


def _row_cells(row: Element) -> Iterator[str]:
    yield from [""] * _number(value_of(child(row, "trPr"), "gridBefore"), otherwise=0)
    for cell in _cells(row):
        properties = child(cell, "tcPr")
        yield "" if _is_covered(properties) else cell_text(cell)
        yield from [""] * (_number(value_of(properties, "gridSpan"), otherwise=1) - 1)


def _cells(row: Element) -> Iterator[Element]:
    for element in row:
        name = local_name(element)
        if name == "tc":
            yield element
        elif name in ("sdt", "sdtContent", "customXml"):
            yield from _cells(element)


def cell_text(cell: Element) -> str:
    """Paragraphs of a cell, and of tables and boxes in it, one after another."""
    return "\n".join(text for text in _cell_texts(cell) if text.strip())


def _cell_texts(cell: Element) -> Iterator[str]:
    for element in body_elements(cell):
        if local_name(element) == TABLE:
            yield from ("; ".join(text for text in row if text) for row in table_rows(element))
        else:
            yield paragraph_text(element)
            for box in text_boxes(element):
                yield cell_text(box)


def _is_covered(properties: Element | None) -> bool:
    """A vertical merge begins with `restart`; its other cells say `continue`, or nothing."""
    merge = next(children(properties, "vMerge"), None)
    return merge is not None and attribute(merge, "val") != "restart"


def _number(value: str | None, *, otherwise: int) -> int:
    return min(int(value), WIDEST_SPAN) if value is not None and value.isdigit() else otherwise
