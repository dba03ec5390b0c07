"""Small files for the tests of parsers, made where they are needed.

In: texts. Out: paths of PDF and DOCX files and of archives. They hold just what the parsers look at.
"""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_W = "http://purl.oclc.org/ooxml/wordprocessingml/main"


def write_docx(
    path: Path, body: str, parts: Mapping[str, str] | None = None, *, namespace: str = W, name: str = "document.xml"
) -> Path:
    """A DOCX whose body is the given WordprocessingML; `parts` are further members."""
    document = f'<w:document xmlns:w="{namespace}"><w:body>{body}</w:body></w:document>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"word/{name}", document)
        for member, content in (parts or {}).items():
            archive.writestr(member, content)
    return path


def styles_part(*styles: tuple[str, str, str]) -> str:
    """(id, name, further XML) of each style."""
    inner = "".join(
        f'<w:style w:styleId="{key}"><w:name w:val="{name}"/>{more}</w:style>' for key, name, more in styles
    )
    return f'<w:styles xmlns:w="{W}">{inner}</w:styles>'


def p(text: str, properties: str = "") -> str:
    """A paragraph of one run."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def styled(text: str, style: str) -> str:
    """A paragraph with a style."""
    return p(text, f'<w:pStyle w:val="{style}"/>')


def write_pdf(path: Path, pages: Sequence[Sequence[str]], *, password: str | None = None, title: str = "") -> Path:
    """A PDF with the given lines (Latin letters) on each page."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = DictionaryObject(
        {NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")}
        | {NameObject("/BaseFont"): NameObject("/Helvetica")}
    )
    for lines in pages:
        page = writer.add_blank_page(width=612, height=792)
        shown = "".join(f"1 0 0 1 50 {750 - 14 * row} Tm ({line}) Tj " for row, line in enumerate(lines))
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf {shown} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    writer.add_metadata({"/Title": title})
    if password is not None:
        writer.encrypt(user_password=password, owner_password="owner", algorithm="AES-256")
    writer.write(path)
    return path
