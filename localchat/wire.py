"""Records as the Bot API's JSON.

In: records. Out: JSON objects. The page gets the same objects as the bot, so there is only one format.
"""

import json
from dataclasses import asdict

from localchat.records import ACCOUNTS, ROOM_BY_ID, Account, Attachment, Entity, Json, Message, Room, StoredFile


def account_json(account: Account, *, language: str | None = None) -> Json:
    """A User."""
    return _given(
        id=account.user_id,
        is_bot=account.is_bot,
        first_name=account.first_name,
        username=account.username,
        language_code=None if account.is_bot else language or "ru",
    )


def room_json(room: Room) -> Json:
    """A Chat."""
    if room.kind == "private":
        person = ACCOUNTS[room.chat_id]
        return _given(id=room.chat_id, type="private", first_name=person.first_name, username=person.username)
    return {"id": room.chat_id, "type": room.kind, "title": room.title}


def entity_json(entity: Entity) -> Json:
    """A MessageEntity."""
    fields = asdict(entity)
    user_id = fields.pop("user_id")
    user = account_json(ACCOUNTS[user_id]) if user_id in ACCOUNTS else None
    return _given(type=fields.pop("kind"), user=user, **fields)


def message_json(message: Message, *, replied: Message | None = None, language: str | None = None) -> Json:
    """A Message; `replied` is the message it answers, included without that message's own `reply_to_message`."""
    quote = {"text": message.quote, "position": 0, "is_manual": True} if message.quote else None
    return _given(
        message_id=message.message_id,
        date=message.date,
        chat=room_json(ROOM_BY_ID[message.chat_id]),
        **{"from": account_json(ACCOUNTS[message.sender_id], language=language)},
        edit_date=message.edited,
        forward_origin=json.loads(message.origin) if message.origin else None,
        media_group_id=message.album,
        reply_to_message=message_json(replied) if replied else None,
        quote=quote,
        link_preview_options=json.loads(message.preview) if message.preview else None,
        reply_markup=json.loads(message.markup) if message.markup else None,
        **_content(message),
    )


def file_json(file: StoredFile) -> Json:
    """A File, without its path."""
    return {"file_id": file.file_id, "file_unique_id": file.unique_id, "file_size": file.size}


def _content(message: Message) -> Json:
    entities = [entity_json(entity) for entity in message.entities] or None
    if not message.attachment:
        return _given(text=message.text, entities=entities)
    caption = _given(caption=message.text or None, caption_entities=entities)
    return {**_attachment_json(message.attachment), **caption}


def _attachment_json(attachment: Attachment) -> Json:
    file = attachment.file
    common = file_json(file)
    named = {**common, "file_name": file.name, "mime_type": file.mime}
    if attachment.kind == "photo":
        return {"photo": [{**common, "width": file.width, "height": file.height}]}
    if attachment.kind == "voice":
        return {"voice": {**common, "duration": 0, "mime_type": file.mime}}
    if attachment.kind == "audio":
        return {"audio": {**named, "duration": 0}}
    if attachment.kind == "video":
        return {"video": {**named, "duration": 0, "width": file.width, "height": file.height}}
    return {"document": named}


def _given(**fields: object) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
