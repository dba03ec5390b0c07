"""Small files for the tests of parsers, made where they are needed.

In: texts. Out: paths of PDF and DOCX files and of archives. They hold just what the parsers look at.
"""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT_W = "http://purl.oclc.org/ooxml/wordprocessingml/main"
RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STRICT_RELATIONSHIPS = "http://purl.oclc.org/ooxml/officeDocument/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
CORE = f"{PACKAGE}/relationships/metadata/core-properties"
CORE_TYPE = "application/vnd.openxmlformats-package.core-properties+xml"
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
MAIN_TYPE = f"{WORD_TYPE}.document.main+xml"
KINDS = ("styles", "numbering", "footnotes", "endnotes")  # of parts that belong to the main one


def write_docx(
    path: Path, body: str, parts: Mapping[str, str] | None = None, *, strict: bool = False, main_type: str = MAIN_TYPE
) -> Path:
    """A DOCX whose body is the given WordprocessingML; `parts` are further members, related by their names."""
    base = STRICT_RELATIONSHIPS if strict else RELATIONSHIPS
    parts = dict(parts or {})
    members = {
        "[Content_Types].xml": _content_types(main_type, parts),
        "_rels/.rels": _relationships(
            {f"{base}/officeDocument": "word/document.xml", CORE: "docProps/core.xml"}, parts
        ),
        "word/_rels/document.xml.rels": _relationships({f"{base}/{kind}": f"{kind}.xml" for kind in KINDS}, parts),
        "word/document.xml": f'<w:document xmlns:w="{STRICT_W if strict else W}"><w:body>{body}</w:body></w:document>',
        **parts,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return path


def _content_types(main_type: str, parts: Mapping[str, str]) -> str:
    types = {f"word/{kind}.xml": f"{WORD_TYPE}.{kind}+xml" for kind in KINDS} | {"docProps/core.xml": CORE_TYPE}
    overrides = {"word/document.xml": main_type} | {part: types[part] for part in parts if part in types}
    inner = "".join(f'<Override PartName="/{part}" ContentType="{kind}"/>' for part, kind in overrides.items())
    defaults = '<Default Extension="xml" ContentType="application/xml"/>'
    return f'<Types xmlns="{PACKAGE}/content-types">{defaults}{inner}</Types>'


def _relationships(targets: Mapping[str, str], parts: Mapping[str, str]) -> str:
    present = {"word/document.xml", *parts}
    inner = "".join(
        f'<Relationship Id="r{number}" Type="{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items())
        if target in present or f"word/{target}" in present
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{inner}</Relationships>'


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


def _shown_line(line: str, height: int) -> str:
    size = 20 if line.startswith("# ") else 12
    return f"/F1 {size} Tf 1 0 0 1 50 {height} Tm ({line.removeprefix('# ')}) Tj "


def write_pdf(path: Path, pages: Sequence[Sequence[str]], *, password: str | None = None, title: str = "") -> Path:
    """A PDF with the given lines (Latin letters) on each page; one that begins with "# " is set in a larger font."""
    shown = ("".join(_shown_line(line, 750 - 14 * row) for row, line in enumerate(lines)) for lines in pages)
    return write_drawn_pdf(path, [f"BT {each} ET" for each in shown], password=password, title=title)


def write_drawn_pdf(path: Path, pages: Sequence[str], *, password: str | None = None, title: str = "") -> Path:
    """A PDF with the given content of each page, in PDF's own language; /F1 is Helvetica."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = DictionaryObject(
        {NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")}
        | {NameObject("/BaseFont"): NameObject("/Helvetica")}
    )
    for content in pages:
        page = writer.add_blank_page(width=612, height=792)
        stream = DecodedStreamObject()
        stream.set_data(content.encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    writer.add_metadata({"/Title": title})
    if password is not None:
        writer.encrypt(user_password=password, owner_password="owner", algorithm="AES-256")
    writer.write(path)
    return path
