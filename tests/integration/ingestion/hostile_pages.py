"""PDFs and pictures that were made to break readers; made when a test needs them, and kept nowhere.

In: the path to write. Out: a small file that asks for millions of pages, gigabytes of pixels or endless recursion.
"""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

MEGABYTE = 1024 * 1024
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"

Maker = Callable[[Path], object]


def write_objects(path: Path, *objects: bytes) -> None:
    """A PDF of these objects, from number 1; the first is its catalog."""
    file, places = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, start=1):
        places.append(len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(objects) + 1, len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
    file += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, start)
    path.write_bytes(file)


def stream(content: bytes, entries: bytes = b"", *, squeezed: int = 0) -> bytes:
    """A stream object; `squeezed` so many times."""
    for _ in range(squeezed):
        content = zlib.compress(content, 9)
    filters = b"/Filter [%b]" % (b"/FlateDecode " * squeezed) if squeezed else b""
    return b"<< /Length %d %b %b >>\nstream\n%b\nendstream" % (len(content), filters, entries, content)


CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
WORDS = stream(b"BT /F1 12 Tf 50 700 Td (The rent is paid.) Tj ET")


def _page(more: bytes = b"/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>") -> bytes:
    return b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] %b >>" % more


def _one_page(path: Path, contents: bytes, *more: bytes, resources: bytes = b"") -> None:
    page = _page(b"/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> %b >>" % resources)
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    write_objects(path, CATALOG, pages, page, contents, FONT, *more)


def _pages_that_are_not_there(path: Path) -> None:
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>"
    write_objects(path, CATALOG, pages, _page(), WORDS, FONT)


def _one_page_a_million_times(path: Path) -> None:
    pages = b"<< /Type /Pages /Kids [%b] /Count 1000000 >>" % (b"3 0 R " * 1_000_000)
    write_objects(path, CATALOG, pages, _page(), WORDS, FONT)


def _tree_in_itself(path: Path) -> None:
    pages = b"<< /Type /Pages /Parent 2 0 R /Kids [3 0 R 2 0 R 2 0 R] /Count 100 >>"
    write_objects(path, CATALOG, pages, _page(), WORDS, FONT)


def _deep_tree(path: Path) -> None:
    nodes = [b"<< /Type /Pages /Parent %d 0 R /Kids [%d 0 R] /Count 1 >>" % (n - 1, n + 1) for n in range(2, 50_002)]
    write_objects(path, CATALOG, *nodes, _page(b""))


def _doubling_tree(path: Path) -> None:
    """Each node names the next one twice: a thousand million pages of forty objects."""
    nodes = [b"<< /Type /Pages /Kids [%d 0 R %d 0 R] /Count 1073741824 >>" % (n + 1, n + 1) for n in range(2, 32)]
    write_objects(path, CATALOG, *nodes, _page(b""))


def _deep_arrays(path: Path) -> None:
    _one_page(path, WORDS, b"[" * 1_000_000 + b"]" * 1_000_000, resources=b"/XObject 6 0 R")


def _forms_of_forms(path: Path) -> None:
    """Each form draws the next ten times."""
    forms = [
        stream(
            b"/X Do " * 10,
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >>" % n,
        )
        for n in range(7, 19)
    ]
    last = stream(b"BT /F1 12 Tf (x) Tj ET", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]")
    _one_page(path, stream(b"/X Do"), *forms, last, resources=b"/XObject << /X 6 0 R >>")


def _form_in_itself(path: Path) -> None:
    entries = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>"
    _one_page(path, stream(b"/X Do"), stream(b"/X Do /X Do", entries), resources=b"/XObject << /X 6 0 R >>")


def _squeezed_contents(path: Path) -> None:
    _one_page(path, stream(b" " * (600 * MEGABYTE), squeezed=2))


def _crowded_page(path: Path) -> None:
    """Fifty thousand words, each in its own place."""
    words = b"".join(b"1 0 0 1 %d %d Tm (w%d) Tj " % (n * 7 % 600, n * 11 % 780, n) for n in range(50_000))
    _one_page(path, stream(b"BT /F1 2 Tf " + words + b" ET", squeezed=1))


def _stacked_words(path: Path) -> None:
    _one_page(path, stream(b"BT /F1 12 Tf 1 0 0 1 50 700 Tm " + b"(word) Tj 0 0 Td " * 200_000 + b" ET", squeezed=1))


def _endless_map(path: Path) -> None:
    ranges = b"100 beginbfrange\n" + b"<00000000> <FFFFFFFF> <0041>\n" * 100 + b"endbfrange\n"
    font = b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 6 0 R"
    font += b" /DescendantFonts [5 0 R] >>"
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    write_objects(path, CATALOG, pages, _page(), WORDS, font, stream(ranges))


