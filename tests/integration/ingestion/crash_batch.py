"""What people send while the storm of `test_crash_storm` blows: sources of every kind, each with its own words.

In: a folder, a number, and the loopback web that serves the pages. Out: `Source` records. The pages of a round are a
plain one, one behind a redirect, and one that `change_pages` changes; its zip holds three documents; its `Договор.txt`
takes the place of the last round's.
"""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from domain.documents import SourceType
from ingestion.records import Source
from tests.servers.web import Reply, WebServer
from tests.unit.ingestion.parsers.files import p, write_docx, write_pdf
from tests.unit.ingestion.parsers.packages import sheet_rows, write_archive, write_epub, write_xlsx

SCANS = Path(__file__).parent / "scans"
SAME_NAME = "Договор.txt"  # in all rounds at the same place, which is a path's name
CHANGING = "/changing-"
KNOWN = f"{CHANGING}known"
ZIPPED = 3  # documents in each archive
TEXT = "Арендатор вносит плату не позднее пятого числа каждого месяца. "
LONG_PARAGRAPHS = 700  # several batches of passages


def page_of(word: str) -> bytes:
    """A page that says `word` in each of its paragraphs."""
    paragraphs = "".join(f"<p>{word}. Пункт {number}: {TEXT * 3}</p>" for number in range(30))
    return f"<html><head><title>{word}</title></head><body><article>{paragraphs}</article></body></html>".encode()


def write_round(folder: Path, number: int) -> list[Path]:
    """Files of every kind, all different from those of other rounds; the last one is damaged."""
    words = f"Договор {number}. {TEXT}"
    same_name = write_same_name(folder, number + 1)
    folder = folder / str(number)
    folder.mkdir()
    page, damaged = folder / f"{number}.html", folder / f"{number}-bad.pdf"
    page.write_text(f"<html><body><article><p>{words * 30}</p></article></body></html>")
    damaged.write_bytes(b"%PDF-1.7\n" + bytes([number % 256]) * 500)
    book, sheet = folder / f"{number}.epub", folder / f"{number}.xlsx"
    write_epub(book, {"1.xhtml": f"<html><body><p>{words * 40}</p></body></html>"})
    write_xlsx(sheet, {"A": sheet_rows(*[(words, row) for row in range(60)])})
    letter = write_docx(folder / f"{number}.docx", p(words) * 80)
    pages = write_pdf(folder / f"{number}.pdf", [[f"Contract {number}: the rent is paid on the fifth."] * 30] * 8)
    texts = [same_name, _long_text(folder, number), _archive(folder, number)]
    return [*texts, page, book, sheet, letter, pages, _scan(folder, number), _recording(folder, number), damaged]


def serve_round(web: WebServer, number: int) -> Sequence[str]:
    """The addresses of its pages."""
    web.replies[f"/page-{number}"] = Reply(body=page_of(f"Страница{number}"))
    web.replies[f"/target-{number}"] = Reply(body=page_of(f"Цель{number}"))
    web.replies[f"/moved-{number}"] = Reply(status=302, headers=(("Location", f"/target-{number}"),))
    web.replies[f"{CHANGING}{number}"] = Reply(body=page_of("Издание0"))
    return [web.url(f"/{kind}-{number}") for kind in ("changing", "page", "moved")]


def serve_known(web: WebServer) -> Sequence[str]:
    """The address of a page that is there before the storm, and changes."""
    web.replies[KNOWN] = Reply(body=page_of("Издание0"))
    return [web.url(KNOWN)]


def change_pages(web: WebServer, edition: int) -> None:
    """What changes says something else from now on."""
    for path in [path for path in web.replies if path.startswith(CHANGING)]:
        web.replies[path] = Reply(body=page_of(f"Издание{edition}"))


def as_sources(files: Sequence[Path], addresses: Sequence[str]) -> tuple[Source, ...]:
    """Addresses first."""
    links = [Source(type=SourceType.LINK, identifier=address) for address in addresses]
    return (*links, *(Source(type=SourceType.PATH, identifier=str(file)) for file in files))


def _long_text(folder: Path, number: int) -> Path:
    path = folder / f"{number}.txt"
    path.write_text("\n\n".join(f"Пункт {number}-{row}. {TEXT * 4}" for row in range(LONG_PARAGRAPHS)))
    return path


def write_same_name(folder: Path, number: int) -> Path:
    """The file that each round replaces."""
    written = folder / "written"
    written.write_text("\n\n".join(f"Издание{number}. Пункт {row}: {TEXT * 3}" for row in range(40)))
    return written.rename(folder / SAME_NAME)  # at once: no worker reads half of each


def _archive(folder: Path, number: int) -> Path:
    lines = [f"Часть {number}, строка {row}. {TEXT}" for row in range(3 * 40)]
    html = "".join(f"<p>{line}</p>" for line in lines[40:80])
    members = {
        "a.txt": "\n\n".join(lines[:40]),
        "b.html": f"<html><body><article>{html}</article></body></html>",
        "c/d.md": "\n\n".join(lines[80:]),
    }
    return write_archive(folder / f"{number}.zip", members)


def _scan(folder: Path, number: int) -> Path:
    """A piece of a scanned contract, of another width in each round."""
    path = folder / f"{number}.png"
    with Image.open(SCANS / "lease.png") as lease:
        lease.crop((0, 0, lease.width - number, lease.height // 3)).save(path)
    return path


def _recording(folder: Path, number: int) -> Path:
    path = folder / f"{number}.ogg"
    path.write_bytes(b"OggS" + bytes([0, number % 256]) * 500)
    return path
