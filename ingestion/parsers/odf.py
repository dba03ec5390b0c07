"""Reads OpenDocument texts, sheets and presentations (ODT, ODS, ODP and their templates).

In: an archive of one of the three types. Out: a `Document`: a text with heading levels, lists, tables and notes; sheets
as tables with row numbers; slides with titles and notes. Tracked deletions are skipped.
"""

from pathlib import Path

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.language import language_of
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.odf_flow import OdfReader
from ingestion.parsers.odf_sheets import read_rows
from ingestion.parsers.outline import Outline
from ingestion.parsers.package import Package
from ingestion.parsers.sheets import add_sheet
from ingestion.parsers.titles import choose_title
from ingestion.parsers.xml_trees import Element, attribute, local_name, words_of
from ingestion.records import Document

CONTENT = "content.xml"
META = "meta.xml"
MANIFEST = "META-INF/manifest.xml"
KINDS = frozenset({FileKind.ODT, FileKind.ODS, FileKind.ODP})


def accepts(file: FileInfo) -> bool:
    """An archive that declares itself an OpenDocument."""
    return file.kind in KINDS


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED (no content), FILE_TOO_HEAVY."""
    with Package(path, name=info.name) as package:
        _check_open(package, info.name)
        content = package.tree(CONTENT)
        body = next(content.iter("{*}body"), None) if content is not None else None
        if body is None:
            raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail="no content")
        outline = Outline()
        slides = _read_body(outline, content, body)
        meta = package.tree(META)
    blocks = outline.finish()
    return Document(
        title=choose_title(_stated(meta, "title"), blocks if info.kind is not FileKind.ODS else (), name=info.name),
        blocks=blocks,
        pages=slides or None,
        language=language_of(blocks),
        author=_stated(meta, "initial-creator") or _stated(meta, "creator"),
    )


def _check_open(package: Package, name: str) -> None:
    manifest = package.tree(MANIFEST)
    if manifest is not None and next(manifest.iter("{*}encryption-data"), None) is not None:
        raise SourceError(FailureCode.FILE_ENCRYPTED, name=name)


def _stated(meta: Element | None, field: str) -> str | None:
    return None if meta is None else words_of(next(meta.iter("{*}" + field), None)) or None


def _read_body(outline: Outline, content: Element, body: Element) -> int:
    """Add all content. Returns the number of slides."""
    reader = OdfReader(outline, content)
    slides = 0
    for part in body:
        kind = local_name(part)
        if kind == "spreadsheet":
            _read_sheets(outline, part)
        elif kind == "presentation":
            slides = _read_slides(outline, part, reader)
        else:
            reader.read_inside(part)
    return slides


def _read_sheets(outline: Outline, spreadsheet: Element) -> None:
    for table in spreadsheet.iterchildren("{*}table"):
        outline.add_heading(attribute(table, "name") or "", 1)
        add_sheet(outline, read_rows(table))


def _read_slides(outline: Outline, presentation: Element, reader: OdfReader) -> int:
    """Frames are in order of creation, so the title is looked up and becomes the slide's heading wherever it is."""
    pages = list(presentation.iterchildren("{*}page"))
    for number, page in enumerate(pages, start=1):
        outline.leave(1)
        outline.place = Locator(slide=number)
        frames = list(page)
        title = next((frame for frame in frames if attribute(frame, "class") == "title"), None)
        if title is not None:
            outline.add_heading(words_of(title), 1)
        for frame in frames:
            if frame is not title:
                reader.read(frame)
    return len(pages)
