"""Small office files, books and letters for the tests of parsers, made where they are needed.

In: texts and pieces of markup. Out: paths. They hold just what the parsers look at.
"""

import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from pathlib import Path

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
FICTION = "http://www.gribuser.ru/xml/fictionbook/2.0"
ODF_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "presentation", "manifest", "style")
)
ODF_NAMES += ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'


def write_archive(path: Path, members: Mapping[str, str | bytes]) -> Path:
    """A ZIP archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Id -> (last word of the type, target), as an Office part's relations."""
    inner = "".join(
        f'<Relationship Id="{key}" Type="{RELATED}/{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{PACKAGE}">{inner}</Relationships>'


def write_xlsx(
    path: Path, sheets: Mapping[str, str], *, formats: Sequence[str] = (), shared: Sequence[str] = (), book: str = ""
) -> Path:
    """Sheet name -> the XML inside its `worksheet`. Style n shows by `formats[n]`."""
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
        for number, name in zip(numbers, sheets, strict=True)
    )
    codes = "".join(f'<numFmt numFmtId="{200 + n}" formatCode="{code}"/>' for n, code in enumerate(formats))
    styles = "".join(f'<xf numFmtId="{200 + n}"/>' for n in range(len(formats)))
    items = "".join(f"<si><t>{text}</t></si>" for text in shared)
    members = {
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{RELATED}">{book}<sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations({f"r{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in numbers}),
        "xl/styles.xml": f'<s xmlns="{SHEET}"><numFmts>{codes}</numFmts><cellXfs>{styles}</cellXfs></s>',
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEET}">{items}</sst>',
    }
    for number, inner in zip(numbers, sheets.values(), strict=True):
        members[f"xl/worksheets/sheet{number}.xml"] = f'<worksheet xmlns="{SHEET}">{inner}</worksheet>'
    return write_archive(path, members)


def sheet_rows(*rows: Sequence[str | float | None], first: int = 1) -> str:
    """`sheetData` of texts and numbers."""
    lines = []
    for number, row in enumerate(rows, start=first):
        cells = "".join(_cell(f"{chr(65 + column)}{number}", value) for column, value in enumerate(row))
        lines.append(f'<row r="{number}">{cells}</row>')
    return f"<sheetData>{''.join(lines)}</sheetData>"


def _cell(reference: str, value: str | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{reference}"><v>{value}</v></c>'


def write_pptx(
    path: Path, slides: Sequence[str], *, more: Mapping[str, str] | None = None, links: Mapping[str, str] | None = None
) -> Path:
    """Slides are the XML inside their shape trees; `links` are further relations of each slide by its part's number."""
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in numbers)
    root = f'xmlns:p="{SLIDE}" xmlns:a="{DRAWING}" xmlns:r="{RELATED}"'
    members = {
        "ppt/presentation.xml": f"<p:presentation {root}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations({f"r{n}": ("slide", f"slides/slide{n}.xml") for n in numbers}),
        **{f"ppt/slides/_rels/slide{number}.xml.rels": xml for number, xml in (links or {}).items()},
        **(more or {}),
    }
    for number, inner in zip(numbers, slides, strict=True):
        members[f"ppt/slides/slide{number}.xml"] = slide_tree(inner)
    return write_archive(path, members)


def slide_tree(inner: str, root: str = "sld") -> str:
    """A slide, layout or notes page."""
    names = f'xmlns:p="{SLIDE}" xmlns:a="{DRAWING}" xmlns:r="{RELATED}"'
    return f"<p:{root} {names}><p:cSld><p:spTree>{inner}</p:spTree></p:cSld></p:{root}>"


def shape(*lines: str, at: tuple[int, int] | None = None, placeholder: str = "") -> str:
    """A shape with paragraphs, at (left, top) in EMU."""
    mark = f"<p:nvPr><p:ph {placeholder}/></p:nvPr>" if placeholder else "<p:nvPr/>"
    place = f'<a:xfrm><a:off x="{at[0]}" y="{at[1]}"/></a:xfrm>' if at else ""
    text = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
    return f"<p:sp><p:nvSpPr>{mark}</p:nvSpPr><p:spPr>{place}</p:spPr><p:txBody>{text}</p:txBody></p:sp>"


def write_odf(path: Path, kind: str, body: str, *, styles: str = "", manifest: str = "") -> Path:
    """`kind` is text, spreadsheet or presentation; `body` is what stands in its element."""
    content = f"<office:document-content {ODF_NAMES}>{styles}<office:body><office:{kind}>{body}</office:{kind}>"
    return write_archive(
        path,
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"{content}</office:body></office:document-content>",
            "META-INF/manifest.xml": f"<manifest:manifest {ODF_NAMES}>{manifest}</manifest:manifest>",
        },
    )


def write_epub(
    path: Path, chapters: Mapping[str, str | bytes], *, metadata: str = "", contents: str = "", more: str = ""
) -> Path:
    """File name -> XHTML, in reading order; `contents` are navPoints."""
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    ncx = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    root = 'xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    members: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": f"<package {root}><metadata>{metadata}</metadata><manifest>{items}{ncx}</manifest>"
        f"<spine>{spine}</spine></package>",
        "OPS/toc.ncx": f"<ncx><navMap>{contents}</navMap></ncx>",
        **{f"OPS/{name}": content for name, content in chapters.items()},
    }
    return write_archive(path, members | ({"META-INF/encryption.xml": more} if more else {}))


def write_fb2(path: Path, body: str, *, about: str = "", after: str = "", encoding: str = "utf-8") -> Path:
    """A FictionBook."""
    names = f'xmlns="{FICTION}" xmlns:l="http://www.w3.org/1999/xlink"'
    book = (
        f'<?xml version="1.0" encoding="{encoding}"?><FictionBook {names}><description><title-info>{about}'
        f"</title-info></description><body>{body}</body>{after}</FictionBook>"
    )
    path.write_bytes(book.encode(encoding))
    return path


def letter(text: str, *, charset: str = "utf-8", html: str = "") -> EmailMessage:
    """From Анна to Иван, about a contract."""
    message = EmailMessage()
    message["From"] = "Анна Петрова <anna@example.org>"
    message["To"] = "ivan@example.org"
    message["Date"] = "Fri, 15 May 2026 10:00:00 +0300"
    message["Subject"] = "Договор аренды"
    if text:
        message.set_content(text, charset=charset, cte="quoted-printable")
    if html:
        message.add_alternative(html, subtype="html") if text else message.set_content(html, subtype="html")
    return message
