"""Unpacks ZIP and TAR archives, compressed single files and letters, member by member, into a folder.

In: a path. Out: a `Listing` of what the folder holds afterwards: files 1, 2, 3 …, within limits of count and bytes.
Links, devices and folders are skipped, names are never paths, and nothing is inflated beyond what the sink takes. Of a
letter only attachments are written, not its text, pictures shown in it, signatures and invitations. It runs in the
confined process of `ingestion.parsers.registry`; `ingestion.reading.reader` reads the documents, one by one.
"""

import bz2
import gzip
import hashlib
import lzma
import math
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from itertools import pairwise
from pathlib import Path, PurePath
from typing import IO, cast

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import LARGEST_MEMBER_BYTES, LONGEST_NAME, Listing, Member
from ingestion.parsers.kinds import ENCRYPTED_FLAG, FileKind, glance
from ingestion.parsers.letters import attachments, content_of, open_letter

PIECE_BYTES = 256 * 1024
MOST_NAMED = 1_000  # of the files not taken: 20 MB can claim a million, and the receipt carries the names
UNMENTIONED_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", "winmail.dat", ".gitignore", ".gitkeep"})
"""Files that systems leave in folders."""
LOCAL_HEADER_BYTES = 30  # of a ZIP member, before its name (APPNOTE 4.3.7)
PACKED_READERS = ((b"\x1f\x8b\x08", gzip.GzipFile), (b"BZh", bz2.BZ2File), (b"\xfd7zXZ\0", lzma.LZMAFile))
TAR_OVERHEAD_BYTES = 16 * 1024 * 1024  # headers and padding beside the files
UNPACKING_DAMAGE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError),
    RuntimeError,  # among others NotImplementedError: a compression method that Python does not know
)
"""What broken archives raise."""


@dataclass(kw_only=True)
class Sink:
    """Takes one file after another."""

    folder: Path
    members: int
    total_bytes: int
    written: list[Member] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    encrypted: list[str] = field(default_factory=list)

    def take(self, name: str, source: IO[bytes], *, stated_bytes: int = 0) -> None:
        """Write a file; one too large, or one too many, is only listed. Content that was taken already is dropped."""
        shown, number = tidy_name(name), len(self.written) + 1
        limit = min(LARGEST_MEMBER_BYTES, self.total_bytes)
        if is_unmentioned(shown):
            return
        if number > self.members or stated_bytes > limit:
            self.refused.append(shown)
            return
        digest, size = hashlib.sha256(), 0
        with source, (self.folder / str(number)).open("wb") as target:
            while size <= limit and (piece := source.read(PIECE_BYTES)):  # the stated size may have been wrong
                size += len(piece)
                self.total_bytes = max(0, self.total_bytes - len(piece))  # even when the file turns out damaged
                digest.update(piece)
                target.write(piece)
        if size > limit:
            self.refused.append(shown)
        elif all(digest.hexdigest() != other.sha256 for other in self.written):
            self.written.append(Member(name=shown, number=number, size_bytes=size, sha256=digest.hexdigest()))

    @contextmanager
    def listing_damage(self, name: str) -> Iterator[None]:
        """A file that turns out broken is only listed."""
        try:
            yield
        except UNPACKING_DAMAGE:
            self.leave_out(name, self.refused)

    def leave_out(self, name: str, names: list[str]) -> None:
        """List a file that is not taken, among `refused` or `encrypted`."""
        if not is_unmentioned(tidy_name(name)):
            names.append(tidy_name(name))

    def listing(self) -> Listing:
        """Everything taken and listed; if there are too many names, the last one tells how many more."""
        return Listing(members=tuple(self.written), refused=_named(self.refused), encrypted=_named(self.encrypted))


def _named(names: Sequence[str]) -> tuple[str, ...]:
    left = len(names) - MOST_NAMED
    return tuple(names) if left <= 0 else (*names[:MOST_NAMED], f"… (+{left})")


def tidy_name(name: str) -> str:
    """The name for people: without control characters, parent folders and drive letters."""
    parts = "".join(character if character.isprintable() else " " for character in name).replace("\\", "/").split("/")
    kept = [part.strip() for part in parts if part.strip() not in ("", ".", "..")]
    return "/".join(kept)[-LONGEST_NAME:] or "?"


def is_unmentioned(name: str) -> bool:
    """Whether the system, and no person, put the file there."""
    *folders, file = name.split("/")
    return file in UNMENTIONED_FILES or file.startswith("._") or not {"__MACOSX", ".git", ".svn"}.isdisjoint(folders)


