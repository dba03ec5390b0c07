"""Text as people see it: addresses in letters, and nothing that hides words from them or turns a line around.

In: an address as it is fetched; text from documents, people and models. Out: the address in letters, for display only;
the text without what nobody sees. Joiners stay in emoji, and between letters that need them.
"""

import re
import unicodedata
from urllib.parse import urlsplit

_JOINERS = "\u200c\u200d"
_TAGS = "\U000e0020-\U000e007f"  # of flags such as England's, after 🏴
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINED_SCRIPTS = (
    *("ARABIC", "SYRIAC", "DEVANAGARI", "BENGALI", "GUJARATI", "GURMUKHI", "KANNADA", "MALAYALAM", "ORIYA", "SINHALA"),
    *("TAMIL", "TELUGU", "MONGOLIAN", "KHMER", "MYANMAR", "TIBETAN"),
)
_EMOJI = re.compile("[\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff]")
_CODED_LETTERS = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")  # UTF-8 beyond ASCII; %2F and %20 keep their meaning
_AUTHORITY = re.compile(r"[^/?#]*//[^/?#]*")  # with the scheme before it
_CODED_LABEL = "xn--"  # RFC 5890
_LIKE_LATIN = frozenset("аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡ")
"""Cyrillic letters that can be taken for Latin ones: the list of Chromium's IDN spoof checker."""


def readable_address(address: str) -> str:
    """`https://ru.wikipedia.org/wiki/Лес`, `https://кто.рф/`. What cannot be read as letters stays as it is."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:  # not an address after all
        return address
    found = _AUTHORITY.match(address)
    authority = found[0] if found else ""
    before, at, place = authority.rpartition("@")  # a user name before the @ stays as it is
    shown = place.replace(host, readable_host(host), 1) if _CODED_LABEL in host else place
    return f"{before}{at}{shown}{_CODED_LETTERS.sub(_letters, address[len(authority) :])}"


def readable_host(host: str) -> str:
    """`кто.рф` for `xn--j1ail.xn--p1ai`. Labels that could be taken for others stay coded, as in browsers."""
    labels = host.split(".")
    letters = [_label(label) for label in labels]
    is_at_home = not letters[-1].isascii()  # .рф, .бел: nobody expects Latin letters there
    shown = []
    for label, text in zip(labels, letters, strict=True):
        is_like_latin = not text.isascii() and all(letter in _LIKE_LATIN for letter in text if letter.isalpha())
        shown.append(text if is_at_home or not is_like_latin else label)
    return ".".join(shown)


def _letters(coded: re.Match[str]) -> str:
    """Codes stay where decoding gives unprintable characters, which would disguise the address."""
    try:
        text = bytes.fromhex(coded[0].replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return coded[0]
    return text if text.isprintable() else coded[0]


def _label(label: str) -> str:
    """In letters, when these are of one script other than Latin (ı and ɡ are other letters than i and g) and are
    encoded to the same label; otherwise as it is."""
    code = label.removeprefix(_CODED_LABEL)
    if code == label or len(label) > 63:  # RFC 1035
        return label
    try:
        text = code.encode("ascii").decode("punycode")
        is_canonical = text.encode("punycode").decode("ascii") == code and text == unicodedata.normalize("NFKC", text)
    except UnicodeError:
        return label
    is_plain = is_canonical and text == text.lower() and text.replace("-", "").isalnum()
    scripts = {unicodedata.name(letter, "?").split()[0] for letter in text if letter.isalpha()}
    return text if is_plain and len(scripts) == 1 and "LATIN" not in scripts else label


def visible(text: str) -> str:
    """The text without control characters but tab and line break, and without what nobody sees."""
    return _UNSEEN.sub(_kept, text)


def _kept(found: re.Match[str]) -> str:
    sign, text = found[0], found.string
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if sign in _JOINERS:
        joins_emoji = sign == "\u200d" and _EMOJI.match(before) and _EMOJI.match(after)
        are_joined = (unicodedata.name(each or " ", "").startswith(_JOINED_SCRIPTS) for each in (before, after))
        return sign if joins_emoji or all(are_joined) else ""
    is_tag = "\U000e0020" <= sign <= "\U000e007f"
    return sign if is_tag and re.search(f"🏴[{_TAGS}]*\\Z", text[: found.start()][-8:]) else ""
