"""Files of an archive become one document, and nothing of it is lost unsaid."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from domain.documents import DocumentStatus, Medium
from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import Listing, Member
from ingestion.parsers.process import ParseProcess
from ingestion.progress import Progress
from ingestion.reading.reader import MOST_UNREAD_INSIDE, Allowance, add_attachments, read_archive
from ingestion.records import Block, BlockKind, Document, FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of


@dataclass
class FakeUnpacker(ParseProcess):
    """By the file's name, what is in it."""

    listings: Mapping[str, Listing]
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def unpack(self, file: FetchedFile, folder: Path, *, members: int, total_bytes: int) -> Listing:
        self.asked.append((file.name, members))
        return self.listings[file.name]


@dataclass
class FakeReader:
    """Reads files by their names: `bad*` is damaged, `empty*` empty, `locked*` has a password."""

    unpacker: FakeUnpacker
    limits: list[Allowance] = field(default_factory=list)

    async def read(self, file: FetchedFile, progress: Progress, allowance: Allowance) -> Document:
        self.limits.append(allowance)
        await progress.report(DocumentStatus.RECOGNISING, done=1, total=2)
        for beginning, code in REASONS.items():
            if file.name.startswith(beginning):
                raise SourceError(code, name=file.name)
        if file.name.endswith(".zip"):
            return await read_archive(file, progress, allowance, unpacker=self.unpacker, read=self.read)
        return _document(file.name)


REASONS = {
    "bad": FailureCode.FILE_DAMAGED,
    "empty": FailureCode.FILE_EMPTY,
    "locked": FailureCode.FILE_ENCRYPTED,
}


def _document(name: str) -> Document:
    block = Block(kind=BlockKind.PARAGRAPH, text=f"слова {name}", locator=Locator(page=3))
    return Document(title=name, blocks=(block,), language="ru", medium=Medium.TEXT)


def _listing(*names: str, refused: tuple[str, ...] = (), encrypted: tuple[str, ...] = ()) -> Listing:
    members = tuple(Member(name=name, number=n, size_bytes=10, sha256=name) for n, name in enumerate(names, start=1))
    return Listing(members=members, refused=refused, encrypted=encrypted)


def _file(folder: Path, name: str = "a.zip") -> FetchedFile:
    return FetchedFile(path=folder / name, name=name, media_type=None, size_bytes=100, sha256="")


async def _read(folder: Path, **listings: Listing) -> Document:
    return await _read_told(folder, FakeQueue(), listings)


async def _read_told(folder: Path, queue: FakeQueue, listings: Mapping[str, Listing]) -> Document:
    unpacker = FakeUnpacker({f"{name}.zip": listing for name, listing in listings.items()})
    file = _file(folder)
    return await read_archive(
        file, progress_of(queue), Allowance.of(file), unpacker=unpacker, read=FakeReader(unpacker).read
    )


async def _code(folder: Path, **listings: Listing) -> FailureCode:
    with pytest.raises(SourceError) as caught:
        await _read(folder, **listings)
    return caught.value.code


async def test_blocks_know_the_file_they_are_from(tmp_path: Path) -> None:
    document = await _read(tmp_path, a=_listing("папка/раз.txt", "два.txt"))
    assert [(block.text, block.locator.member, block.locator.page) for block in document.blocks] == [
        ("папка/раз.txt", "папка/раз.txt", None),
        ("слова раз.txt", "папка/раз.txt", 3),
        ("два.txt", "два.txt", None),
        ("слова два.txt", "два.txt", 3),
    ]
    assert (document.title, document.parts, document.language) == ("a", 2, "ru")


async def test_what_could_not_be_read_is_named(tmp_path: Path) -> None:
    listing = _listing("bad.doc", "good.txt", "empty.txt", "locked.pdf", refused=("huge",), encrypted=("secret",))
    document = await _read(tmp_path, a=listing)
    assert [(part.name, part.code) for part in document.unread] == [
        ("huge", FailureCode.FILE_TOO_HEAVY),
        ("secret", FailureCode.FILE_ENCRYPTED),
        ("bad.doc", FailureCode.FILE_DAMAGED),
        ("locked.pdf", FailureCode.FILE_ENCRYPTED),
    ]
    assert document.parts == 1


