"""Formatting that a client sends: the HTML parse mode, or entities passed explicitly.

In: marked-up source; or decoded JSON and a text. Out: a text with entities, or `Refused` with Telegram's sentence and
byte offset. `text.tidy` trims the text and sorts the entities. Sources of tags and sentences:
core.telegram.org/bots/api#html-style and the live service.
"""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from localchat.checks import Refused, bad
from localchat.records import Entity, FormattedText
from localchat.text import boundaries, clean_address, cut, mentioned_user, utf16_length

_KINDS = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
    "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "span": "spoiler", "tg-spoiler": "spoiler",
    "a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote", "tg-emoji": "custom_emoji",
}  # fmt: skip
_END_TAG = re.compile(r"</\s*([^\s>]*)\s*(>?)")
_TAG_NAME = re.compile(r"<([^\s>]*)")
_ATTRIBUTE = re.compile(r"""\s*([^\s=>]+)(\s*=\s*(?:"([^"]*)"|'([^']*)'|([\w.-]*)))?""")
_CHARACTER = re.compile(r"&(?:lt|gt|amp|quot|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});?")
_LANGUAGE_CLASS = "language-"


@dataclass(kw_only=True)
class _Open:
    """A start tag whose end tag has not come yet."""

    name: str
    offset: int
    attributes: dict[str, str]
    language: str | None = None  # of the <code class="language-…"> inside a <pre>


@dataclass
class _Reader:
    source: str
    at: int = 0
    text: list[str] = field(default_factory=list)
    offset: int = 0  # UTF-16 units written so far
    opened: list[_Open] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)

    def write(self, piece: str) -> None:
        self.text.append(piece)
        self.offset += utf16_length(piece)

    def refuse(self, sentence: str, at: int) -> Refused:
        return bad(f"can't parse entities: {sentence} at byte offset {len(self.source[:at].encode())}")


def parse_html(source: str) -> FormattedText:
    """Read the whole of `source`. Raises Refused for anything that Telegram does not accept."""
    reader = _Reader(source)
    while reader.at < len(source):
        if source[reader.at] != "<":
            _read_text(reader)
        elif source.startswith("</", reader.at):
            _read_end(reader)
        else:
            _read_start(reader)
    if reader.opened:
        raise bad(f"can't parse entities: Can't find end tag corresponding to start tag \"{reader.opened[-1].name}\"")
    return FormattedText(text="".join(reader.text), entities=tuple(reader.entities))


def _read_text(reader: _Reader) -> None:
    end = reader.source.find("<", reader.at)
    end = len(reader.source) if end < 0 else end
    reader.write(_decode(reader.source[reader.at : end]))
    reader.at = end


def _decode(raw: str) -> str:
    """Decodes only numeric and four named character references; `&nbsp;` stays as it is."""
    return _CHARACTER.sub(lambda match: html.unescape(match[0].rstrip(";") + ";"), raw)


def _read_start(reader: _Reader) -> None:
    begin = reader.at
    match = _TAG_NAME.match(reader.source, begin)
    name = match[1].lower() if match else ""
    if begin + 1 + len(name) == len(reader.source):
        raise reader.refuse("Unclosed start tag", begin)
    if name not in _KINDS:
        raise reader.refuse(f'Unsupported start tag "{name}"', begin)
    reader.at = begin + 1 + len(name)
    attributes = _read_attributes(reader, name, begin)
    if name == "span" and attributes.get("class") != "tg-spoiler":
        raise reader.refuse('Tag "span" must have class "tg-spoiler"', begin)
    reader.opened.append(_Open(name=name, offset=reader.offset, attributes=attributes))


def _read_attributes(reader: _Reader, tag: str, begin: int) -> dict[str, str]:
    found: dict[str, str] = {}
    while match := _ATTRIBUTE.match(reader.source, reader.at):
        name, given = match[1].lower(), match[2]
        if given is None and tag != "blockquote":
            sentence = f'Expected equal sign in declaration of an attribute of the tag "{tag}"'
            raise reader.refuse(sentence, begin)
        found[name] = _decode(match[3] or match[4] or match[5] or "")
        reader.at = match.end()
    rest = re.compile(r"\s*>").match(reader.source, reader.at)
    if not rest:
        raise reader.refuse("Unclosed start tag", begin)
    reader.at = rest.end()
    return found


