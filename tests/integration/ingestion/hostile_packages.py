"""Archives, office files and texts that were made to break readers; made when a test needs them, and kept nowhere.

In: the path to write. Out: a file that unpacks, nests, repeats or grows without end. None of them is a real virus, and
none is larger on disk than a person could send, save for one text.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from tests.integration.ingestion.quine import write_zip_quine
from tests.unit.ingestion.parsers.files import p, write_docx
from tests.unit.ingestion.parsers.packages import (
    SHEET,
    shape,
    sheet_rows,
    write_archive,
    write_epub,
    write_odf,
    write_pptx,
    write_xlsx,
)

MEGABYTE = 1024 * 1024
MARK = "Арендатор вносит плату."
ENTITY_BOMB = (
    "<!DOCTYPE x ["
    + "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10 if level else "x" * 1000}">' for level in range(10))
    + "]>"
)
QUADRATIC_BOMB = f'<!DOCTYPE x [<!ENTITY e9 "{"x" * 50_000}">]>'
CENTRAL, LOCAL, END = b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"

Maker = Callable[[Path], object]


def poison(path: Path, prolog: str, reference: str, *, everywhere: bool = False) -> None:
    """Put `prolog` before the XML that holds MARK, or before all XML, and `reference` behind MARK."""
    if not zipfile.is_zipfile(path):
        path.write_bytes(_poisoned(path.read_bytes(), prolog, reference))
        return
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, content in members.items():
        if MARK.encode() in content or (everywhere and content.startswith(b"<")):
            members[name] = _poisoned(content, prolog, reference)
    write_archive(path, members)


def _poisoned(content: bytes, prolog: str, reference: str) -> bytes:
    head, separator, rest = content.partition(b"?>") if content.startswith(b"<?xml") else (b"", b"", content)
    marked = rest.replace(MARK.encode(), f"{MARK}{reference}".encode())
    return head + separator + prolog.encode() + marked


def _packed(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def zip_of_many_bombs(path: Path) -> None:
    """Sixteen archives of sixteen files of 30 MB each, as «42.zip» has them: 7.5 GB."""
    zeros = bytes(30 * MEGABYTE)
    inner = _packed({f"{number}.txt": zeros for number in range(16)})
    write_archive(path, {f"{number}.zip": inner + bytes([number]) for number in range(16)})


def zip_in_itself(path: Path) -> None:
    """A hundred archives, each inside the next, as what reproduces itself looks to a reader."""
    inner = MARK.encode()
    for _ in range(100):
        inner = _packed({"again.zip": inner})
    path.write_bytes(inner)


def _local(name: bytes, crc: int, packed: int, size: int) -> bytes:
    return LOCAL + struct.pack("<5H3L2H", 20, 0, 8, 0, 0, crc, packed, size, len(name), 0) + name


def _directory(name: bytes, crc: int, packed: int, size: int, at: int) -> bytes:
    head = struct.pack("<6H3L5H2L", 20, 20, 0, 8, 0, 0, crc, packed, size, len(name), 0, 0, 0, 0, 0, at)
    return CENTRAL + head + name


def _zip_end(entries: int, size: int, at: int, *, disks: bytes = bytes(4)) -> bytes:
    return END + disks + struct.pack("<2H2LH", entries & 0xFFFF, entries & 0xFFFF, size, at, 0)


def zip_of_one_member_named_often(path: Path) -> None:
    """Five thousand entries of the directory lead to the same 20 MB."""
    content = bytes(20 * MEGABYTE)
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = squeeze.compress(content) + squeeze.flush()
    fields = (b"a.txt", zlib.crc32(content), len(packed), len(content))
    local = _local(*fields) + packed
    directory = _directory(*fields, 0) * 5000
    path.write_bytes(local + directory + _zip_end(5000, len(directory), len(local)))


def zip_of_overlapping_members(path: Path) -> None:
    """Each member quotes the header of the next in a stored block and goes on inside it (Fifield, 2019): 100 files of
    10 MB from one."""
    content, names = bytes(10 * MEGABYTE), [f"{number:03}.txt".encode() for number in range(100)]
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = squeeze.compress(content) + squeeze.flush()
    crc, size, data, places = zlib.crc32(content), len(content), packed, [(0, 0, 0)] * 100
    for number in range(99, -1, -1):
        local = _local(names[number], crc, len(data), size)
        places[number] = (crc, len(data), size)
        quoted = struct.pack("<BHH", 0, len(local), 0xFFFF - len(local)) + local
        file = local + data
        if number:
            crc, size, data = zlib.crc32(bytes(size), zlib.crc32(local)), size + len(local), quoted + data
    starts = [len(file) - len(_local(names[n], 0, 0, 0)) - places[n][1] for n in range(100)]
    directory = b"".join(_directory(names[n], *places[n], starts[n]) for n in range(100))
    path.write_bytes(file + directory + _zip_end(100, len(directory), len(file)))


def _huge_directory() -> tuple[bytes, bytes]:
    local = _local(b"a", 0, 0, 0)
    return local, _directory(b"a", 0, 0, 0, 0) * 400_000


def zip_with_a_hidden_directory(path: Path) -> None:
    """19 MB of directory, and an end record whose disk numbers look like another end record."""
    local, directory = _huge_directory()
    path.write_bytes(local + directory + _zip_end(400_000, len(directory), len(local), disks=END))


def zip_with_a_second_directory(path: Path) -> None:
    """The end record tells of nothing, the one of ZIP64 before it of 19 MB."""
    local, directory = _huge_directory()
    large = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 400_000, 400_000, len(directory), len(local))
    where = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(local) + len(directory), 1)
    path.write_bytes(local + directory + large + where + _zip_end(0, 0, 0))


OUTWARD_NAMES = (
    "../../outside.txt",
    "..\\..\\outside.txt",
    "/tmp/outside.txt",
    "C:\\Windows\\outside.txt",
    "\\\\server\\share\\outside.txt",
    "a/../../../../outside.txt",
    "outside.txt\0.png",
    "outside.txt/",
    "~/outside.txt",
    "con.txt",
    "a" * 5000,
    "\u202etxt.exe",
    "-rf",
    "",
)


def zip_of_outward_names(path: Path) -> None:
    """Members whose names lead upwards, elsewhere or nowhere, and a link to a file of the system."""
    with zipfile.ZipFile(path, "w") as archive:
        for number, name in enumerate(OUTWARD_NAMES):
            member = zipfile.ZipInfo("x")
            member.filename = name
            archive.writestr(member, f"{MARK} {number}")
        link = zipfile.ZipInfo("link.txt")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "/etc/passwd")


def sheet_that_inflates(path: Path) -> None:
    """300 MB of rows without cells."""
    rows = b"<row/>" * (MEGABYTE // 6)
    book = path.with_suffix(".whole")
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("xl/workbook.xml", f'<workbook xmlns="{SHEET}"><sheets/></workbook>')
        with archive.open("xl/worksheets/sheet1.xml", "w") as part:
            part.write(f'<worksheet xmlns="{SHEET}"><sheetData>'.encode())
            for _ in range(300):
                part.write(rows)
    book.rename(path)


def _book(path: Path) -> None:
    chapter = f"<html><body><p>{MARK * 2000}</p></body></html>"
    write_epub(path, {"1.xhtml": chapter})
    poison_member(path, "OPS/book.opf", '<itemref idref="1.xhtml"/>', 20_000)


def poison_member(path: Path, part: str, piece: str, times: int) -> None:
    """Repeat a piece of one part."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[part] = members[part].replace(piece.encode(), piece.encode() * times)
    write_archive(path, members)