async def test_of_very_many_unread_files_inside_not_all_are_named(tmp_path: Path) -> None:
    names = tuple(f"{number}" for number in range(MOST_UNREAD_INSIDE))
    inside = _listing("good.txt", "other.txt", refused=names)
    document = await _read(tmp_path, a=_listing("b.zip", "c.zip"), b=inside, c=inside)
    assert len(document.unread) == MOST_UNREAD_INSIDE + 1
    assert (document.unread[0].name, document.unread[-1].name) == ("b.zip/0", f"… (+{MOST_UNREAD_INSIDE})")


async def test_an_archive_of_one_file_is_that_file(tmp_path: Path) -> None:
    assert await _read(tmp_path, a=_listing("book.fb2", "empty.txt")) == _document("book.fb2")


async def test_an_archive_without_anything_to_read_says_so(tmp_path: Path) -> None:
    assert await _code(tmp_path, a=_listing()) is FailureCode.FILE_ARCHIVE_EMPTY
    assert await _code(tmp_path, a=_listing("bad", refused=("x",))) is FailureCode.FILE_ARCHIVE_EMPTY
    assert await _code(tmp_path, a=_listing("locked", encrypted=("x",))) is FailureCode.FILE_ENCRYPTED


async def test_an_archive_inside_is_read_and_one_inside_that_is_named(tmp_path: Path) -> None:
    document = await _read(
        tmp_path, a=_listing("x.txt", "b.zip"), b=_listing("y.txt", "z.txt", "c.zip"), c=_listing("deep.txt")
    )
    members = {block.locator.member for block in document.blocks}
    assert members == {"x.txt", "b.zip", "b.zip/y.txt", "b.zip/z.txt"}
    assert (document.parts, [part.name for part in document.unread]) == (3, ["b.zip/c.zip"])


async def test_what_is_inside_counts_against_the_whole(tmp_path: Path) -> None:
    unpacker = FakeUnpacker({"a.zip": _listing("b.zip", "d.zip"), "b.zip": _listing("x", "y"), "d.zip": _listing("z")})
    file = _file(tmp_path)
    allowance = Allowance(depth=2, members=10, total_bytes=1_000, until=float("inf"))
    await read_archive(file, progress_of(FakeQueue()), allowance, unpacker=unpacker, read=FakeReader(unpacker).read)
    assert unpacker.asked == [("a.zip", 10), ("b.zip", 8), ("d.zip", 6)]
    assert (allowance.members, allowance.total_bytes) == (5, 950)


async def test_when_the_time_is_over_the_rest_is_named(tmp_path: Path) -> None:
    unpacker = FakeUnpacker({"a.zip": _listing("x.txt", "y.txt")})
    allowance = Allowance(depth=2, members=10, total_bytes=1_000, until=0.0)
    with pytest.raises(SourceError) as caught:
        await read_archive(
            _file(tmp_path), progress_of(FakeQueue()), allowance, unpacker=unpacker, read=FakeReader(unpacker).read
        )
    assert caught.value.code is FailureCode.FILE_ARCHIVE_EMPTY


async def test_the_whole_tells_how_far_it_is(tmp_path: Path) -> None:
    queue = FakeQueue()
    await _read_told(tmp_path, queue, {"a": _listing("x.txt", "y.txt")})
    assert queue.reported == [(DocumentStatus.PARSING, 0, 2), (DocumentStatus.PARSING, 1, 2)]


async def test_a_letter_is_read_with_what_is_attached(tmp_path: Path) -> None:
    unpacker = FakeUnpacker({"a.eml": _listing("счёт.pdf", "bad.bin")})
    file = _file(tmp_path, "a.eml")
    letter = _document("a.eml")
    document = await add_attachments(
        letter, file, progress_of(FakeQueue()), Allowance.of(file), unpacker=unpacker, read=FakeReader(unpacker).read
    )
    assert [block.locator.member for block in document.blocks] == [None, "счёт.pdf", "счёт.pdf"]
    assert (document.title, document.parts) == ("a.eml", 1)
    assert [part.name for part in document.unread] == ["bad.bin"]


async def test_a_letter_without_attachments_stays_as_it_is(tmp_path: Path) -> None:
    unpacker = FakeUnpacker({"a.eml": _listing()})
    file = _file(tmp_path, "a.eml")
    letter = _document("a.eml")
    allowance = Allowance.of(file)
    assert (
        await add_attachments(letter, file, progress_of(FakeQueue()), allowance, unpacker=unpacker, read=_never)
        == letter
    )


async def _never(file: FetchedFile, progress: Progress, allowance: Allowance) -> Document:
    raise AssertionError(file.name)
