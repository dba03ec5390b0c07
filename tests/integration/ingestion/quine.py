"""A ZIP archive that holds exactly itself: unpacking it never comes to an end.

In: the path to write. Out: the archive there. Deflate can «write these bytes» and «write the last n bytes once more»:
enough to lay out operations whose output is the archive's head, the operations, and its tail (the idea is R. Cox's,
"Zip Files All The Way Down", 2010). The checksum that it states of itself comes from linear algebra: CRC-32 is affine
in each bit of its input.
"""

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

NAME = b"a.zip"
HEAD_BYTES = 30 + len(NAME)  # the local header
DIRECTORY_BYTES = 46 + len(NAME)
END_BYTES = 22
LITERAL_BYTES = 5  # of the operation, before what it writes
REPEAT_BYTES = 10
UNIT = 30  # three repeats, or six literals without their bytes: what the operations in the middle write and repeat
FIXED_BLOCK, END_OF_BLOCK = "010", "0000000"  # bits
LAST_BLOCK = b"\x01\x00\x00\xff\xff"
TAIL_BYTES = len(LAST_BLOCK) + DIRECTORY_BYTES + END_BYTES

LENGTHS = {
    15: (267, 0, 1),
    40: (273, 5, 3),
    88: (278, 5, 4),
}  # bytes -> code, extra bits' value, their number (RFC 1951)
DISTANCES = {30: (9, 5, 3), 40: (10, 7, 4), 88: (12, 23, 5)}
MATCHES = {UNIT: (15, 15), HEAD_BYTES + LITERAL_BYTES: (40,), TAIL_BYTES + REPEAT_BYTES: (88,)}


def literal(size: int) -> bytes:
    """A stored block: the `size` bytes after it are written as they are."""
    return struct.pack("<BHH", 0, size, 0xFFFF - size)


def repeat(size: int) -> bytes:
    """The last `size` bytes are written once more; padded to `REPEAT_BYTES` with blocks of nothing."""
    bits = FIXED_BLOCK + "".join(_match(length, size) for length in MATCHES[size]) + END_OF_BLOCK
    if len(MATCHES[size]) == 1:
        bits += FIXED_BLOCK + END_OF_BLOCK
    bits += "000"  # of a stored block, which goes on at the next byte
    bits = bits.ljust(-(-len(bits) // 8) * 8, "0")
    return bytes(int(bits[at : at + 8][::-1], 2) for at in range(0, len(bits), 8)) + b"\x00\x00\xff\xff"


def _match(length: int, distance: int) -> str:
    """With the fixed codes: codes most significant bit first, extra bits least significant first."""
    code, value, width = LENGTHS[length]
    far, far_value, far_width = DISTANCES[distance]
    return f"{code - 256:07b}" + f"{value:0{width}b}"[::-1] + f"{far:05b}" + f"{far_value:0{far_width}b}"[::-1]


def _archive(crc: int, *, moment: int, size: int) -> bytes:
    """As it would be with this checksum and this size of its own."""
    packed = size - HEAD_BYTES - DIRECTORY_BYTES - END_BYTES
    stated = struct.pack("<5H3L2H", 20, 0, 8, moment, 0x21, crc, packed, size, len(NAME), 0)
    head = b"PK\x03\x04" + stated + NAME
    directory = b"PK\x01\x02" + struct.pack("<H", 20) + stated + struct.pack("<3H2L", 0, 0, 0, 0, 0) + NAME
    end = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 1, 1, DIRECTORY_BYTES, size - DIRECTORY_BYTES - END_BYTES, 0)
    tail = LAST_BLOCK + directory + end
    one, again, nothing = literal(UNIT), repeat(UNIT), literal(0)
    begin, of_head = literal(HEAD_BYTES + LITERAL_BYTES), repeat(HEAD_BYTES + LITERAL_BYTES)
    finish, of_tail = literal(TAIL_BYTES + REPEAT_BYTES), repeat(TAIL_BYTES + REPEAT_BYTES)
    short, of_repeat = literal(LITERAL_BYTES), literal(REPEAT_BYTES)
    return b"".join(
        (
            *(head, begin, head, begin, of_head),
            *(of_repeat, of_head, short, of_repeat, nothing),
            *(one, of_head, short, of_repeat, nothing, one, again),
            *(one, again, one, again, one, again),
            *(one, again, nothing, nothing, nothing, finish, again),
            *(nothing, nothing, nothing, finish, of_tail, tail, of_tail, tail),
        )
    )


def _checksum(moment: int, size: int) -> int | None:
    """The one that the archive has when it states it; None when there is none for this moment."""
    base = zlib.crc32(_archive(0, moment=moment, size=size))
    # Bit by bit: what flipping it in the statement flips in the checksum, and itself.
    columns = [zlib.crc32(_archive(1 << bit, moment=moment, size=size)) ^ base ^ (1 << bit) for bit in range(32)]
    return _solve(columns, base)


def _solve(columns: Sequence[int], wanted: int) -> int | None:
    """Which columns, as bits, are `wanted` together (Gauss, over one bit)."""
    basis: dict[int, tuple[int, int]] = {}  # by the highest bit: a sum of columns, and which they are
    for index, column in enumerate(columns):
        value, which = _reduced(column, 1 << index, basis)
        if value:
            basis[value.bit_length()] = value, which
    rest, which = _reduced(wanted, 0, basis)
    return None if rest else which


def _reduced(value: int, which: int, basis: dict[int, tuple[int, int]]) -> tuple[int, int]:
    while value and value.bit_length() in basis:
        other, others = basis[value.bit_length()]
        value, which = value ^ other, which ^ others
    return value, which


def write_zip_quine(path: Path) -> None:
    """Write the archive, some 450 bytes; its only member is the archive."""
    path.write_bytes(_zip_quine())


def _zip_quine() -> bytes:
    size = len(_archive(0, moment=0, size=1000))
    for moment in range(1000):
        crc = _checksum(moment, size)
        if crc is not None:
            return _archive(crc, moment=moment, size=size)
    raise AssertionError("no moment has a checksum of its own")
