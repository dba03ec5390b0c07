import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.unpack import MOST_NAMED, PIECE_BYTES, Sink, tidy_name, unpack_packed, unpack_zip
from tests.unit.ingestion.parsers.packages import write_archive


@pytest.fixture
def sink(tmp_path: Path) -> Sink:
    folder = tmp_path / "inside"
    folder.mkdir()
    return Sink(folder=folder, members=10, total_bytes=1_000_000)


def _names(sink: Sink) -> list[str]:
    return [member.name for member in sink.written]


def _tar(path: Path, mode: str, *members: tuple[str, bytes, bytes]) -> Path:
    """(name, type, content) of each."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload] # the mode is not known here
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, "/etc/passwd", len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_files_land_under_numbers(tmp_path: Path, sink: Sink) -> None:
    unpack_zip(write_archive(tmp_path / "a.zip", {"папка/": "", "папка/раз.txt": "1", "два.txt": "22"}), sink)
    assert [(member.name, member.size_bytes) for member in sink.written] == [("папка/раз.txt", 1), ("два.txt", 2)]
    assert [path.read_text() for path in sorted(sink.folder.iterdir())] == ["1", "22"]


@pytest.mark.parametrize("encoding", ["cp866", "utf-8"])
def test_names_of_old_programs_are_understood(tmp_path: Path, sink: Sink, encoding: str) -> None:
    path = write_archive(tmp_path / "a.zip", {"XXXX": "x"})
    name = "Ёж"
    raw = name.encode(encoding)
    path.write_bytes(path.read_bytes().replace(b"XXXX", raw.ljust(4, b"_")))
    unpack_zip(path, sink)
    assert _names(sink) == [raw.ljust(4, b"_").decode(encoding)]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/abs/a.txt", "abs/a.txt"),
        ("C:\\docs\\a.txt", "C:/docs/a.txt"),
        ("a\x00\n\u202eb.txt", "a   b.txt"),
        ("..", "?"),
        ("", "?"),
    ],
)
def test_a_name_is_only_a_name(name: str, shown: str) -> None:
    assert tidy_name(name) == shown


def test_nothing_is_written_outside_the_folder(tmp_path: Path, sink: Sink) -> None:
    unpack_zip(write_archive(tmp_path / "a.zip", {"../../out.txt": "x", "/tmp/out.txt": "y"}), sink)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["1", "2", "a.zip"]


def test_links_and_devices_are_passed_over(tmp_path: Path, sink: Sink) -> None:
    kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE)
    path = _tar(tmp_path / "a.tar", "w", *((f"a{kind!r}", kind, b"") for kind in kinds))
    unpack_packed(path, sink, name="a.tar")
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    unpack_zip(tmp_path / "a.zip", sink)
    assert sink.listing().members == ()


def test_what_systems_leave_behind_is_not_mentioned(tmp_path: Path, sink: Sink) -> None:
    unpack_zip(write_archive(tmp_path / "a.zip", {"__MACOSX/._a": "x", ".DS_Store": "x", "Thumbs.db": "y"}), sink)
    assert (sink.written, sink.refused) == ([], [])


def test_the_same_content_again_is_left_out(tmp_path: Path, sink: Sink) -> None:
    unpack_zip(write_archive(tmp_path / "a.zip", {"a": "x", "b": "x", "c": "y"}), sink)
    assert _names(sink) == ["a", "c"]


def test_files_beyond_the_limits_are_named(tmp_path: Path) -> None:
    sink = Sink(folder=tmp_path, members=2, total_bytes=100)
    unpack_zip(write_archive(tmp_path / "a.zip", {"large": "x" * 200, "a": "x", "b": "y", "c": "z"}), sink)
    assert (_names(sink), sink.refused) == (["a", "b"], ["large", "c"])


def test_a_stated_size_that_is_a_lie_is_no_way_around(tmp_path: Path) -> None:
    sink = Sink(folder=tmp_path, members=2, total_bytes=100)
    sink.take("a", io.BytesIO(b"x" * 10_000_000), stated_bytes=1)
    assert (sink.written, sink.refused, sink.total_bytes) == ([], ["a"], 0)


def test_encrypted_files_are_named_apart(tmp_path: Path, sink: Sink) -> None:
    path = write_archive(tmp_path / "a.zip", {"a.txt": "x"})
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    unpack_zip(path, sink)
    assert sink.listing().encrypted == ("a.txt",)


def test_one_damaged_file_costs_that_file(tmp_path: Path, sink: Sink) -> None:
    path = write_archive(tmp_path / "a.zip", {"a": "x" * 1000, "b": "y"})
    content = bytearray(path.read_bytes())
    content[33] ^= 0xFF
    path.write_bytes(content)
    unpack_zip(path, sink)
    assert (_names(sink), sink.refused) == (["b"], ["a"])


def test_what_damaged_files_have_inflated_to_counts(tmp_path: Path, sink: Sink) -> None:
    damaged = "x" * 2 * PIECE_BYTES
    path = write_archive(tmp_path / "a.zip", {"a": damaged, "b": "y", "c": "z" * (sink.total_bytes - PIECE_BYTES)})
    path.write_bytes(path.read_bytes().replace(zlib.crc32(damaged.encode()).to_bytes(4, "little"), bytes(4)))
    unpack_zip(path, sink)
    assert (_names(sink), sink.refused) == (["b"], ["a", "c"])


def test_a_file_that_reaches_into_the_next_is_refused(tmp_path: Path, sink: Sink) -> None:
    path = write_archive(tmp_path / "a.zip", {"a": "x", "b": "y"})
    content = bytearray(path.read_bytes())
    packed = content.index(b"PK\x01\x02") + 20
    content[packed] += 2
    path.write_bytes(content)
    unpack_zip(path, sink)
    assert (_names(sink), sink.refused) == (["b"], ["a"])


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_archives_are_unpacked_however_they_are_packed(tmp_path: Path, sink: Sink, mode: str) -> None:
    members = (("a.txt", tarfile.REGTYPE, b"one"), ("b/c.txt", tarfile.REGTYPE, b"two"))
    unpack_packed(_tar(tmp_path / "a", mode, *members), sink, name="a")
    assert _names(sink) == ["a.txt", "b/c.txt"]


@pytest.mark.parametrize(
    ("name", "pack"), [("a.txt.gz", gzip.compress), ("a.txt.bz2", bz2.compress), ("a.txt.xz", lzma.compress)]
)
def test_a_single_packed_file_has_its_name_without_the_ending(
    tmp_path: Path, sink: Sink, name: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / name
    path.write_bytes(pack(b"words"))
    unpack_packed(path, sink, name=name)
    assert (_names(sink), (sink.folder / "1").read_bytes()) == (["a.txt"], b"words")


def test_a_tar_that_inflates_without_end_is_too_heavy(tmp_path: Path) -> None:
    path = _tar(tmp_path / "a.tgz", "w:gz", ("a", tarfile.REGTYPE, bytes(40_000_000)), ("b", tarfile.REGTYPE, b"x"))
    with pytest.raises(SourceError) as caught:
        unpack_packed(path, Sink(folder=tmp_path, members=9, total_bytes=100), name="a.tgz")
    assert caught.value.code is FailureCode.FILE_TOO_HEAVY


def test_a_packed_tar_that_was_cut_off_is_read_once(tmp_path: Path, sink: Sink) -> None:
    """Not again as the single file that is packed: it would be an archive in the archive, with the same words."""
    members = (("one.txt", tarfile.REGTYPE, b"1" * 5000), ("two.txt", tarfile.REGTYPE, b"2" * 5000))
    whole = _tar(tmp_path / "whole.tar", "w", *members).read_bytes()
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(whole[: 512 + 5120 + 512 + 100]))
    with pytest.raises(tarfile.ReadError):
        unpack_packed(path, sink, name="a.tar.gz")
    assert (_names(sink), sink.refused) == (["one.txt"], ["two.txt"])


def test_a_million_files_are_not_all_named(sink: Sink) -> None:
    """Their names would go into each live message's row; that of 20 MB of empty files has some hundred MB."""
    sink.members = 0
    for number in range(MOST_NAMED + 234):
        sink.take(f"{number}.txt", io.BytesIO())
    refused = sink.listing().refused
    assert (len(refused), refused[-1]) == (MOST_NAMED + 1, "… (+234)")
