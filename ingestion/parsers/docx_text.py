"""The words of a paragraph or cell of WordprocessingML.

In: elements of the main part. Out: text, the notes it refers to, and the text boxes anchored in it. Deleted text,
field codes and the fallback copies of drawings are not words.
"""

from collections.abc import Iterator, Mapping

from ingestion.parsers.docx_package import Element, attribute, local_name

PARAGRAPH = "p"
TABLE = "tbl"
SKIPPED = frozenset(
    {"pPr", "rPr", "sdtPr", "del", "moveFrom", "delText", "instrText", "Fallback", "txbxContent", "fldData"}
)
"""What is inside is not read with the paragraph: properties, deletions, second copies; text boxes are read apart."""

CHARACTERS: Mapping[str, str] = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
TEXT_TAGS = frozenset({"t"})  # of runs (w:t) and of formulas (m:t)
NOTE_REFERENCES = frozenset({"footnoteReference", "endnoteReference"})


def paragraph_text(paragraph: Element) -> str:
    """Words, tabs and line breaks in order; a note's place shows as [id]."""
    return "".join(_words(paragraph))


def note_ids(paragraph: Element) -> list[tuple[str, str]]:
    """(kind of reference, id) of the notes that the paragraph refers to, in order."""
    return [
        (local_name(element), attribute(element, "id") or "")
        for element in paragraph.iter()
        if local_name(element) in NOTE_REFERENCES
    ]


def text_boxes(element: Element) -> Iterator[Element]:
    """Contents of the boxes anchored in an element, outermost only; each once, though drawings are stored twice."""
    for inner in element:
        if local_name(inner) == "Fallback":
            continue
        if local_name(inner) == "txbxContent":
            yield inner
        else:
            yield from text_boxes(inner)


def body_elements(container: Element) -> Iterator[Element]:
    """Paragraphs and tables of a body, cell or text box in order, also those inside content controls and insertions."""
    for element in container:
        name = local_name(element)
        if name in (PARAGRAPH, TABLE):
            yield element
        elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag", "AlternateContent", "Choice"):
            yield from body_elements(element)


def _words(element: Element) -> Iterator[str]:
    for inner in element:
        name = local_name(inner)
        if name in TEXT_TAGS:
            yield inner.text or ""
        elif name in CHARACTERS:
            yield CHARACTERS[name]
        elif name in NOTE_REFERENCES:
            yield f"[{attribute(inner, 'id')}]"
        elif name not in SKIPPED:
            yield from _words(inner)