def _slides(path: Path) -> None:
    write_pptx(path, [shape(MARK * 2000)])
    poison_member(path, "ppt/presentation.xml", '<p:sldId id="256" r:id="r1"/>', 50_000)


def _wide_cells(path: Path) -> None:
    span = '<w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr>'
    write_docx(path, f"<w:tbl><w:tr><w:tc>{span}{p(MARK)}</w:tc></w:tr></w:tbl>" * 50)


def _deep_tables(path: Path) -> None:
    write_docx(path, "<w:tbl><w:tr><w:tc>" * 50_000 + p(MARK) + "</w:tc></w:tr></w:tbl>" * 50_000)


def _far_merges(path: Path) -> None:
    merges = "".join(f'<mergeCell ref="A{n}:XFD1048576"/>' for n in range(1, 2000))
    write_xlsx(path, {"A": sheet_rows((MARK, 1)) + f"<mergeCells>{merges}</mergeCells>"})


def _spaces(path: Path) -> None:
    write_odf(path, "text", f'<text:p>{MARK}<text:s text:c="999999999"/></text:p>' * 50)


def _wide_table(path: Path) -> None:
    cell = '<table:table-cell table:number-columns-spanned="999999999"><text:p>x</text:p></table:table-cell>'
    write_odf(path, "text", f"<table:table>{f'<table:table-row>{cell}</table:table-row>' * 50}</table:table>")


