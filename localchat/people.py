"""What people do: write, send files, forward, edit, press a button; and the page's HTTP interface to it.

In: JSON and uploads, as `Act` and `ACTS` have them. Out: messages and ids as JSON, the event stream, files as
downloads. Texts are trimmed and checked as by Telegram's own clients; entities are those that Telegram detects by
itself. The first event of a stream, `hello`, tells the page that it gets all events from now on; it reads earlier ones
from the history. The acceptance tests use the same endpoints.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Literal, Self
from urllib.parse import quote

from aiohttp import web
from pydantic import Field, model_validator

from localchat.call import EXCHANGE, Number, Parameters, read_request
from localchat.methods import content_of, profile_of
from localchat.records import (
    ACCOUNTS,
    BOT_ID,
    PEOPLE,
    ROOMS,
    YOU,
    FileKind,
    FormattedText,
    Json,
    Room,
    StoredFile,
    given,
)
from localchat.text import CAPTION_UNITS, TEXT_UNITS, Refused, bad, check_length, tidy, utf16_length

ALBUM_FILES = 10
PAGE_MESSAGES, MOST_MESSAGES = 60, 500
CHANNEL_ID = -1_002_000_000_002  # of every channel that something is said to come from
HEARTBEAT_S = 15.0  # a comment line, so that both sides notice a dead connection
_PHOTO_TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})
_VOICE_TYPES = frozenset({"audio/ogg", "audio/opus"})
# Types shown inside the page; anything else is served as plain bytes, whatever type its sender claimed.
_SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp", "audio/", "video/mp4")


class Act(Parameters):
    """One thing that a person does: what its address, its query and its body say."""

    user: Number
    chat: Number = 0
    message: Number = 0
    draft: Number = 0
    before: Number = 0
    limit: Number = PAGE_MESSAGES
    language: Literal["ru", "en"] = "ru"
    text: str = ""
    files: list[str] = Field([], max_length=ALBUM_FILES)
    as_file: bool = False
    captioned: Number = 0
    reply_to: Number = 0
    row: Number = 0
    column: Number = 0
    chat_id: Number = 0
    message_id: Number = 0
    kind: Literal["user", "hidden_user", "channel"] = "user"
    name: str = ""

    @model_validator(mode="after")
    def _is_by_a_person(self) -> Self:
        if self.user not in ACCOUNTS or self.user == BOT_ID:
            raise Refused("Not Found: person", code=404)
        return self

    @property
    def room(self) -> Room:
        """The chat of the address. Raises Refused when the person is not in it."""
        return self.room_of(self.chat)

    def room_of(self, chat_id: int) -> Room:
        """The chat with this id. Raises Refused when the person is not in it."""
        room = ROOMS.get(chat_id)
        if room is None or self.user not in room.people:
            raise bad("this person is not in this chat")
        return room

    @property
    def found(self) -> Json:
        """The message of the address. Raises Refused."""
        found = self.exchange.store.find(self.room.chat_id, self.message)
        if found is None:
            raise Refused("Not Found: message", code=404)
        return found


async def see(act: Act) -> Json:
    """Everything but the histories."""
    exchange, user_id = act.exchange, act.user
    texts = {name: profile_of(exchange, name, user_id) or "" for name in ("description", "short_description")}
    chats = [
        {
            "id": room.chat_id,
            "type": room.kind,
            "title": room.title,
            "people": room.people,
            "last": next(map(exchange.view, exchange.store.page(room.chat_id, before=2**62, limit=1)), None),
            "keyboard": exchange.keyboard(room.chat_id),
            "commands": profile_of(exchange, "commands", user_id) or [],
        }
        for room in ROOMS.values()
        if {YOU, user_id} & {*room.people}
    ]
    return {"bot": {**ACCOUNTS[BOT_ID], **texts}, "people": PEOPLE, "chats": chats}


async def set_language(act: Act) -> Json:
    """That of the page from now on."""
    act.exchange.store.put(f"language of {act.user}", act.language)
    return {"ok": True}


async def upload(act: Act) -> Json:
    """Keep a file that is going to be sent."""
    file = act.uploads.get("file")
    if file is None:
        raise bad("there is no file in the request")
    saved = act.exchange.files.save(file.file, name=file.filename, mime=file.content_type)
    return {"file_id": saved.file_id, "name": saved.name, "size": saved.size}


async def read_history(act: Act) -> Json:
    """The messages before `before`, or the last ones."""
    limit = min(max(act.limit, 1), MOST_MESSAGES)
    found = act.exchange.store.page(act.room.chat_id, before=act.before or 2**62, limit=limit + 1)
    return {"messages": [act.exchange.view(message) for message in found[-limit:]], "more": len(found) > limit}


async def say(act: Act) -> Json:
    """Write a message. Several files form an album, whose file `captioned` (from 0) carries the text; a text that is
    too long becomes several messages, as with Telegram's clients."""
    room, exchange = act.room, act.exchange
    files = [file for file_id in act.files if (file := exchange.files.find(file_id))]
    if len(files) < len(act.files):
        raise bad("upload the file first")
    written = [tidy(FormattedText(text=part)) for part in ([act.text] if files else parts_of(act.text, TEXT_UNITS))]
    for part in written:
        check_length(part.text, CAPTION_UNITS if files else TEXT_UNITS, "message is too long")
        if not files and not part.text:
            raise bad("message text is empty")
    contents = _album(written[0], files, act) if files else [part.to_json() for part in written]
    if act.reply_to and exchange.store.find(room.chat_id, act.reply_to):
        for content in contents[:1] if files else contents:
            content["reply_to_message"] = {"message_id": act.reply_to}
    return {"messages": [exchange.post(room, act.user, **content) for content in contents]}


