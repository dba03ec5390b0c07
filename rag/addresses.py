"""What a Telegram client makes a link of: addresses, e-mail, telephone numbers, @names.

In: text. Out: its addresses as they can be compared, or the text with those that are not known written so that no
client makes a link of them: «example[.]com», «@ name». The patterns follow TDLib's MessageEntity.cpp.
"""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

_PATH = r"[^\s<>\"«»“”]"
_ENDINGS = (  # of files, and of nothing that is registered as a top-level domain
    "pdf|docx?|xlsx?|pptx?|txt|csv|tsv|json|xml|ya?ml|html?|jsx?|tsx?|css|jpe?g|png|gif|webp|heic|mp3|mp4|ogg|wav|avi|"
    "epub|fb2|rtf|od[tsp]|toml|ini|cfg|conf|log|sql|tar|gz|7z|rar|exe|dll|jar|ipynb|lock|env|cpp|hpp|java"
)
_CYRILLIC_ENDS = "рф|рус|бел|укр|срб|мкд|мон|қаз|ею|бг|орг|ком|онлайн|сайт|дети|москва|католик"
_ADDRESS = re.compile(
    rf"(?P<scheme>(?<![\w+.-])[a-z][a-z0-9+.-]{{1,20}}:/{{2,}}{_PATH}+|(?<![\w+.-])tg:{_PATH}+)"
    rf"|(?P<mail>(?<![\w.+%-])[\w.+%-]{{1,64}}@[\w-]+(?:\.[\w-]+)+)"
    rf"|(?P<name>(?<![\w/@.])@[a-z]\w{{1,31}})"
    rf"|(?P<phone>(?<![\w+])(?:\+\d{{1,3}}|8)[ \u00a0(–-]{{0,3}}\d{{2,5}}[ \u00a0)–-]{{0,3}}"
    rf"\d[\d \u00a0–-]{{3,12}}\d(?!\d))"
    rf"|(?P<ip>(?<![\w.])\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\w.])(?::\d+)?(?:[/?#]{_PATH}*)?)"
    rf"|(?P<host>(?<![\w.@-])(?:[\w-]+\.)+(?:(?!(?:{_ENDINGS})(?![\w-]))[a-z]{{2,24}}|xn--[a-z0-9-]+|{_CYRILLIC_ENDS})"
    rf"(?![\w-])(?::\d+)?(?:[/?#]{_PATH}*)?)",
    re.IGNORECASE,
)
_LOOSE_END = ".,:;!?'*_~…|"
_SCHEME = re.compile(r"https?:/+", re.IGNORECASE)
_HOST = re.compile(r"(?:[^/?#]*@)?(?P<host>[^/?#:]*)")
_LEAST_DIGITS, _DIGITS_AFTER_8 = 10, 11  # 8 000 000 000 is a number
_IN_CODE = frozenset({"scheme", "mail"})  # the rest («@decorator», «main.py») is code


@dataclass(frozen=True, kw_only=True)
class Address:
    """An address in a text."""

    start: int
    end: int
    kind: str
    key: str  # the same for every way to write it

    @property
    def host(self) -> str:
        """Of a web address; empty for others."""
        found = _HOST.match(self.key) if self.kind in ("scheme", "ip", "host") else None
        return found["host"] if found else ""


def addresses(text: str, *, in_code: bool = False) -> Iterator[Address]:
    """The addresses in order; in code only those that are written in full."""
    for found in _ADDRESS.finditer(text):
        kind, written = found.lastgroup or "", _without_loose_end(found[0])
        digits = sum(sign.isdecimal() for sign in written)
        is_phone = digits >= _LEAST_DIGITS if written.startswith("+") else digits == _DIGITS_AFTER_8
        if (in_code and kind not in _IN_CODE) or (kind == "phone" and not is_phone):
            continue
        yield Address(start=found.start(), end=found.start() + len(written), kind=kind, key=_key(kind, written))


def keys(texts: Iterable[str]) -> frozenset[str]:
    """The keys of all addresses, and of what a web address begins with: its site, and the folders of its path."""
    found: set[str] = set()
    for text in texts:
        for address in addresses(text):
            found.add(address.key)
            if address.host and "://" not in address.key:
                parts = re.split(r"[?#]", address.key)[0].split("/")
                found.update("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return frozenset(found)


def defanged(text: str, known: Set[str]) -> str:
    """The text with every address that is not `known` written so that nobody makes a link of it."""
    parts, at = [], 0
    for address in addresses(text):
        if address.key not in known:
            parts += [text[at : address.start], broken(text[address.start : address.end])]
            at = address.end
    return "".join((*parts, text[at:]))


def broken(written: str) -> str:
    """An address that can be read and not pressed."""
    if written.startswith("@"):
        return f"@ {written[1:]}"
    if not re.search(r"[^\W\d_]", written) and written.count(".") != 3:  # a middle dot belongs to no telephone number
        return "·".join(re.findall(r"\+?\d{1,4}", written))
    bare = _SCHEME.sub("", written).replace(":/", "[:]/").replace("@", "[at]")
    bare = re.sub(r"^tg:", "tg[:]", bare, flags=re.IGNORECASE)
    return re.sub(r"(?<=[\w-])\.(?=\w)", "[.]", bare)


def _without_loose_end(written: str) -> str:
    """Without the punctuation after it; a bracket stays where its pair is inside: «…/wiki/Лес_(река)»."""
    while written:
        bare = written.rstrip(_LOOSE_END)
        for opening, closing in ("()", "[]", "{}"):
            if bare.endswith(closing) and bare.count(closing) > bare.count(opening):
                bare = bare[:-1]
        if bare == written:
            break
        written = bare
    return written


def _key(kind: str, written: str) -> str:
    if kind == "phone":
        return "".join(filter(str.isdecimal, written))[-10:]
    plain = _SCHEME.sub("", written).rstrip("/")
    host = _HOST.match(plain)
    if kind in ("mail", "name") or host is None:
        return plain.casefold()
    return plain[: host.end()].casefold() + plain[host.end() :]
