"""What people do: write, send files, forward, edit, press a button; and the page's HTTP interface to it.

In: JSON and uploads. Out: messages and ids as JSON, the event stream, files as downloads. Texts are trimmed and checked
as by Telegram's own clients; entities are those that Telegram detects by itself.

GET  /people/{user}                                    bot, people, chats
POST /people/{user}/language                           {"language"}
GET  /people/{user}/events                             server-sent events
POST /people/{user}/uploads                            multipart "file" -> {"file_id", "name", "size"}
GET  /people/{user}/chats/{chat}/messages              ?before=&limit= -> {"messages", "more"}
POST /people/{user}/chats/{chat}/messages              what `say` takes -> {"messages"}
POST /people/{user}/chats/{chat}/forwarded             what `forward` takes -> {"message"}
POST /people/{user}/chats/{chat}/messages/{id}         {"text"} -> {"message"}
POST /people/{user}/chats/{chat}/messages/{id}/press   {"row", "column"} -> {"query_id"}
POST /people/{user}/chats/{chat}/drafts/{id}/stop      the button on a draft
GET  /files/{file}                                     the bytes, always as an attachment

The first event of a stream, `hello`, tells the page that it gets all events from now on; it reads earlier ones from
the history. The acceptance tests use the same endpoints.
"""

import asyncio
import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from urllib.parse import quote

from aiohttp import web
from aiohttp.typedefs import Handler

from localchat.checks import CAPTION_UNITS, TEXT_UNITS, Refused, bad, canonical, read_number
from localchat.exchange import Exchange
from localchat.methods import commands_for, profile_text
from localchat.records import (
    ACCOUNTS,
    BOT,
    PEOPLE,
    ROOM_BY_ID,
    ROOMS,
    YOURS,
    Attachment,
    FileKind,
    FormattedText,
    Json,
    Message,
    Room,
    StoredFile,
    account_json,
)
from localchat.text import tidy, utf16_length

ALBUM_FILES = 10
CHANNEL_ID = -1_002_000_000_002  # of every channel that something is said to come from
_PHOTO_TYPES = frozenset({"image/png", "image/jpeg", "image/webp"})
_VOICE_TYPES = frozenset({"audio/ogg", "audio/opus"})


def read_room_of(chat_id: int, user_id: int) -> Room:
    """The chat with this id. Raises Refused when the person is not in it."""
    room = ROOM_BY_ID.get(chat_id)
    if room is None or user_id not in room.people:
        raise bad("this person is not in this chat")
    return room


def say(exchange: Exchange, room: Room, user_id: int, said: Mapping[str, object]) -> Sequence[Json]:
    """`{"text", "files": [file_id], "as_file", "reply_to", "captioned"}` -> the new messages. Several files form an
    album; its file number `captioned` (from 0) carries the text. A text that is too long for a message becomes several,
    as with Telegram's clients."""
    text, files = str(said.get("text") or ""), _files(exchange, said.get("files"))
    parts = [text] if files else parts_of(text, TEXT_UNITS)
    if len(parts) > 1:
        return [message for part in parts for message in say(exchange, room, user_id, {**said, "text": part})]
    formatted = tidy(FormattedText(text=text))
    limit = CAPTION_UNITS if files else TEXT_UNITS
    if utf16_length(formatted.text) > limit:
        raise bad("message is too long")
    if not files and not formatted.text:
        raise bad("message text is empty")
    reply_to = said.get("reply_to")
    target = None if reply_to is None else exchange.messages.find(room.chat_id, read_number(reply_to, "reply_to"))
    written = Message(
        chat_id=room.chat_id,
        message_id=0,
        sender_id=user_id,
        date=exchange.now(),
        text=formatted.text,
        entities=formatted.entities,
        reply_to=target.message_id if target else None,
    )
    messages = _messages(written, files, as_file=bool(said.get("as_file")), captioned=said.get("captioned"))
    return [exchange.post(message) for message in messages]


def forward(exchange: Exchange, room: Room, user_id: int, said: Mapping[str, object]) -> Json:
    """`{"chat_id", "message_id", "kind", "name"}` -> the new message: what was said there, and by whom. As `kind`
    "hidden_user" or "channel" it comes from somebody of that name who is not in these chats."""
    source = read_room_of(read_number(said.get("chat_id"), "chat_id"), user_id)
    found = exchange.messages.find(source.chat_id, read_number(said.get("message_id"), "message_id"))
    if found is None:
        raise bad("message to forward not found")
    origin = _origin(str(said.get("kind") or "user"), " ".join(str(said.get("name") or "").split()), found)
    return exchange.post(
        Message(
            chat_id=room.chat_id,
            message_id=0,
            sender_id=user_id,
            date=exchange.now(),
            text=found.text,
            entities=found.entities,
            attachment=found.attachment,
            origin=canonical(origin) if origin else found.origin,
        )
    )