def _deep_page(path: Path) -> None:
    path.write_text("<html><body>" + "<div>" * 1_000_000 + MARK)


def _unclosed_marks(path: Path) -> None:
    path.write_text("<html><body><p>" + "<b><i>x" * 300_000)


def _spanning_cells(path: Path) -> None:
    cell = '<td colspan="999999999" rowspan="999999999">x</td>'
    path.write_text(f"<html><body><table>{f'<tr>{cell * 20}</tr>' * 30}</table><p>{MARK * 50}</p></body></html>")


def _long_line_of_cells(path: Path) -> None:
    with path.open("w") as file:
        for _ in range(100):
            file.write("слово,1234," * (MEGABYTE // 17))


def _wide_rows(path: Path) -> None:
    path.write_text(",".join(f"h{n}" for n in range(20_000)) + "\n" + (("x," * 19_999 + "x\n") * 200))


def _deep_groups(path: Path) -> None:
    path.write_text(r"{\rtf1" + r"{\b " * 1_000_000 + "x" + "}" * 1_000_000 + "}")


def _endless_binary(path: Path) -> None:
    path.write_text(r"{\rtf1 " + r"\bin99999999999999999999 x\u999999999999 y" * 100_000 + "}")


def _marks_of_markdown(path: Path) -> None:
    path.write_text(
        "# x\n\n" + "> " * 50_000 + "x\n\n" + "[" * 100_000 + "\n\n" + "*a **b " * 100_000 + "\n" + "`" * 99_999
    )


def _lists_of_markdown(path: Path) -> None:
    path.write_text("# x\n\n" + "".join(" " * (2 * level) + "- x\n" for level in range(3_000)))


def _letters_in_letters(path: Path) -> None:
    heads = "From: a@b\nTo: c@d\nSubject: x\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n" * 5_000
    path.write_text(heads + "From: a@b\nTo: c@d\nSubject: x\n\nx")


FILES: dict[str, Maker] = {
    "many.zip": zip_of_many_bombs,
    "itself.zip": zip_in_itself,
    "quine.zip": write_zip_quine,
    "often.zip": zip_of_one_member_named_often,
    "overlap.zip": zip_of_overlapping_members,
    "hidden.zip": zip_with_a_hidden_directory,
    "second.zip": zip_with_a_second_directory,
    "names.zip": zip_of_outward_names,
    "inflates.xlsx": sheet_that_inflates,
    "repeated.epub": _book,
    "repeated.pptx": _slides,
    "wide.docx": _wide_cells,
    "deep.docx": _deep_tables,
    "merges.xlsx": _far_merges,
    "spaces.odt": _spaces,
    "wide.odt": _wide_table,
    "million.html": _deep_page,
    "unclosed.html": _unclosed_marks,
    "spans.html": _spanning_cells,
    "line.csv": _long_line_of_cells,
    "wide.csv": _wide_rows,
    "million.rtf": _deep_groups,
    "binary.rtf": _endless_binary,
    "marks.md": _marks_of_markdown,
    "lists.md": _lists_of_markdown,
    "letters.eml": _letters_in_letters,
}
