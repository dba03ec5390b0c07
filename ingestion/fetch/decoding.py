"""Undoing a response's compression in bounded steps, so that a bomb is stopped at the limit and not in memory.

In: raw pieces of a body and its Content-Encoding. Out: decoded pieces of at most STEP_BYTES. It knows gzip and zlib,
which are all that the crawler asks for; anything else, and codings inside codings, is refused by name.
"""

import zlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator

STEP_BYTES = 1 << 18
ACCEPTED = "gzip"

_PLAIN = frozenset({"", "identity"})
_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS  # zlib tells the two apart by their header


class UndecodableBody(Exception):
    """A coding that was not asked for, or bytes that are not what the header says."""


async def decode_body(raw: AsyncIterable[bytes], *, content_encoding: str) -> AsyncIterator[bytes]:
    """The body as it was before compression. Raises UndecodableBody."""
    feed = _decoder(content_encoding)
    async for piece in raw:
        for decoded in feed(piece):
            yield decoded


def _decoder(content_encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    coding = content_encoding.strip().lower()
    if coding in _PLAIN:
        return lambda piece: iter((piece,))
    if coding in _ZIPPED:
        return _Unzipper().feed
    raise UndecodableBody(f"content-encoding {coding[:40]}")


class _Unzipper:
    """Decompresses one body, which may be several gzip members in a row."""

    def __init__(self) -> None:
        self._zip = zlib.decompressobj(_GZIP_OR_ZLIB)

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The decoded form of the next piece, step by step: whoever stops asking stops the decompression."""
        while piece:
            if self._zip.eof:
                self._zip = zlib.decompressobj(_GZIP_OR_ZLIB)
            try:
                decoded = self._zip.decompress(piece, STEP_BYTES)
            except zlib.error as error:
                raise UndecodableBody(str(error)) from error
            if decoded:
                yield decoded
            piece = self._zip.unused_data if self._zip.eof else self._zip.unconsumed_tail
