"""The page's HTTP interface. In: JSON and uploads. Out: JSON, the event stream, files as downloads.

GET  /people/{user}                                    bot, people, chats
POST /people/{user}/language                           {"language"}
GET  /people/{user}/events                             server-sent events
POST /people/{user}/uploads                            multipart "file" -> {"file_id", "name", "size"}
GET  /people/{user}/chats/{chat}/messages              ?before=&limit= -> {"messages", "more"}
POST /people/{user}/chats/{chat}/messages              what `speaking.say` takes -> {"messages"}
POST /people/{user}/chats/{chat}/forwarded             what `speaking.forward` takes -> {"message"}
POST /people/{user}/chats/{chat}/messages/{id}         {"text"} -> {"message"}
POST /people/{user}/chats/{chat}/messages/{id}/press   {"row", "column"} -> {"query_id"}
POST /people/{user}/chats/{chat}/drafts/{id}/stop      the button on a draft
GET  /files/{file}                                     the bytes, always as an attachment

The first event of a stream, `hello`, tells the page that it gets all events from now on; it reads earlier ones from
the history. The acceptance tests use the same endpoints.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import quote

from aiohttp import web
from aiohttp.typedefs import Handler

from localchat import speaking
from localchat.api.profile import commands_for, profile_text
from localchat.checks import Refused, bad, read_number
from localchat.exchange import Exchange, Hub
from localchat.records import ACCOUNTS, BOT, PEOPLE, ROOMS, YOURS, Json, Message, Room, account_json

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
        return web.json_response(whole_view(self._exchange, _user(request)))

    async def _set_language(self, request: web.Request) -> web.Response:
        language = (await _body(request)).get("language")
        if language not in _LANGUAGES:
            raise bad("language is ru or en")
        self._exchange.values.put(f"language of {_user(request)}", language)
        return web.json_response({"ok": True})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        _user(request)
        return await stream_events(request, self._exchange.hub)

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
        said = speaking.say(self._exchange, _room(request), _user(request), await _body(request))
        return web.json_response({"messages": said})

    async def _forward(self, request: web.Request) -> web.Response:
        room, user = _room(request), _user(request)
        return web.json_response({"message": speaking.forward(self._exchange, room, user, await _body(request))})

    async def _edit(self, request: web.Request) -> web.Response:
        message = self._message(request)
        if message.sender_id != _user(request):
            raise bad("message can't be edited")
        text = str((await _body(request)).get("text") or "")
        return web.json_response({"message": speaking.edit(self._exchange, message, text)})

    async def _press(self, request: web.Request) -> web.Response:
        body, message = await _body(request), self._message(request)
        row, column = read_number(body.get("row"), "row"), read_number(body.get("column"), "column")
        query_id = speaking.press(self._exchange, message, _user(request), row=row, column=column)
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
    return speaking.read_room_of(_number(request, "chat"), _user(request))


async def _body(request: web.Request) -> Mapping[str, object]:
    try:
        body = await request.json()
    except ValueError:
        raise bad("can't parse JSON object") from None
    if not isinstance(body, dict):
        raise bad("expected an Object")
    return body


HEARTBEAT_S = 15.0  # a comment line, so that both sides notice a dead connection


async def stream_events(request: web.Request, hub: Hub) -> web.StreamResponse:
    """Send events until the page disconnects or the server stops."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    await response.prepare(request)
    with hub.page() as events, suppress(ConnectionResetError):  # raised when the page was closed
        await response.write(b'data: {"type": "hello"}\n\n')
        while not hub.closed and (line := await _next_line(events)):
            await response.write(line)
    return response


async def _next_line(events: "asyncio.Queue[Json | None]") -> bytes | None:
    """The next event, or a heartbeat; None when the page must disconnect."""
    try:
        event = await asyncio.wait_for(events.get(), HEARTBEAT_S)
    except TimeoutError:
        return b": still here\n\n"
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode() if event else None


def whole_view(exchange: Exchange, user_id: int) -> Json:
    """Everything but the histories."""
    language = exchange.language(user_id)
    bot = {
        **account_json(BOT),
        "description": profile_text(exchange, "description", language),
        "short_description": profile_text(exchange, "short_description", language),
    }
    name = profile_text(exchange, "name", language)
    return {
        "bot": {**bot, "first_name": name or BOT.first_name},
        "people": [account_json(person) for person in PEOPLE],
        "chats": [_room_view(exchange, room, user_id) for room in ROOMS if room in YOURS or user_id in room.people],
    }


def _room_view(exchange: Exchange, room: Room, user_id: int) -> Json:
    last = exchange.messages.page(room.chat_id, before=None, limit=1)
    return {
        "id": room.chat_id,
        "type": room.kind,
        "title": room.title,
        "people": list(room.people),
        "last": exchange.view(last[0]) if last else None,
        "keyboard": exchange.keyboard(room.chat_id),
        "commands": commands_for(exchange, room, user_id),
    }