def _image(width: int, height: int, content: bytes) -> bytes:
    entries = b"/Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 1 /ColorSpace /DeviceGray"
    return stream(content, entries % (width, height), squeezed=1)


def _scan_of_gigapixels(path: Path) -> None:
    image = _image(60_000, 60_000, bytes(60_000 * 60_000 // 8))
    _one_page(path, stream(b"600 0 0 780 0 0 cm /X Do"), image, resources=b"/XObject << /X 6 0 R >>")


def _scan_that_lies(path: Path) -> None:
    image = _image(2_000_000_000, 2_000_000_000, b"x")
    _one_page(path, stream(b"600 0 0 780 0 0 cm /X Do"), image, resources=b"/XObject << /X 6 0 R >>")


def _endless_page(path: Path) -> None:
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 1000000000 1000000000] /UserUnit 75000 >>"
    write_objects(path, CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">L", len(content)) + kind + content + struct.pack(">L", zlib.crc32(kind + content))


def _png(path: Path, width: int, height: int, *more: bytes) -> None:
    squeeze = zlib.compressobj(1)
    row = bytes(width // 8 + 1)
    pixels = b"".join(squeeze.compress(row * 100) for _ in range(height // 100)) + squeeze.flush()
    head = _chunk(b"IHDR", struct.pack(">2L5B", width, height, 1, 0, 0, 0, 0))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b""))


def _png_of_gigapixels(path: Path) -> None:
    _png(path, 50_000, 50_000)


def _png_with_long_words(path: Path) -> None:
    words = zlib.compress(bytes(500 * MEGABYTE), 9)
    _png(path, 800, 800, *[_chunk(b"zTXt", b"Comment\0\0" + words)] * 3)


def _tiff(path: Path, width: int, height: int, *, frames: int) -> None:
    """One bit a pixel; the last frame leads to the first."""
    tags = ((256, 4, width), (257, 4, height), (258, 3, 1), (259, 3, 1), (262, 3, 1), (273, 4, 8), (279, 4, 1))
    size = 2 + 12 * len(tags) + 4
    entries = b"".join(struct.pack("<2H2L", tag, kind, 1, value) for tag, kind, value in tags)
    file = b"II*\0" + struct.pack("<L", 16) + bytes(8)
    for number in range(frames):
        after = 16 + size * (number + 1) if number < frames - 1 else 16
        file += struct.pack("<H", len(tags)) + entries + struct.pack("<L", after)
    path.write_bytes(file)


def _tiff_of_many_frames(path: Path) -> None:
    _tiff(path, 8, 8, frames=20_000)


def _tiff_of_gigapixels(path: Path) -> None:
    _tiff(path, 2**31 - 1, 2**31 - 1, frames=1)


def _gif_of_many_frames(path: Path) -> None:
    frame = b"," + struct.pack("<4HB", 0, 0, 65535, 65535, 0) + b"\x02\x02\x4c\x01\x00"
    path.write_bytes(b"GIF89a" + struct.pack("<2H3B", 65535, 65535, 0x80, 0, 0) + bytes(6) + frame * 10_000 + b";")


def _bmp_of_gigapixels(path: Path) -> None:
    head = struct.pack("<L2l2H6L", 40, 2**30, 2**30, 1, 1, 0, 0, 0, 0, 0, 0)
    path.write_bytes(b"BM" + struct.pack("<3L", 62, 0, 62) + head + bytes(8))


FILES: dict[str, Maker] = {
    "missing.pdf": _pages_that_are_not_there,
    "million.pdf": _one_page_a_million_times,
    "itself.pdf": _tree_in_itself,
    "deep.pdf": _deep_tree,
    "doubling.pdf": _doubling_tree,
    "arrays.pdf": _deep_arrays,
    "forms.pdf": _forms_of_forms,
    "form.pdf": _form_in_itself,
    "squeezed.pdf": _squeezed_contents,
    "crowded.pdf": _crowded_page,
    "stacked.pdf": _stacked_words,
    "map.pdf": _endless_map,
    "scan.pdf": _scan_of_gigapixels,
    "lies.pdf": _scan_that_lies,
    "endless.pdf": _endless_page,
    "bomb.png": _png_of_gigapixels,
    "words.png": _png_with_long_words,
    "frames.tiff": _tiff_of_many_frames,
    "bomb.tiff": _tiff_of_gigapixels,
    "frames.gif": _gif_of_many_frames,
    "bomb.bmp": _bmp_of_gigapixels,
}