def _read_end(reader: _Reader) -> None:
    begin = reader.at
    match = _END_TAG.match(reader.source, begin)
    if not match or not match[2]:
        raise reader.refuse("Unclosed end tag", begin)
    if not reader.opened:
        raise reader.refuse("Unexpected end tag", begin)
    name, opened = match[1].lower(), reader.opened.pop()
    if name and name != opened.name:
        sentence = (
            f'Unmatched end tag at byte offset {len(reader.source[:begin].encode())}, expected "</{opened.name}>"'
        )
        raise bad(f'can\'t parse entities: {sentence}, found "</{name}>"')
    reader.at = match.end()
    _close(reader, opened)


def _close(reader: _Reader, opened: _Open) -> None:
    """Turn a closed tag into its entity; a <code> at the start of a <pre> only sets that one's language."""
    parent = reader.opened[-1] if reader.opened else None
    if opened.name == "code" and parent and parent.name == "pre" and parent.offset == opened.offset:
        parent.language = _language(opened)
        return
    entity = _entity(reader, opened)
    if entity and entity.length:
        reader.entities.append(entity)


def _language(opened: _Open) -> str | None:
    declared = opened.attributes.get("class", "")
    return declared.removeprefix(_LANGUAGE_CLASS) if declared.startswith(_LANGUAGE_CLASS) else None


def _entity(reader: _Reader, opened: _Open) -> Entity | None:
    kind, length = _KINDS[opened.name], reader.offset - opened.offset
    if kind == "text_link":
        return _link(reader, opened, length)
    if kind == "blockquote" and "expandable" in opened.attributes:
        kind = "expandable_blockquote"
    emoji = opened.attributes.get("emoji-id") if kind == "custom_emoji" else None
    return Entity(kind=kind, offset=opened.offset, length=length, language=opened.language, custom_emoji_id=emoji)


def _link(reader: _Reader, opened: _Open, length: int) -> Entity | None:
    """A link to a user becomes a mention; an invalid address is dropped silently, as Telegram does."""
    url = opened.attributes.get("href") or cut("".join(reader.text), opened.offset, reader.offset)
    user_id = mentioned_user(url)
    if user_id is not None:
        return Entity(kind="text_mention", offset=opened.offset, length=length, user_id=user_id)
    address = clean_address(url)
    return Entity(kind="text_link", offset=opened.offset, length=length, url=address) if address else None


# Kinds that a client may pass
_CLAIMED = {
    "bold", "italic", "underline", "strikethrough", "spoiler", "blockquote", "expandable_blockquote", "code", "pre",
    "text_link", "text_mention", "custom_emoji",
}  # fmt: skip
# Kinds that the server detects by itself; ignored when a client passes them
_FOUND = {"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "date_time"}


def read_entities(value: object, text: str) -> tuple[Entity, ...]:
    """The records of `value`, all inside `text`."""
    if not isinstance(value, list):
        raise bad("can't parse entities: expected an Array of MessageEntity")
    found = [_given_entity(item) for item in value]
    _check_offsets(found, text)
    return tuple(entity for entity in found if _is_kept(entity))


def _is_kept(entity: Entity) -> bool:
    linked = entity.kind != "text_link" or entity.url is not None
    return entity.kind in _CLAIMED and entity.length > 0 and linked


def _given_entity(item: object) -> Entity:
    if not isinstance(item, Mapping):
        raise bad("can't parse MessageEntity: expected an Object")
    kind, user = item.get("type"), item.get("user")
    if kind not in _CLAIMED | _FOUND:
        raise bad("can't parse MessageEntity: Unsupported type specified")
    return Entity(
        kind=str(kind),
        offset=_whole(item, "offset"),
        length=_whole(item, "length"),
        url=clean_address(str(item.get("url") or "")),
        user_id=_whole(user, "id") if isinstance(user, Mapping) else None,
        language=_string(item, "language"),
        custom_emoji_id=_string(item, "custom_emoji_id"),
    )


def _whole(item: Mapping[str, object], name: str) -> int:
    value = item.get(name)
    if not isinstance(value, int):
        raise bad(f"can't parse MessageEntity: Can't find field \"{name}\"")
    return value


def _string(item: Mapping[str, object], name: str) -> str | None:
    value = item.get(name)
    return None if value is None else str(value)


def _check_offsets(entities: list[Entity], text: str) -> None:
    starts, end = boundaries(text), utf16_length(text)
    for entity in entities:
        if entity.offset < 0 or entity.length < 0:
            raise bad(f"entity has wrong offset or length: {entity.offset}, {entity.length}")
        if entity.end > end:
            raise bad(
                f"entity beginning at UTF-16 offset {entity.offset} "
                f"ends after the end of the text at UTF-16 offset {entity.end}"
            )
        if entity.offset not in starts or entity.end not in starts:
            raise bad(f"entity beginning at UTF-16 offset {entity.offset} begins or ends in a middle of a symbol")
