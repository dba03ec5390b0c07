"""Entities that a client passes explicitly (`entities=`).

In: decoded JSON, and the text. Out: records, checked against the text. Raises Refused with the sentence of the Bot API
for a wrong shape or an offset inside a character.
"""

from collections.abc import Mapping

from bot.localchat.checks import bad
from bot.localchat.records import Entity
from bot.localchat.text.links import clean_address
from bot.localchat.text.units import boundaries, utf16_length

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
    found = [_entity(item) for item in value]
    _check_offsets(found, text)
    return tuple(entity for entity in found if _is_kept(entity))


def _is_kept(entity: Entity) -> bool:
    linked = entity.kind != "text_link" or entity.url is not None
    return entity.kind in _CLAIMED and entity.length > 0 and linked


def _entity(item: object) -> Entity:
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
