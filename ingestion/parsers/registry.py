"""The formats that Baza reads, each with its parser, and the process that reads them.

In: a file on disk; lines with a `Request`, one after the other. Out: its `Document`; lines of JSON on the same socket
(`codec`), for an archive a `Listing`, for a page or photo a JPEG, upright, of at most 4,000 pixels a side, followed by
its bytes. A new format is one module and one line.
`sandbox.forkserver` has confined the process before; the other side decides how long it may take.
"""

import codecs
import contextlib
import io
import logging
import math
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BufferedReader
from pathlib import Path, PurePath

import charset_normalizer.constant  # the package is imported where it is used, which would cost every child 50 ms
import pypdfium2 as pdfium
from PIL import Image, ImageOps

from ingestion.chunking.passages import passage_lines
from ingestion.errors import FailureCode, SourceError
from ingestion.files import SITE_TYPE
from ingestion.parsers import (
    books,
    codec,
    doc,
    docx,
    html,
    letters,
    markdown,
    markup,
    odf,
    pdf,
    pptx,
    rtf,
    sheets,
    subtitles,
    text,
    xlsx,
    xml,
)
from ingestion.parsers.codec import Picture, Request, Task, Tell, tell_pages
from ingestion.parsers.kinds import FileKind, kind_of
from ingestion.parsers.unpack import unpack
from ingestion.records import Document
from sandbox.confinement import Layer, allow_reporting
from sandbox.records import LINE_BYTES, from_line, to_line

for encoding in charset_normalizer.constant.IANA_SUPPORTED:
    codecs.lookup(encoding)  # imports its codec: guessing an encoding would cost every child another 40 ms
REPORT_EVERY_S = 0.5  # the other side passes on one report a second

PAGE_DPI = 300  # error rate for letters of 8 points: 0.7 %; at 200 dpi 1.2 %, at 150 dpi 1.5 % (benchmarks/README.md)
LARGEST_SIDE = 4_000  # pixels
SMALL_SIDE = 1_250  # pixels: a picture this small is a screenshot or a scrap, and is enlarged
MOST_PIXELS = 250_000_000  # of a photo before it is reduced; phones reach 200 million
MOST_PAGES = 1_000  # of a TIFF
FORMATS = ("JPEG", "PNG", "GIF", "TIFF", "BMP", "WEBP", "AVIF", "HEIF")  # one of the others runs Ghostscript

Parser = Callable[[Path, str], Document]
"""Reads a file that its sender has named so. Raises SourceError, and anything on a damaged file: the caller runs it in
its own process."""

PARSERS: Mapping[FileKind, Parser] = {
    FileKind.PDF: pdf.parse,
    FileKind.DOCX: docx.parse,
    FileKind.DOC: doc.parse,
    FileKind.XLSX: xlsx.parse,
    FileKind.XLS: xlsx.parse_binary,
    FileKind.PPTX: pptx.parse,
    FileKind.ODT: odf.parse,
    FileKind.ODS: odf.parse,
    FileKind.ODP: odf.parse,
    FileKind.EPUB: books.parse_epub,
    FileKind.FB2: books.parse_fb2,
    FileKind.RTF: rtf.parse,
    FileKind.EMAIL: letters.parse,
    FileKind.OUTLOOK: letters.parse_outlook,
    FileKind.HTML: html.parse,
    FileKind.XML: xml.parse,
    FileKind.TEXT: text.parse,
}
DECLARED: Sequence[tuple[FileKind, str, Parser]] = (
    (FileKind.TEXT, ".srt .vtt text/vtt application/x-subrip", subtitles.parse),
    (FileKind.TEXT, "text/html application/xhtml+xml", html.parse),
    (FileKind.TEXT, ".csv .tsv .tab .xls text/csv text/tab-separated-values application/csv", sheets.parse_csv),
    (FileKind.TEXT, ".md .markdown .mdown .mkd text/markdown text/x-markdown", markdown.parse),
    (FileKind.HTML, ".doc .docx .rtf .odt .xls .xlsx", markup.parse),
)
"""What an extension or the sender's media type says where the content says too little (many programs name their CSV or
HTML .xls); the first one counts."""


def parse_file(path: Path, *, name: str, media_type: str | None) -> Document:
    """Raises SourceError alone: FILE_UNSUPPORTED when there is no parser, FILE_WITHOUT_TEXT when it has neither text
    nor pages without text (which may be pictures of text: `ingestion.reading.reader` decides), FILE_DAMAGED for
    whatever else its parser raises."""
    try:
        kind = kind_of(path, name=name)
        says = {PurePath(name).suffix.lower(), media_type}
        declared = (parser for own, names, parser in DECLARED if own is kind and says & set(names.split()))
        parser = html.parse_section if media_type == SITE_TYPE else next(declared, PARSERS.get(kind))
        if parser is None:
            raise SourceError(FailureCode.FILE_UNSUPPORTED, detail=f"no parser for {kind}")
        document = parser(path, name)
    except Exception as error:
        raise _refusal(error, name) from error
    if not document.blocks and not document.pages_without_text:
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=name)
    return document


def draw_page(path: Path, page: int) -> Picture:
    """Page `page` of a PDF, from 0, in grey at 300 dpi or less. Raises PdfiumError."""
    document = pdfium.PdfDocument(path)
    sheet = document[page]
    longest = max(sheet.get_size())
    scale = min(PAGE_DPI / 72, LARGEST_SIDE / longest) if longest > 0 else 1
    return _as_jpeg(sheet.render(scale=scale, grayscale=True).to_pil().convert("L"), pages=len(document))


