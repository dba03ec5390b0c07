"""Messages and presses: send, edit, delete, draft, react, answer a button. In: calls. Out: messages in the Bot API's
JSON, or True."""

from collections.abc import Mapping
from dataclasses import replace

from localchat.api.call import (
    Call,
    Method,
    read_formatted,
    read_inline_markup,
    read_markup,
    read_preview,
    read_reply,
    read_room,
)
from localchat.checks import TEXT_UNITS, bad, check_caption, check_text, read_number
from localchat.records import BOT_ID, Attachment, FormattedText, Json, Message, Room, entity_json
from localchat.text import utf16_length

DRAFT_S = 30  # how long a draft stays visible (core.telegram.org/bots/api#sendmessagedraft)
DELETED_AT_ONCE = 100
_ACTIONS = {
    "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document",
    "choose_sticker", "find_location", "record_video_note", "upload_video_note",
}  # fmt: skip
_SAME = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)


async def send_message(call: Call) -> Json:
    """Send a text of the bot."""
    room = read_room(call)
    if not call.params.text("text"):
        raise bad("message text is empty")
    formatted = read_formatted(call)
    check_text(formatted)
    return post_from_bot(call, room, formatted, None)


def post_from_bot(call: Call, room: Room, formatted: FormattedText, attachment: Attachment | None) -> Json:
    """Post a checked message to the chat, with the reply, quote and keyboard of the call."""
    exchange, markup = call.exchange, read_markup(call)
    reply_to, quote = read_reply(call, room)
    view = exchange.post(
        Message(
            chat_id=room.chat_id,
            message_id=0,
            sender_id=BOT_ID,
            date=exchange.now(),
            text=formatted.text,
            entities=formatted.entities,
            attachment=attachment,
            reply_to=reply_to,
            quote=quote,
            markup=markup.inline,
            preview=read_preview(call),
        )
    )
    if markup.changes_keyboard:
        exchange.set_keyboard(room.chat_id, markup.keyboard)
    return view


async def send_message_draft(call: Call) -> bool:
    """Show a growing preview in a private chat; it is not stored."""
    room = read_room(call)
    if room.kind != "private":
        raise bad("TEXTDRAFT_PEER_INVALID")
    draft_id = call.params.whole("draft_id")
    if not draft_id:
        raise bad("RANDOM_ID_INVALID")
    formatted = read_formatted(call)
    if utf16_length(formatted.text) > TEXT_UNITS:
        raise bad("message is too long")
    shown: Json = {
        "text": formatted.text,
        "entities": [entity_json(entity) for entity in formatted.entities],
        "seconds": DRAFT_S,
        "keep_on_stop": call.params.flag("keep_on_stop"),
    }
    call.exchange.draft(room.chat_id, draft_id, shown, can_stop=call.params.flag("can_stop"))
    return True


async def edit_message_text(call: Call) -> Json:
    """Replace the text and keyboard of the bot's own message."""
    message = _own_message(call)
    if message.attachment:
        raise bad("there is no text in the message to edit")
    if not call.params.text("text"):
        raise bad("message text is empty")
    formatted = read_formatted(call)
    check_text(formatted)
    return _revise(call, message, formatted)


async def edit_message_caption(call: Call) -> Json:
    """Replace the caption and keyboard of the bot's own file message."""
    message = _own_message(call)
    if not message.attachment:
        raise bad("there is no caption in the message to edit")
    formatted = read_formatted(call, text="caption", entities="caption_entities")
    check_caption(formatted)
    return _revise(call, message, formatted)


async def edit_message_reply_markup(call: Call) -> Json:
    """Replace or remove the inline keyboard. The message does not count as edited."""
    message = _own_message(call)
    changed = replace(message, markup=read_inline_markup(call))
    if changed == message:
        raise bad(_SAME)
    return call.exchange.revise(changed)


def _own_message(call: Call) -> Message:
    room = read_room(call)
    message = call.exchange.messages.find(room.chat_id, call.params.whole("message_id"))
    if message is None:
        raise bad("message to edit not found")
    if message.sender_id != BOT_ID:
        raise bad("message can't be edited")
    return message


def _revise(call: Call, message: Message, formatted: FormattedText) -> Json:
    changed = replace(
        message,
        text=formatted.text,
        entities=formatted.entities,
        markup=read_inline_markup(call),
        preview=read_preview(call),
    )
    if changed == message:
        raise bad(_SAME)
    return call.exchange.revise(replace(changed, edited=call.exchange.now()))


async def delete_message(call: Call) -> bool:
    """Delete one message, of the bot or a person."""
    room = read_room(call)
    if not call.exchange.remove(room.chat_id, call.params.whole("message_id")):
        raise bad("message to delete not found")
    return True


async def delete_messages(call: Call) -> bool:
    """Delete up to 100 messages; missing ones are ignored."""
    room, ids = read_room(call), call.params.json("message_ids")
    if not isinstance(ids, list) or not ids:
        raise bad("message identifiers are not specified")
    if len(ids) > DELETED_AT_ONCE:
        raise bad("too many message identifiers specified")
    for message_id in ids:
        call.exchange.remove(room.chat_id, read_number(message_id, "message_ids"))
    return True


async def send_chat_action(call: Call) -> bool:
    """Show «печатает…» for five seconds, or until the next message."""
    room, action = read_room(call), call.params.text("action") or ""
    if action not in _ACTIONS:
        raise bad("wrong parameter action in request")
    call.exchange.hub.tell_pages({"type": "action", "chat_id": room.chat_id, "action": action})
    return True


async def set_message_reaction(call: Call) -> bool:
    """Set one emoji of the bot on a message, or none."""
    room = read_room(call)
    message = call.exchange.messages.find(room.chat_id, call.params.whole("message_id"))
    if message is None:
        raise bad("message to react not found")
    given = call.params.json("reaction")
    emoji = given[0].get("emoji") if isinstance(given, list) and given and isinstance(given[0], Mapping) else None
    call.exchange.messages.save(replace(message, reaction=emoji))
    event = {"type": "reaction", "chat_id": room.chat_id, "message_id": message.message_id, "emoji": emoji}
    call.exchange.hub.tell_pages(event)
    return True


ANSWER_UNITS = 200
# Telegram documents no number; in practice bots see the refusal after some ten seconds to minutes.
QUERY_LIVES_S = 60
_TOO_OLD = "query is too old and response timeout expired or query ID is invalid"


async def answer_callback_query(call: Call) -> bool:
    """Answer a button press, once and within `QUERY_LIVES_S`."""
    text = call.params.text("text") or ""
    if utf16_length(text) > ANSWER_UNITS:
        raise bad("MESSAGE_TOO_LONG")
    query = call.exchange.messages.take_query(call.params.text("callback_query_id") or "")
    if query is None or call.exchange.clock() - query.pressed_at > QUERY_LIVES_S:
        raise bad(_TOO_OLD)
    call.exchange.hub.tell_pages(
        {
            "type": "answer",
            "chat_id": query.chat_id,
            "message_id": query.message_id,
            "user_id": query.user_id,
            "query_id": query.query_id,
            "text": text,
            "alert": call.params.flag("show_alert"),
            "url": call.params.text("url"),
        }
    )
    return True


METHODS: dict[str, Method] = {
    "sendMessage": send_message,
    "sendMessageDraft": send_message_draft,
    "editMessageText": edit_message_text,
    "editMessageCaption": edit_message_caption,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "deleteMessage": delete_message,
    "deleteMessages": delete_messages,
    "sendChatAction": send_chat_action,
    "answerCallbackQuery": answer_callback_query,
    "setMessageReaction": set_message_reaction,
}