def unpack_outlook(path: Path, sink: Sink) -> None:
    """Take the attachments of an MSG file. Letters and objects embedded in Outlook's own format are only listed."""
    # Imported here: the import takes 160 ms, and few files are of this kind.
    from oxmsg import Message

    for attachment in Message.load(str(path)).attachments:
        name, content = attachment.file_name or "?", attachment.file_bytes
        if content is None:
            sink.refused.append(name)
        else:
            sink.take(name, BytesIO(content), stated_bytes=len(content))


def unpack(path: Path, *, name: str, folder: Path, members: int, total_bytes: int) -> Listing:
    """Write at most `members` files of together `total_bytes` to `folder`; the others are only listed.

    Raises SourceError, MemoryError, and anything on a damaged file of which nothing was unpacked before.
    """
    sink = Sink(folder=folder, members=members, total_bytes=total_bytes)
    try:
        _unpack(path, name, sink)
    except (SourceError, MemoryError):
        raise
    except Exception:  # whatever broke it, what was unpacked before is kept
        if not sink.written:
            raise
    return sink.listing()


def _unpack(path: Path, name: str, sink: Sink) -> None:
    match glance(path):
        case FileKind.EMAIL:
            for attached, part in attachments(open_letter(path)):
                with sink.listing_damage(attached):
                    sink.take(attached, BytesIO(content_of(part)))
        case FileKind.OUTLOOK:
            unpack_outlook(path, sink)
        case _ if zipfile.is_zipfile(path):
            unpack_zip(path, sink)
        case _:
            unpack_packed(path, sink, name=name)


def unpack_zip(path: Path, sink: Sink) -> None:
    """Take all members; damaged ones and those with an unknown compression are listed as refused.

    A member that overlaps the next is refused, too: only zip bombs have such (CVE-2024-0450).
    """
    with zipfile.ZipFile(path) as archive:
        followed_at = dict(pairwise(sorted({member.header_offset for member in archive.infolist()})))
        for member in archive.infolist():
            name = _zip_name(member)
            if member.is_dir() or stat.S_ISLNK(member.external_attr >> 16):  # its Unix mode
                continue
            # The local header may be longer: it is a lower bound of the member's end.
            least_end = member.header_offset + LOCAL_HEADER_BYTES + member.compress_size
            if least_end > followed_at.get(member.header_offset, math.inf):
                sink.leave_out(name, sink.refused)
                continue
            if member.flag_bits & ENCRYPTED_FLAG:
                sink.leave_out(name, sink.encrypted)
                continue
            with sink.listing_damage(name):
                sink.take(name, archive.open(member), stated_bytes=member.file_size)


def _zip_name(member: zipfile.ZipInfo) -> str:
    """The member's name. Windows writes Russian in cp866, macOS in UTF-8, both unmarked; zipfile reads cp437."""
    for encoding in () if member.flag_bits & 0x800 else ("utf-8", "cp866"):  # it is marked as UTF-8
        with suppress(UnicodeError):
            return member.filename.encode("cp437").decode(encoding)
    return member.filename


def unpack_packed(path: Path, sink: Sink, *, name: str) -> None:
    """Unpack a TAR archive, compressed or not, or a compressed single file. Raises SourceError FILE_TOO_HEAVY.

    A TAR damaged further on is not treated as a single file: it would be read as an archive inside this one, and all
    its text stored twice.
    """
    with path.open("rb") as stream:
        reader = next((reader for magic, reader in PACKED_READERS if stream.peek(8).startswith(magic)), None)
    with cast("IO[bytes]", reader(path) if reader else path.open("rb")) as inflated:
        try:
            archive = tarfile.open(fileobj=inflated, mode="r|")  # noqa: SIM115 - apart: a later ReadError is damage
        except tarfile.ReadError:
            if reader is None:
                raise
        else:
            with archive:
                _unpack_tar(archive, sink)
            return
    packed = PurePath(name)
    inside = packed.stem if packed.suffix.lower() in (".gz", ".bz2", ".xz") and packed.stem else name
    sink.take(inside, cast("IO[bytes]", reader(path)))


def _unpack_tar(archive: tarfile.TarFile, sink: Sink) -> None:
    """Take the members; the first truncated one ends the archive. To reach the next header, tarfile reads through
    everything in between, so what a header announces counts whether it is taken or not."""
    left = sink.total_bytes + TAR_OVERHEAD_BYTES
    for member in archive:
        left -= member.size
        if left < 0:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, detail="inflates without end")
        content = archive.extractfile(member) if member.isreg() else None
        if content is not None:
            with sink.listing_damage(member.name):
                sink.take(member.name, content, stated_bytes=member.size)
