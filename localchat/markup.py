"""The HTML parse mode, as Telegram reads it.

In: marked-up source. Out: a text with entities, or `Refused` with a sentence and the byte offset. `text.tidy` trims the
text and sorts the entities. Tags: core.telegram.org/bots/api#html-style.
"""

import html
import re
from dataclasses import dataclass

from localchat.checks import Refused, bad
from localchat.records import Entity, FormattedText
from localchat.text import clean_address, cut, mentioned_user, utf16_length

_KINDS = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
    "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "span": "spoiler", "tg-spoiler": "spoiler",
    "a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote",
}  # fmt: skip
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[\w-]*)(?P<attributes>(?:\s[^<>]*)?)>")
_ATTRIBUTE = re.compile(r"""([^\s=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([\w.-]*)))?""")
_CHARACTER = re.compile(r"&(?:lt|gt|amp|quot|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});?")
_LANGUAGE_CLASS = "language-"


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
        at, name = tag.end(), tag["name"].lower()
        if tag["end"]:
            entities += _closed(opened, name, text, source[: tag.start()])
        elif name not in _KINDS:
            raise _refused(f'Unsupported start tag "{name}"', source[: tag.start()])
        else:
            attributes = _attributes(name, tag["attributes"], source[: tag.start()])
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


def _attributes(tag: str, written: str, before: str) -> dict[str, str]:
    found = {
        match[1].lower(): _decode(match[2] or match[3] or match[4] or "") for match in _ATTRIBUTE.finditer(written)
    }
    if tag == "span" and found.get("class") != "tg-spoiler":
        raise _refused('Tag "span" must have class "tg-spoiler"', before)
    return found


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
    if (user_id := mentioned_user(url)) is not None:
        return Entity(kind="text_mention", offset=tag.offset, length=length, user_id=user_id)
    address = clean_address(url)
    return Entity(kind="text_link", offset=tag.offset, length=length, url=address) if address else None
