"""Decompresses a response in bounded steps, so that a zip bomb hits the size limit and not the memory.

In: raw pieces of a body and its Content-Encoding. Out: decoded pieces of at most STEP_BYTES. It knows gzip and zlib;
the crawler asks for gzip only. Other codings and nested codings are refused by name.
"""

import zlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator

STEP_BYTES = 1 << 18
ACCEPTED = "gzip"

_PLAIN = frozenset({"", "identity"})
_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS  # zlib detects which by the header


class UndecodableBody(Exception):
    """A coding that was not requested, or bytes that do not match it."""


async def decode_body(raw: AsyncIterable[bytes], *, content_encoding: str) -> AsyncIterator[bytes]:
    """The decompressed body. Raises UndecodableBody."""
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
        """The decompressed piece, step by step: when the consumer stops iterating, decompression stops."""
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