def _origin(kind: str, name: str, found: Message) -> Json | None:
    """Telegram's MessageOrigin; None where that of a message forwarded before stays."""
    if kind != "user" and not name:
        raise bad("the sender has no name")
    if kind == "hidden_user":
        return {"type": kind, "date": found.date, "sender_user_name": name}
    if kind == "channel":
        channel = {"id": CHANNEL_ID, "type": "channel", "title": name}
        return {"type": kind, "date": found.date, "chat": channel, "message_id": found.message_id}
    if kind != "user":
        raise bad("kind is user, hidden_user or channel")
    return (
        None
        if found.origin
        else {"type": kind, "date": found.date, "sender_user": account_json(ACCOUNTS[found.sender_id])}
    )


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


def _messages(written: Message, files: Sequence[StoredFile], *, as_file: bool, captioned: object) -> list[Message]:
    """One message per file. The first one carries the caption unless `captioned` names another: clients may put the
    caption of an album of documents under the last one."""
    if not files:
        return [written]
    album = str(secrets.randbits(50)) if len(files) > 1 else None
    place = captioned if isinstance(captioned, int) and 0 <= captioned < len(files) else 0
    return [
        replace(
            written,
            text=written.text if number == place else "",
            entities=written.entities if number == place else (),
            reply_to=None if number else written.reply_to,
            attachment=Attachment(kind="document" if as_file else _kind(file), file=file),
            album=album,
        )
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


def _files(exchange: Exchange, ids: object) -> list[StoredFile]:
    wanted = ids if isinstance(ids, list) else []
    if len(wanted) > ALBUM_FILES:
        raise bad("too many files: ten at most in one message")
    found = [exchange.files.find(str(file_id)) for file_id in wanted]
    if not all(found):
        raise bad("upload the file first")
    return [file for file in found if file]


PAGE_MESSAGES, MOST_MESSAGES = 60, 500
_LANGUAGES = ("ru", "en")
_CHAT = "/people/{user}/chats/{chat}/messages"
# Types shown inside the page; anything else is served as plain bytes, whatever type its sender claimed.
_SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp", "audio/", "video/mp4")


class PeopleApi:
    """What the page and the acceptance tests call."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/people/{user}", self._whole),
            web.post("/people/{user}/language", self._set_language),
            web.get("/people/{user}/events", self._events),
            web.post("/people/{user}/uploads", self._upload),
            web.get(_CHAT, self._history),
            web.post(_CHAT, self._say),
            web.post("/people/{user}/chats/{chat}/forwarded", self._forward),
            web.post(_CHAT + "/{message}", self._edit),
            web.post(_CHAT + "/{message}/press", self._press),
            web.post("/people/{user}/chats/{chat}/drafts/{draft}/stop", self._stop_draft),
            web.get("/files/{file}", self._file),
        ]

    async def _whole(self, request: web.Request) -> web.Response:
        """Everything but the histories."""
        exchange, user_id = self._exchange, _user(request)
        texts = {
            name: profile_text(exchange, name, exchange.language(user_id))
            for name in ("description", "short_description")
        }
        whole = {
            "bot": {**account_json(BOT), **texts},
            "people": [account_json(person) for person in PEOPLE],
            "chats": [_room_view(exchange, room, user_id) for room in ROOMS if room in YOURS or user_id in room.people],
        }
        return web.json_response(whole)

    async def _set_language(self, request: web.Request) -> web.Response:
        language = (await _body(request)).get("language")
        if language not in _LANGUAGES:
            raise bad("language is ru or en")
        self._exchange.values.put(f"language of {_user(request)}", language)
        return web.json_response({"ok": True})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Send events until the page disconnects or the server stops."""
        _user(request)
        hub = self._exchange.hub
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        with hub.page() as events, suppress(ConnectionResetError):  # raised when the page was closed
            await response.write(b'data: {"type": "hello"}\n\n')
            while not hub.closed and (line := await _next_line(events)):
                await response.write(line)
        return response

    async def _upload(self, request: web.Request) -> web.Response:
        upload = (await request.post()).get("file")
        if not isinstance(upload, web.FileField):
            raise bad("there is no file in the request")
        saved = self._exchange.files.save(upload.file, name=upload.filename, mime=upload.content_type)
        return web.json_response({"file_id": saved.file_id, "name": saved.name, "size": saved.size})

    async def _history(self, request: web.Request) -> web.Response:
        room, query = _room(request), request.query
        limit = min(max(read_number(query.get("limit", PAGE_MESSAGES), "limit"), 1), MOST_MESSAGES)
        before = read_number(query.get("before", 0), "before") or None
        found = self._exchange.messages.page(room.chat_id, before=before, limit=limit + 1)
        messages = [self._exchange.view(message) for message in found[-limit:]]
        return web.json_response({"messages": messages, "more": len(found) > limit})

    async def _say(self, request: web.Request) -> web.Response:
        said = say(self._exchange, _room(request), _user(request), await _body(request))
        return web.json_response({"messages": said})

    async def _forward(self, request: web.Request) -> web.Response:
        room, user = _room(request), _user(request)
        return web.json_response({"message": forward(self._exchange, room, user, await _body(request))})

    async def _edit(self, request: web.Request) -> web.Response:
        message = self._message(request)
        if message.sender_id != _user(request):
            raise bad("message can't be edited")
        formatted = tidy(FormattedText(text=str((await _body(request)).get("text") or "")))
        if not formatted.text and not message.attachment:
            raise bad("message text is empty")
        changed = replace(message, text=formatted.text, entities=formatted.entities)
        if changed == message:
            raise bad("message is not modified")
        edited = self._exchange.revise(replace(changed, edited=self._exchange.now()))
        return web.json_response({"message": edited})

    async def _press(self, request: web.Request) -> web.Response:
        body, message = await _body(request), self._message(request)
        row, column = read_number(body.get("row"), "row"), read_number(body.get("column"), "column")
        keyboard = json.loads(message.markup)["inline_keyboard"] if message.markup else []
        button = keyboard[row][column] if 0 <= row < len(keyboard) and 0 <= column < len(keyboard[row]) else {}
        if "callback_data" not in button:
            raise bad("there is no such button")
        query_id = self._exchange.press(message, _user(request), button["callback_data"])
        return web.json_response({"query_id": query_id})

    async def _stop_draft(self, request: web.Request) -> web.Response:
        if not self._exchange.stop_draft(_room(request).chat_id, _number(request, "draft")):
            raise bad("there is no such draft")
        return web.json_response({"ok": True})

    def _message(self, request: web.Request) -> Message:
        found = self._exchange.messages.find(_room(request).chat_id, _number(request, "message"))
        if found is None:
            raise Refused("Not Found: message", code=404)
        return found

    async def _file(self, request: web.Request) -> web.StreamResponse:
        file = self._exchange.files.find(request.match_info["file"])
        if file is None:
            raise web.HTTPNotFound
        mime = file.mime if file.mime.startswith(_SHOWN) else "application/octet-stream"
        headers = {
            "Content-Type": mime,
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
            "Cache-Control": "private, max-age=86400, immutable",
        }
        return web.FileResponse(self._exchange.files.location(file), headers=headers)


@web.middleware
async def tell_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turns the refusal of a person's action into JSON."""
    try:
        return await handler(request)
    except Refused as refusal:
        return web.json_response({"ok": False, "description": refusal.description}, status=refusal.code)


def _number(request: web.Request, name: str) -> int:
    """A number of the address. Raises Refused."""
    return read_number(request.match_info[name], name)


def _user(request: web.Request) -> int:
    user_id = _number(request, "user")
    if user_id not in ACCOUNTS or ACCOUNTS[user_id].is_bot:
        raise Refused("Not Found: person", code=404)
    return user_id


def _room(request: web.Request) -> Room:
    return read_room_of(_number(request, "chat"), _user(request))


async def _body(request: web.Request) -> Mapping[str, object]:
    try:
        body = await request.json()
    except ValueError:
        raise bad("can't parse JSON object") from None
    if not isinstance(body, dict):
        raise bad("expected an Object")
    return body


HEARTBEAT_S = 15.0  # a comment line, so that both sides notice a dead connection


async def _next_line(events: "asyncio.Queue[Json | None]") -> bytes | None:
    """The next event, or a heartbeat; None when the page must disconnect."""
    try:
        event = await asyncio.wait_for(events.get(), HEARTBEAT_S)
    except TimeoutError:
        return b": still here\n\n"
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode() if event else None


def _room_view(exchange: Exchange, room: Room, user_id: int) -> Json:
    last = exchange.messages.page(room.chat_id, before=None, limit=1)
    return {
        "id": room.chat_id,
        "type": room.kind,
        "title": room.title,
        "people": list(room.people),
        "last": exchange.view(last[0]) if last else None,
        "keyboard": exchange.keyboard(room.chat_id),
        "commands": commands_for(exchange, user_id),
    }
