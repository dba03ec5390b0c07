"""Decodes the text of an RTF file: bytes by the charset of the current font, characters by number.

In: bytes with their current font, and numbers of `\\u`. Out: text. It knows no groups.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from ingestion.parsers.rtf_tokens import CHARSETS

HIGH_SURROGATES = range(0xD800, 0xDC00)
LOW_SURROGATES = range(0xDC00, 0xE000)
UTF8_PAGE = 65001  # Microsoft's code page number for UTF-8
LAST_CODE = 0x10FFFF
SYMBOL_CODES = range(0xF000, 0xF100)  # symbol fonts: bullets and arrows without Unicode characters


@dataclass(kw_only=True)
class RtfText:
    """Decodes text and passes it to `tell`."""

    tell: Callable[[str], None]
    page: str = "cp1252"  # the document's own charset
    charsets: dict[int, str] = field(default_factory=dict)  # by font
    font: int = -1
    skipped: int = 0  # characters still to skip: the replacement after a `\u` for older programs
    _pending: bytearray = field(default_factory=bytearray)
    _high: int = 0

    def set_page(self, number: int) -> None:
        """`\\ansicpg`; a code page that Python does not know is ignored."""
        name = "utf-8" if number == UTF8_PAGE else f"cp{number}"
        try:
            b"".decode(name)
        except LookupError:
            return
        self.page = name

    def set_charset(self, font: int, number: int) -> None:
        """Set the `\\fcharset` of a font."""
        if number in CHARSETS:
            self.charsets[font] = CHARSETS[number]

    def add_bytes(self, data: bytes) -> None:
        """Add text, without the replacement characters for older programs."""
        passed = min(self.skipped, len(data))
        self.skipped -= passed
        self._pending += data[passed:]

    def add_code(self, number: int, *, replacement_length: int) -> None:
        """`\\u`: a UTF-16 code unit, negative above 32767."""
        self.end()
        self.skipped = replacement_length
        code = number + 0x10000 if number < 0 else number
        if code in HIGH_SURROGATES:
            self._high = code
        elif code in LOW_SURROGATES:
            if self._high:
                self.tell(chr(0x10000 + ((self._high - 0xD800) << 10) + (code - 0xDC00)))
            self._high = 0
        elif 0 < code <= LAST_CODE:
            self.tell("•" if code in SYMBOL_CODES else chr(code))

    def end(self) -> None:
        """Pass on the pending text, because its font or group ends here."""
        if self._pending:
            self.tell(self._pending.decode(self.charsets.get(self.font, self.page), errors="replace"))
            self._pending.clear()
