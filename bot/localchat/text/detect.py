"""Detects the entities that Telegram finds by itself: addresses, mentions, commands, hashtags, cashtags, e-mails.

In: a text. Out: entities in UTF-16 units, ordered, none inside another. The rules follow TDLib's
`MessageEntity.cpp` in short form: a bare host needs a well-known top-level domain, one with a scheme does not.
"""

import re
from collections.abc import Iterator

from bot.localchat.records import Entity
from bot.localchat.text.units import utf16_length

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
