"""Files that were made to break readers: each ends as a document or with a reason, and the next one is read.

In: `../shared/data/malicious` where it is, and bombs, cuts and flipped bits made here. Out: assertions about outcomes,
times, memory and the worker's processes. No text of these files is ever printed.
"""

import gzip
import io
import os
import random
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.reading.reader import FileReader
from ingestion.records import FetchedFile
from tests.integration.ingestion.hostile_packages import ENTITY_BOMB
from tests.integration.ingestion.hostile_reading import fetched, read, written
from tests.unit.ingestion.parsers.files import p, write_docx, write_pdf
from tests.unit.ingestion.parsers.packages import (
    SHEET,
    letter,
    shape,
    sheet_rows,
    write_archive,
    write_epub,
    write_fb2,
    write_odf,
    write_pptx,
    write_xlsx,
)

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "malicious"
MALICIOUS = sorted(path for path in DATA.rglob("*") if path.is_file())
SEED = 20261121
CUTS = 5
MEGABYTE = 1024 * 1024

TEXT = "Арендатор вносит плату не позднее пятого числа. "


async def _outcome(reader: FileReader, file: FetchedFile) -> str:
    """`read`, or the reason."""
    return (await read(reader, file)).outcome


@pytest.mark.skipif(not MALICIOUS, reason="../shared/data/malicious is not on this machine")
@pytest.mark.parametrize("source", MALICIOUS, ids=lambda path: path.name)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_malicious_file_ends_and_the_next_is_read(reader: FileReader, source: Path, tmp_path: Path) -> None:
    await _outcome(reader, fetched(Path(shutil.copy(source, tmp_path))))
    assert await _outcome(reader, written(tmp_path / "good.txt", TEXT.encode())) == "read"
    assert set(os.listdir(tmp_path)) == {source.name, "good.txt"}


def _zip_bomb(path: Path) -> None:
    write_archive(path, {"zeros.txt": bytes(200 * MEGABYTE)})


def _zip_that_lies(path: Path) -> None:
    """Its directory states a kilobyte for what inflates to a hundred megabytes."""
    write_archive(path, {"small.txt": bytes(100 * MEGABYTE)})
    data = bytearray(path.read_bytes())
    size = (100 * MEGABYTE).to_bytes(4, "little")
    path.write_bytes(data.replace(size, (1024).to_bytes(4, "little")))


def _zip_of_zips(path: Path) -> None:
    inner = b"the innermost text"
    for _ in range(12):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.zip", inner)
            archive.writestr("b.zip", inner)
        inner = stream.getvalue()
    path.write_bytes(inner)


def _gzip_bomb(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=9) as packed:
        for _ in range(300):
            packed.write(bytes(MEGABYTE))


def _tar_of_links(path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo("../../etc/link" + kind.decode())
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)


ENTITIES = f'<?xml version="1.0"?>{ENTITY_BOMB}'


def _entities_in_xml(path: Path) -> None:
    path.write_text(f"{ENTITIES}<x>&e9;</x>")


def _entities_in_attributes(path: Path) -> None:
    path.write_text(f'{ENTITIES}<x y="&e9;">z</x>')


def _entities_in_fb2(path: Path) -> None:
    path.write_text(f"{ENTITIES}<FictionBook><body><section><p>&e9;</p></section></body></FictionBook>")


def _entities_in_sheet(path: Path) -> None:
    write_xlsx(path, {"A": sheet_rows(["x", "y"])})
    strings = f'{ENTITIES}<sst xmlns="{SHEET}"><si><t>&e9;</t></si></sst>'
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    write_archive(path, members | {"xl/sharedStrings.xml": strings.encode()})


def _huge_part_in_slides(path: Path) -> None:
    write_pptx(path, [shape("x" * 80 * MEGABYTE)])


def _far_cell(path: Path) -> None:
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    write_xlsx(path, {"A": f"<sheetData>{cells}</sheetData>"})


def _repeated_cells(path: Path) -> None:
    cell = '<table:table-cell table:number-columns-repeated="999999999"><text:p>x</text:p></table:table-cell>'
    row = f'<table:table-row table:number-rows-repeated="999999999">{cell}</table:table-row>'
    write_odf(path, "spreadsheet", f'<table:table table:name="A">{row * 50}</table:table>')


def _deep_elements(path: Path) -> None:
    path.write_text("<?xml version='1.0'?>" + "<a>" * 200_000 + "x" + "</a>" * 200_000)


def _deep_sections(path: Path) -> None:
    write_fb2(path, "<section>" * 100_000 + "<p>x</p>" + "</section>" * 100_000)


def _deep_page(path: Path) -> None:
    path.write_text("<html><body>" + "<div><ul><li>" * 50_000 + "x")


def _deep_groups(path: Path) -> None:
    path.write_text(r"{\rtf1" + "{" * 500_000 + "x" + "}" * 500_000 + "}")


def _deep_letter(path: Path) -> None:
    lines = ["From: a@b", "To: c@d", "Subject: x", "MIME-Version: 1.0"]
    for level in range(2_000):
        lines += [f'Content-Type: multipart/mixed; boundary="{level}"', "", f"--{level}"]
    path.write_text("\n".join([*lines, "Content-Type: text/plain", "", "x"]))


