"""The text of a message as Telegram stores it: trimmed, counted in UTF-16 units, with the entities that it detects.

In: a text with entities as written. Out: `FormattedText`. Pure. The rules of detection follow TDLib's
`MessageEntity.cpp` in short form: a bare host needs a well-known top-level domain, one with a scheme does not. Only
links with schemes that Telegram opens are kept, so `javascript:` and `data:` never reach the page.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from localchat.records import Entity, FormattedText


def utf16_length(text: str) -> int:
    """How many UTF-16 units `text` has."""
    return len(text) + sum(char > "\uffff" for char in text)


def cut(text: str, start: int, end: int) -> str:
    """The part of `text` between two UTF-16 offsets."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", errors="replace")


# With a scheme any host is valid; without one the host needs a dot.
_ADDRESS = re.compile(r"(?:https?|ftp|tg|ton)://[^\s/?#]\S*|(?:mailto|tel):\S+|[^\s/?#:]+\.[^\s.:]\S*", re.IGNORECASE)
_SCHEME = re.compile(r"(?:(?:https?|ftp|tg|ton)://|mailto:|tel:)", re.IGNORECASE)
_USER = re.compile(r"tg://user\?id=(\d{1,15})")


def clean_address(written: str) -> str | None:
    """`example.org/a` -> `http://example.org/a`."""
    if not _ADDRESS.fullmatch(written):
        return None
    return written if _SCHEME.match(written) else f"http://{written}"


def mentioned_user(written: str) -> int | None:
    """`tg://user?id=5` -> 5."""
    match = _USER.fullmatch(written)
    return int(match[1]) if match else None


# The top-level domains in common use; TDLib has IANA's whole list.
_TLDS = (
    "com|org|net|edu|gov|mil|int|info|biz|name|pro|app|dev|io|ai|me|tv|cc|co|gg|ly|to|ru|su|by|kz|ua|uz|am|ge|az|kg|de"
    "|fr|it|es|pt|nl|be|ch|at|pl|cz|sk|hu|ro|bg|gr|tr|se|no|fi|dk|ee|lv|lt|uk|ie|us|ca|mx|br|ar|cl|au|nz|jp|cn|kr|in|id"
    "|il|ae|za|eu|asia|online|site|store|shop|tech|xyz|blog|cloud|club|space|website|media|news|live|moscow|рф|рус|москва"
)
_PATTERNS = (
    ("email", r"(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]+\.)+[a-z]{2,24}(?![\w-])"),
    ("url", r"(?<![\w@/.-])(?:(?:https?|ftp|tonsite)://|tg://)[^\s<>«»\"“”‘’]+"),
    ("url", rf"(?<![\w@/.:#$-])(?:[\w-]{{1,63}}\.)+(?:{_TLDS})(?![\w-])(?::\d{{1,5}})?(?:[/?#][^\s<>«»\"“”‘’]*)?"),
    ("bot_command", r"(?<![\w/<>@.])/[a-z0-9_]{1,64}(?:@[a-z0-9_]{3,32})?(?![\w/<>])"),
    ("mention", r"(?<![\w@/.])@[a-z0-9_]{4,32}(?![\w@])"),
    ("hashtag", r"(?<![\w#@/])#(?=\w*[^\W\d_])[\w·]{1,256}(?!\w)"),
    ("cashtag", r"(?<![\w$])\$[A-Z]{1,8}(?![\w$])"),
)
_FLAGS = {"cashtag": re.NOFLAG}
_RULES = tuple((kind, re.compile(pattern, _FLAGS.get(kind, re.IGNORECASE))) for kind, pattern in _PATTERNS)
_TRAILING = ".,:;!?'*_~-…"
_PAIRS = {")": "(", "]": "[", "}": "{"}


def find_entities(text: str) -> tuple[Entity, ...]:
    """All entities of `text`; where two overlap, the earlier rule wins."""
    taken: list[tuple[int, int, str]] = []
    for kind, start, end in _spans(text):
        if all(end <= other_start or start >= other_end for other_start, other_end, _ in taken):
            taken.append((start, end, kind))
    return tuple(
        Entity(kind=kind, offset=utf16_length(text[:start]), length=utf16_length(text[start:end]))
        for start, end, kind in sorted(taken)
    )


def _spans(text: str) -> Iterator[tuple[str, int, int]]:
    for kind, rule in _RULES:
        for match in rule.finditer(text):
            found = _without_tail(match[0]) if kind == "url" else match[0]
            if found.rpartition("://")[2]:
                yield kind, match.start(), match.start() + len(found)


def _without_tail(url: str) -> str:
    """The address without the punctuation of the sentence after it; a closing bracket stays if its pair is inside."""
    while url:
        last = url[-1]
        unpaired = last in _PAIRS and url.count(last) > url.count(_PAIRS[last])
        if last not in _TRAILING and not unpaired:
            break
        url = url[:-1]
    return url


ENTITIES = 100  # per message at most; the rest is dropped (core.telegram.org/bots/api#formatting-options)
_OPAQUE = frozenset({"code", "pre"})  # no other entity may overlap with them
_LINKS = frozenset({"text_link", "text_mention", "code", "pre"})  # nothing is detected inside them


def tidy(written: FormattedText) -> FormattedText:
    """The text as Telegram stores it for what a sender wrote."""
    trimmed = _trim(written)
    opaque = [entity for entity in trimmed.entities if entity.kind in _OPAQUE]
    kept = [one for one in trimmed.entities if not any(one is not other and _meets(one, other) for other in opaque)]
    shut = [entity for entity in kept if entity.kind in _LINKS]
    found = [one for one in find_entities(trimmed.text) if not any(_meets(one, other) for other in shut)]
    ordered = sorted([*kept, *found], key=lambda entity: (entity.offset, -entity.length))
    return FormattedText(text=trimmed.text, entities=tuple(ordered[:ENTITIES]))


def _meets(one: Entity, other: Entity) -> bool:
    return one.offset < other.end and other.offset < one.end


def _trim(written: FormattedText) -> FormattedText:
    """Removes white space at the end, and at the beginning up to the first entity."""
    text = written.text.replace("\r", "").rstrip()
    first = min((entity.offset for entity in written.entities), default=len(text))
    lead = min(len(text) - len(text.lstrip()), first)
    text = text[lead:]
    end = utf16_length(text)
    moved = (replace(entity, offset=entity.offset - lead) for entity in written.entities)
    fitted = (replace(entity, length=min(entity.end, end) - entity.offset) for entity in moved)
    return FormattedText(text=text, entities=tuple(entity for entity in fitted if entity.length > 0))
