"""Decodes text files and pages, including old Russian encodings.

In: bytes that are text of some kind. Out: text with ` ` line ends and without NUL (PostgreSQL stores none); a file
comes line by line. It does not decide whether bytes are text; `kinds` does.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

from ingestion.language import detect_language

META_WITHIN_BYTES = 4096  # browsers search 1024; real pages declare it later
_STATED_CHARSET = re.compile(
    rb"(?:<meta[^>]+charset|<\?xml[^>]{1,100}?encoding)\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE
)
SAMPLE_BYTES = 200_000
PIECE_BYTES = 1024 * 1024
LONGEST_LINE_CHARS = 10_000_000  # a longer one is split into pieces
BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a prefix of it
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WIDE_ENCODINGS: Mapping[str, int] = {"utf-32-le": 4, "utf-32-be": 4, "utf-16-le": 2, "utf-16-be": 2}
"""Encoding -> bytes per code unit."""
WIDE_PLAIN_SHARE = 0.9  # of characters: the wrong byte order gives ideographs and unassigned code points
_WIDE_PLAIN = re.compile("[\\t\\n\\r\\f\\x20-\\u06ff\\u2000-\\u2121]")  # Latin to Arabic, and punctuation
CYRILLIC_HIGH_BYTE = b"\x04"  # the high byte of each letter in UTF-16; a single word has no zero byte
CYRILLIC_ENCODINGS: Mapping[str, float] = {
    "cp1251": 2.5, "koi8-r": 1.0, "cp866": 1.0, "mac-cyrillic": 0.0, "iso8859-5": 0.0
}  # fmt: skip
"""Encoding -> frequent pairs credited in advance, by how common it is. cp1251 and mac-cyrillic share all but two small
letters."""
FREQUENT_PAIRS_TEXT = (
    "ст ен то ни ра но ко по на ов ан ро пр ет ре ол ер ва те та ли од от ль ме ос не ны го ти ле ор ть ис ем ом "
    "ка ат да ес во ит об ри ог де ел ие им ал че ве ак ия он нн ла мо ин тр ля за со ло ой ав сл ск ед вы ам ци "
    "ки тв до ми ас ся же пе аз ил ви ди из тс ии бо ар ру ма сп зн чи ач эт ок ых ые ае вл бы ож мы па ьн ое ча "
    "оп чт ек ир си ей нт се оз зо ич ры ив ую ик кт гр ту их ий ый ьз ая дл нс ад му ду ым ег дн хо жн ку ют вн "
    "ап яе ай сс са ят вр ну уч аб ще пи ши бр уд ги "
)
FREQUENT_PAIRS = frozenset(FREQUENT_PAIRS_TEXT.split())
"""The 160 letter pairs that make up four fifths of Russian text (counted in encyclopedic and technical texts). In
wrongly decoded text they occur only by chance."""
FEWEST_FREQUENT_PAIRS = 0.3
FEWEST_CYRILLIC = 0.7  # share of the characters above ASCII
UTF8_VALID_FOR_EACH_BROKEN = 10
LAST_RESORT = "cp1252"
WESTERN_LANGUAGES = frozenset({"en", "de", "fr", "es", "it", "pt"})  # the languages cp1252 was made for
_PAIR = re.compile(r"(?=([а-яё]{2}))")
_ABOVE_ASCII = re.compile(r"[^\x00-\x7f]")
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_STRANGE = re.compile(r"[^\x00-\x7fА-Яа-яЁёІіЇїЄєЎў]|[а-яё][А-ЯЁЄЇІЎ]|[а-яё]\s[СРЧЎ](?=\s[а-яё])")
"""Signs and letters that Russian texts have few of; a capital inside a word, or alone in the place of a dash."""
STRANGE_WEIGHT = 2.0  # in pairs


def decode_page(body: bytes) -> str:
    """Decode as UTF-8 if valid, else as the page declares, else by its letters."""
    declared = _STATED_CHARSET.search(body[:META_WITHIN_BYTES])
    if declared is not None and not body.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        for charset in ("utf-8", declared.group(1).decode("ascii")):
            with suppress(LookupError, UnicodeError):
                return body.decode(charset)
    return decode_text(body)


def decode_text(data: bytes) -> str:
    """Decode `data`. Never raises: invalid bytes become U+FFFD."""
    pieces = (data[begin : begin + PIECE_BYTES] for begin in range(0, len(data), PIECE_BYTES))
    return tidy_text(data.decode(_guess_encoding(data[:SAMPLE_BYTES], pieces), errors="replace"))


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a file with their ends; the file is never held whole. Raises OSError."""
    with path.open("rb") as stream:
        sample = stream.read(SAMPLE_BYTES)
        stream.seek(0)
        encoding = _guess_encoding(sample, iter(lambda: stream.read(PIECE_BYTES), b""))
    with path.open(encoding=encoding, errors="replace") as lines:
        while line := lines.readline(LONGEST_LINE_CHARS):
            yield tidy_text(line)