def open_picture(path: Path, page: int, *, name: str) -> Picture:
    """Page `page` of a TIFF, from 0, or the only picture. Raises SourceError FILE_TOO_HEAVY, and anything on a damaged
    file, as parsers do."""
    with path.open("rb") as stream:
        is_heif = stream.read(12)[4:8] == b"ftyp"
    if is_heif:
        from pi_heif import register_heif_opener  # only for these files: its native libraries load slowly

        register_heif_opener()
    Image.MAX_IMAGE_PIXELS = None  # we check the size ourselves: Pillow only warns at first
    with Image.open(path, formats=FORMATS) as picture:
        pages = _count_pages(picture) if picture.format == "TIFF" else 1  # several frames else are an animation
        if pages > MOST_PAGES:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, name=name, detail=f"more than {MOST_PAGES} pages")
        picture.seek(page)
        if math.prod(picture.size) > MOST_PIXELS:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, name=name, detail=f"{picture.size} pixels")
        picture.draft("RGB", (LARGEST_SIDE, LARGEST_SIDE))  # decode a JPEG no larger than needed
        flat = _flat(ImageOps.exif_transpose(picture))
    if max(flat.size) <= SMALL_SIDE:
        flat = flat.resize((2 * flat.width, 2 * flat.height), Image.Resampling.LANCZOS)
    flat.thumbnail((LARGEST_SIDE, LARGEST_SIDE), Image.Resampling.LANCZOS)  # never larger
    return _as_jpeg(flat, pages=pages)


def _count_pages(picture: Image.Image) -> int:
    """Counts to MOST_PAGES + 1 at most: Pillow seeks page by page, comparing each with all before."""
    pages = 1
    with contextlib.suppress(EOFError):
        while pages <= MOST_PAGES:
            picture.seek(pages)
            pages += 1
    return pages


def _flat(picture: Image.Image) -> Image.Image:
    """Without transparency, palette or more than 8 bits a channel; transparent areas become white."""
    if picture.mode.startswith(("I", "F")):
        return picture.convert("F").point(lambda value: value / 256.0).convert("L")
    if picture.mode in {"1", "L"} and "transparency" not in picture.info:
        return picture.convert("L")
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    picture = picture.convert("RGBA")
    paper = Image.new("RGB", picture.size, "white")
    paper.paste(picture, mask=picture.getchannel("A"))
    return paper


def _as_jpeg(picture: Image.Image, *, pages: int) -> Picture:
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=92)
    return Picture(content=stream.getvalue(), pages=pages)


def _refusal(error: Exception, name: str) -> SourceError:
    """What to say of a file that could not be read: whatever its parser raised is its own fault."""
    match error:
        case SourceError():
            return SourceError(error.code, detail=error.detail, **{"name": name, **error.params})
        case MemoryError():
            return SourceError(FailureCode.FILE_TOO_HEAVY, name=name, detail="memory limit")
        case _:
            return SourceError(FailureCode.FILE_DAMAGED, name=name, detail=f"{type(error).__name__}: {error}"[:500])


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> None:
    """Answer requests until the other side closes the line (`sandbox.forkserver.Serve`)."""
    logging.disable(logging.CRITICAL)  # libraries log oddities, quoting the document
    while line := stream.readline(LINE_BYTES):
        request = from_line(line, Request)
        try:
            tell_pages.set(_tell(connection))
            for piece in _work(request, stream):
                connection.sendall(piece)
        except Exception as error:  # the process meets files made to break parsers: any error is the file's fault
            allow_reporting()
            refusal = _refusal(error, request.name)
            connection.sendall(to_line(codec.Failed(code=refusal.code, detail=refusal.detail)))


def _work(request: Request, stream: BufferedReader) -> Iterator[bytes]:
    path, name = Path(request.path), request.name
    match request.task:
        case Task.PARSE:
            document = parse_file(path, name=name, media_type=request.media_type)
            yield from codec.encode_document(document)
            if request.sizes:  # a book is cut under limits of its own, and some pages may still have to be read
                is_text = isinstance(document.blocks, tuple) and not document.pages_without_text
                yield from passage_lines(document.blocks if is_text else (), request.sizes)
        case Task.DRAW_PAGE:
            yield from codec.encode_picture(draw_page(path, request.page))
        case Task.OPEN_PICTURE:
            yield from codec.encode_picture(open_picture(path, request.page, name=name))
        case Task.UNPACK:
            limits = {"members": request.members, "total_bytes": request.total_bytes}
            yield to_line(unpack(path, name=name, folder=Path(request.folder), **limits))
        case Task.CUT if request.sizes:  # passages go out while blocks come in
            lines = iter(stream.readline, b"\n")
            yield from passage_lines((block for line in lines for block in codec.decode_blocks(line)), request.sizes)
        case Task.CUT:
            raise ValueError("no sizes")


def _tell(connection: socket.socket) -> Tell:
    """Reports progress on the socket at most every REPORT_EVERY_S."""
    reported_at = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at >= REPORT_EVERY_S:
            reported_at = time.monotonic()
            connection.sendall(to_line(codec.PagesRead(done=done, total=total)))

    return tell
