"""OLE2 compound files for tests: old Office documents and Outlook's letters.

In: streams by their paths. Out: bytes of a container ([MS-CFB], version 3). Every stream is stored in full sectors, so
that there is no second, smaller allocation table.
"""

import struct
from collections.abc import Mapping

SECTOR = 512
SMALLEST_STREAM = 4096  # shorter ones would have to stand in the small allocation table
FREE, CHAIN_END, TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
NO_ENTRY = 0xFFFFFFFF
STORAGE, STREAM, ROOT = 1, 2, 5


def compound_file(streams: Mapping[str, bytes], *, sizes: Mapping[str, int] | None = None) -> bytes:
    """Paths with `/` lie in storages. Streams are padded with zeros up to a size that needs no small sectors."""
    names = _with_storages(streams)
    padded = {path: content.ljust(SMALLEST_STREAM, b"\0") for path, content in streams.items()}
    sectors: list[bytes] = []
    chain: list[int] = []
    starts = {path: _store(content, sectors, chain) for path, content in padded.items()}
    directory = _directory(names, starts, padded)
    directory_start = _store(directory, sectors, chain)
    tables = 1
    while (len(chain) + tables) * 4 > tables * SECTOR:
        tables += 1
    chain += [TABLE] * tables
    table = b"".join(struct.pack("<I", entry) for entry in chain).ljust(tables * SECTOR, b"\xff")
    header = _header(first_table=len(sectors), tables=tables, directory_start=directory_start)
    return header + b"".join(sectors) + table


def _with_storages(streams: Mapping[str, bytes]) -> list[str]:
    """All paths, storages included, the root first."""
    storages = {"/".join(path.split("/")[:depth]) for path in streams for depth in range(1, path.count("/") + 1)}
    return ["", *sorted(storages | set(streams))]


def _store(content: bytes, sectors: list[bytes], chain: list[int]) -> int:
    first = len(sectors)
    pieces = [content[start : start + SECTOR].ljust(SECTOR, b"\0") for start in range(0, len(content), SECTOR)]
    sectors.extend(pieces)
    chain.extend([*range(first + 1, first + len(pieces)), CHAIN_END])
    return first


def _directory(names: list[str], starts: Mapping[str, int], contents: Mapping[str, bytes]) -> bytes:
    entries = []
    for path in names:
        below = [other for other in names if other and other.rpartition("/")[0] == path and other != path]
        beside = [other for other in names if other and path and _parent(other) == _parent(path)]
        after = [other for other in beside if _order(other) > _order(path)]
        entries.append(
            _entry(
                path.rpartition("/")[2] or "Root Entry",
                kind=ROOT if not path else STREAM if path in contents else STORAGE,
                right=names.index(min(after, key=_order)) if after else NO_ENTRY,
                child=names.index(min(below, key=_order)) if below and path not in contents else NO_ENTRY,
                start=starts.get(path, CHAIN_END if not path else 0),
                size=len(contents.get(path, b"")),
            )
        )
    return b"".join(entries)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _order(path: str) -> tuple[int, str]:
    """Shorter names come first, then the alphabet ([MS-CFB] 2.6.4)."""
    name = path.rpartition("/")[2].upper()
    return len(name), name


def _entry(name: str, *, kind: int, right: int, child: int, start: int, size: int) -> bytes:
    encoded = name.encode("utf-16-le") + b"\0\0"
    head = encoded.ljust(64, b"\0") + struct.pack("<HBB", len(encoded), kind, 1)
    links = struct.pack("<III", NO_ENTRY, right, child)
    return head + links + bytes(16) + bytes(4) + bytes(16) + struct.pack("<IQ", start, size)


def _header(*, first_table: int, tables: int, directory_start: int) -> bytes:
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    counts = struct.pack("<IIII", 0, tables, directory_start, 0)
    limits = struct.pack("<IIIII", SMALLEST_STREAM, CHAIN_END, 0, CHAIN_END, 0)
    places = [first_table + number for number in range(tables)]
    return head + counts + limits + struct.pack("<109I", *places, *[FREE] * (109 - tables))
