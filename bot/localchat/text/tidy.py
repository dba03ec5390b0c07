"""The last step for every text: trims it, sorts its entities, adds those that Telegram detects by itself.

In: a text with entities as written. Out: `FormattedText` as Telegram stores it. Raises nothing.
"""

from dataclasses import replace

from bot.localchat.records import Entity, FormattedText
from bot.localchat.text.detect import find_entities
from bot.localchat.text.units import utf16_length

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