def _album(caption: FormattedText, files: Sequence[StoredFile], act: Act) -> list[Json]:
    """One message per file. The first one carries the caption unless `captioned` names another: clients may put the
    caption of an album of documents under the last one."""
    album = str(secrets.randbits(50)) if len(files) > 1 else None
    place = act.captioned if 0 <= act.captioned < len(files) else 0
    return [
        {
            **file.shown_as("document" if act.as_file else _kind(file)),
            **(caption.to_json("caption") if number == place else {}),
            "media_group_id": album,
        }
        for number, file in enumerate(files)
    ]


def _kind(file: StoredFile) -> FileKind:
    """The kind as which Telegram's clients send a file of this type."""
    if file.mime in _PHOTO_TYPES and file.width:
        return "photo"
    if file.mime in _VOICE_TYPES:
        return "voice"
    if file.mime.startswith("audio/"):
        return "audio"
    return "video" if file.mime == "video/mp4" else "document"


def parts_of(text: str, units: int) -> list[str]:
    """Parts of at most so many UTF-16 units, cut at an empty line, else at the end of a line, else of a sentence or a
    word, of which each leaves a part at least half full."""
    parts: list[str] = []
    while utf16_length(text) > units:
        head = text.encode("utf-16-le")[: units * 2].decode("utf-16-le", errors="ignore")
        ends = (head.rfind(end) + len(end) for end in ("\n\n", "\n", ". ", " "))
        cut = next((end for end in ends if end > len(head) // 2), len(head))
        parts.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*parts, text] if text or not parts else parts


async def forward(act: Act) -> Json:
    """Say what was said in a message, and by whom. As `kind` "hidden_user" or "channel" it comes from somebody of that
    name who is not in these chats."""
    found = act.exchange.store.find(act.room_of(act.chat_id).chat_id, act.message_id)
    if found is None:
        raise bad("message to forward not found")
    origin, name = {"type": act.kind, "date": found["date"]}, " ".join(act.name.split())
    if act.kind != "user" and not name:
        raise bad("the sender has no name")
    if act.kind == "hidden_user":
        origin |= {"sender_user_name": name}
    elif act.kind == "channel":
        chat = {"id": CHANNEL_ID, "type": "channel", "title": name}
        origin |= {"chat": chat, "message_id": found["message_id"]}
    else:  # of a message that was forwarded before its origin stays
        origin = found.get("forward_origin") or {**origin, "sender_user": ACCOUNTS[found["from"]["id"]]}
    return {"message": act.exchange.post(act.room, act.user, **content_of(found), forward_origin=origin)}


async def edit(act: Act) -> Json:
    """Another text or caption of one's own message."""
    message = act.found
    if message["from"]["id"] != act.user:
        raise bad("message can't be edited")
    formatted, has_text = tidy(FormattedText(text=act.text)), "text" in message
    if not formatted.text and has_text:
        raise bad("message text is empty")
    changed = given(**{**message, **formatted.to_json("text" if has_text else "caption")})
    if changed == message:
        raise bad("message is not modified")
    return {"message": act.exchange.revise(changed)}


async def press(act: Act) -> Json:
    """An inline button of a message, by its place."""
    message = act.found
    keyboard = message.get("reply_markup", {}).get("inline_keyboard", [])
    buttons = {(row, column): each for row, line in enumerate(keyboard) for column, each in enumerate(line)}
    button = buttons.get((act.row, act.column), {})
    if "callback_data" not in button:
        raise bad("there is no such button")
    return {"query_id": act.exchange.press(message, act.user, button["callback_data"])}


async def stop_draft(act: Act) -> Json:
    """The button on a draft."""
    if not act.exchange.stop_draft(act.room, act.draft):
        raise bad("there is no such draft")
    return {"ok": True}


_CHAT = "/people/{user}/chats/{chat}/messages"
ACTS: Mapping[tuple[str, str], Callable[[Act], Awaitable[Json]]] = {
    ("GET", "/people/{user}"): see,
    ("POST", "/people/{user}/language"): set_language,
    ("POST", "/people/{user}/uploads"): upload,
    ("GET", _CHAT): read_history,
    ("POST", _CHAT): say,
    ("POST", "/people/{user}/chats/{chat}/forwarded"): forward,
    ("POST", _CHAT + "/{message}"): edit,
    ("POST", _CHAT + "/{message}/press"): press,
    ("POST", "/people/{user}/chats/{chat}/drafts/{draft}/stop"): stop_draft,
}


async def send_events(request: web.Request) -> web.StreamResponse:
    """Send events until the page disconnects or the server stops."""
    hub = (await read_request(request, Act)).exchange.hub
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    await response.prepare(request)
    with hub.page() as events, suppress(ConnectionResetError):  # raised when the page was closed
        await response.write(b'data: {"type": "hello"}\n\n')
        while not hub.closed:
            try:
                event = await asyncio.wait_for(events.get(), HEARTBEAT_S)
            except TimeoutError:
                await response.write(b": still here\n\n")
                continue
            if event is None:
                break
            await response.write(f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
    return response


async def send_file(request: web.Request) -> web.StreamResponse:
    """The bytes of a file. Raises Refused for an unknown one."""
    files = request.app[EXCHANGE].files
    file = files.find(request.match_info["file"])
    if file is None:
        raise Refused("Not Found: file", code=404)
    headers = {
        "Content-Type": file.mime if file.mime.startswith(_SHOWN) else "application/octet-stream",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
        "Cache-Control": "private, max-age=86400, immutable",
    }
    return web.FileResponse(files.location(file), headers=headers)
