"""Makes pictures for the recogniser from pages of PDFs and from photos.

In: a path and a page. Out: a JPEG, upright, of at most 4,000 pixels a side. It decodes untrusted pictures, so only the
limited process of `registry` may call it.
"""

import contextlib
import io
import math
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image, ImageOps

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import Picture

PAGE_DPI = 300  # error rate for letters of 8 points: 0.7 %; at 200 dpi 1.2 %, at 150 dpi 1.5 % (benchmarks/README.md)
LARGEST_SIDE = 4_000  # pixels
SMALL_SIDE = 1_250  # pixels: a picture this small is a screenshot or a scrap, and is enlarged
MOST_PIXELS = 250_000_000  # of a photo before it is reduced; phones reach 200 million
MOST_PAGES = 1_000  # of a TIFF
FORMATS = ("JPEG", "PNG", "GIF", "TIFF", "BMP", "WEBP", "AVIF", "HEIF")  # one of the others runs Ghostscript


def draw_page(path: Path, page: int) -> Picture:
    """Page `page` of a PDF, from 0, in grey at 300 dpi or less. Raises PdfiumError."""
    document = pdfium.PdfDocument(path)
    sheet = document[page]
    longest = max(sheet.get_size())
    scale = min(PAGE_DPI / 72, LARGEST_SIDE / longest) if longest > 0 else 1
    return Picture(
        content=_to_jpeg(sheet.render(scale=scale, grayscale=True).to_pil().convert("L")), pages=len(document)
    )


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
    return Picture(content=_to_jpeg(flat), pages=pages)


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


def _to_jpeg(picture: Image.Image) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=92)
    return stream.getvalue()