def _letter_of_many_parts(path: Path) -> None:
    head = 'From: a@b\nTo: c@d\nSubject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n'
    path.write_text(head + "--b\nContent-Disposition: attachment; filename=x.txt\n\nx\n" * 5_000 + "--b--\n")


def _letter_with_endless_header(path: Path) -> None:
    path.write_text("From: " + "(" * 100_000 + "\nTo: " + "a@b, " * 50_000 + "\nSubject: x\nDate: x\n\nx")


def _unclosed_quote(path: Path) -> None:
    path.write_text('a;b;c\n1;"' + "x;y\n" * 2_000_000)


def _one_line(path: Path) -> None:
    path.write_text("слово" * 3_000_000)


BOMBS: dict[str, Callable[[Path], None]] = {
    "bomb.zip": _zip_bomb,
    "lies.zip": _zip_that_lies,
    "nested.zip": _zip_of_zips,
    "bomb.gz": _gzip_bomb,
    "links.tar.gz": _tar_of_links,
    "entities.xml": _entities_in_xml,
    "attributes.xml": _entities_in_attributes,
    "entities.fb2": _entities_in_fb2,
    "entities.xlsx": _entities_in_sheet,
    "huge.pptx": _huge_part_in_slides,
    "far.xlsx": _far_cell,
    "repeated.ods": _repeated_cells,
    "deep.xml": _deep_elements,
    "deep.fb2": _deep_sections,
    "deep.html": _deep_page,
    "deep.doc": _deep_page,
    "deep.rtf": _deep_groups,
    "deep.eml": _deep_letter,
    "parts.eml": _letter_of_many_parts,
    "header.eml": _letter_with_endless_header,
    "quote.csv": _unclosed_quote,
    "line.txt": _one_line,
}
UNREADABLE = frozenset({"bomb.zip", "lies.zip", "nested.zip", "bomb.gz", "links.tar.gz", "huge.pptx"})
"""Those of which nothing may be read; the others may end in either way."""


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_bomb_goes_off_in_its_own_process(reader: FileReader, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    BOMBS[name](path)
    outcome = await _outcome(reader, fetched(path))
    assert outcome != "read" or name not in UNREADABLE
    assert os.listdir(tmp_path) == [name]


def _letter(path: Path) -> None:
    message = letter(TEXT * 20, html=f"<p>{TEXT}</p>")
    message.add_attachment(TEXT.encode() * 50, maintype="text", subtype="plain", filename="приложение.txt")
    path.write_bytes(message.as_bytes())


def _rtf(path: Path) -> None:
    words = "".join(f"\\'{byte:02x}" for byte in TEXT.encode("cp1251"))
    path.write_text(rf"{{\rtf1\ansi\ansicpg1251{{\fonttbl{{\f0 Arial;}}}}{(words + chr(92) + 'par ') * 30}}}")


MAKERS: dict[str, Callable[[Path], object]] = {
    "a.docx": lambda path: write_docx(path, p(TEXT) * 50),
    "a.xlsx": lambda path: write_xlsx(path, {"Лист": sheet_rows(*[(TEXT, number) for number in range(100)])}),
    "a.pptx": lambda path: write_pptx(path, [shape(TEXT, TEXT)] * 10),
    "a.odt": lambda path: write_odf(path, "text", f"<text:p>{TEXT}</text:p>" * 50),
    "a.epub": lambda path: write_epub(
        path, {f"{n}.xhtml": f"<html><body><p>{TEXT}</p></body></html>" for n in range(5)}
    ),
    "a.fb2": lambda path: write_fb2(path, f"<section><p>{TEXT}</p></section>" * 50),
    "a.rtf": _rtf,
    "a.eml": _letter,
    "a.zip": lambda path: write_archive(path, {"а.txt": TEXT * 50, "б.csv": "a;b\n1;2\n" * 50}),
    "a.pdf": lambda path: write_pdf(path, [["a line of text"] * 20] * 3),
    "a.html": lambda path: path.write_text(f"<html><body><p>{TEXT * 20}</p></body></html>"),
    "a.csv": lambda path: path.write_text("Товар;Цена\n" + "Стол;100\n" * 100),
}


def _made(folder: Path, name: str) -> bytes:
    path = folder / name
    MAKERS[name](path)
    return path.read_bytes()


def _flip_bits(data: bytes, chance: random.Random) -> bytes:
    broken = bytearray(data)
    for _ in range(1 + len(data) // 200):
        broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
    return bytes(broken)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_file_that_was_cut_off_ends(reader: FileReader, name: str, tmp_path: Path) -> None:
    data = _made(tmp_path, name)
    chance = random.Random(f"{SEED}{name}")
    for cut in (chance.randrange(1, len(data)) for _ in range(CUTS)):
        await _outcome(reader, written(tmp_path / name, data[:cut]))
    assert await _outcome(reader, written(tmp_path / name, data)) == "read"


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_file_with_flipped_bits_ends(reader: FileReader, name: str, tmp_path: Path) -> None:
    data = _made(tmp_path, name)
    chance = random.Random(f"{SEED}{name}")
    for _ in range(CUTS):
        await _outcome(reader, written(tmp_path / name, _flip_bits(data, chance)))
    assert await _outcome(reader, written(tmp_path / name, data)) == "read"