def tidy_text(text: str) -> str:
    """Normalise to `\\n` line ends; remove NUL and byte order marks."""
    return text.replace("\0", "").replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")


def unicode_encoding(data: bytes) -> str | None:
    """By the byte order mark; UTF-16 or UTF-32 without one, if the text is plausible when read so."""
    if marked := next((encoding for mark, encoding in BOMS if data.startswith(mark)), None):
        return marked
    sample = data[:4_096]
    if b"\0" not in sample and sample.count(CYRILLIC_HIGH_BYTE) < len(sample) * FEWEST_CYRILLIC / 2:
        return None
    for encoding, width in WIDE_ENCODINGS.items():
        with suppress(UnicodeDecodeError):
            text = sample[: len(sample) // width * width].decode(encoding)
            if text and len(_WIDE_PLAIN.findall(text)) >= len(text) * WIDE_PLAIN_SHARE:
                return encoding
    return None


def _guess_encoding(sample: bytes, pieces: Iterable[bytes]) -> str:
    """Guess from the beginning, but test UTF-8 on all `pieces`: a few Russian words may be at the end."""
    if found := unicode_encoding(sample) or ("utf-8" if _is_utf8(pieces) else None):
        return found
    texts = {encoding: sample.decode(encoding, errors="replace") for encoding in CYRILLIC_ENCODINGS}
    likeliest = max(texts, key=lambda encoding: _russian_score(texts[encoding], given=CYRILLIC_ENCODINGS[encoding]))
    if _russian_score(texts[likeliest]) >= FEWEST_FREQUENT_PAIRS:
        return likeliest
    if detect_language(sample.decode(LAST_RESORT, errors="replace")) in WESTERN_LANGUAGES:
        return LAST_RESORT  # its frequent words are ASCII; the statistics below mistake French for Baltic languages
    # Imported here: the import takes 50 ms, and most files are UTF-8.
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    return best.encoding if best is not None else LAST_RESORT


def _is_utf8(pieces: Iterable[bytes]) -> bool:
    """Whether the bytes are UTF-8, tolerating a few broken ones, as when a file was cut inside a character."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    broken = above = 0
    for piece in chain(pieces, [b""]):
        text = decoder.decode(piece, final=not piece)
        broken += text.count("\ufffd")
        above += len(text) - len(text.encode("ascii", errors="ignore"))
    return broken == 0 or above > broken * (1 + UTF8_VALID_FOR_EACH_BROKEN)


def _russian_score(text: str, *, given: float = 0.0) -> float:
    """Share of letter pairs that are frequent in Russian, reduced by unusual characters; 0 for another script.

    `given` pairs are credited in advance.
    """
    above = len(_ABOVE_ASCII.findall(text))
    cyrillic = len(_CYRILLIC.findall(text))
    pairs: list[str] = _PAIR.findall(text.lower())
    if not pairs or cyrillic < above * FEWEST_CYRILLIC:
        return 0.0
    hits = sum(pair in FREQUENT_PAIRS for pair in pairs)
    strange = len(_STRANGE.findall(text)) * STRANGE_WEIGHT
    return (given + hits - strange) / (len(pairs) + strange)
