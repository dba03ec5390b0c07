"""The text of a message: the HTML parse mode, and what Telegram stores of a text, with the entities that it detects.

In: what was written, marked up or plain. Out: `FormattedText`, trimmed, with offsets in UTF-16 units; or `Refused`,
with the sentence of the live service, or our own where no source is known. Pure. The rules of detection follow TDLib's
`MessageEntity.cpp` in short form: a bare host needs a well-known top-level domain, one with a scheme does not. Only
links with schemes that Telegram opens are kept, so `javascript:` and `data:` never reach the page. Limits and tags are
those of core.telegram.org/bots/api.
"""

import html
import re
from dataclasses import dataclass, replace

from localchat.records import Entity, FormattedText

TEXT_UNITS = 4096
CAPTION_UNITS = 1024


class Refused(Exception):
    """The Bot API's error response to a call that it rejects."""

    def __init__(self, description: str, *, code: int = 400) -> None:
        super().__init__(description)
        self.description = description
        self.code = code


def bad(sentence: str) -> Refused:
    """A refusal of the most common kind, 400 Bad Request."""
    return Refused(f"Bad Request: {sentence}")


def utf16_length(text: str) -> int:
    """How many UTF-16 units `text` has."""
    return len(text) + sum(char > "\uffff" for char in text)


def cut(text: str, start: int, end: int) -> str:
    """The part of `text` between two UTF-16 offsets."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", errors="replace")


def check_length(text: str, units: int, sentence: str) -> None:
    """Raises Refused with the sentence."""
    if utf16_length(text) > units:
        raise bad(sentence)


_KINDS = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
    "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "span": "spoiler", "tg-spoiler": "spoiler",
    "a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote",
}  # fmt: skip
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[\w-]*)(?P<attributes>(?:\s[^<>]*)?)>")
_ATTRIBUTE = re.compile(r"""([^\s=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([\w.-]*)))?""")
_CHARACTER = re.compile(r"&(?:lt|gt|amp|quot|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});?")
_LANGUAGE_CLASS = "language-"
# With a scheme any host is valid; without one the host needs a dot.
_ADDRESS = re.compile(r"(?:https?|ftp|tg|ton)://[^\s/?#]\S*|(?:mailto|tel):\S+|[^\s/?#:]+\.[^\s.:]\S*", re.IGNORECASE)
_SCHEME = re.compile(r"(?:(?:https?|ftp|tg|ton)://|mailto:|tel:)", re.IGNORECASE)
_USER = re.compile(r"tg://user\?id=(\d{1,15})")


@dataclass(kw_only=True)
class _Open:
    """A start tag whose end tag has not come yet."""

    name: str
    offset: int
    attributes: dict[str, str]
    language: str | None = None  # of the <code class="language-…"> inside a <pre>


def parse_html(source: str) -> FormattedText:
    """Read the whole of `source`. Raises Refused for anything that Telegram does not accept."""
    text, at = "", 0
    opened: list[_Open] = []
    entities: list[Entity] = []
    for tag in _TAG.finditer(source):
        text += _text(source, at, tag.start())
        at, name, before = tag.end(), tag["name"].lower(), source[: tag.start()]
        if tag["end"]:
            entities += _closed(opened, name, text, before)
            continue
        if name not in _KINDS:
            raise _refused(f'Unsupported start tag "{name}"', before)
        written = _ATTRIBUTE.finditer(tag["attributes"])
        attributes = {one[1].lower(): _decode(one[2] or one[3] or one[4] or "") for one in written}
        if name == "span" and attributes.get("class") != "tg-spoiler":
            raise _refused('Tag "span" must have class "tg-spoiler"', before)
        opened.append(_Open(name=name, offset=utf16_length(text), attributes=attributes))
    text += _text(source, at, len(source))
    if opened:
        raise bad(f"can't parse entities: Can't find end tag corresponding to start tag \"{opened[-1].name}\"")
    return FormattedText(text=text, entities=tuple(entities))


def _refused(sentence: str, before: str) -> Refused:
    return bad(f"can't parse entities: {sentence} at byte offset {len(before.encode())}")


def _text(source: str, start: int, end: int) -> str:
    """What stands between tags, with its character references decoded."""
    piece = source[start:end]
    if "<" in piece:
        raise _refused("Unsupported start tag", source[: start + piece.index("<")])
    return _decode(piece)


def _decode(raw: str) -> str:
    """Decodes only numeric and four named character references; `&nbsp;` stays as it is."""
    return _CHARACTER.sub(lambda match: html.unescape(match[0].rstrip(";") + ";"), raw)


def _closed(opened: list[_Open], name: str, text: str, before: str) -> list[Entity]:
    """The entity of the tag that ends here, if it has any text; a <code> at the start of a <pre> only sets that one's
    language."""
    if not opened:
        raise _refused("Unexpected end tag", before)
    tag = opened.pop()
    if name != tag.name:
        raise _refused(f'Unmatched end tag, expected "</{tag.name}>", found "</{name}>",', before)
    parent = opened[-1] if opened else None
    if tag.name == "code" and parent and parent.name == "pre" and parent.offset == tag.offset:
        declared = tag.attributes.get("class", "")
        parent.language = declared.removeprefix(_LANGUAGE_CLASS) if declared.startswith(_LANGUAGE_CLASS) else None
        return []
    entity = _entity(tag, text)
    return [entity] if entity and entity.length else []


def _entity(tag: _Open, text: str) -> Entity | None:
    """A link to a user becomes a mention; an invalid address is dropped silently, as Telegram does."""
    kind, length = _KINDS[tag.name], utf16_length(text) - tag.offset
    if kind == "blockquote" and "expandable" in tag.attributes:
        kind = "expandable_blockquote"
    if kind != "text_link":
        return Entity(kind=kind, offset=tag.offset, length=length, language=tag.language)
    url = tag.attributes.get("href") or cut(text, tag.offset, tag.offset + length)
    if mentioned := _USER.fullmatch(url):
        return Entity(kind="text_mention", offset=tag.offset, length=length, user_id=int(mentioned[1]))
    if not _ADDRESS.fullmatch(url):
        return None
    return Entity(
        kind="text_link", offset=tag.offset, length=length, url=url if _SCHEME.match(url) else f"http://{url}"
    )


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
    for kind, rule in _RULES:
        for match in rule.finditer(text):
            found = _without_tail(match[0]) if kind == "url" else match[0]
            start, end = match.start(), match.start() + len(found)
            is_free = all(end <= other_start or start >= other_end for other_start, other_end, _ in taken)
            if is_free and found.rpartition("://")[2]:
                taken.append((start, end, kind))
    return tuple(
        Entity(kind=kind, offset=utf16_length(text[:start]), length=utf16_length(text[start:end]))
        for start, end, kind in sorted(taken)
    )


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
